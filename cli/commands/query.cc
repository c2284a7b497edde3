// query: samples or aggregates of the series that match.
#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/commands/explain.h"
#include "cli/open_database.h"
#include "cli/plot/terminal.h"
#include "cli/series_options.h"
#include "cli/text/query_arguments.h"
#include "cli/text/row_writer.h"

namespace tsdb::cli {
namespace {

struct QueryOptions : QueryArguments {
  std::string output;
};

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
  // Buckets without samples give no row: a gap. Those of a calendar are of different lengths.
  layout.gap_after =
      spec.bucket.calendar == CalendarUnit::kNone ? static_cast<std::uint64_t>(spec.bucket.width) : 0;
  return layout;
}

std::vector<std::string> ColumnNames(const QuerySpec& spec, std::span<const SeriesInfoPtr> sources) {
  std::vector<std::string> aggregators;
  for (const Aggregation& aggregation : spec.aggregators) {
    aggregators.push_back(AggregationName(aggregation));
  }
  if (!spec.join) {
    return aggregators;
  }
  std::vector<std::string> columns;
  for (const SeriesInfoPtr& series : sources) {
    for (const std::string& aggregator : aggregators) {
      columns.push_back(series->key + " " + aggregator);
    }
    if (aggregators.empty()) {
      columns.push_back(series->key);
    }
  }
  return columns;
}

/// The writer is made when the columns are known: of a join with its only result.
Outcome WriteRows(QueryResult& result, const QuerySpec& spec, RowFormat format, RowLayout layout, Program& program,
                  bool* any) {
  Output& out = program.out;
  *any = result.NextSeries();
  layout.joined = spec.join;
  layout.columns = ColumnNames(spec, *any ? result.sources() : std::span<const SeriesInfoPtr>());
  const std::unique_ptr<RowWriter> writer = RowWriter::Create(format, std::move(layout));
  writer->Begin(out.buffer());
  for (bool more = *any; more && !out.failed(); more = result.NextSeries()) {
    writer->BeginSeries(result.series(), out.buffer());
    ColumnBatch batch;
    while (out.Drain() && result.NextBatch(&batch)) {
      writer->Rows(batch, out.buffer());
    }
    if (!result.status().ok()) {
      break;  // what follows would look like a complete answer
    }
    writer->EndSeries(out.buffer());
  }
  if (!result.status().ok()) {
    return Outcome::Failed(result.status());
  }
  writer->End(out.buffer());
  return Outcome::Done();
}

Outcome RunQuery(const QueryOptions& options, Program& program) {
  Result<QuerySpec> spec = ParseQuery(options);
  if (!spec.ok()) {
    return Outcome::Usage(std::string(spec.status().message()));
  }
  const Result<RowFormat> format = ParseRowFormat(options.output);
  if (!format.ok()) {
    return Outcome::Usage(std::string(format.status().message()));
  }
  Result<std::unique_ptr<Database>> db = OpenForReading(program, Reads::kFewSeries);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  const TimeUnit unit = (*db)->unit();
  if (const Status status = CompleteQuery(options, unit, WallClock(unit), &*spec); !status.ok()) {
    return Outcome::Usage(std::string(status.message()));
  }
  Result<std::unique_ptr<QueryResult>> result = (*db)->Query(*spec);
  if (!result.ok()) {
    return result.status().code() == StatusCode::kInvalidArgument
               ? Outcome::Usage(std::string(result.status().message()))
               : Outcome::Failed(result.status());
  }
  RowLayout layout;
  layout.unit = unit;
  layout.color = program.color;
  layout.plot = MakePlotLayout(options, *spec, program);
  bool any = false;
  Outcome outcome = WriteRows(**result, *spec, *format, std::move(layout), program, &any);
  if (!outcome.done()) {
    return outcome;
  }
  program.out.Flush();  // before what is said about it
  if (!any && (*format == RowFormat::kTable || *format == RowFormat::kPlot)) {
    program.messages.Note("no samples of " + spec->selector.ToString() + " in this range");
  }
  if (const std::string cursor = (*result)->cursor(); !cursor.empty()) {
    program.messages.Detail("there is more: --cursor " + cursor);
  }
  if (options.explain) {
    Explain((*result)->statistics(), program.messages);
  }
  return outcome;
}

void AddBucketOptions(CLI::App* command, QueryOptions* options) {
  CLI::Option* aggregate =
      command->add_option("--aggregate,-a", options->aggregate,
                          "Aggregators, separated by commas: avg sum min max range count countnan countall first last "
                          "std.p std.s var.p var.s twa increase rate quantile(0.99)")
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
  CLI::Option* calendar =
      command->add_option("--calendar", options->calendar, "Buckets of the calendar instead of a width")
          ->type_name("UNIT")
          ->check(CLI::IsMember({"day", "week", "month", "year"}))
          ->needs(aggregate)
          ->excludes(bucket);
  command->add_option("--tz", options->time_zone, "Time zone of the calendar, as Europe/Berlin; default UTC")
      ->type_name("ZONE")
      ->needs(calendar);
  command->add_option("--fill", options->fill, "What empty buckets show: none, null, empty, previous, linear, a number")
      ->type_name("HOW")
      ->default_str("none")
      ->needs(aggregate);
}

void AddFilterOptions(CLI::App* command, QueryOptions* options) {
  command->add_option("--min-value", options->value_min, "Only samples with at least this value")->type_name("X");
  command->add_option("--max-value", options->value_max, "Only samples with at most this value")->type_name("X");
  command->add_option("--at-times", options->times, "Only samples at exactly these times")->type_name("T[,T...]");
  command->add_flag("--latest", options->latest, "Only the newest sample of each series")->excludes("--aggregate");
}

void AddSeriesChoices(CLI::App* command, QueryOptions* options) {
  CLI::Option* top = command->add_option("--top", options->top, "Only the K series with the largest values")
                         ->type_name("K")
                         ->check(WholeNumber(1));
  command->add_option("--bottom", options->bottom, "Only the K series with the smallest values")
      ->type_name("K")
      ->check(WholeNumber(1))
      ->excludes(top);
  command->add_option("--top-by", options->top_by, "What --top and --bottom compare, over the whole range")
      ->type_name("FN")
      ->default_str("max");
  CLI::Option* reduce =
      command->add_option("--reduce", options->reduce, "Make one row of the rows that series have at the same time")
          ->type_name("FN");
  command->add_option("--group-by", options->group_by, "One result per values of these labels, with --reduce")
      ->type_name("LABEL[,LABEL...]")
      ->needs(reduce);
  command->add_flag("--join", options->join, "All series side by side, a column each")->excludes(reduce);
}

void AddRowOptions(CLI::App* command, QueryOptions* options) {
  command->add_option("--limit,-n", options->limit, "At most so many rows per series; 0 for all")
      ->type_name("N")
      ->check(WholeNumber(0))
      ->default_str("0");
  command->add_flag("--reverse,-r", options->reverse, "Newest first");
  CLI::Option* page = command->add_option("--page", options->page, "At most so many rows in all; says where to go on")
                          ->type_name("N")
                          ->check(WholeNumber(1));
  command->add_option("--cursor", options->cursor, "Go on where the page before ended")->type_name("C")->needs(page);
  command->add_flag("--explain", options->explain, "Tell afterwards what was read, and how long it took");
}

/// Puts options under a title of their own in the help.
void Group(CLI::App* command, const std::string& title, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    command->get_option(name)->group(title);
  }
}

}  // namespace

