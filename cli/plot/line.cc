#include "cli/plot/line.h"

#include <algorithm>
#include <cmath>

namespace tsdb::cli {
namespace {

std::uint64_t Distance(Timestamp a, Timestamp b) {
  return a < b ? static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a)
               : static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
}

}  // namespace

void Line::Add(Timestamp time, double value) {
  ++samples_;
  if (!std::isfinite(value)) {
    infinities_ += std::isinf(value) ? 1 : 0;
    gap_pending_ = true;
    return;
  }
  const Sample sample{time, value};
  if (bins_.empty()) {
    low_ = high_ = value;
    bins_.push_back({time >> shift_, sample, sample, sample, sample, false});
    gap_pending_ = false;
    return;
  }
  low_ = std::min(low_, value);
  high_ = std::max(high_, value);
  const Timestamp before = bins_.back().last.time;
  falling_ = falling_ || time < before;
  const bool gap = gap_pending_ || (gap_after_ != 0 && Distance(before, time) > gap_after_);
  gap_pending_ = false;
  if (bins_.back().index == time >> shift_) {
    Extend(&bins_.back(), sample);  // a gap narrower than a bin cannot be seen
    return;
  }
  bins_.push_back({time >> shift_, sample, sample, sample, sample, gap});
  while (bins_.size() > kBinsMax) {
    Widen();
  }
}

void Line::Extend(LineBin* bin, const Sample& sample) const {
  if (sample.value < bin->low.value) {
    bin->low = sample;
  }
  if (sample.value > bin->high.value) {
    bin->high = sample;
  }
  bin->last = sample;
}

void Line::Widen() {
  ++shift_;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    LineBin bin = bins_[i];
    bin.index >>= 1;
    if (kept != 0 && bins_[kept - 1].index == bin.index) {
      LineBin& into = bins_[kept - 1];
      into.low = bin.low.value < into.low.value ? bin.low : into.low;
      into.high = bin.high.value > into.high.value ? bin.high : into.high;
      into.last = bin.last;
    } else {
      bins_[kept++] = bin;
    }
  }
  bins_.resize(kept);
}

void Line::Reverse() {
  if (!falling_) {
    return;
  }
  falling_ = false;
  std::reverse(bins_.begin(), bins_.end());
  // A gap before a bin is now a gap before the one that follows it.
  for (std::size_t i = bins_.size(); i-- > 0;) {
    std::swap(bins_[i].first, bins_[i].last);
    bins_[i].gap_before = i != 0 && bins_[i - 1].gap_before;
  }
}

}  // namespace tsdb::cli
