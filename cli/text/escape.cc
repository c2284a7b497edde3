#include "cli/text/escape.h"

namespace tsdb::cli {
namespace {

constexpr char kHex[] = "0123456789abcdef";

unsigned char ByteAt(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

void AppendHexByte(unsigned char byte, std::string* out) {
  *out += kHex[byte >> 4];
  *out += kHex[byte & 0xf];
}

/// Letter of the short escape of a control character; 0 when it has none.
char ShortEscape(unsigned char c) {
  switch (c) {
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
  }
}

void AppendJsonAscii(unsigned char c, std::string* out) {
  if (c == '"' || c == '\\') {
    *out += '\\';
    *out += static_cast<char>(c);
  } else if (c >= 0x20 && c != 0x7f) {
    *out += static_cast<char>(c);
  } else if (const char letter = ShortEscape(c); letter != 0) {
    *out += '\\';
    *out += letter;
  } else {
    *out += "\\u00";
    AppendHexByte(c, out);
  }
}

}  // namespace

// The table of well-formed sequences is Table 3-7 of the Unicode standard: no overlong forms, no surrogates, nothing
// above U+10FFFF.
std::size_t Utf8SequenceLength(std::string_view text, std::size_t offset) {
  const unsigned char lead = ByteAt(text, offset);
  if (lead < 0x80) {
    return 1;
  }
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    low = lead == 0xe0 ? 0xa0 : 0x80;
    high = lead == 0xed ? 0x9f : 0xbf;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    low = lead == 0xf0 ? 0x90 : 0x80;
    high = lead == 0xf4 ? 0x8f : 0xbf;
  } else {
    return 0;
  }
  if (length > text.size() - offset || ByteAt(text, offset + 1) < low || ByteAt(text, offset + 1) > high) {
    return 0;
  }
  for (std::size_t i = 2; i < length; ++i) {
    if ((ByteAt(text, offset + i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  return length;
}

void AppendJsonString(std::string_view text, std::string* out) {
  *out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char c = ByteAt(text, i);
    const std::size_t length = Utf8SequenceLength(text, i);
    if (length == 0) {
      *out += "\\\\x";
      AppendHexByte(c, out);
      ++i;
      continue;
    }
    if (length == 1) {
      AppendJsonAscii(c, out);
    } else {
      out->append(text, i, length);
    }
    i += length;
  }
  *out += '"';
}

void AppendCsvField(std::string_view text, std::string* out) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out->append(text);
    return;
  }
  *out += '"';
  for (const char c : text) {
    if (c == '"') {
      *out += '"';
    }
    *out += c;
  }
  *out += '"';
}

void AppendPrintable(std::string_view text, std::string* out) {
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char c = ByteAt(text, i);
    const std::size_t length = Utf8SequenceLength(text, i);
    // U+0080..U+009F are control characters too: some terminals obey them.
    const bool c1_control = length == 2 && c == 0xc2 && ByteAt(text, i + 1) < 0xa0;
    if (length == 0 || c1_control || (length == 1 && (c < 0x20 || c == 0x7f))) {
      for (std::size_t k = 0; k < (length == 0 ? 1 : length); ++k) {
        const char letter = ShortEscape(ByteAt(text, i + k));
        *out += '\\';
        if (letter != 0) {
          *out += letter;
        } else {
          *out += 'x';
          AppendHexByte(ByteAt(text, i + k), out);
        }
      }
    } else {
      out->append(text, i, length);
    }
    i += length == 0 ? 1 : length;
  }
}

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  AppendPrintable(text, &out);
  return out;
}

std::size_t DisplayWidth(std::string_view printable) {
  std::size_t width = 0;
  for (const char c : printable) {
    width += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }
  return width;
}

}  // namespace tsdb::cli
