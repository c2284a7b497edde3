#include "engine/query/bucket_state.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chunk/value_scan.h"
#include "engine/query/area.h"

namespace tsdb::engine {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

BucketNeeds::BucketNeeds(std::span<const Aggregation> aggregators) {
  for (const Aggregation& aggregation : aggregators) {
    switch (aggregation.aggregator) {
      case Aggregator::kMin:
      case Aggregator::kMax:
      case Aggregator::kRange:
        extremes = true;
        break;
      case Aggregator::kSum:
      case Aggregator::kAvg:
        sum = true;
        break;
      case Aggregator::kStdP:
      case Aggregator::kStdS:
      case Aggregator::kVarP:
      case Aggregator::kVarS:
        variance = true;
        break;
      case Aggregator::kFirst:
      case Aggregator::kLast:
        edges = true;
        break;
      case Aggregator::kTwa:
        area = true;
        break;
      case Aggregator::kIncrease:
      case Aggregator::kRate:
        increase = true;
        break;
      case Aggregator::kQuantile:
        values = true;
        break;
      case Aggregator::kCount:
      case Aggregator::kCountNan:
      case Aggregator::kCountAll:
        break;
    }
  }
}

double Between(const Number& left, const Number& right, Timestamp time) {
  const double whole = Distance(left.time, right.time);
  const double part = Distance(left.time, time);
  if (part == 0 || left.value == right.value) {
    return left.value;
  }
  const double weight = part / whole;
  return left.value * (1 - weight) + right.value * weight;
}

double QuantileOf(std::span<double> values, double q) {
  const double rank = q * static_cast<double>(values.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(rank), values.size() - 1);
  const double weight = rank - static_cast<double>(below);
  // Zeros in the order -0, +0, so that the result does not depend on the order of the samples.
  const auto less = [](double a, double b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); };
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), at, values.end(), less);
  const double low = *at;
  if (weight == 0 || at + 1 == values.end()) {
    return low;
  }
  const double high = *std::min_element(at + 1, values.end(), less);
  return low == high ? low : low * (1 - weight) + high * weight;
}

void BucketState::Start(const BucketNeeds& needs, const std::optional<Number>& before,
                        std::optional<Timestamp> begin) {
  count_ = 0;
  count_all_ = 0;
  if (needs.sum) {
    sum_.Reset();
  }
  if (needs.variance) {
    spread_ = Spread();
  }
  if (needs.increase) {
    resets_.Reset();
  }
  values_.clear();
  number_ = before;
  begin_ = begin;
  area_ = 0;
}

void BucketState::Add(chunk::ColumnsView samples, const BucketNeeds& needs) {
  if (count_all_ == 0) {
    first_ = samples.values.front();
  }
  last_ = samples.values.back();
  count_all_ += samples.values.size();
  const auto add = [&](std::span<const double> numbers, const Timestamp* times, ExactSum* sum) {
    AddNumbers(numbers, times, needs, sum);
    if (needs.neighbours()) {
      number_ = Number{times[numbers.size() - 1], numbers.back()};
    }
  };
  // A sum that adds up says that there is no NaN either.
  if (needs.variance) {
    ExactSum sum;
    if (sum.TryAdd(samples.values)) {
      add(samples.values, samples.times.data(), &sum);
      return;
    }
  } else if (needs.sum && sum_.TryAdd(samples.values)) {
    add(samples.values, samples.times.data(), nullptr);
    return;
  }
  const std::uint64_t nans = chunk::ScanValues(samples.values).nans;
  if (nans == samples.values.size()) {
    return;
  }
  chunk::Columns numbers;
  if (nans != 0) {
    for (std::size_t i = 0; i < samples.values.size(); ++i) {
      if (samples.values[i] == samples.values[i]) {
        numbers.times.push_back(samples.times.empty() ? 0 : samples.times[i]);
        numbers.values.push_back(samples.values[i]);
      }
    }
    samples = {numbers.times, numbers.values};
  }
  ExactSum sum;
  if (needs.variance || needs.sum) {
    sum.Add(samples.values);
  }
  add(samples.values, samples.times.data(), needs.variance || needs.sum ? &sum : nullptr);
}

void BucketState::AddValues(std::span<const double> values, const BucketNeeds& needs) {
  Add(chunk::ColumnsView{{}, values}, needs);
}

// `sum`: of these numbers, which sum_ lacks; null: sum_ has them, or is not wanted.
void BucketState::AddNumbers(std::span<const double> numbers, const Timestamp* times, const BucketNeeds& needs,
                             ExactSum* sum) {
  if (needs.extremes) {
    AddExtremes(numbers);
  }
  if (needs.variance) {
    spread_.Add(numbers, *sum);
  }
  if (sum != nullptr && needs.sum) {
    if (count_ == 0) {
      sum_ = std::move(*sum);
    } else {
      sum_.Add(*sum);
    }
  }
  if (needs.area) {
    AddArea(times, numbers);
  }
  if (needs.increase) {
    AddIncrease(numbers);
  }
  if (needs.values) {
    values_.insert(values_.end(), numbers.begin(), numbers.end());
  }
  count_ += numbers.size();
}

