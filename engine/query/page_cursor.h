// PageCursor: where the next page of a query begins, as text that names its query.
//
//   1.<fingerprint of the specification>.<series, or place of the group>.<row time or ->.<rows given of it>
//
// Thread safety: value type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tsdb/query.h"

namespace tsdb::engine {

struct PageCursor {
  /// Id of the series; of series asked for by reference, and of groups: their place.
  std::uint64_t place = 0;
  /// Rows of it up to here were given.
  std::optional<Timestamp> row_time;
  std::uint64_t rows_given = 0;

  std::string ToText(const QuerySpec& spec) const;
  /// kInvalidArgument: no cursor, or one of another query.
  static Result<PageCursor> Parse(const QuerySpec& spec);
};

}  // namespace tsdb::engine
