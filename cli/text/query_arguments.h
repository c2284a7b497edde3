// The options of `query` as text, and the specification they make. Every error is one line that names the option.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/text/arguments.h"
#include "tsdb/query.h"

namespace tsdb::cli {

struct QueryArguments {
  SeriesArguments series;
  RangeArguments range;
  std::optional<std::string> aggregate;
  BucketArguments bucket;
  std::string calendar;   // a CalendarUnit; empty: none
  std::string time_zone;
  std::string fill = "none";
  std::string value_min;  // numbers; empty: no bound
  std::string value_max;
  std::string times;      // separated by commas; empty: all
  std::uint64_t top = 0;
  std::uint64_t bottom = 0;
  std::string top_by = "max";
  std::string group_by;   // names of labels, separated by commas
  std::string reduce;     // an aggregator; empty: series stay as they are
  bool join = false;
  bool latest = false;
  bool reverse = false;
  std::uint64_t limit = 0;
  std::uint64_t page = 0;
  std::string cursor;
  bool explain = false;
};

/// What does not depend on the database's unit; to be done before it is opened.
Result<QuerySpec> ParseQuery(const QueryArguments& arguments);
/// Times and widths.
Status CompleteQuery(const QueryArguments& arguments, TimeUnit unit, Timestamp now, QuerySpec* spec);

}  // namespace tsdb::cli