void AddQuery(CommandSet* set) {
  CLI::App* command = set->Add(
      set->root(), "query", "Read samples, or aggregates of them per bucket",
      {"tsdb-cli query 'cpu_usage{host=\"a\"}' --from now-1h",
       "tsdb-cli query '{__name__=~\"cpu.*\"}' --from 2026-11-01T00:00:00Z --aggregate avg,max --bucket 5m",
       "tsdb-cli query node_load1 --from now-6h --aggregate avg,max --bucket 5m --output plot",
       "tsdb-cli query requests_total --aggregate rate --bucket 1m --reduce sum --group-by path",
       "tsdb-cli query --key 'cpu_usage{host=\"a\"}' --latest --output jsonl"});
  auto options = std::make_shared<QueryOptions>();
  AddSeriesOptions(command, &options->series);
  AddRangeOptions(command, &options->range);
  AddBucketOptions(command, options.get());
  AddFilterOptions(command, options.get());
  AddSeriesChoices(command, options.get());
  AddRowOptions(command, options.get());
  AddOutputOption(command, &options->output, {"table", "csv", "json", "jsonl", "plot"});
  Group(command, "Buckets", {"--aggregate", "--bucket", "--align", "--label-at", "--calendar", "--tz", "--fill"});
  Group(command, "Which samples", {"--from", "--to", "--min-value", "--max-value", "--at-times", "--latest"});
  Group(command, "Several series", {"--top", "--bottom", "--top-by", "--reduce", "--group-by", "--join"});
  Group(command, "Rows", {"--limit", "--reverse", "--page", "--cursor", "--output", "--explain"});
  set->SetRun(command, [options](Program& program) { return RunQuery(*options, program); });
}

}  // namespace tsdb::cli
