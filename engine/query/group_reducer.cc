#include "engine/query/group_reducer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/query/bucket_state.h"

namespace tsdb::engine {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool KeepsSums(Aggregator a) { return a == Aggregator::kSum || a == Aggregator::kAvg; }
bool KeepsSpreads(Aggregator a) {
  return a == Aggregator::kStdP || a == Aggregator::kStdS || a == Aggregator::kVarP || a == Aggregator::kVarS;
}

// Zeros in the order -0, +0.
bool Less(double a, double b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }

/// Opens the rows of `gaps` (positions before the insertion, ascending) in a vector.
template <typename T>
void OpenRows(const std::vector<std::size_t>& gaps, std::vector<T>* values) {
  std::size_t from = values->size();
  values->resize(values->size() + gaps.size());
  std::size_t to = values->size();
  for (std::size_t k = gaps.size(); k-- > 0;) {
    while (from > gaps[k]) {
      (*values)[--to] = std::move((*values)[--from]);
    }
    (*values)[--to] = T();
  }
}

}  // namespace

bool GroupReducer::Reduces(Aggregator aggregator) {
  switch (aggregator) {
    case Aggregator::kFirst:
    case Aggregator::kLast:
    case Aggregator::kTwa:
    case Aggregator::kIncrease:
    case Aggregator::kRate:
      return false;
    default:
      return true;
  }
}

void GroupReducer::Clear() {
  times_.clear();
  columns_.clear();
  next_ = 0;
}

/// Makes sure that there is a row for each of the times.
void GroupReducer::MakeRoom(std::span<const Timestamp> times) {
  std::vector<std::size_t> gaps;
  std::vector<Timestamp> missing;
  std::size_t row = next_;
  for (const Timestamp time : times) {
    while (row < times_.size() && Before(times_[row], time)) {
      ++row;
    }
    if (row == times_.size() || times_[row] != time) {
      gaps.push_back(row);
      missing.push_back(time);
    }
  }
  if (gaps.empty()) {
    return;
  }
  OpenRows(gaps, &times_);
  for (std::size_t k = 0; k < gaps.size(); ++k) {
    times_[gaps[k] + k] = missing[k];
  }
  for (Column& column : columns_) {
    OpenRows(gaps, &column.cells);
    if (KeepsSums(reduce_.aggregator)) {
      OpenRows(gaps, &column.sums);
    }
    if (KeepsSpreads(reduce_.aggregator)) {
      OpenRows(gaps, &column.spreads);
    }
    if (reduce_.aggregator == Aggregator::kQuantile) {
      OpenRows(gaps, &column.values);
    }
  }
}

void GroupReducer::Add(const ColumnBatch& batch) {
  if (columns_.size() < batch.columns.size()) {
    columns_.resize(batch.columns.size());
  }
  // A series may begin anywhere among the rows of those before.
  if (next_ < times_.size() && Before(times_[next_], batch.times.front())) {
    next_ = static_cast<std::size_t>(std::lower_bound(times_.begin() + static_cast<std::ptrdiff_t>(next_), times_.end(),
                                                      batch.times.front(),
                                                      [this](Timestamp a, Timestamp b) { return Before(a, b); }) -
                                     times_.begin());
  }
  MakeRoom(batch.times);
  for (std::size_t k = 0; k < batch.columns.size(); ++k) {
    std::size_t row = next_;
    for (std::size_t i = 0; i < batch.times.size(); ++i, ++row) {
      while (times_[row] != batch.times[i]) {
        ++row;
      }
      AddValue(&columns_[k], row, batch.columns[k][i]);
    }
    if (k + 1 == batch.columns.size()) {
      next_ = row;
    }
  }
}

void GroupReducer::AddValue(Column* column, std::size_t row, double value) const {
  Cell& cell = column->cells[row];
  ++cell.all;
  if (value != value) {
    return;
  }
  if (cell.count == 0) {
    cell.min = cell.max = value;
  } else {
    cell.min = Less(value, cell.min) ? value : cell.min;
    cell.max = Less(cell.max, value) ? value : cell.max;
  }
  ++cell.count;
  if (KeepsSums(reduce_.aggregator)) {
    column->sums[row].Add(value);
  } else if (KeepsSpreads(reduce_.aggregator)) {
    ExactSum sum;
    sum.Add(value);
    column->spreads[row].Add({&value, 1}, sum);
  } else if (reduce_.aggregator == Aggregator::kQuantile) {
    column->values[row].push_back(value);
  }
}

double GroupReducer::FinishCell(Column* column, std::size_t row) const {
  const Cell& cell = column->cells[row];
  switch (reduce_.aggregator) {
    case Aggregator::kCount:
      return cell.count;
    case Aggregator::kCountNan:
      return cell.all - cell.count;
    case Aggregator::kCountAll:
      return cell.all;
    default:
      break;
  }
  if (cell.count == 0) {
    return kNaN;
  }
  const auto variance = [&](std::uint32_t divisor) {
    return divisor == 0 ? kNaN : column->spreads[row].Squares() / divisor;
  };
  switch (reduce_.aggregator) {
    case Aggregator::kMin:
      return cell.min;
    case Aggregator::kMax:
      return cell.max;
    case Aggregator::kRange:
      return cell.max - cell.min;
    case Aggregator::kSum:
      return column->sums[row].Sum();
    case Aggregator::kAvg:
      return column->sums[row].Mean(cell.count);
    case Aggregator::kVarP:
      return variance(cell.count);
    case Aggregator::kVarS:
      return variance(cell.count - 1);
    case Aggregator::kStdP:
      return std::sqrt(variance(cell.count));
    case Aggregator::kStdS:
      return std::sqrt(variance(cell.count - 1));
    case Aggregator::kQuantile:
      return QuantileOf(column->values[row], reduce_.q);
    default:
      return kNaN;
  }
}

void GroupReducer::Finish(std::size_t begin, std::size_t count, RowBlock* rows) {
  rows->Reset(columns_.size());
  const std::size_t end = std::min(times_.size(), begin + count);
  for (std::size_t row = begin; row < end; ++row) {
    rows->times.push_back(times_[row]);
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      rows->columns[k].push_back(FinishCell(&columns_[k], row));
    }
  }
}

}  // namespace tsdb::engine
