// The plain way to answer a query about one series: all samples in a map, one bucket after another, every rule of
// docs/queries.md spelled out. Slow; the oracle of the differential tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "engine/query/bucket_grid.h"
#include "engine/query/spread.h"
#include "tests/engine/engine_test_util.h"

namespace tsdb::engine {

struct ModelRow {
  Timestamp time = 0;
  std::vector<double> values;
};

class QueryModel {
 public:
  QueryModel(const Samples& samples, const QuerySpec& spec, double units_per_second)
      : spec_(spec), units_(units_per_second), grid_(*BucketGrid::Make(spec.bucket, spec.range, kUnit)) {
    for (const auto& [time, bits] : samples) {
      const auto value = std::bit_cast<double>(bits);
      const bool listed = spec.times.empty() || std::ranges::find(spec.times, time) != spec.times.end();
      if (listed && (!spec.values || spec.values->Contains(value))) {
        kept_[time] = value;
        if (value == value) {
          numbers_[time] = value;
        }
      }
    }
  }

  std::vector<ModelRow> Rows() const {
    std::vector<ModelRow> rows;
    if (spec_.aggregators.empty()) {
      for (const auto& [time, value] : kept_) {
        if (spec_.range.Contains(time)) {
          rows.push_back({time, {value}});
        }
      }
    } else {
      rows = Buckets();
    }
    if (spec_.reverse) {
      std::reverse(rows.begin(), rows.end());
    }
    if (spec_.limit != 0 && rows.size() > spec_.limit) {
      rows.resize(spec_.limit);
    }
    return rows;
  }

 private:
  static constexpr TimeUnit kUnit = TimeUnit::kMilliseconds;
  static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  using Kept = std::map<Timestamp, double>;

  std::vector<ModelRow> Buckets() const {
    std::map<Timestamp, Bucket> buckets;  // with samples in the range, by start
    for (const auto& [time, value] : kept_) {
      if (spec_.range.Contains(time)) {
        const Bucket bucket = grid_.At(time);
        buckets[bucket.start] = bucket;
      }
    }
    std::vector<ModelRow> rows;
    if (spec_.fill == Fill::kNone || grid_.whole()) {
      for (const auto& [start, bucket] : buckets) {
        rows.push_back(RowOf(bucket, spec_.range));
      }
      return rows;
    }
    if (kept_.empty()) {
      return rows;
    }
    const Timestamp from = std::max(spec_.range.from, kept_.begin()->first);
    const Timestamp to = std::min(spec_.range.to, kept_.rbegin()->first);
    for (Bucket bucket = grid_.At(from); from <= to && bucket.start <= to; bucket = grid_.After(bucket)) {
      rows.push_back(buckets.contains(bucket.start) ? RowOf(bucket, spec_.range) : Filled(bucket));
    }
    return rows;
  }

  ModelRow RowOf(const Bucket& bucket, TimeRange clip) const {
    ModelRow row{grid_.RowTime(bucket), {}};
    const TimeRange part = {std::max(bucket.start, clip.from), std::min(bucket.last, clip.to)};
    const std::vector<std::pair<Timestamp, double>> all(kept_.lower_bound(part.from), kept_.upper_bound(part.to));
    const std::vector<std::pair<Timestamp, double>> numbers(numbers_.lower_bound(part.from),
                                                            numbers_.upper_bound(part.to));
    if (grid_.whole() && clip.from == kTimestampMin) {
      row.time = all.front().first;
    }
    for (const Aggregation& aggregation : spec_.aggregators) {
      row.values.push_back(Value(aggregation, bucket, clip, part, all, numbers));
    }
    return row;
  }

  using Pairs = std::vector<std::pair<Timestamp, double>>;

