// Selector: which series a query, listing or export is about: a set of matchers over labels, or one key.
//
// Thread safety: value type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tsdb/result.h"

namespace tsdb {

/// One condition on a label. A series without the label has the empty value.
struct Matcher {
  enum class Op : unsigned char {
    kEqual,         // value == values[0]; "" matches series without the label
    kNotEqual,      // the opposite; also matches series without the label unless values[0] is ""
    kRegex,         // values[0] matches the whole value (RE2, `.` matches newline)
    kNotRegex,      // the opposite
    kIn,            // the value is one of values
    kNotIn,         // the value is none of values
  };
  std::string name;
  Op op = Op::kEqual;
  std::vector<std::string> values;
  friend bool operator==(const Matcher&, const Matcher&) = default;
};

class Selector {
 public:
  /// Matches every series.
  Selector() = default;
  explicit Selector(std::vector<Matcher> matchers) : matchers_(std::move(matchers)) {}

  /// `metric{label="v",other!="v",re=~"a.*",neg!~"b",in=("x","y"),not!=("x")}`; every part optional, PromQL quoting
  /// ("…" and '…' with escapes, `…` raw); `{}` matches all. The metric is a matcher on `__name__`; label names and the
  /// metric may be quoted. kInvalidArgument with the byte offset of what was not understood; an empty text is an error
  /// (it must be asked for as `{}`).
  static Result<Selector> Parse(std::string_view text);
  /// The one series with this shown key (both name spaces).
  static Selector ForKey(std::string key);

  bool is_key() const { return is_key_; }
  const std::string& key() const { return key_; }
  const std::vector<Matcher>& matchers() const { return matchers_; }
  /// Canonical text; Parse gives an equal selector back (for a key selector: the key).
  std::string ToString() const;

  friend bool operator==(const Selector&, const Selector&) = default;

 private:
  std::vector<Matcher> matchers_;
  std::string key_;
  bool is_key_ = false;
};

}  // namespace tsdb
