// query: samples or aggregates of the series that match.
#include <algorithm>
#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/open_database.h"
#include "cli/plot/terminal.h"
#include "cli/series_options.h"
#include "cli/text/arguments.h"
#include "cli/text/row_writer.h"

namespace tsdb::cli {
namespace {

struct QueryOptions {
  SeriesArguments series;
  RangeArguments range;
  std::optional<std::string> aggregate;
  BucketArguments bucket;
  std::uint64_t limit = 0;
  bool reverse = false;
  std::string output;
};

/// Everything of the specification that does not depend on the database's unit.
Result<QuerySpec> ParseSpec(const QueryOptions& options) {
  QuerySpec spec;
  TSDB_ASSIGN_OR_RETURN(spec.selector, ParseSeries(options.series, false));
  if (options.aggregate) {
    TSDB_ASSIGN_OR_RETURN(spec.aggregators, ParseAggregators(*options.aggregate));
  }
  spec.reverse = options.reverse;
  spec.limit = options.limit;
  return spec;
}

Status CompleteSpec(const QueryOptions& options, TimeUnit unit, QuerySpec* spec) {
  const Timestamp now = WallClock(unit);
  TSDB_ASSIGN_OR_RETURN(spec->range, ParseRange(options.range, unit, now));
  TSDB_ASSIGN_OR_RETURN(spec->bucket, ParseBucket(options.bucket, options.range, spec->range, unit, now));
  return Status::Ok();
}

Outcome WriteRows(QueryResult& result, RowWriter& writer, Program& program, bool* any) {
  Output& out = program.out;
  writer.Begin(out.buffer());
  while (!out.failed() && result.NextSeries()) {
    *any = true;
    writer.BeginSeries(result.series(), out.buffer());
    ColumnBatch batch;
    while (out.Drain() && result.NextBatch(&batch)) {
      writer.Rows(batch, out.buffer());
    }
    if (!result.status().ok()) {
      break;  // what follows would look like a complete answer
    }
    writer.EndSeries(out.buffer());
  }
  if (!result.status().ok()) {
    return Outcome::Failed(result.status());
  }
  writer.End(out.buffer());
  return Outcome::Done();
}

/// A chart fills the width of the terminal and leaves room for its axes, a short legend and the next prompt.
PlotLayout MakePlotLayout(const QueryOptions& options, const QuerySpec& spec, const Program& program) {
  const TerminalSize size = GetTerminalSize(STDOUT_FILENO);
  constexpr std::size_t kRows = 16;
  constexpr std::size_t kRowsAround = 8;
  PlotLayout layout;
  layout.style.width = size.columns;
  layout.style.height = size.rows == 0 ? kRows : std::min(kRows, size.rows - std::min(size.rows, kRowsAround));
  layout.style.color = program.color;
  layout.style.ascii = program.ascii;
  // Where an end was asked for, the axis shows it, although samples may begin later or end earlier.
  if (options.range.has_from() && options.range.has_to()) {
    layout.range = spec.range;
  } else if (options.range.has_from()) {
    layout.range = {spec.range.from, spec.range.from};
  } else if (options.range.has_to()) {
    layout.range = {spec.range.to, spec.range.to};
  }
  // Buckets without samples give no row: a gap.
  layout.gap_after = static_cast<std::uint64_t>(spec.bucket.width);
  return layout;
}

Outcome RunQuery(const QueryOptions& options, Program& program) {
  Result<QuerySpec> spec = ParseSpec(options);
  if (!spec.ok()) {
    return Outcome::Usage(std::string(spec.status().message()));
  }
  Result<std::unique_ptr<Database>> db = OpenForReading(program, Reads::kFewSeries);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  if (const Status status = CompleteSpec(options, (*db)->unit(), &*spec); !status.ok()) {
    return Outcome::Usage(std::string(status.message()));
  }
  RowLayout layout;
  layout.unit = (*db)->unit();
  layout.color = program.color;
  layout.plot = MakePlotLayout(options, *spec, program);
  for (const Aggregation& aggregation : spec->aggregators) {
    layout.columns.push_back(AggregationName(aggregation));
  }
  const Result<RowFormat> format = ParseRowFormat(options.output);
  if (!format.ok()) {
    return Outcome::Usage(std::string(format.status().message()));
  }
  Result<std::unique_ptr<QueryResult>> result = (*db)->Query(*spec);
  if (!result.ok()) {
    return Outcome::Failed(result.status());
  }
  bool any = false;
  const std::unique_ptr<RowWriter> writer = RowWriter::Create(*format, std::move(layout));
  Outcome outcome = WriteRows(**result, *writer, program, &any);
  if (outcome.done() && !any && (*format == RowFormat::kTable || *format == RowFormat::kPlot)) {
    program.messages.Note("no samples of " + spec->selector.ToString() + " in this range");
  }
  return outcome;
}

}  // namespace

void AddQuery(CommandSet* set) {
  CLI::App* command = set->Add(
      set->root(), "query", "Read samples, or aggregates of them per bucket",
      {"tsdb-cli query 'cpu_usage{host=\"a\"}' --from now-1h",
       "tsdb-cli query '{__name__=~\"cpu.*\"}' --from 2026-11-01T00:00:00Z --aggregate avg,max --bucket 5m",
       "tsdb-cli query node_load1 --from now-6h --aggregate avg,max --bucket 5m --output plot",
       "tsdb-cli query --key 'cpu_usage{host=\"a\"}' --reverse --limit 1 --output jsonl"});
  auto options = std::make_shared<QueryOptions>();
  AddSeriesOptions(command, &options->series);
  AddRangeOptions(command, &options->range);
  CLI::Option* aggregate =
      command->add_option("--aggregate,-a", options->aggregate,
                          "Aggregators, separated by commas: avg sum min max range count countnan countall first last "
                          "std.p std.s var.p var.s")
          ->type_name("FN[,FN...]");
  CLI::Option* bucket =
      command->add_option("--bucket,-b", options->bucket.width, "Width of the buckets: 10s, 5m, 1h30m, or an integer")
          ->type_name("DURATION")
          ->needs(aggregate);
  command->add_option("--align", options->bucket.align, "Where buckets start: start or end (of the range), or a time")
      ->type_name("start|end|T")
      ->needs(bucket);
  command->add_option("--label-at", options->bucket.label_at, "Which time of a bucket is shown")
      ->type_name("WHERE")
      ->check(CLI::IsMember({"start", "end", "mid"}))
      ->default_str("start")
      ->needs(aggregate);
  command->add_option("--limit,-n", options->limit, "At most so many rows per series; 0 for all")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->default_str("0");
  command->add_flag("--reverse,-r", options->reverse, "Newest first");
  AddOutputOption(command, &options->output, {"table", "csv", "json", "jsonl", "plot"});
  set->SetRun(command, [options](Program& program) { return RunQuery(*options, program); });
}

}  // namespace tsdb::cli
