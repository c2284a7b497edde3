// drop, undrop, delete: taking series away, bringing them back, and deleting samples.
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/confirm.h"
#include "cli/open_database.h"
#include "cli/series_options.h"
#include "cli/text/escape.h"
#include "cli/text/table.h"
#include "tsdb/time_text.h"

namespace tsdb::cli {
namespace {

struct LossOptions {
  SeriesArguments series;
  bool yes = false;
  bool count = false;
  bool dry_run = false;
};

void AddLossOptions(CLI::App* command, LossOptions* options) {
  AddSeriesOptions(command, &options->series);
  command->add_flag("--count", options->count, "Count the samples as well, which reads all of them");
  command->add_flag("--dry-run", options->dry_run, "Only tell what would go");
  command->add_flag("--yes,-y", options->yes, "Do not ask");
}

Outcome Cancelled() { return Outcome::Failed("nothing was changed"); }

/// Closes the database; the first error counts.
Outcome Finish(Database& db, const Status& changed) {
  const Status closed = db.Close();
  return !changed.ok() ? Outcome::Failed(changed) : !closed.ok() ? Outcome::Failed(closed) : Outcome::Done();
}

// Drop.

struct DropArguments : LossOptions {
  std::string grace = "1h";
};

Outcome RunDrop(const DropArguments& arguments, Program& program) {
  const Result<Selector> selector = ParseSeries(arguments.series, false);
  if (!selector.ok()) {
    return Outcome::Usage(std::string(selector.status().message()));
  }
  const Result<std::int64_t> grace = ParseDuration(arguments.grace, TimeUnit::kMilliseconds);
  if (!grace.ok() || *grace < 0) {
    return Outcome::Usage("--grace " + arguments.grace + ": give a time, for example 1h, or 0");
  }
  Result<std::unique_ptr<Database>> db = OpenExisting(program);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  DropOptions options;
  options.grace_ms = *grace;
  options.count_samples = arguments.count;
  options.dry_run = true;
  Result<DropReport> report = (*db)->Drop(*selector, options);
  if (!report.ok()) {
    return Outcome::Failed(report.status());
  }
  const std::string loss = DescribeLoss(report->series, report->samples, arguments.count);
  if (arguments.dry_run || report->series == 0) {
    program.messages.Note((arguments.dry_run ? "would drop " : "dropped ") + loss);
    return Outcome::Done();
  }
  if (!Confirm(program, arguments.yes, "drop " + loss + "?")) {
    return Cancelled();
  }
  options.dry_run = false;
  options.count_samples = false;
  report = (*db)->Drop(*selector, options);
  if (report.ok()) {
    program.messages.Note("dropped " + DescribeLoss(report->series, 0, false) +
                          (*grace == 0 ? "" : ": 'tsdb-cli undrop' brings them back for " + arguments.grace));
  }
  return Finish(**db, report.status());
}

// Undrop.

struct UndropArguments {
  std::uint64_t id = 0;
  std::string key;
};

Outcome ListDropped(Database& db, Program& program) {
  const Result<std::vector<DroppedSeries>> dropped = db.ListDropped();
  if (!dropped.ok()) {
    return Outcome::Failed(dropped.status());
  }
  Table table({"id", "until", "key"}, {true, false, false});
  for (const DroppedSeries& series : *dropped) {
    const Timestamp until = series.until_wall_nanos / 1'000'000'000;
    table.AddRow({fmt::format("{}", series.id.value), FormatTime(until, TimeUnit::kSeconds), Printable(series.key)});
  }
  if (dropped->empty()) {
    program.messages.Note("no dropped series can be brought back");
    return Outcome::Done();
  }
  table.AppendTo(program.out.buffer(), program.color);
  return Outcome::Done();
}

Outcome RunUndrop(const UndropArguments& arguments, Program& program) {
  if (arguments.id == 0) {
    Result<std::unique_ptr<Database>> db = OpenForReading(program, Reads::kFewSeries);
    return db.ok() ? ListDropped(**db, program) : Outcome::Failed(db.status());
  }
  Result<std::unique_ptr<Database>> db = OpenExisting(program);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  const Result<SeriesRef> ref = (*db)->Undrop(SeriesId{arguments.id}, arguments.key);
  if (ref.ok()) {
    if (const Result<SeriesInfo> info = (*db)->GetSeries(*ref); info.ok()) {
      program.messages.Note("brought back " + info->key);
    }
  }
  return Finish(**db, ref.status());
}

// Delete.

struct DeleteArguments : LossOptions {
  RangeArguments range;
};

Outcome RunDelete(const DeleteArguments& arguments, Program& program) {
  const Result<Selector> selector = ParseSeries(arguments.series, false);
  if (!selector.ok()) {
    return Outcome::Usage(std::string(selector.status().message()));
  }
  Result<std::unique_ptr<Database>> db = OpenExisting(program);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  const TimeUnit unit = (*db)->unit();
  const Result<TimeRange> range = ParseRange(arguments.range, unit, WallClock(unit));
  if (!range.ok()) {
    return Outcome::Usage(std::string(range.status().message()));
  }
  DeleteOptions options;
  options.count_samples = arguments.count;
  options.dry_run = true;
  Result<DeleteReport> report = (*db)->Delete(*selector, *range, options);
  if (!report.ok()) {
    return Outcome::Failed(report.status());
  }
  const std::string loss = DescribeLoss(report->series, report->samples, arguments.count);
  const std::string span = " from " + arguments.range.from + " to " + arguments.range.to;
  if (arguments.dry_run || report->series == 0) {
    program.messages.Note((arguments.dry_run ? "would delete samples of " : "deleted samples of ") + loss + span);
    return Outcome::Done();
  }
  if (!Confirm(program, arguments.yes, "delete samples of " + loss + span + "?")) {
    return Cancelled();
  }
  options.dry_run = false;
  options.count_samples = false;
  const std::uint64_t samples = report->samples;
  report = (*db)->Delete(*selector, *range, options);
  if (report.ok()) {
    program.messages.Note("deleted samples of " + DescribeLoss(report->series, samples, arguments.count) + span +
                          ": 'tsdb-cli compact --purge' takes them off the disk at once");
  }
  return Finish(**db, report.status());
}

}  // namespace

void AddDrop(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "drop", "Drop series with all their samples",
                               {"tsdb-cli drop 'cpu_usage{host=\"old\"}' --count",
                                "tsdb-cli drop --key boiler --grace 0 --yes"});
  auto arguments = std::make_shared<DropArguments>();
  AddLossOptions(command, arguments.get());
  command->add_option("--grace", arguments->grace, "So long they can be brought back; 0: not at all")
      ->type_name("DURATION")
      ->default_str("1h");
  set->SetRun(command, [arguments](Program& program) { return RunDrop(*arguments, program); });
}

void AddUndrop(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "undrop", "Bring a dropped series back; without ID list those that can be",
                               {"tsdb-cli undrop", "tsdb-cli undrop 17", "tsdb-cli undrop 18 --as boiler-old"});
  auto arguments = std::make_shared<UndropArguments>();
  command->add_option("id", arguments->id, "Number of the series")->type_name("ID")->check(WholeNumber(1));
  command->add_option("--as", arguments->key, "Another key for it, when it was created by key")->type_name("KEY");
  set->SetRun(command, [arguments](Program& program) { return RunUndrop(*arguments, program); });
}

void AddDelete(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "delete", "Delete samples of a time range",
                               {"tsdb-cli delete 'cpu_usage{host=\"a\"}' --from 2026-11-01 --to 2026-11-02 --count",
                                "tsdb-cli delete --key boiler --from=- --to now-30d --yes"});
  auto arguments = std::make_shared<DeleteArguments>();
  AddLossOptions(command, arguments.get());
  AddRangeOptions(command, &arguments->range);
  command->get_option("--from")->required();
  command->get_option("--to")->required();
  set->SetRun(command, [arguments](Program& program) { return RunDelete(*arguments, program); });
}

}  // namespace tsdb::cli