  double Value(const Aggregation& aggregation, const Bucket& bucket, TimeRange clip, TimeRange part, const Pairs& all,
               const Pairs& numbers) const {
    switch (aggregation.aggregator) {
      case Aggregator::kCount:
        return static_cast<double>(numbers.size());
      case Aggregator::kCountNan:
        return static_cast<double>(all.size() - numbers.size());
      case Aggregator::kCountAll:
        return static_cast<double>(all.size());
      case Aggregator::kFirst:
        return all.front().second;
      case Aggregator::kLast:
        return all.back().second;
      default:
        break;
    }
    if (numbers.empty()) {
      return kNaN;
    }
    std::vector<double> v;
    for (const auto& [time, value] : numbers) {
      v.push_back(value);
    }
    ExactSum sum;
    sum.Add(v);
    const auto [low, high] = std::ranges::minmax_element(v);
    const auto n = static_cast<double>(v.size());
    switch (aggregation.aggregator) {
      case Aggregator::kMin:
        return *low;
      case Aggregator::kMax:
        return *high;
      case Aggregator::kRange:
        return *high - *low;
      case Aggregator::kSum:
        return sum.Sum();
      case Aggregator::kAvg:
        return sum.Mean(v.size());
      case Aggregator::kVarP:
        return Squares(v) / n;
      case Aggregator::kVarS:
        return v.size() == 1 ? kNaN : Squares(v) / (n - 1);
      case Aggregator::kStdP:
        return std::sqrt(Squares(v) / n);
      case Aggregator::kStdS:
        return v.size() == 1 ? kNaN : std::sqrt(Squares(v) / (n - 1));
      case Aggregator::kQuantile: {
        std::ranges::sort(v);
        const double rank = aggregation.q * (n - 1);
        const auto below = static_cast<std::size_t>(rank);
        const double weight = rank - static_cast<double>(below);
        return weight == 0 || v[below] == v[below + 1] ? v[below] : v[below] * (1 - weight) + v[below + 1] * weight;
      }
      case Aggregator::kIncrease:
        return Increase(part);
      case Aggregator::kRate: {
        const Timestamp from = part.from == kTimestampMin ? all.front().first : part.from;
        const Timestamp to = clip.to >= bucket.last && !grid_.whole() ? bucket.last + 1
                             : part.to == kTimestampMax               ? all.back().first
                                                                      : part.to;
        return from == to ? kNaN : Increase(part) / (static_cast<double>(to - from) / units_);
      }
      case Aggregator::kTwa:
        return Twa(bucket, clip, numbers);
      default:
        return kNaN;
    }
  }

  static double Squares(const std::vector<double>& v) {
    long double mean = 0;
    for (const double x : v) {
      mean += x;
    }
    mean /= static_cast<long double>(v.size());
    long double squares = 0;
    long double rest = 0;
    for (const double x : v) {
      const long double d = x - mean;
      squares += d * d;
      rest += d;
    }
    return static_cast<double>(squares - rest * rest / static_cast<long double>(v.size()));
  }

  std::optional<std::pair<Timestamp, double>> Before(const Kept& samples, Timestamp time) const {
    const auto it = samples.lower_bound(time);
    return it == samples.begin() ? std::nullopt : std::optional<std::pair<Timestamp, double>>(*std::prev(it));
  }
  std::optional<std::pair<Timestamp, double>> Behind(const Kept& samples, Timestamp time) const {
    const auto it = samples.upper_bound(time);
    return it == samples.end() ? std::nullopt : std::optional<std::pair<Timestamp, double>>(*it);
  }

  double Increase(TimeRange part) const {
    ExactSum sum;
    std::optional<double> previous;
    if (const auto before = Before(numbers_, part.from); before && part.from != kTimestampMin) {
      previous = before->second;
    }
    for (auto it = numbers_.lower_bound(part.from); it != numbers_.end() && it->first <= part.to; ++it) {
      if (previous) {
        sum.Add(it->second);
        sum.Add(it->second < *previous ? 0.0 : -*previous);
      }
      previous = it->second;
    }
    return sum.Sum() + 0.0;
  }

  static long double Line(std::pair<Timestamp, double> a, std::pair<Timestamp, double> b, Timestamp t) {
    if (a.first == t) {
      return a.second;
    }
    const auto w = static_cast<long double>(t - a.first) / static_cast<long double>(b.first - a.first);
    return a.second * (1 - w) + b.second * w;
  }

  double Twa(const Bucket& bucket, TimeRange clip, const Pairs& numbers) const {
    const Timestamp from = std::max(bucket.start, clip.from);
    const Timestamp to = std::min(bucket.end(), clip.to);
    std::vector<std::pair<Timestamp, long double>> corners;
    const auto before = Before(numbers_, from);
    if (before && from != kTimestampMin) {
      corners.emplace_back(from, Line(*before, numbers.front(), from));
    }
    for (const auto& number : numbers) {
      corners.push_back(number);
    }
    const auto behind = Behind(numbers_, std::min(bucket.last, clip.to));
    if (behind && to != kTimestampMax) {
      corners.emplace_back(to, Line(numbers.back(), *behind, to));
    }
    long double area = 0;
    for (std::size_t i = 1; i < corners.size(); ++i) {
      area += (corners[i].second + corners[i - 1].second) / 2 *
              static_cast<long double>(corners[i].first - corners[i - 1].first);
    }
    const auto span = static_cast<long double>(corners.back().first - corners.front().first);
    return static_cast<double>(span == 0 ? corners.back().second : area / span);
  }

