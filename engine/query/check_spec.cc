#include "engine/query/check_spec.h"

#include <fmt/format.h>

#include "engine/query/group_reducer.h"

namespace tsdb::engine {
namespace {

Status CheckAggregation(const Aggregation& aggregation) {
  if (aggregation.aggregator > Aggregator::kQuantile) {
    return Status::InvalidArgument(
        fmt::format("{} is the number of no aggregator", static_cast<int>(aggregation.aggregator)));
  }
  if (aggregation.aggregator == Aggregator::kQuantile && !(aggregation.q >= 0 && aggregation.q <= 1)) {
    return Status::InvalidArgument(
        fmt::format("the parameter of quantile is {}: give a number from 0 to 1", aggregation.q));
  }
  return Status::Ok();
}

}  // namespace

Status CheckSpec(const QuerySpec& spec) {
  for (const Aggregation& aggregation : spec.aggregators) {
    TSDB_RETURN_IF_ERROR(CheckAggregation(aggregation));
  }
  if (spec.values && !(spec.values->min <= spec.values->max)) {
    return Status::InvalidArgument(fmt::format("values from {} to {}: the first must not be above the second",
                                               spec.values->min, spec.values->max));
  }
  if (spec.fill != Fill::kNone &&
      (spec.aggregators.empty() || (spec.bucket.width == 0 && spec.bucket.calendar == CalendarUnit::kNone))) {
    return Status::InvalidArgument("only buckets can be filled: give aggregators and a bucket width");
  }
  if (spec.latest && !spec.aggregators.empty()) {
    return Status::InvalidArgument("the latest sample is no aggregate: leave out the aggregators, or ask for last");
  }
  if (!spec.group_by.empty() && !spec.reduce) {
    return Status::InvalidArgument("groups need an aggregator that reduces their series");
  }
  if (spec.reduce) {
    TSDB_RETURN_IF_ERROR(CheckAggregation(*spec.reduce));
    if (!GroupReducer::Reduces(spec.reduce->aggregator)) {
      return Status::InvalidArgument(fmt::format(
          "{} depends on the times of samples, which series at one time do not differ in: reduce groups by another one",
          AggregationName(*spec.reduce)));
    }
    if (spec.join) {
      return Status::InvalidArgument("series are joined or reduced to groups, not both");
    }
  }
  if (spec.top.count != 0) {
    TSDB_RETURN_IF_ERROR(CheckAggregation(spec.top.by));
    if (spec.page_rows != 0 || !spec.cursor.empty()) {
      return Status::InvalidArgument("pages go by series, top series by value: ask for one of them");
    }
  }
  return Status::Ok();
}

}  // namespace tsdb::engine
