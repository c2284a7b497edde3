// retention: shows how long samples are kept, and sets it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/open_database.h"
#include "cli/text/arguments.h"
#include "cli/text/escape.h"
#include "cli/text/numbers.h"
#include "cli/text/table.h"
#include "tsdb/time_text.h"

namespace tsdb::cli {
namespace {

struct RetentionOptions {
  std::string age;
  std::string bytes_max;
  std::string match;
  bool remove = false;
  bool accept_clock = false;

  bool changes() const { return !age.empty() || !bytes_max.empty() || remove || accept_clock; }
};

std::string AgeText(std::int64_t age, TimeUnit unit) { return age == 0 ? "for ever" : FormatDuration(age, unit); }

void Show(const RetentionInfo& info, TimeUnit unit, Program& program) {
  Table table;
  table.AddRow({"samples are kept", AgeText(info.settings.age, unit)});
  for (const RetentionClass& entry : info.settings.classes) {
    table.AddRow({"  " + Printable(entry.selector), AgeText(entry.age, unit)});
  }
  table.AddRow({"bytes at most", info.settings.bytes_max == 0 ? "any" : FormatBytes(info.settings.bytes_max)});
  if (info.now != kTimestampMin) {
    table.AddRow({"now is", FormatTime(info.now, unit)});
  }
  if (info.floor != kTimestampMin) {
    table.AddRow({"gone before", FormatTime(info.floor, unit)});
  }
  table.AppendTo(program.out.buffer(), program.color);
  if (info.clock_in_doubt) {
    program.messages.Warning(
        "the clock made a step: expired samples are hidden but stay on disk for 24 hours; 'tsdb-cli retention "
        "--accept-clock' says it is right");
  }
}

/// The same matchers, in whatever order.
bool SelectTheSame(const Selector& a, const Selector& b) {
  return a.is_key() == b.is_key() && a.key() == b.key() &&
         std::is_permutation(a.matchers().begin(), a.matchers().end(), b.matchers().begin(), b.matchers().end());
}

/// The classes with that of `options.match` set or taken away.
Result<std::vector<RetentionClass>> ChangeClass(std::vector<RetentionClass> classes, const RetentionOptions& options,
                                                std::int64_t age) {
  TSDB_ASSIGN_OR_RETURN(const Selector selector, Selector::Parse(options.match));
  const std::string text = selector.ToString();
  const auto found = std::find_if(classes.begin(), classes.end(), [&](const RetentionClass& entry) {
    const Result<Selector> other = Selector::Parse(entry.selector);
    return entry.selector == text || (other.ok() && SelectTheSame(*other, selector));
  });
  if (options.remove) {
    if (found == classes.end()) {
      return Status::NotFound("no retention is set for " + text + ": 'tsdb-cli retention' shows which are");
    }
    classes.erase(found);
  } else if (found != classes.end()) {
    found->age = age;
  } else {
    classes.push_back({text, age});
  }
  return classes;
}

/// kInvalidArgument is wrong usage.
Status Change(Database& db, const RetentionOptions& options) {
  TSDB_ASSIGN_OR_RETURN(const RetentionInfo info, db.GetRetention());
  Retention settings = info.settings;
  std::int64_t age = 0;
  if (!options.age.empty()) {
    const Result<std::int64_t> parsed = ParseDuration(options.age, db.unit());
    if (!parsed.ok()) {
      return parsed.status().WithContext("--age");
    }
    if (*parsed < 0) {
      return Status::InvalidArgument("--age " + options.age + ": must not be negative");
    }
    age = *parsed;
  }
  if (!options.match.empty()) {
    TSDB_ASSIGN_OR_RETURN(settings.classes, ChangeClass(std::move(settings.classes), options, age));
  } else if (!options.age.empty()) {
    settings.age = age;
  }
  if (!options.bytes_max.empty()) {
    TSDB_ASSIGN_OR_RETURN(settings.bytes_max, ParseByteSize(options.bytes_max));
  }
  if (settings != info.settings) {
    TSDB_RETURN_IF_ERROR(db.SetRetention(settings));
  }
  return options.accept_clock ? db.AcceptClock() : Status::Ok();
}

Outcome RunRetention(const RetentionOptions& options, Program& program) {
  if (!options.match.empty() && options.age.empty() && !options.remove) {
    return Outcome::Usage("--match: say with --age how long these series are kept, or --remove the setting");
  }
  Result<std::unique_ptr<Database>> db =
      options.changes() ? OpenExisting(program) : OpenForReading(program, Reads::kFewSeries);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  if (options.changes()) {
    if (const Status status = Change(**db, options); !status.ok()) {
      return status.code() == StatusCode::kInvalidArgument ? Outcome::Usage(std::string(status.message()))
                                                           : Outcome::Failed(status);
    }
  }
  const Result<RetentionInfo> info = (*db)->GetRetention();
  if (!info.ok()) {
    return Outcome::Failed(info.status());
  }
  Show(*info, (*db)->unit(), program);
  const Status closed = (*db)->Close();
  return closed.ok() ? Outcome::Done() : Outcome::Failed(closed);
}

}  // namespace

void AddRetention(CommandSet* set) {
  CLI::App* command =
      set->Add(set->root(), "retention", "Show or set how long samples are kept, and how many bytes they may take",
               {"tsdb-cli retention", "tsdb-cli retention --age 90d --max-bytes 10GiB",
                "tsdb-cli retention --match 'node_cpu_seconds_total{mode=\"idle\"}' --age 7d"});
  auto options = std::make_shared<RetentionOptions>();
  command->add_option("--age", options->age, "Keep samples so long; 0: for ever")->type_name("DURATION");
  command->add_option("--max-bytes", options->bytes_max, "Most bytes of the directory, as 10GiB; 0: any")
      ->type_name("BYTES");
  CLI::Option* match = command->add_option("--match", options->match, "Set the age of these series only")
                           ->type_name("SELECTOR");
  command->add_flag("--remove", options->remove, "Take the setting of --match away")->needs(match)->excludes("--age");
  command->add_flag("--accept-clock", options->accept_clock, "The clock is right, whatever step it made");
  set->SetRun(command, [options](Program& program) { return RunRetention(*options, program); });
}

}  // namespace tsdb::cli
