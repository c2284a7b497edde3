// The queries of TSBS "devops, cpu-only", asked of a database through its public face.
//
//   single-groupby-M-H-T    maximum per minute of M metrics over H hosts together, T hours
//   cpu-max-all-H           maximum per hour of all ten metrics over H hosts together, 8 hours
//   double-groupby-M        average per hour and host of M metrics, all hosts, 12 hours; `all`: ten metrics
//   high-cpu-1, -all        all metrics where usage_user is above 90, one host or all, 12 hours
//   lastpoint               the last value of every metric of every host
//   groupby-orderby-limit   maximum of usage_user per minute over all hosts, the last five minutes before a time,
//                           newest first
//
// Answers are rows with a name each, the same for every database that is asked (bench/peers), in any order. Any error
// ends the program.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tsdb/database.h"

namespace tsdb::bench {

/// All fifteen, in the order above.
const std::vector<std::string>& TsbsQueryNames();

struct TsbsRequest {
  std::string query;
  /// Milliseconds, the end excluded. Not used by lastpoint.
  Timestamp from = 0;
  Timestamp to = 0;
  /// "host_3"; empty: all.
  std::vector<std::string> hosts;
};

/// Rows side by side: a row is a name ("usage_user", "usage_user host_3", "host_3" or ""), a time and its values.
struct TsbsAnswer {
  std::vector<std::string> names;
  std::vector<std::uint32_t> row_names;  // positions in `names`
  std::vector<Timestamp> times;
  std::vector<double> values;            // `width` per row
  std::size_t width = 1;

  std::size_t rows() const { return times.size(); }
  /// One line per row: name, time and values, separated by blanks; sorted.
  std::string ToText() const;
};

/// kInvalidArgument: no such query.
Result<TsbsAnswer> RunTsbsQuery(Database& database, const TsbsRequest& request);

/// The request that a benchmark makes in its `round`: hosts and times from the seed, whole minutes within
/// [start_ms, end_ms).
struct TsbsDataSet {
  std::size_t hosts = 100;
  Timestamp start_ms = 0;
  Timestamp end_ms = 0;
};
TsbsRequest MakeTsbsRequest(const TsbsDataSet& data, const std::string& query, std::uint64_t seed, std::uint64_t round);

}  // namespace tsdb::bench
