// labels, label-values: names of labels, and the values one of them has.
#include <memory>
#include <set>

#include "cli/command.h"
#include "cli/commands/active_series.h"
#include "cli/open_database.h"
#include "cli/series_options.h"
#include "cli/text/arguments.h"
#include "cli/text/escape.h"

namespace tsdb::cli {
namespace {

struct LabelOptions {
  std::string name;  // label-values only
  RangeArguments range;
  std::string prefix;
  std::uint64_t limit = 0;
  std::string output;
};

using Words = std::vector<std::string>;

/// Names (or values of `name`) of the series that have samples in `range`.
Result<Words> ActiveWords(Database& db, const LabelOptions& options, bool names, const TimeRange& range) {
  std::set<std::string, std::less<>> found;
  const auto consider = [&](std::string_view word) {
    if (!word.empty() && word.starts_with(options.prefix) && found.find(word) == found.end()) {
      found.emplace(word);
    }
  };
  TSDB_RETURN_IF_ERROR(ForEachSeries(db, Selector(), range, 0, [&](const SeriesInfo& series) {
    if (!names) {
      consider(series.labels.Get(options.name));
      return true;
    }
    for (const Label& label : series.labels.pairs()) {
      consider(label.name);
    }
    return true;
  }));
  Words words(found.begin(), found.end());
  if (options.limit != 0 && words.size() > options.limit) {
    words.resize(options.limit);
  }
  return words;
}

Result<Words> FindWords(Database& db, const LabelOptions& options, bool names, const TimeRange& range) {
  if (range != TimeRange{}) {
    return ActiveWords(db, options, names, range);
  }
  return names ? db.LabelNames(options.prefix, options.limit)
               : db.LabelValues(options.name, options.prefix, options.limit);
}

void WriteWords(const Words& words, const std::string& format, Output* out) {
  std::string* text = out->buffer();
  const bool json = format == "json";
  *text += json ? "[" : format == "csv" ? "value\n" : "";
  bool first = true;
  for (const std::string& word : words) {
    if (json) {
      *text += first ? "" : ",";
      AppendJsonString(word, text);
    } else if (format == "csv") {
      AppendCsvField(word, text);
    } else {
      AppendPrintable(word, text);
    }
    *text += json ? "" : "\n";
    first = false;
    if (!out->Drain()) {
      return;
    }
  }
  *text += json ? "]\n" : "";
}

Outcome RunLabels(const LabelOptions& options, bool names, Program& program) {
  Result<std::unique_ptr<Database>> db = OpenForReading(program, Reads::kFewSeries);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  const Result<TimeRange> range = ParseRange(options.range, (*db)->unit(), WallClock((*db)->unit()));
  if (!range.ok()) {
    return Outcome::Usage(std::string(range.status().message()));
  }
  const Result<Words> words = FindWords(**db, options, names, *range);
  if (!words.ok()) {
    return Outcome::Failed(words.status());
  }
  WriteWords(*words, options.output, &program.out);
  return Outcome::Done();
}

void AddCommonOptions(CLI::App* command, LabelOptions* options, const std::string& what) {
  command->add_option("--prefix", options->prefix, "Only " + what + " that start so")->type_name("TEXT");
  AddRangeOptions(command, &options->range);
  command->add_option("--limit,-n", options->limit, "At most so many; 0 for all")
      ->type_name("N")
      ->check(WholeNumber(0))
      ->default_str("0");
  AddOutputOption(command, &options->output, {"table", "csv", "json"});
}

}  // namespace

void AddLabels(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "labels", "List the names of labels, sorted",
                               {"tsdb-cli labels", "tsdb-cli labels --from now-1d --output json"});
  auto options = std::make_shared<LabelOptions>();
  AddCommonOptions(command, options.get(), "names");
  set->SetRun(command, [options](Program& program) { return RunLabels(*options, true, program); });
}

void AddLabelValues(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "label-values", "List the values of one label, sorted",
                               {"tsdb-cli label-values host", "tsdb-cli label-values __name__ --prefix node_"});
  auto options = std::make_shared<LabelOptions>();
  command->add_option("name", options->name, "Name of the label; __name__ holds the metric")
      ->type_name("NAME")
      ->required();
  AddCommonOptions(command, options.get(), "values");
  set->SetRun(command, [options](Program& program) { return RunLabels(*options, false, program); });
}

}  // namespace tsdb::cli
