#include "engine/query/page_cursor.h"

#include <bit>
#include <charconv>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/checksum.h"

namespace tsdb::engine {
namespace {

/// Everything that decides which rows a query has, but the ends of its range.
std::uint32_t Fingerprint(const QuerySpec& spec) {
  std::string text = spec.selector.ToString();
  const auto add = [&](auto number) { text += fmt::format("|{}", number); };
  add(spec.selector.is_key());
  for (const SeriesRef& ref : spec.series) {
    add(ref.id.value);
  }
  add(spec.values.has_value());
  if (spec.values) {
    add(std::bit_cast<std::uint64_t>(spec.values->min));
    add(std::bit_cast<std::uint64_t>(spec.values->max));
  }
  for (const Timestamp time : spec.times) {
    add(time);
  }
  for (const Aggregation& aggregation : spec.aggregators) {
    add(AggregationName(aggregation));
  }
  add(spec.bucket.width);
  add(spec.bucket.align);
  add(static_cast<int>(spec.bucket.label));
  add(static_cast<int>(spec.bucket.calendar));
  add(spec.bucket.time_zone);
  add(static_cast<int>(spec.fill));
  add(std::bit_cast<std::uint64_t>(spec.fill_value));
  add(spec.latest);
  add(spec.reverse);
  add(spec.limit);
  for (const std::string& label : spec.group_by) {
    add(label);
  }
  add(spec.reduce ? AggregationName(*spec.reduce) : "");
  add(spec.join);
  return Checksum32(text, 0);
}

template <typename T>
bool Take(std::string_view* text, T* number, int base = 10) {
  const std::string_view part = text->substr(0, text->find('.'));
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), *number, base);
  if (part.empty() || error != std::errc() || end != part.data() + part.size()) {
    return false;
  }
  text->remove_prefix(std::min(text->size(), part.size() + 1));
  return true;
}

}  // namespace

std::string PageCursor::ToText(const QuerySpec& spec) const {
  return fmt::format("1.{:x}.{}.{}.{}", Fingerprint(spec), place, row_time ? fmt::format("{}", *row_time) : "-",
                     rows_given);
}

Result<PageCursor> PageCursor::Parse(const QuerySpec& spec) {
  const auto wrong = [&] {
    return Status::InvalidArgument(
        fmt::format("'{}' is no cursor of a page: give the one the page before ended with", spec.cursor));
  };
  std::string_view text = spec.cursor;
  int version = 0;
  std::uint32_t fingerprint = 0;
  PageCursor cursor;
  if (!Take(&text, &version) || version != 1 || !Take(&text, &fingerprint, 16) || !Take(&text, &cursor.place)) {
    return wrong();
  }
  if (text.starts_with("-.")) {
    text.remove_prefix(2);
  } else {
    cursor.row_time = 0;
    if (!Take(&text, &*cursor.row_time) || *cursor.row_time < kTimestampMin) {
      return wrong();
    }
  }
  if (!Take(&text, &cursor.rows_given) || !text.empty()) {
    return wrong();
  }
  if (fingerprint != Fingerprint(spec)) {
    return Status::InvalidArgument(
        fmt::format("'{}' is the cursor of another query: give the same selector, aggregators and options as for the "
                    "page before",
                    spec.cursor));
  }
  return cursor;
}

}  // namespace tsdb::engine
