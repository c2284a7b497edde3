#include "base/label_text.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "tsdb/labels.h"

namespace tsdb {

namespace {

constexpr bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
constexpr bool IsQuote(char c) { return c == '"' || c == '\'' || c == '`'; }

constexpr int HexDigit(char c) {
  if (IsDigit(c)) {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void AppendUtf8(std::uint32_t rune, std::string* out) {
  const auto put = [out](std::uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (rune < 0x80) {
    put(rune);
  } else if (rune < 0x800) {
    put(0xC0 | rune >> 6);
    put(0x80 | (rune & 0x3F));
  } else if (rune < 0x10000) {
    put(0xE0 | rune >> 12);
    put(0x80 | (rune >> 6 & 0x3F));
    put(0x80 | (rune & 0x3F));
  } else {
    put(0xF0 | rune >> 18);
    put(0x80 | (rune >> 12 & 0x3F));
    put(0x80 | (rune >> 6 & 0x3F));
    put(0x80 | (rune & 0x3F));
  }
}

// Recursive descent over one text. Functions return false after noting the first error in error_ and error_offset_.
class MatcherParser {
 public:
  explicit MatcherParser(std::string_view text) : text_(text) {}

  Result<std::vector<Matcher>> Parse() {
    if (!ParseText()) {
      constexpr std::size_t kShownBytes = 200;
      return Status::InvalidArgument(fmt::format("at byte {} of '{}{}': {}", error_offset_,
                                                 text_.substr(0, kShownBytes),
                                                 text_.size() > kShownBytes ? "..." : "", error_));
    }
    return std::move(matchers_);
  }

 private:
  bool ParseText() {
    SkipSpace();
    if (AtEnd()) {
      return Fail(0, "empty text; write {} to match every series");
    }
    if (IsLetter(Peek()) || Peek() == ':') {
      std::string metric(ReadWord(/*colon=*/true));
      AddMetric(std::move(metric));
      SkipSpace();
      if (AtEnd()) {
        return true;
      }
    }
    if (Peek() != '{') {
      return Fail(pos_, IsQuote(Peek()) && matchers_.empty()
                            ? "a quoted metric stands inside the braces: {\"metric name\",label=\"value\"}"
                            : fmt::format("expected '{{', found {}", Found()));
    }
    return ParseBraces() && ParseEnd();
  }

  bool ParseEnd() {
    SkipSpace();
    return AtEnd() || Fail(pos_, fmt::format("expected the end, found {}", Found()));
  }

  bool ParseBraces() {
    ++pos_;
    SkipSpace();
    while (!Take('}')) {
      if (!ParseItem()) {
        return false;
      }
      SkipSpace();
      if (Take(',')) {
        SkipSpace();
      } else if (AtEnd() || Peek() != '}') {
        return Fail(pos_, fmt::format("expected ',' or '}}', found {}", Found()));
      }
    }
    return true;
  }

  // A matcher, or a quoted metric.
  bool ParseItem() {
    const std::size_t start = pos_;
    std::string name;
    bool quoted = false;
    if (!AtEnd() && IsQuote(Peek())) {
      quoted = true;
      if (!ReadQuoted(&name)) {
        return false;
      }
      if (name.empty()) {
        return Fail(start, "the name is empty");
      }
    } else if (!AtEnd() && IsLetter(Peek())) {
      name = ReadWord(/*colon=*/false);
    } else {
      return Fail(pos_, fmt::format("expected a label name, found {}", Found()));
    }
    SkipSpace();
    if (quoted && (AtEnd() || Peek() == ',' || Peek() == '}')) {
      if (name_matcher_) {
        return Fail(start, "the metric is given twice");
      }
      AddMetric(std::move(name));
      return true;
    }
    if (name == kMetricLabel) {
      if (metric_) {
        return Fail(start, "the metric is given twice");
      }
      name_matcher_ = true;
    }
    return ParseCondition(std::move(name));
  }

  bool ParseCondition(std::string name) {
    Matcher matcher;
    matcher.name = std::move(name);
    if (TakeText("=~")) {
      matcher.op = Matcher::Op::kRegex;
    } else if (TakeText("!~")) {
      matcher.op = Matcher::Op::kNotRegex;
    } else if (TakeText("!=")) {
      matcher.op = Matcher::Op::kNotEqual;
    } else if (Take('=')) {
      matcher.op = Matcher::Op::kEqual;
    } else {
      return Fail(pos_, fmt::format("expected one of = != =~ !~, found {}", Found()));
    }
    SkipSpace();
    const bool takes_list = matcher.op == Matcher::Op::kEqual || matcher.op == Matcher::Op::kNotEqual;
    if (takes_list && Take('(')) {
      matcher.op = matcher.op == Matcher::Op::kEqual ? Matcher::Op::kIn : Matcher::Op::kNotIn;
      if (!ParseList(&matcher.values)) {
        return false;
      }
    } else if (!ReadQuoted(&matcher.values.emplace_back())) {
      return false;
    }
    matchers_.push_back(std::move(matcher));
    return true;
  }

  // After '('.
  bool ParseList(std::vector<std::string>* values) {
    SkipSpace();
    while (!Take(')')) {
      if (!ReadQuoted(&values->emplace_back())) {
        return false;
      }
      SkipSpace();
      if (Take(',')) {
        SkipSpace();
      } else if (AtEnd() || Peek() != ')') {
        return Fail(pos_, fmt::format("expected ',' or ')', found {}", Found()));
      }
    }
    return true;
  }

  bool ReadQuoted(std::string* out) {
    if (AtEnd() || !IsQuote(Peek())) {
      return Fail(pos_, fmt::format("expected a quoted value, found {}", Found()));
    }
    const std::size_t start = pos_;
    const char quote = text_[pos_++];
    while (!AtEnd()) {
      const char c = text_[pos_];
      if (c == quote) {
        ++pos_;
        return true;
      }
      if (c == '\\' && quote != '`') {
        if (!ReadEscape(out)) {
          return false;
        }
      } else {
        out->push_back(c);
        ++pos_;
      }
    }
    return Fail(start, "the quote is not closed");
  }

  // At a backslash.
  bool ReadEscape(std::string* out) {
    const std::size_t start = pos_++;
    if (AtEnd()) {
      return Fail(start, "the escape is cut off");
    }
    const char c = text_[pos_++];
    switch (c) {
      case 'a': out->push_back('\a'); return true;
      case 'b': out->push_back('\b'); return true;
      case 'f': out->push_back('\f'); return true;
      case 'n': out->push_back('\n'); return true;
      case 'r': out->push_back('\r'); return true;
      case 't': out->push_back('\t'); return true;
      case 'v': out->push_back('\v'); return true;
      case '\\':
      case '"':
      case '\'': out->push_back(c); return true;
      case 'x': return ReadCode(start, 2, 16, out);
      case 'u': return ReadCode(start, 4, 16, out);
      case 'U': return ReadCode(start, 8, 16, out);
      default: break;
    }
    if (c >= '0' && c <= '7') {
      --pos_;
      return ReadCode(start, 3, 8, out);
    }
    return Fail(start,
                "unknown escape; know \\a \\b \\f \\n \\r \\t \\v \\\\ \\\" \\' \\xHH \\uXXXX \\UXXXXXXXX \\NNN");
  }

  // `digits` digits of `base`: a byte (2 hex or 3 octal digits) or a code point (4 or 8 hex digits).
  bool ReadCode(std::size_t start, std::size_t digits, std::uint32_t base, std::string* out) {
    std::uint32_t code = 0;
    for (std::size_t i = 0; i < digits; ++i, ++pos_) {
      const int digit = AtEnd() ? -1 : HexDigit(text_[pos_]);
      if (digit < 0 || static_cast<std::uint32_t>(digit) >= base) {
        return Fail(start, fmt::format("the escape needs {} {} digits", digits, base == 8 ? "octal" : "hex"));
      }
      code = code * base + static_cast<std::uint32_t>(digit);
    }
    if (digits < 4) {
      if (code > 0xFF) {
        return Fail(start, "the octal escape is more than a byte");
      }
      out->push_back(static_cast<char>(code));
      return true;
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
      return Fail(start, "the escape is not a Unicode code point");
    }
    AppendUtf8(code, out);
    return true;
  }

  std::string_view ReadWord(bool colon) {
    const std::size_t start = pos_;
    while (!AtEnd() && (IsLetter(Peek()) || IsDigit(Peek()) || (colon && Peek() == ':'))) {
      ++pos_;
    }
    return text_.substr(start, pos_ - start);
  }

  void AddMetric(std::string metric) {
    matchers_.push_back({std::string(kMetricLabel), Matcher::Op::kEqual, {std::move(metric)}});
    metric_ = name_matcher_ = true;
  }

  bool AtEnd() const { return pos_ == text_.size(); }
  char Peek() const { return text_[pos_]; }
  void SkipSpace() {
    while (!AtEnd() && IsSpace(Peek())) {
      ++pos_;
    }
  }
  bool Take(char c) {
    if (AtEnd() || Peek() != c) {
      return false;
    }
    ++pos_;
    return true;
  }
  bool TakeText(std::string_view token) {
    if (!text_.substr(pos_).starts_with(token)) {
      return false;
    }
    pos_ += token.size();
    return true;
  }

  std::string Found() const {
    if (AtEnd()) {
      return "the end";
    }
    const char c = Peek();
    return c > ' ' && c < 127 ? fmt::format("'{}'", c)
                              : fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
  }
  bool Fail(std::size_t offset, std::string what) {
    error_offset_ = offset;
    error_ = std::move(what);
    return false;
  }

  const std::string_view text_;
  std::size_t pos_ = 0;
  std::vector<Matcher> matchers_;
  bool metric_ = false;        // given as a metric: before the braces or quoted inside
  bool name_matcher_ = false;  // any condition on __name__ so far
  std::string error_;
  std::size_t error_offset_ = 0;
};

}  // namespace

bool IsPlainLabelName(std::string_view text) {
  if (text.empty() || IsDigit(text.front())) {
    return false;
  }
  for (const char c : text) {
    if (!IsLetter(c) && !IsDigit(c)) {
      return false;
    }
  }
  return true;
}

bool IsPlainMetricName(std::string_view text) {
  if (text.empty() || IsDigit(text.front())) {
    return false;
  }
  for (const char c : text) {
    if (!IsLetter(c) && !IsDigit(c) && c != ':') {
      return false;
    }
  }
  return true;
}

void AppendQuoted(std::string_view text, std::string* out) {
  out->push_back('"');
  AppendEscapedLabelValue(text, out);
  out->push_back('"');
}

void AppendLabelName(std::string_view name, std::string* out) {
  if (IsPlainLabelName(name)) {
    out->append(name);
  } else {
    AppendQuoted(name, out);
  }
}

Result<std::vector<Matcher>> ParseMatchers(std::string_view text) { return MatcherParser(text).Parse(); }

}  // namespace tsdb
