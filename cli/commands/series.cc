// series: which series there are.
#include <memory>

#include "cli/command.h"
#include "cli/commands/active_series.h"
#include "cli/open_database.h"
#include "cli/series_options.h"
#include "cli/text/arguments.h"
#include "cli/text/escape.h"
#include "cli/text/row_writer.h"

namespace tsdb::cli {
namespace {

struct SeriesOptions {
  SeriesArguments series;
  RangeArguments range;
  std::uint64_t limit = 0;
  std::string output;
};

/// Writes one series after the other in the chosen format.
class SeriesLister {
 public:
  SeriesLister(std::string format, Output* out) : format_(std::move(format)), out_(*out) {
    if (format_ == "json") {
      *out_.buffer() += '[';
    } else if (format_ == "csv") {
      *out_.buffer() += "key\n";
    }
  }

  /// False when nothing more can be written.
  bool Write(const SeriesInfo& series) {
    std::string* text = out_.buffer();
    if (format_ == "table") {
      AppendPrintable(series.key, text);
      if (series.created_by_key && !series.labels.empty()) {
        *text += "  ";
        AppendPrintable(series.labels.CanonicalKey(), text);
      }
    } else if (format_ == "csv") {
      AppendCsvField(series.key, text);
    } else {
      *text += format_ == "jsonl" ? "" : first_ ? "\n" : ",\n";
      *text += '{';
      AppendJsonSeriesName(series, text);
      *text += '}';
    }
    *text += format_ == "json" ? "" : "\n";
    first_ = false;
    return out_.Drain();
  }

  void End() {
    if (format_ == "json") {
      *out_.buffer() += first_ ? "]\n" : "\n]\n";
    }
  }

 private:
  const std::string format_;
  Output& out_;
  bool first_ = true;
};

Outcome RunSeries(const SeriesOptions& options, Program& program) {
  const Result<Selector> selector = ParseSeries(options.series, true);
  if (!selector.ok()) {
    return Outcome::Usage(std::string(selector.status().message()));
  }
  Result<std::unique_ptr<Database>> db = OpenForReading(program, Reads::kFewSeries);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  const Result<TimeRange> range = ParseRange(options.range, (*db)->unit(), WallClock((*db)->unit()));
  if (!range.ok()) {
    return Outcome::Usage(std::string(range.status().message()));
  }
  SeriesLister lister(options.output, &program.out);
  const Status status = ForEachSeries(**db, *selector, *range, options.limit,
                                      [&](const SeriesInfo& series) { return lister.Write(series); });
  if (!status.ok()) {
    return Outcome::Failed(status);
  }
  lister.End();
  return Outcome::Done();
}

}  // namespace

void AddSeries(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "series", "List series: all, or those that match and were active",
                               {"tsdb-cli series", "tsdb-cli series 'cpu_usage{host=~\"web.*\"}' --from now-1d",
                                "tsdb-cli series --output jsonl"});
  auto options = std::make_shared<SeriesOptions>();
  AddSeriesOptions(command, &options->series);
  AddRangeOptions(command, &options->range);
  command->add_option("--limit,-n", options->limit, "At most so many series; 0 for all")
      ->type_name("N")
      ->check(WholeNumber(0))
      ->default_str("0");
  AddOutputOption(command, &options->output, {"table", "csv", "json", "jsonl"});
  set->SetRun(command, [options](Program& program) { return RunSeries(*options, program); });
}

}  // namespace tsdb::cli
