// Strings on their way out: JSON, CSV, and terminals, for which names may hold any bytes.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tsdb::cli {

/// Length of the well-formed UTF-8 sequence at `text[offset]`; 0 when there is none.
std::size_t Utf8SequenceLength(std::string_view text, std::size_t offset);

/// Appends a quoted JSON string, always valid JSON in UTF-8. A byte that is not part of well-formed UTF-8 becomes the
/// four characters `\xNN` (with the backslash escaped, as JSON wants it).
void AppendJsonString(std::string_view text, std::string* out);

/// Appends a CSV field, quoted as RFC 4180 wants it when it holds a comma, a quote or a line end. Bytes stay as they
/// are.
void AppendCsvField(std::string_view text, std::string* out);

/// Appends text for people: control characters and bytes outside UTF-8 become `\n`, `\t`, `\xNN`, so that a name cannot
/// move the cursor or break the line.
void AppendPrintable(std::string_view text, std::string* out);
std::string Printable(std::string_view text);

/// Columns that printable text takes: its code points.
std::size_t DisplayWidth(std::string_view printable);

}  // namespace tsdb::cli