  /// The row of the bucket with the nearest sample before or behind; outside the range whatever lies there.
  std::optional<ModelRow> Beside(const Bucket& bucket, bool before) const {
    const Timestamp edge = before ? std::max(bucket.start, spec_.range.from) : std::min(bucket.last, spec_.range.to);
    const auto sample = before ? Before(kept_, edge) : Behind(kept_, edge);
    if (!sample) {
      return std::nullopt;
    }
    if (spec_.range.Contains(sample->first)) {
      return RowOf(grid_.At(sample->first), spec_.range);
    }
    const Bucket beside = grid_.At(sample->first);
    return before ? RowOf(beside, {beside.start, std::min(beside.last, spec_.range.from - 1)})
                  : RowOf(beside, {std::max(beside.start, spec_.range.to + 1), beside.last});
  }

  ModelRow Filled(const Bucket& bucket) const {
    ModelRow row{grid_.RowTime(bucket), {}};
    const auto before = Beside(bucket, true);
    const auto behind = Beside(bucket, false);
    for (std::size_t i = 0; i < spec_.aggregators.size(); ++i) {
      row.values.push_back(FillValue(i, bucket, row.time, before, behind));
    }
    return row;
  }

  double FillValue(std::size_t i, const Bucket& bucket, Timestamp time, const std::optional<ModelRow>& before,
                   const std::optional<ModelRow>& behind) const {
    switch (spec_.fill) {
      case Fill::kConstant:
        return spec_.fill_value;
      case Fill::kPrevious:
        return before ? before->values[i] : kNaN;
      case Fill::kLinear:
        return before && behind ? static_cast<double>(Line({before->time, before->values[i]},
                                                           {behind->time, behind->values[i]}, time))
                                : kNaN;
      case Fill::kEmpty:
        break;
      default:
        return kNaN;
    }
    switch (spec_.aggregators[i].aggregator) {
      case Aggregator::kSum:
      case Aggregator::kCount:
      case Aggregator::kCountNan:
      case Aggregator::kCountAll:
      case Aggregator::kIncrease:
      case Aggregator::kRate:
        return 0;
      case Aggregator::kLast:
        return Before(kept_, std::max(bucket.start, spec_.range.from))->second;
      case Aggregator::kTwa: {
        const Timestamp from = std::max(bucket.start, spec_.range.from);
        const Timestamp to = std::min(bucket.end(), spec_.range.to);
        const auto left = Before(numbers_, from);
        const auto right = Behind(numbers_, std::min(bucket.last, spec_.range.to));
        return left && right ? static_cast<double>((Line(*left, *right, from) + Line(*left, *right, to)) / 2) : kNaN;
      }
      default:
        return kNaN;
    }
  }

  const QuerySpec& spec_;
  const double units_;
  const BucketGrid grid_;
  Kept kept_;
  Kept numbers_;
};

/// Variances, rates and weighted averages depend on how the samples came in pieces, in the last digits only; all else
/// is the same to the bit.
inline bool SameValue(const Aggregation* aggregation, double got, double expected, double magnitude) {
  if (std::isnan(got) || std::isnan(expected)) {
    return std::isnan(got) && std::isnan(expected);
  }
  if (std::bit_cast<std::uint64_t>(got) == std::bit_cast<std::uint64_t>(expected)) {
    return true;
  }
  if (aggregation == nullptr) {
    return false;
  }
  switch (aggregation->aggregator) {
    case Aggregator::kStdP:
    case Aggregator::kStdS:
    case Aggregator::kVarP:
    case Aggregator::kVarS:
    case Aggregator::kRate:
      return std::fabs(got - expected) <= 1e-12 * std::fabs(expected);
    case Aggregator::kTwa:
      return std::fabs(got - expected) <= 1e-12 * magnitude;
    case Aggregator::kMin:
    case Aggregator::kMax:
    case Aggregator::kQuantile:
      return got == expected;  // zeros of both signs
    default:
      return false;
  }
}

}  // namespace tsdb::engine
