// Line: the samples of one series on their way into a chart, in bounded memory however many there are.
//
//   time ───►  | bin | bin |     | bin |      a bin: first, lowest, highest and last sample in an aligned span
//                                             bins without samples are not kept
//
// Spans begin at one unit of time, so that few samples are kept as they are. Whenever there are more than kBinsMax
// bins, the spans double. What is drawn from the bins is what all samples would draw, as long as a chart has fewer
// columns than there are bins.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tsdb/types.h"

namespace tsdb::cli {

struct LineBin {
  std::int64_t index = 0;  // time >> the line's shift
  Sample first;
  Sample low;
  Sample high;
  Sample last;
  /// What came before is not connected with it.
  bool gap_before = false;
};

class Line {
 public:
  static constexpr std::size_t kBinsMax = 4096;

  /// Neighbours further apart than `gap_after` units are not connected; 0: all are.
  explicit Line(std::uint64_t gap_after = 0) : gap_after_(gap_after) {}

  /// Adds the next sample. Times rise, or all fall; then Reverse() comes before anything is asked. A NaN is a gap; an
  /// infinity is one too, and counted.
  void Add(Timestamp time, double value);
  /// Turns a line of falling times around.
  void Reverse();

  /// In order of time.
  const std::vector<LineBin>& bins() const { return bins_; }
  bool empty() const { return bins_.empty(); }
  std::uint64_t samples() const { return samples_; }
  std::uint64_t infinities() const { return infinities_; }
  /// Lowest and highest value, first and last time of what is drawn. Not for an empty line.
  double low() const { return low_; }
  double high() const { return high_; }
  Timestamp first_time() const { return bins_.front().first.time; }
  const Sample& last() const { return bins_.back().last; }

 private:
  void Widen();
  void Extend(LineBin* bin, const Sample& sample) const;

  const std::uint64_t gap_after_;
  std::vector<LineBin> bins_;
  int shift_ = 0;
  bool gap_pending_ = false;
  bool falling_ = false;
  double low_ = 0;
  double high_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t infinities_ = 0;
};

}  // namespace tsdb::cli
