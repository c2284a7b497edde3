// ValueMatcher: one matcher of a selector, compiled: does it accept a label value ("" = the series has no such label)?
//
// Also tells the planner (planner.h) what it needs to know to use posting lists: the values it names outright, or the
// range in which values it can accept lie. Not for parsing selectors.
//
// Thread safety: immutable after Compile.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tsdb/result.h"
#include "tsdb/selector.h"

namespace re2 {
class RE2;
}

namespace tsdb::index {

/// A regular expression that matches whole values. `.` matches newline. Text that is not UTF-8 is matched byte by byte,
/// so that `.*` accepts every value.
class ValueRegex {
 public:
  /// kInvalidArgument: RE2 refuses the pattern.
  static Result<ValueRegex> Compile(std::string_view pattern);
  ValueRegex(ValueRegex&&) noexcept;
  ValueRegex& operator=(ValueRegex&&) noexcept;
  ~ValueRegex();

  bool Matches(std::string_view value) const;
  /// Every matching value lies in [low, high]; false when nothing is known.
  bool Range(std::string* low, std::string* high) const;

 private:
  ValueRegex();
  std::unique_ptr<re2::RE2> utf8_;   // null when the pattern is not UTF-8
  std::unique_ptr<re2::RE2> bytes_;
};

/// The alternatives of a pattern like `a|b|`, `(a|b)` or `(?:a|b)` made of plain characters only.
std::optional<std::vector<std::string>> LiteralAlternatives(std::string_view pattern);

class ValueMatcher {
 public:
  static Result<ValueMatcher> Compile(const Matcher& matcher);

  bool Accepts(std::string_view value) const { return InSet(value) != negated_; }

  const std::string& name() const { return name_; }
  /// The matcher is "in the set" or, negated, "not in the set", where the set is either `literals()` (sorted, unique)
  /// or what `regex()` matches.
  bool negated() const { return negated_; }
  bool has_literals() const { return !regex_.has_value(); }
  const std::vector<std::string>& literals() const { return literals_; }
  const ValueRegex& regex() const { return *regex_; }
  /// True when `value` is in the set, negation aside.
  bool InSet(std::string_view value) const;

 private:
  std::string name_;
  bool negated_ = false;
  std::vector<std::string> literals_;
  std::optional<ValueRegex> regex_;
};

/// All matchers of a selector that is not a key; kInvalidArgument names the matcher that is wrong.
Result<std::vector<ValueMatcher>> CompileMatchers(const std::vector<Matcher>& matchers);

}  // namespace tsdb::index