void BucketState::Add(const StatisticsPart& part, const BucketNeeds& needs) {
  const chunk::ValueStatistics& s = *part.values;
  const std::uint64_t numbers = s.count - s.nan_count;
  if (numbers == 0 && part.drop_nans) {
    return;
  }
  if (needs.edges) {
    if (count_all_ == 0 && part.begins_chunk) {
      first_ = part.drop_nans ? part.chunk->first_number : part.chunk->first;
    }
    if (part.ends_chunk) {
      last_ = part.drop_nans ? part.chunk->last_number : part.chunk->last;
    }
  }
  count_all_ += part.drop_nans ? numbers : s.count;
  if (numbers == 0) {
    return;
  }
  if (needs.extremes) {
    MergeExtremes(s.min, s.max);
  }
  if (needs.sum) {
    if (count_ == 0) {
      sum_ = s.sum;
    } else {
      sum_.Add(s.sum);
    }
  }
  if (needs.area) {
    EnterArea({part.first, part.chunk->first_number});
    if (numbers > 1) {
      // Even steps: step · (Σv - half of both ends).
      const double step = Distance(part.first, part.last) / static_cast<double>(numbers - 1);
      area_ += step * (s.sum.Sum() - 0.5 * part.chunk->first_number - 0.5 * part.chunk->last_number);
    }
  }
  if (needs.increase) {
    if (part.begins_chunk) {
      EnterIncrease(part.chunk->first_number);
    }
    resets_.Add(*s.resets);
  }
  if (needs.neighbours() && part.ends_chunk) {
    number_ = Number{part.last, part.chunk->last_number};
  }
  count_ += numbers;
}

// Zeros are ordered -0 < +0, so that the result does not depend on the order of the samples.
void BucketState::AddExtremes(std::span<const double> numbers) {
  chunk::ValueScan scan = chunk::ScanValues(numbers);
  chunk::SettleZeros(numbers, &scan);
  MergeExtremes(scan.min, scan.max);
}

void BucketState::MergeExtremes(double low, double high) {
  if (count_ == 0) {
    min_ = low;
    max_ = high;
    return;
  }
  if (low < min_ || (low == min_ && std::signbit(low))) {
    min_ = low;
  }
  if (high > max_ || (high == max_ && !std::signbit(high))) {
    max_ = high;
  }
}

// From where the bucket begins, or from the number before (whichever is later), to its first number.
void BucketState::EnterArea(const Number& first) {
  if (count_ != 0) {
    area_ += 0.5 * (number_->value + first.value) * Distance(number_->time, first.time);
    return;
  }
  area_from_ = first.time;
  if (number_) {
    const Timestamp from = begin_ ? std::max(*begin_, number_->time) : number_->time;
    area_from_ = from;
    area_ += 0.5 * (Between(*number_, first, from) + first.value) * Distance(from, first.time);
  }
}

void BucketState::AddArea(const Timestamp* times, std::span<const double> numbers) {
  EnterArea({times[0], numbers[0]});
  area_ += AreaBelow(times, numbers.data(), numbers.size());
}

void BucketState::EnterIncrease(double first) {
  if (count_ == 0) {
    base_ = number_ ? number_->value : first;
  }
  if (number_ && first < number_->value) {
    resets_.Add(number_->value);
  }
}

void BucketState::AddIncrease(std::span<const double> numbers) {
  EnterIncrease(numbers.front());
  if (chunk::ScanValues(numbers).falls == 0) {
    return;
  }
  std::vector<double> before_falls;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (numbers[i] < numbers[i - 1]) {
      before_falls.push_back(numbers[i - 1]);
    }
  }
  resets_.Add(before_falls);
}

double BucketState::TimeWeighted(const Ending& ending) const {
  double area = area_;
  Timestamp to = number_->time;
  if (ending.after) {
    const Timestamp end = ending.end ? std::min(*ending.end, ending.after->time) : ending.after->time;
    if (end > to) {
      area += 0.5 * (number_->value + Between(*number_, *ending.after, end)) * Distance(to, end);
      to = end;
    }
  }
  const double span = Distance(area_from_, to);
  return span == 0 ? number_->value : area / span;
}

double BucketState::Increase() const {
  ExactSum sum = resets_;
  sum.Add(number_->value);
  sum.Add(-base_);
  return sum.Sum() + 0.0;  // no negative zero
}

double BucketState::Variance(std::uint64_t divisor) const {
  return divisor == 0 ? kNaN : spread_.Squares() / static_cast<double>(divisor);
}

double BucketState::Finish(const Aggregation& aggregation, const Ending& ending) {
  switch (aggregation.aggregator) {
    case Aggregator::kCount:
      return static_cast<double>(count_);
    case Aggregator::kCountNan:
      return static_cast<double>(count_all_ - count_);
    case Aggregator::kCountAll:
      return static_cast<double>(count_all_);
    case Aggregator::kFirst:
      return first_;
    case Aggregator::kLast:
      return last_;
    default:
      break;
  }
  if (count_ == 0) {
    return kNaN;
  }
  switch (aggregation.aggregator) {
    case Aggregator::kMin:
      return min_;
    case Aggregator::kMax:
      return max_;
    case Aggregator::kRange:
      return max_ - min_;
    case Aggregator::kSum:
      return sum_.Sum();
    case Aggregator::kAvg:
      return sum_.Mean(count_);
    case Aggregator::kVarP:
      return Variance(count_);
    case Aggregator::kVarS:
      return Variance(count_ - 1);
    case Aggregator::kStdP:
      return std::sqrt(Variance(count_));
    case Aggregator::kStdS:
      return std::sqrt(Variance(count_ - 1));
    case Aggregator::kTwa:
      return TimeWeighted(ending);
    case Aggregator::kIncrease:
      return Increase();
    case Aggregator::kRate:
      return ending.seconds == 0 ? kNaN : Increase() / ending.seconds;
    case Aggregator::kQuantile:
      return QuantileOf(values_, aggregation.q);
    default:
      return kNaN;
  }
}

}  // namespace tsdb::engine
