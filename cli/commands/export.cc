// export: samples as text that `ingest` reads back bit for bit.
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/open_database.h"
#include "cli/series_options.h"
#include "cli/text/arguments.h"
#include "cli/text/numbers.h"
#include "tsdb/ingest.h"

namespace tsdb::cli {
namespace {

struct ExportOptions {
  SeriesArguments series;
  RangeArguments range;
  std::string format;
};

struct ExportCounts {
  std::uint64_t series = 0;
  std::uint64_t samples = 0;
  std::uint64_t series_skipped = 0;
};

constexpr std::uint64_t kSkippedShown = 20;

Status WriteAll(QueryResult& result, Exporter& exporter, Program& program, ExportCounts* counts) {
  Output& out = program.out;
  while (!out.failed() && result.NextSeries()) {
    if (const Status status = exporter.BeginSeries(result.series(), out.buffer()); !status.ok()) {
      if (++counts->series_skipped <= kSkippedShown) {
        program.messages.Detail(std::string(status.message()));
      }
      continue;
    }
    ++counts->series;
    ColumnBatch batch;
    while (out.Drain() && result.NextBatch(&batch)) {
      exporter.Samples(batch.times, batch.columns[0], out.buffer());
      counts->samples += batch.times.size();
    }
    if (!result.status().ok()) {
      break;
    }
    exporter.EndSeries(out.buffer());
  }
  return result.status();
}

/// What is asked one after the other. OpenMetrics wants the series of a metric together; elsewhere they come by id.
Result<std::vector<Selector>> Parts(Database& db, const Selector& selector, TextFormat format) {
  if (format != TextFormat::kOpenMetrics || selector.is_key()) {
    return std::vector<Selector>{selector};
  }
  TSDB_ASSIGN_OR_RETURN(std::vector<std::string> metrics, db.LabelValues(kMetricLabel));
  metrics.emplace_back();  // series without a metric: left out, but named
  std::vector<Selector> parts;
  for (std::string& metric : metrics) {
    std::vector<Matcher> matchers = selector.matchers();
    matchers.push_back({std::string(kMetricLabel), Matcher::Op::kEqual, {std::move(metric)}});
    parts.emplace_back(std::move(matchers));
  }
  return parts;
}

Status WriteParts(Database& db, QuerySpec spec, const std::vector<Selector>& parts, Exporter& exporter,
                  Program& program, ExportCounts* counts) {
  exporter.Begin(program.out.buffer());
  for (const Selector& part : parts) {
    spec.selector = part;
    TSDB_ASSIGN_OR_RETURN(const std::unique_ptr<QueryResult> result, db.Query(spec));
    TSDB_RETURN_IF_ERROR(WriteAll(*result, exporter, program, counts));
  }
  exporter.End(program.out.buffer());
  return Status::Ok();
}

Outcome RunExport(const ExportOptions& options, Program& program) {
  const Result<TextFormat> format = ParseTextFormat(options.format);
  if (!format.ok()) {
    return Outcome::Usage(std::string(format.status().message()));
  }
  QuerySpec spec;
  if (Result<Selector> selector = ParseSeries(options.series, true); selector.ok()) {
    spec.selector = *std::move(selector);
  } else {
    return Outcome::Usage(std::string(selector.status().message()));
  }
  Result<std::unique_ptr<Database>> db = OpenForReading(program, Reads::kAll);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  const TimeUnit unit = (*db)->unit();
  if (const Result<TimeRange> range = ParseRange(options.range, unit, WallClock(unit)); range.ok()) {
    spec.range = *range;
  } else {
    return Outcome::Usage(std::string(range.status().message()));
  }
  const Result<std::unique_ptr<Exporter>> exporter = Exporter::Create(*format, unit);
  if (!exporter.ok()) {
    return Outcome::Failed(exporter.status());
  }
  const Result<std::vector<Selector>> parts = Parts(**db, spec.selector, *format);
  if (!parts.ok()) {
    return Outcome::Failed(parts.status());
  }
  ExportCounts counts;
  if (const Status status = WriteParts(**db, spec, *parts, **exporter, program, &counts); !status.ok()) {
    return Outcome::Failed(status);
  }
  program.messages.Note(fmt::format("exported {} samples of {} series", FormatCount(counts.samples),
                                    FormatCount(counts.series)));
  if (counts.series_skipped != 0) {
    return Outcome::Partly(fmt::format("{} series left out, because {} cannot carry their labels: use --format jsonl",
                                       FormatCount(counts.series_skipped), options.format));
  }
  return Outcome::Done();
}

}  // namespace

void AddExport(CommandSet* set) {
  CLI::App* command =
      set->Add(set->root(), "export", "Write samples as text that ingest reads back bit for bit",
               {"tsdb-cli export --format influx | zstd > all.lp.zst",
                "tsdb-cli export 'cpu_usage{host=\"a\"}' --from 2026-11-01 --format csv > cpu.csv"});
  auto options = std::make_shared<ExportOptions>();
  AddSeriesOptions(command, &options->series);
  AddRangeOptions(command, &options->range);
  command->add_option("--format,-f", options->format, "Text format")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"influx", "openmetrics", "csv", "jsonl"}))
      ->required();
  set->SetRun(command, [options](Program& program) { return RunExport(*options, program); });
}

}  // namespace tsdb::cli
