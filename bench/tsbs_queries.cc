#include "bench/tsbs_queries.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "tsdb/ingest.h"

namespace tsdb::bench {
namespace {

constexpr Timestamp kMinute = 60'000;
constexpr Timestamp kHour = 60 * kMinute;
constexpr double kHighCpu = 90;
constexpr std::string_view kMetricPrefix = "cpu_";
constexpr std::array<std::string_view, 10> kMetrics = {
    "usage_user", "usage_system",  "usage_idle",  "usage_nice",  "usage_iowait",
    "usage_irq",  "usage_softirq", "usage_steal", "usage_guest", "usage_guest_nice"};

Matcher In(std::string_view name, std::vector<std::string> values) {
  Matcher matcher;
  matcher.name = name;
  matcher.op = values.size() == 1 ? Matcher::Op::kEqual : Matcher::Op::kIn;
  matcher.values = std::move(values);
  return matcher;
}

/// The first `metrics` metrics of `hosts` (empty: all).
Selector Select(std::size_t metrics, const std::vector<std::string>& hosts) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < metrics; ++i) {
    names.push_back(std::string(kMetricPrefix).append(kMetrics[i]));
  }
  std::vector<Matcher> matchers = {In(kMetricLabel, std::move(names))};
  if (!hosts.empty()) {
    matchers.push_back(In("hostname", hosts));
  }
  return Selector(std::move(matchers));
}

std::string MetricOf(const SeriesInfo& series) {
  return std::string(series.labels.Get(kMetricLabel).substr(kMetricPrefix.size()));
}

std::uint32_t AddName(TsbsAnswer* answer, std::string name) {
  answer->names.push_back(std::move(name));
  return static_cast<std::uint32_t>(answer->names.size() - 1);
}

/// The rest of the current series, which has one column.
void TakeColumn(QueryResult& result, std::uint32_t name, ColumnBatch* batch, TsbsAnswer* answer) {
  while (result.NextBatch(batch)) {
    answer->row_names.insert(answer->row_names.end(), batch->times.size(), name);
    answer->times.insert(answer->times.end(), batch->times.begin(), batch->times.end());
    answer->values.insert(answer->values.end(), batch->columns[0].begin(), batch->columns[0].end());
  }
}

/// Maximum per bucket and metric over all hosts of the request together.
Result<TsbsAnswer> GroupByMetric(Database& database, const TsbsRequest& request, std::size_t metrics, Timestamp width) {
  QuerySpec spec;
  spec.selector = Select(metrics, request.hosts);
  spec.range = {request.from, request.to - 1};
  spec.aggregators = {Aggregator::kMax};
  spec.bucket = {.width = width, .align = request.from};
  spec.group_by = {std::string(kMetricLabel)};
  spec.reduce = Aggregation(Aggregator::kMax);
  TSDB_ASSIGN_OR_RETURN(const auto result, database.Query(spec));
  TsbsAnswer answer;
  ColumnBatch batch;
  while (result->NextSeries()) {
    TakeColumn(*result, AddName(&answer, MetricOf(result->series())), &batch, &answer);
  }
  TSDB_RETURN_IF_ERROR(result->status());
  return answer;
}

/// Average per hour of every series.
Result<TsbsAnswer> DoubleGroupBy(Database& database, const TsbsRequest& request, std::size_t metrics) {
  QuerySpec spec;
  spec.selector = Select(metrics, {});
  spec.range = {request.from, request.to - 1};
  spec.aggregators = {Aggregator::kAvg};
  spec.bucket = {.width = kHour, .align = request.from};
  TSDB_ASSIGN_OR_RETURN(const auto result, database.Query(spec));
  TsbsAnswer answer;
  ColumnBatch batch;
  while (result->NextSeries()) {
    const std::uint32_t name =
        AddName(&answer, MetricOf(result->series()) + " " + std::string(result->series().labels.Get("hostname")));
    TakeColumn(*result, name, &batch, &answer);
  }
  TSDB_RETURN_IF_ERROR(result->status());
  return answer;
}

std::size_t MetricColumn(std::string_view metric) {
  return static_cast<std::size_t>(std::find(kMetrics.begin(), kMetrics.end(), metric) - kMetrics.begin());
}

/// Rows of a host that are wanted: their times, and where they stand in the answer.
struct HostRows {
  std::vector<Timestamp> times;
  std::size_t first_row = 0;
};
using RowsByHost = std::unordered_map<std::string, HostRows>;

