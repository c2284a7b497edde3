// PostingSource: posting lists by label name and value, as the planner (planner.h) needs them. Two sources: a layer of
// the overlay (in slot numbers) and a snapshot of the stored index (in series ids).
//
// Thread safety: const functions may run together.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_set.h"
#include "index/value_matcher.h"
#include "tsdb/status.h"

namespace tsdb::index {

/// Values to look at: all, or those in [low, high].
struct ValueRange {
  bool all = true;
  std::string low;
  std::string high;
  bool Contains(std::string_view value) const { return all || (low <= value && value <= high); }
};

enum class ValueVerdict { kTake, kSkip, kStop };
using JudgeValue = std::function<ValueVerdict(std::string_view value)>;

class PostingSource {
 public:
  virtual ~PostingSource() = default;

  /// Adds every live series.
  virtual Status All(IdSet* out) const = 0;
  /// Adds the series that have the label (their value is not empty).
  virtual Status WithName(std::string_view name, IdSet* out) const = 0;
  virtual Status WithValue(std::string_view name, std::string_view value, IdSet* out) const = 0;
  /// Asks `judge` about each value of the label in the range, in any order, and adds the series of the values it takes.
  /// kStop ends the scan.
  virtual Status ScanValues(std::string_view name, const ValueRange& range, const JudgeValue& judge,
                            IdSet* out) const = 0;
  /// Removes the candidates that do not match, by reading their labels.
  virtual Status Filter(const std::vector<const ValueMatcher*>& matchers, IdSet* candidates) const = 0;
};

}  // namespace tsdb::index
