#include "engine/query/bucket_state.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chunk/value_scan.h"

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
      case Aggregator::kCount:
      case Aggregator::kCountNan:
      case Aggregator::kCountAll:
      case Aggregator::kFirst:
      case Aggregator::kLast:
      case Aggregator::kTwa:
      case Aggregator::kIncrease:
      case Aggregator::kRate:
      case Aggregator::kQuantile:
        break;
    }
  }
}

void DoubleDouble::Add(double value) {
  const double sum = high + value;
  const double part = sum - high;
  low += (high - (sum - part)) + (value - part);
  high = sum;
}

void DoubleDouble::AddProduct(double a, double b) {
  const double product = a * b;
  Add(product);
  low += std::fma(a, b, -product);
}

void BucketState::Reset() { *this = BucketState(); }

void BucketState::Add(std::span<const double> values, const BucketNeeds& needs) {
  if (count_all_ == 0) {
    first_ = values.front();
  }
  last_ = values.back();
  count_all_ += values.size();
  if (needs.sum && sum_.TryAdd(values)) {  // then there is no NaN either
    AddNumbers(values, needs, false);
    return;
  }
  std::size_t nans = 0;
  for (const double value : values) {
    nans += value != value ? 1 : 0;
  }
  if (nans == 0) {
    AddNumbers(values, needs, needs.sum);
    return;
  }
  if (nans == values.size()) {
    return;
  }
  std::vector<double> numbers;
  numbers.reserve(values.size() - nans);
  std::copy_if(values.begin(), values.end(), std::back_inserter(numbers), [](double v) { return v == v; });
  AddNumbers(numbers, needs, needs.sum);
}

void BucketState::AddNumbers(std::span<const double> numbers, const BucketNeeds& needs, bool sum) {
  if (needs.extremes) {
    AddExtremes(numbers);
  }
  if (sum) {
    sum_.Add(numbers);
  }
  if (needs.variance) {
    AddVariance(numbers);
  }
  count_ += numbers.size();
}

// Zeros are ordered -0 < +0, so that the result does not depend on the order of the samples.
void BucketState::AddExtremes(std::span<const double> numbers) {
  chunk::ValueScan scan = chunk::ScanValues(numbers);
  chunk::SettleZeros(numbers, &scan);
  const double low = scan.min;
  const double high = scan.max;
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

void BucketState::AddVariance(std::span<const double> numbers) {
  if (count_ == 0) {
    ExactSum sum;
    sum.Add(numbers);
    shift_ = sum.Mean(numbers.size());
    infinite_ = !std::isfinite(shift_);
  }
  for (const double value : numbers) {
    if (!std::isfinite(value)) {
      infinite_ = true;
    }
  }
  if (infinite_) {
    return;
  }
  for (const double value : numbers) {
    // d + e is the exact difference.
    const double d = value - shift_;
    const double part = d - value;
    const double e = (value - (d - part)) + (-shift_ - part);
    shifted_sum_.Add(d);
    shifted_sum_.low += e;
    shifted_squares_.AddProduct(d, d);
    shifted_squares_.low += 2 * d * e;
  }
}

double BucketState::Variance(std::uint64_t divisor) const {
  if (count_ == 0 || divisor == 0 || infinite_) {
    return kNaN;
  }
  const double sum = shifted_sum_.high + shifted_sum_.low;
  const double n = static_cast<double>(count_);
  // Σ(v - k)² - (Σ(v - k))² / n, the second term in double-double as well.
  const double mean = sum / n;
  DoubleDouble squares = shifted_squares_;
  squares.AddProduct(-mean, sum);
  squares.low -= mean * ((shifted_sum_.high - sum) + shifted_sum_.low);
  squares.low -= std::fma(-mean, n, sum) / n * sum;
  const double spread = std::max(0.0, squares.high + squares.low);
  return spread / static_cast<double>(divisor);
}

double BucketState::Finish(const Aggregation& aggregation) const {
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
    case Aggregator::kMin:
      return count_ == 0 ? kNaN : min_;
    case Aggregator::kMax:
      return count_ == 0 ? kNaN : max_;
    case Aggregator::kRange:
      return count_ == 0 ? kNaN : max_ - min_;
    case Aggregator::kSum:
      return count_ == 0 ? kNaN : sum_.Sum();
    case Aggregator::kAvg:
      return count_ == 0 ? kNaN : sum_.Mean(count_);
    case Aggregator::kVarP:
      return Variance(count_);
    case Aggregator::kVarS:
      return Variance(count_ - (count_ == 0 ? 0 : 1));
    case Aggregator::kStdP:
      return std::sqrt(Variance(count_));
    case Aggregator::kStdS:
      return std::sqrt(Variance(count_ - (count_ == 0 ? 0 : 1)));
    case Aggregator::kTwa:
    case Aggregator::kIncrease:
    case Aggregator::kRate:
    case Aggregator::kQuantile:
      break;
  }
  return kNaN;
}

}  // namespace tsdb::engine
