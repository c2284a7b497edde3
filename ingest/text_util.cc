#include "ingest/text_util.h"

#include <cstddef>

namespace tsdb::ingest {
namespace {

constexpr std::size_t kShownBytesMax = 60;

/// Bytes of the well-formed UTF-8 character at the start of `text`, or 0.
std::size_t Utf8CharacterBytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xc2 && lead <= 0xdf) {
    return continues(1) ? 2 : 0;
  }
  if (lead >= 0xe0 && lead <= 0xef) {
    if (!continues(1) || !continues(2)) {
      return 0;
    }
    const bool overlong = lead == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = lead == 0xed && byte(1) > 0x9f;
    return overlong || surrogate ? 0 : 3;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (!continues(1) || !continues(2) || !continues(3)) {
      return 0;
    }
    const bool overlong = lead == 0xf0 && byte(1) < 0x90;
    const bool beyond = lead == 0xf4 && byte(1) > 0x8f;
    return overlong || beyond ? 0 : 4;
  }
  return 0;
}

}  // namespace

std::string_view TrimRight(std::string_view text) {
  while (!text.empty() && (IsBlank(text.back()) || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

std::string_view TrimLeft(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) {
    text.remove_prefix(1);
  }
  return text;
}

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t n = Utf8CharacterBytes(text);
    if (n == 0) {
      return false;
    }
    text.remove_prefix(n);
  }
  return true;
}

std::string QuoteForMessage(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  std::string_view rest = text;
  while (!rest.empty() && out.size() < kShownBytesMax) {
    const std::size_t n = Utf8CharacterBytes(rest);
    const auto lead = static_cast<unsigned char>(rest.front());
    // C1 controls (U+0080..U+009F) can steer a terminal as C0 ones can.
    const bool control =
        lead < 0x20 || lead == 0x7f || (lead == 0xc2 && n == 2 && static_cast<unsigned char>(rest[1]) < 0xa0);
    if (n == 0 || control) {
      out += "\\x";
      out += kHex[lead >> 4];
      out += kHex[lead & 15];
      rest.remove_prefix(1);
      continue;
    }
    out += rest.substr(0, n);
    rest.remove_prefix(n);
  }
  out += rest.empty() ? "\"" : "…\"";
  return out;
}

}  // namespace tsdb::ingest
