#include "cli/commands/active_series.h"

namespace tsdb::cli {

Status ForEachSeries(Database& db, const Selector& selector, const TimeRange& range, std::uint64_t limit,
                     const std::function<bool(const SeriesInfo&)>& visit) {
  if (range == TimeRange{}) {
    TSDB_ASSIGN_OR_RETURN(const std::vector<SeriesInfo> all, db.ListSeries(selector, limit));
    for (const SeriesInfo& series : all) {
      if (!visit(series)) {
        break;
      }
    }
    return Status::Ok();
  }
  QuerySpec spec;
  spec.selector = selector;
  spec.range = range;
  spec.limit = 1;
  TSDB_ASSIGN_OR_RETURN(const std::unique_ptr<QueryResult> result, db.Query(spec));
  std::uint64_t count = 0;
  while (result->NextSeries()) {
    if (!visit(result->series()) || ++count == limit) {
      return Status::Ok();
    }
  }
  return result->status();
}

}  // namespace tsdb::cli
