// info: what is known of one series.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/open_database.h"
#include "cli/text/escape.h"
#include "cli/text/numbers.h"
#include "cli/text/row_writer.h"
#include "cli/text/table.h"
#include "tsdb/ingest.h"
#include "tsdb/time_text.h"

namespace tsdb::cli {
namespace {

struct InfoOptions {
  std::string key;
  bool json = false;
};

struct SeriesFigures {
  std::uint64_t samples = 0;
  std::optional<Sample> first;
  std::optional<Sample> last;
};

/// The first row of a query that matches one series; nothing when it has none.
Result<std::optional<Sample>> FirstRow(Database& db, const QuerySpec& spec) {
  TSDB_ASSIGN_OR_RETURN(const std::unique_ptr<QueryResult> result, db.Query(spec));
  ColumnBatch batch;
  if (result->NextSeries() && result->NextBatch(&batch) && !batch.times.empty()) {
    return std::optional<Sample>(Sample{batch.times[0], batch.columns[0][0]});
  }
  TSDB_RETURN_IF_ERROR(result->status());
  return std::optional<Sample>();
}

Result<SeriesFigures> Measure(Database& db, const std::string& key) {
  SeriesFigures figures;
  QuerySpec spec;
  spec.selector = Selector::ForKey(key);
  spec.limit = 1;
  TSDB_ASSIGN_OR_RETURN(figures.first, FirstRow(db, spec));
  spec.reverse = true;
  TSDB_ASSIGN_OR_RETURN(figures.last, FirstRow(db, spec));
  spec.reverse = false;
  spec.aggregators = {Aggregator::kCountAll};
  TSDB_ASSIGN_OR_RETURN(const std::optional<Sample> count, FirstRow(db, spec));
  figures.samples = count ? static_cast<std::uint64_t>(count->value) : 0;
  return figures;
}

std::string_view PolicyText(const SeriesInfo& info, const Stats& stats) {
  return DuplicatePolicyName(info.settings.has_duplicates ? info.settings.duplicates : stats.duplicates);
}

std::string SampleText(const Sample& sample, TimeUnit unit) {
  std::string text = FormatTime(sample.time, unit) + "  ";
  AppendDouble(sample.value, &text);
  return text;
}

void WriteTable(const SeriesInfo& info, const SeriesFigures& figures, const Stats& stats, std::string* out) {
  Table table;
  table.AddRow({"key", Printable(info.key)});
  table.AddRow({"id", fmt::format("{}", info.id.value)});
  table.AddRow({"created by", info.created_by_key ? "key" : "labels"});
  for (const Label& label : info.labels.pairs()) {
    table.AddRow({"label " + Printable(label.name), Printable(label.value)});
  }
  table.AddRow({"duplicates", std::string(PolicyText(info, stats)) +
                                  (info.settings.has_duplicates ? "" : " (of the database)")});
  if (info.settings.retention != 0) {
    table.AddRow({"retention", FormatDuration(info.settings.retention, stats.unit)});
  }
  if (info.settings.ignore_max_time_diff != 0) {
    std::string value;
    AppendDouble(info.settings.ignore_max_value_diff, &value);
    table.AddRow({"ignores samples", "within " + FormatDuration(info.settings.ignore_max_time_diff, stats.unit) +
                                         " and " + value + " of the newest"});
  }
  if (info.settings.expiry != 0) {
    table.AddRow({"dropped when idle for", FormatDuration(info.settings.expiry, TimeUnit::kMilliseconds)});
  }
  table.AddRow({"samples", FormatCount(figures.samples)});
  if (figures.first && figures.last) {
    table.AddRow({"first", SampleText(*figures.first, stats.unit)});
    table.AddRow({"last", SampleText(*figures.last, stats.unit)});
  }
  table.AppendTo(out, false);
}

void AppendJsonSample(const char* name, const std::optional<Sample>& sample, std::string* out) {
  *out += fmt::format(",\"{}\":", name);
  if (!sample) {
    *out += "null";
    return;
  }
  *out += '[';
  AppendInteger(sample->time, out);
  *out += ',';
  AppendJsonNumber(sample->value, out);
  *out += ']';
}

void WriteJson(const SeriesInfo& info, const SeriesFigures& figures, const Stats& stats, std::string* out) {
  *out += '{';
  AppendJsonSeriesName(info, out);
  *out += fmt::format(",\"id\":{},\"created_by_key\":{},\"duplicates\":\"{}\",\"retention\":{},\"unit\":\"{}\"",
                      info.id.value, info.created_by_key, PolicyText(info, stats), info.settings.retention,
                      TimeUnitName(stats.unit));
  *out += fmt::format(",\"ignore_time\":{},\"ignore_value\":", info.settings.ignore_max_time_diff);
  AppendJsonNumber(info.settings.ignore_max_value_diff, out);
  *out += fmt::format(",\"expiry_ms\":{}", info.settings.expiry);
  *out += fmt::format(",\"samples\":{}", figures.samples);
  AppendJsonSample("first", figures.first, out);
  AppendJsonSample("last", figures.last, out);
  *out += "}\n";
}

/// About a key that no series has. Many give a selector, or a metric without its labels, where a key is wanted.
std::string NoSuchKey(Database& db, const std::string& key) {
  std::string message = "no series has the key " + key + ": ";
  if (const Result<Selector> selector = Selector::Parse(key); selector.ok()) {
    const Result<std::vector<SeriesInfo>> found = db.ListSeries(*selector, 1);
    if (found.ok() && !found->empty()) {
      return message + "as a selector it matches, for example, " + found->front().key;
    }
  }
  return message + "'tsdb-cli series' lists them";
}

Outcome RunInfo(const InfoOptions& options, Program& program) {
  Result<std::unique_ptr<Database>> db = OpenForReading(program, Reads::kFewSeries);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  const Result<SeriesRef> ref = (*db)->ResolveKey(options.key);
  if (!ref.ok()) {
    if (ref.status().code() == StatusCode::kNotFound) {
      return Outcome::Failed(NoSuchKey(**db, options.key));
    }
    return Outcome::Failed(ref.status());
  }
  const Result<SeriesInfo> info = (*db)->GetSeries(*ref);
  if (!info.ok()) {
    return Outcome::Failed(info.status());
  }
  const Result<SeriesFigures> figures = Measure(**db, info->key);
  if (!figures.ok()) {
    return Outcome::Failed(figures.status());
  }
  const Stats stats = (*db)->GetStats();
  if (options.json) {
    WriteJson(*info, *figures, stats, program.out.buffer());
  } else {
    WriteTable(*info, *figures, stats, program.out.buffer());
  }
  return Outcome::Done();
}

}  // namespace

void AddInfo(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "info", "Tell what is known of one series",
                               {"tsdb-cli info 'cpu_usage{host=\"a\"}'", "tsdb-cli info cpu_usage --json"});
  auto options = std::make_shared<InfoOptions>();
  command->add_option("key", options->key, "Key of the series, as 'series' shows it")->type_name("KEY")->required();
  command->add_flag("--json", options->json, "One JSON object");
  set->SetRun(command, [options](Program& program) { return RunInfo(*options, program); });
}

}  // namespace tsdb::cli
