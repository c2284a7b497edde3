// Labels: the sorted set of (name, value) pairs that identifies a series created by labels, and the canonical text.
//
// An empty value is the same as no label. `__name__` holds the metric. Names and values are any bytes; names are
// not empty. Limits: 64 KiB for the whole set (names + values).
//
// Thread safety: value type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <compare>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tsdb/result.h"

namespace tsdb {

inline constexpr std::string_view kMetricLabel = "__name__";
/// Upper bound of the bytes of a key or of all names and values of a label set.
inline constexpr std::size_t kKeyBytesMax = 64 * 1024;

struct Label {
  std::string name;
  std::string value;
  friend auto operator<=>(const Label&, const Label&) = default;
};

/// 128-bit identity of a label set: equal sets give equal hashes, in whatever order they were written.
struct LabelsHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const LabelsHash&, const LabelsHash&) = default;
};

class Labels {
 public:
  Labels() = default;
  /// For literals in programs and tests: invalid or repeated names are dropped the way FromPairs would refuse them, so
  /// use FromPairs for anything that comes from outside.
  Labels(std::initializer_list<Label> pairs);

  /// Sorts the pairs and leaves out empty values. kInvalidArgument: an empty name, a name given twice with different
  /// values, or more than kKeyBytesMax bytes.
  static Result<Labels> FromPairs(std::vector<Label> pairs);
  /// Parses canonical text as CanonicalKey() writes it, and the PromQL spelling of a set of `=` matchers.
  static Result<Labels> Parse(std::string_view text);

  /// Value of a label; empty when the set does not have it.
  std::string_view Get(std::string_view name) const;
  const std::vector<Label>& pairs() const { return pairs_; }
  bool empty() const { return pairs_.empty(); }
  std::size_t size() const { return pairs_.size(); }
  /// Sum of the bytes of names and values.
  std::size_t bytes() const;

  /// XXH3-128 over the length-prefixed sorted pairs.
  LabelsHash Hash() const;
  /// `metric{a="x",b="y"}`; the metric in front when it is a plain metric name ([a-zA-Z_:][a-zA-Z0-9_:]*), else
  /// `{"metric name",a="x"}`; label names that are not plain are quoted; values escape \\ \" and \n. `{}` for none.
  std::string CanonicalKey() const;

  friend auto operator<=>(const Labels&, const Labels&) = default;

 private:
  std::vector<Label> pairs_;  // sorted by name; names unique; no empty value
};

/// Appends `value` with \\, \" and newline escaped, without the quotes.
void AppendEscapedLabelValue(std::string_view value, std::string* out);

}  // namespace tsdb
