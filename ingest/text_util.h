// Small helpers on bytes of text that the parsers share: quoting for messages, UTF-8 check, blanks.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace tsdb::ingest {

inline bool IsBlank(char c) { return c == ' ' || c == '\t'; }
inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Without blanks, tabs and carriage returns at the end.
std::string_view TrimRight(std::string_view text);
/// Without blanks and tabs at the start.
std::string_view TrimLeft(std::string_view text);

/// True when `text` is well-formed UTF-8 (no overlong forms, no surrogates).
bool IsValidUtf8(std::string_view text);

/// `text` in quotes for a message: cut to about 60 bytes at a character border, control characters and bytes that are
/// not UTF-8 as \xNN.
std::string QuoteForMessage(std::string_view text);

}  // namespace tsdb::ingest
