#include "index/value_matcher.h"

#include <re2/re2.h>

#include <algorithm>

namespace tsdb::index {

namespace {

// Well-formed UTF-8 as RE2 understands it (RFC 3629: shortest form, no surrogates, at most U+10FFFF).
bool IsUtf8(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  for (std::size_t i = 0; i < s.size();) {
    const unsigned lead = byte(i);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || s.size() - i < length) {
      return false;
    }
    const unsigned second = byte(i + 1);
    const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (second < low || second > high) {
      return false;
    }
    for (std::size_t k = 2; k < length; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) {
        return false;
      }
    }
    i += length;
  }
  return true;
}

std::unique_ptr<re2::RE2> CompileRe2(std::string_view pattern, re2::RE2::Options::Encoding encoding) {
  re2::RE2::Options options;
  options.set_encoding(encoding);
  options.set_dot_nl(true);
  options.set_log_errors(false);
  return std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
}

}  // namespace

ValueRegex::ValueRegex() = default;
ValueRegex::ValueRegex(ValueRegex&&) noexcept = default;
ValueRegex& ValueRegex::operator=(ValueRegex&&) noexcept = default;
ValueRegex::~ValueRegex() = default;

Result<ValueRegex> ValueRegex::Compile(std::string_view pattern) {
  ValueRegex regex;
  if (IsUtf8(pattern)) {
    regex.utf8_ = CompileRe2(pattern, re2::RE2::Options::EncodingUTF8);
    if (!regex.utf8_->ok()) {
      return Status::InvalidArgument("regular expression \"" + std::string(pattern) + "\": " + regex.utf8_->error());
    }
  }
  regex.bytes_ = CompileRe2(pattern, re2::RE2::Options::EncodingLatin1);
  if (!regex.bytes_->ok()) {
    // A few patterns exist only for text (a code point above U+00FF by number): these match no bytes that are not
    // UTF-8.
    if (regex.utf8_ == nullptr) {
      return Status::InvalidArgument("regular expression \"" + std::string(pattern) + "\": " + regex.bytes_->error());
    }
    regex.bytes_.reset();
  }
  return regex;
}

bool ValueRegex::Matches(std::string_view value) const {
  const re2::RE2* re = utf8_ != nullptr && IsUtf8(value) ? utf8_.get() : bytes_.get();
  return re != nullptr && re2::RE2::FullMatch(re2::StringPiece(value.data(), value.size()), *re);
}

bool ValueRegex::Range(std::string* low, std::string* high) const {
  constexpr int kBytesMax = 64;
  bool first = true;
  for (const re2::RE2* re : {utf8_.get(), bytes_.get()}) {
    if (re == nullptr) {
      continue;
    }
    std::string a;
    std::string b;
    if (!re->PossibleMatchRange(&a, &b, kBytesMax)) {
      return false;
    }
    *low = first ? a : std::min(*low, a);
    *high = first ? b : std::max(*high, b);
    first = false;
  }
  return !first;
}

std::optional<std::vector<std::string>> LiteralAlternatives(std::string_view pattern) {
  for (const std::string_view open : {"(?:", "("}) {
    if (pattern.starts_with(open) && pattern.ends_with(')')) {
      pattern.remove_prefix(open.size());
      pattern.remove_suffix(1);
      break;
    }
  }
  if (pattern.find_first_of("\\.+*?()[]{}^$") != std::string_view::npos || !IsUtf8(pattern)) {
    return std::nullopt;
  }
  std::vector<std::string> alternatives;
  for (std::size_t begin = 0;;) {
    const std::size_t end = pattern.find('|', begin);
    alternatives.emplace_back(pattern.substr(begin, end - begin));
    if (end == std::string_view::npos) {
      return alternatives;
    }
    begin = end + 1;
  }
}

Result<ValueMatcher> ValueMatcher::Compile(const Matcher& matcher) {
  using Op = Matcher::Op;
  ValueMatcher compiled;
  compiled.name_ = matcher.name;
  compiled.negated_ = matcher.op == Op::kNotEqual || matcher.op == Op::kNotRegex || matcher.op == Op::kNotIn;
  const bool is_list = matcher.op == Op::kIn || matcher.op == Op::kNotIn;
  if (!is_list && matcher.values.size() != 1) {
    return Status::InvalidArgument("matcher on label \"" + matcher.name + "\": needs exactly one value, has " +
                                   std::to_string(matcher.values.size()));
  }
  compiled.literals_ = matcher.values;
  if (matcher.op == Op::kRegex || matcher.op == Op::kNotRegex) {
    const std::string& pattern = matcher.values[0];
    if (pattern == ".*" || pattern == ".+") {
      // Everything, and everything but "": as "not in {}" and "not in {""}" these need no look at the values.
      compiled.literals_.assign(pattern == ".+" ? 1 : 0, "");
      compiled.negated_ = !compiled.negated_;
    } else if (auto alternatives = LiteralAlternatives(pattern)) {
      compiled.literals_ = *std::move(alternatives);
    } else {
      Result<ValueRegex> regex = ValueRegex::Compile(pattern);
      if (!regex.ok()) {
        return regex.status().WithContext("matcher on label \"" + matcher.name + "\"");
      }
      compiled.literals_.clear();
      compiled.regex_ = std::move(regex).value();
    }
  }
  std::sort(compiled.literals_.begin(), compiled.literals_.end());
  compiled.literals_.erase(std::unique(compiled.literals_.begin(), compiled.literals_.end()), compiled.literals_.end());
  return compiled;
}

bool ValueMatcher::InSet(std::string_view value) const {
  if (regex_.has_value()) {
    return regex_->Matches(value);
  }
  return std::binary_search(literals_.begin(), literals_.end(), value, std::less<>());
}

Result<std::vector<ValueMatcher>> CompileMatchers(const std::vector<Matcher>& matchers) {
  std::vector<ValueMatcher> compiled;
  compiled.reserve(matchers.size());
  for (const Matcher& matcher : matchers) {
    TSDB_ASSIGN_OR_RETURN(ValueMatcher one, ValueMatcher::Compile(matcher));
    compiled.push_back(std::move(one));
  }
  return compiled;
}

}  // namespace tsdb::index