/// Where usage_user is above 90. The answer gets the rows without their values.
Result<RowsByHost> FindHighCpu(Database& database, const TsbsRequest& request, TsbsAnswer* answer) {
  QuerySpec spec;
  spec.selector = Select(1, request.hosts);
  spec.range = {request.from, request.to - 1};
  spec.values = ValueRange{.min = std::nextafter(kHighCpu, 100.0)};
  TSDB_ASSIGN_OR_RETURN(const auto result, database.Query(spec));
  RowsByHost found;
  ColumnBatch batch;
  while (result->NextSeries()) {
    const std::string host(result->series().labels.Get("hostname"));
    HostRows& rows = found[host];
    rows.first_row = answer->rows();
    while (result->NextBatch(&batch)) {
      rows.times.insert(rows.times.end(), batch.times.begin(), batch.times.end());
    }
    answer->times.insert(answer->times.end(), rows.times.begin(), rows.times.end());
    answer->row_names.resize(answer->rows(), AddName(answer, host));
  }
  TSDB_RETURN_IF_ERROR(result->status());
  answer->values.resize(answer->rows() * answer->width);
  return found;
}

/// All metrics where usage_user is above 90: first where that is, then all metrics of the hosts that have it.
Result<TsbsAnswer> HighCpu(Database& database, const TsbsRequest& request) {
  TsbsAnswer answer;
  answer.width = kMetrics.size();
  TSDB_ASSIGN_OR_RETURN(const RowsByHost found, FindHighCpu(database, request, &answer));
  if (found.empty()) {
    return answer;
  }
  QuerySpec spec;
  std::vector<std::string> hosts;
  for (const auto& [host, rows] : found) {
    hosts.push_back(host);
  }
  spec.selector = Select(kMetrics.size(), hosts);
  spec.range = {request.from, request.to - 1};
  TSDB_ASSIGN_OR_RETURN(const auto result, database.Query(spec));
  ColumnBatch batch;
  while (result->NextSeries()) {
    const HostRows& rows = found.at(std::string(result->series().labels.Get("hostname")));
    const std::size_t column = MetricColumn(MetricOf(result->series()));
    std::size_t wanted = 0;
    while (result->NextBatch(&batch) && wanted < rows.times.size()) {
      for (std::size_t row = 0; row < batch.times.size() && wanted < rows.times.size(); ++row) {
        if (batch.times[row] == rows.times[wanted]) {
          answer.values[(rows.first_row + wanted) * answer.width + column] = batch.columns[0][row];
          ++wanted;
        }
      }
    }
  }
  TSDB_RETURN_IF_ERROR(result->status());
  return answer;
}

/// The newest sample of every series.
Result<TsbsAnswer> LastPoint(Database& database) {
  QuerySpec spec;
  spec.selector = Select(kMetrics.size(), {});
  spec.latest = true;
  TSDB_ASSIGN_OR_RETURN(const auto result, database.Query(spec));
  TsbsAnswer answer;
  answer.width = kMetrics.size();
  std::unordered_map<std::string, std::size_t> rows;
  ColumnBatch batch;
  while (result->NextSeries()) {
    const std::string host(result->series().labels.Get("hostname"));
    const auto [found, added] = rows.try_emplace(host, answer.rows());
    if (!result->NextBatch(&batch)) {
      break;
    }
    if (added) {
      answer.row_names.push_back(AddName(&answer, host));
      answer.times.push_back(batch.times[0]);
      answer.values.resize(answer.values.size() + answer.width);
    }
    answer.values[found->second * answer.width + MetricColumn(MetricOf(result->series()))] = batch.columns[0][0];
  }
  TSDB_RETURN_IF_ERROR(result->status());
  return answer;
}

/// Maxima of the five minutes before the request's end, newest first.
Result<TsbsAnswer> LastMinutes(Database& database, const TsbsRequest& request) {
  TsbsRequest minutes = request;
  minutes.from = request.to - 5 * kMinute;
  TSDB_ASSIGN_OR_RETURN(TsbsAnswer answer, GroupByMetric(database, minutes, 1, kMinute));
  std::reverse(answer.times.begin(), answer.times.end());
  std::reverse(answer.values.begin(), answer.values.end());
  answer.names.assign(answer.names.size(), "");
  return answer;
}

