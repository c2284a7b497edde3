#include "cli/text/query_arguments.h"

#include "tsdb/time_text.h"

namespace tsdb::cli {
namespace {

Status ParseFill(const std::string& text, QuerySpec* spec) {
  for (const Fill fill : {Fill::kNone, Fill::kEmpty, Fill::kNull, Fill::kPrevious, Fill::kLinear}) {
    if (text == FillName(fill)) {
      spec->fill = fill;
      return Status::Ok();
    }
  }
  const Result<double> value = ParseNumber(text);
  if (!value.ok()) {
    return Status::InvalidArgument("--fill " + text + ": use none, empty, null, previous, linear or a number");
  }
  spec->fill = Fill::kConstant;
  spec->fill_value = *value;
  return Status::Ok();
}

Status ParseValues(const QueryArguments& arguments, QuerySpec* spec) {
  if (arguments.value_min.empty() && arguments.value_max.empty()) {
    return Status::Ok();
  }
  ValueRange range;
  if (!arguments.value_min.empty()) {
    const Result<double> min = ParseNumber(arguments.value_min);
    if (!min.ok()) {
      return min.status().WithContext("--min-value");
    }
    range.min = *min;
  }
  if (!arguments.value_max.empty()) {
    const Result<double> max = ParseNumber(arguments.value_max);
    if (!max.ok()) {
      return max.status().WithContext("--max-value");
    }
    range.max = *max;
  }
  if (range.min > range.max) {
    return Status::InvalidArgument("--min-value " + arguments.value_min + " is above --max-value " +
                                   arguments.value_max + ": swap them");
  }
  spec->values = range;
  return Status::Ok();
}

Status ParseGroups(const QueryArguments& arguments, QuerySpec* spec) {
  if (!arguments.reduce.empty()) {
    Result<Aggregation> reduce = ParseAggregation(arguments.reduce);
    if (!reduce.ok()) {
      return reduce.status().WithContext("--reduce");
    }
    spec->reduce = *reduce;
  }
  if (!arguments.group_by.empty()) {
    spec->group_by = SplitList(arguments.group_by);
    for (const std::string& name : spec->group_by) {
      if (name.empty()) {
        return Status::InvalidArgument("--group-by " + arguments.group_by + ": a name is missing between commas");
      }
    }
  }
  return Status::Ok();
}

Status ParseTop(const QueryArguments& arguments, QuerySpec* spec) {
  const Result<Aggregation> by = ParseAggregation(arguments.top_by);
  if (!by.ok()) {
    return by.status().WithContext("--top-by");
  }
  spec->top = {.count = arguments.top != 0 ? arguments.top : arguments.bottom,
               .by = *by,
               .smallest = arguments.bottom != 0};
  return Status::Ok();
}

}  // namespace

Result<QuerySpec> ParseQuery(const QueryArguments& arguments) {
  QuerySpec spec;
  TSDB_ASSIGN_OR_RETURN(spec.selector, ParseSeries(arguments.series, false));
  if (arguments.aggregate) {
    TSDB_ASSIGN_OR_RETURN(spec.aggregators, ParseAggregators(*arguments.aggregate));
  }
  if (!arguments.calendar.empty()) {
    TSDB_ASSIGN_OR_RETURN(spec.bucket.calendar, ParseCalendarUnit(arguments.calendar));
    spec.bucket.time_zone = arguments.time_zone;
  }
  TSDB_RETURN_IF_ERROR(ParseFill(arguments.fill, &spec));
  TSDB_RETURN_IF_ERROR(ParseValues(arguments, &spec));
  TSDB_RETURN_IF_ERROR(ParseGroups(arguments, &spec));
  TSDB_RETURN_IF_ERROR(ParseTop(arguments, &spec));
  spec.join = arguments.join;
  spec.latest = arguments.latest;
  spec.reverse = arguments.reverse;
  spec.limit = arguments.limit;
  spec.page_rows = arguments.page;
  spec.cursor = arguments.cursor;
  spec.explain = arguments.explain;
  return spec;
}

Status CompleteQuery(const QueryArguments& arguments, TimeUnit unit, Timestamp now, QuerySpec* spec) {
  TSDB_ASSIGN_OR_RETURN(spec->range, ParseRange(arguments.range, unit, now));
  BucketSpec calendar = spec->bucket;
  TSDB_ASSIGN_OR_RETURN(spec->bucket, ParseBucket(arguments.bucket, arguments.range, spec->range, unit, now));
  spec->bucket.calendar = calendar.calendar;
  spec->bucket.time_zone = std::move(calendar.time_zone);
  if (arguments.times.empty()) {
    return Status::Ok();
  }
  for (const std::string& text : SplitList(arguments.times)) {
    const Result<Timestamp> time = ParseTime(text, unit, now);
    if (!time.ok()) {
      return time.status().WithContext("--at-times");
    }
    spec->times.push_back(*time);
  }
  return Status::Ok();
}

}  // namespace tsdb::cli
