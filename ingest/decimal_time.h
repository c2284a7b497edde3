// Times written as decimals or dates, converted exactly: no double stands in between.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tsdb/types.h"

namespace tsdb::ingest {

/// A decimal in `from` units, such as "1700000000.123", to `to` units, digits beyond the unit rounded towards minus
/// infinity. Null: converted; otherwise the reason it is refused. An exponent is read only when `exponent_allowed`.
const char* ParseDecimalTime(std::string_view text, TimeUnit from, TimeUnit to, bool exponent_allowed, Timestamp* out);

/// A decimal as above or a date and time (RFC 3339). Null: converted; otherwise the reason.
const char* ParseTimeCell(std::string_view text, TimeUnit from, TimeUnit to, Timestamp* out);

/// Appends `time` as seconds with as many decimals as it needs.
void AppendSeconds(Timestamp time, TimeUnit unit, std::string* out);

}  // namespace tsdb::ingest