/// What the name of a query says.
struct Shape {
  std::size_t metrics = 1;
  std::size_t hosts = 0;  // 0: all
  Timestamp hours = 12;
};

/// "1-8-12" behind the prefix; "all" is ten metrics.
Shape ParseShape(std::string_view text) {
  std::array<std::int64_t, 3> numbers = {1, 0, 12};
  if (text == "all") {
    return {.metrics = kMetrics.size()};
  }
  for (std::int64_t& number : numbers) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    text.remove_prefix(error == std::errc() ? static_cast<std::size_t>(end - text.data()) : text.size());
    text.remove_prefix(text.starts_with("-") ? 1 : 0);
  }
  return {static_cast<std::size_t>(numbers[0]), static_cast<std::size_t>(numbers[1]), numbers[2]};
}

bool TakePrefix(std::string_view* text, std::string_view prefix) {
  const bool found = text->starts_with(prefix);
  text->remove_prefix(found ? prefix.size() : 0);
  return found;
}

Shape ShapeOf(std::string_view query) {
  if (TakePrefix(&query, "single-groupby-")) return ParseShape(query);
  if (TakePrefix(&query, "cpu-max-all-")) return {kMetrics.size(), ParseShape(query).metrics, 8};
  if (TakePrefix(&query, "double-groupby-")) return {ParseShape(query).metrics, 0, 12};
  if (TakePrefix(&query, "high-cpu-")) return {kMetrics.size(), query == "all" ? 0u : 1u, 12};
  if (query == "groupby-orderby-limit") return {1, 0, 1};
  return {};
}

/// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t NextRandom(std::uint64_t* state) {
  std::uint64_t z = (*state += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

}  // namespace

const std::vector<std::string>& TsbsQueryNames() {
  static const std::vector<std::string> names = {
      "single-groupby-1-1-1", "single-groupby-1-1-12", "single-groupby-1-8-1", "single-groupby-5-1-1",
      "single-groupby-5-1-12", "single-groupby-5-8-1", "cpu-max-all-1",        "cpu-max-all-8",
      "double-groupby-1",      "double-groupby-5",     "double-groupby-all",   "high-cpu-1",
      "high-cpu-all",          "lastpoint",            "groupby-orderby-limit"};
  return names;
}

Result<TsbsAnswer> RunTsbsQuery(Database& database, const TsbsRequest& request) {
  const std::string_view query = request.query;
  const std::size_t metrics = ShapeOf(query).metrics;
  if (query.starts_with("single-groupby-")) return GroupByMetric(database, request, metrics, kMinute);
  if (query.starts_with("cpu-max-all-")) return GroupByMetric(database, request, metrics, kHour);
  if (query.starts_with("double-groupby-")) return DoubleGroupBy(database, request, metrics);
  if (query.starts_with("high-cpu-")) return HighCpu(database, request);
  if (query == "lastpoint") return LastPoint(database);
  if (query == "groupby-orderby-limit") return LastMinutes(database, request);
  return Status::InvalidArgument("no query is named '" + request.query + "'");
}

TsbsRequest MakeTsbsRequest(const TsbsDataSet& data, const std::string& query, std::uint64_t seed,
                            std::uint64_t round) {
  const Shape shape = ShapeOf(query);
  std::uint64_t state = seed * 1000003 + round;
  TsbsRequest request;
  request.query = query;
  const auto span = static_cast<std::uint64_t>(data.end_ms - data.start_ms - shape.hours * kHour);
  request.from = data.start_ms + static_cast<Timestamp>(NextRandom(&state) % (span / kMinute + 1)) * kMinute;
  request.to = request.from + shape.hours * kHour;
  std::vector<std::size_t> hosts(data.hosts);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    hosts[i] = i;
  }
  for (std::size_t i = 0; i < std::min(shape.hosts, hosts.size()); ++i) {
    std::swap(hosts[i], hosts[i + NextRandom(&state) % (hosts.size() - i)]);
    request.hosts.push_back("host_" + std::to_string(hosts[i]));
  }
  return request;
}

std::string TsbsAnswer::ToText() const {
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < rows(); ++row) {
    std::string line = names[row_names[row]];
    line += (line.empty() ? "" : " ") + std::to_string(times[row]);
    for (std::size_t i = 0; i < width; ++i) {
      line += ' ';
      AppendDouble(values[row * width + i], &line);
    }
    lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

}  // namespace tsdb::bench
