// bench: a quick figure on this machine. For careful ones see bench/ in the sources.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "cli/command.h"
#include "cli/commands/bench_data.h"
#include "cli/interrupt.h"
#include "cli/open_database.h"
#include "cli/series_options.h"
#include "cli/text/numbers.h"

namespace tsdb::cli {
namespace {

struct BenchOptions {
  std::uint32_t series = 1000;
  std::uint64_t samples = 2'000'000;
  std::size_t batch_samples = 10'000;
  std::string durability = "interval";
  std::string dir;
  bool json = false;
};

class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct WriteFigures {
  double append_seconds = 0;
  double flush_seconds = 0;
  std::uint64_t bytes_on_disk = 0;
  std::uint64_t chunk_file_bytes = 0;
};

struct ReadFigures {
  double scan_seconds = 0;       // every sample of every series
  double aggregate_seconds = 0;  // avg and max of every series in 100 buckets
  double series_seconds = 0;     // one whole series, mean
};

const Status& Interrupted() {
  static const Status status = Status::Cancelled("interrupted");
  return status;
}

Result<std::unique_ptr<Database>> OpenBench(const std::string& path, const BenchOptions& options, Program& program) {
  OpenOptions open = MakeOpenOptions(program);
  open.future_limit_ms = -1;  // many samples of few series reach far ahead
  TSDB_ASSIGN_OR_RETURN(open.create.durability, ParseDurability(options.durability));
  return Database::Open(path, open);
}

Result<WriteFigures> Write(Database& db, const BenchOptions& options) {
  std::vector<SeriesRef> refs;
  for (std::uint32_t i = 0; i < options.series; ++i) {
    TSDB_ASSIGN_OR_RETURN(const SeriesRef ref, db.CreateSeries(BenchData::SeriesLabels(i)));
    refs.push_back(ref);
  }
  WriteFigures figures;
  BenchData data(options.series);
  WriteBatch batch;
  batch.Reserve(options.batch_samples);
  for (std::uint64_t written = 0; written < options.samples; written += batch.size()) {
    batch.Clear();
    while (batch.size() < options.batch_samples && written + batch.size() < options.samples) {
      std::uint32_t index = 0;
      const Sample sample = data.Next(&index);
      batch.Add(refs[index], sample.time, sample.value);
    }
    const Stopwatch watch;
    TSDB_ASSIGN_OR_RETURN(const AppendResult result, db.Append(batch));
    figures.append_seconds += watch.Seconds();
    if (!result.rejected.empty()) {
      return result.rejected.front().status;
    }
    if (InterruptSignal() != 0) {
      return Interrupted();
    }
  }
  const Stopwatch watch;
  TSDB_RETURN_IF_ERROR(db.Flush());
  figures.flush_seconds = watch.Seconds();
  const Stats stats = db.GetStats();
  figures.bytes_on_disk = stats.bytes_on_disk;
  figures.chunk_file_bytes = stats.chunk_file_bytes;
  return figures;
}

/// Reads a query to its end; gives the rows.
Result<std::uint64_t> Drain(Database& db, const QuerySpec& spec) {
  TSDB_ASSIGN_OR_RETURN(const std::unique_ptr<QueryResult> result, db.Query(spec));
  std::uint64_t rows = 0;
  ColumnBatch batch;
  while (result->NextSeries()) {
    while (result->NextBatch(&batch)) {
      rows += batch.times.size();
    }
    if (InterruptSignal() != 0) {
      return Interrupted();
    }
  }
  TSDB_RETURN_IF_ERROR(result->status());
  return rows;
}

Result<ReadFigures> Read(Database& db, const BenchOptions& options) {
  ReadFigures figures;
  QuerySpec scan;
  const Stopwatch scan_watch;
  TSDB_ASSIGN_OR_RETURN(const std::uint64_t rows, Drain(db, scan));
  figures.scan_seconds = scan_watch.Seconds();
  if (rows != options.samples) {
    return Status::Internal(fmt::format("{} samples written, {} read: please report", options.samples, rows));
  }
  QuerySpec aggregate;
  aggregate.aggregators = {Aggregator::kAvg, Aggregator::kMax};
  const auto steps = static_cast<std::int64_t>(options.samples / options.series) + 1;
  aggregate.bucket.width = std::max<std::int64_t>(steps / 100, 1) * kBenchStepMs;
  const Stopwatch aggregate_watch;
  TSDB_RETURN_IF_ERROR(Drain(db, aggregate).status());
  figures.aggregate_seconds = aggregate_watch.Seconds();

  const std::uint32_t reads = std::min<std::uint32_t>(options.series, 200);
  const Stopwatch series_watch;
  for (std::uint32_t i = 0; i < reads; ++i) {
    const std::uint64_t index = std::uint64_t{i} * options.series / reads;
    QuerySpec one;
    one.selector = Selector::ForKey(BenchData::SeriesLabels(static_cast<std::uint32_t>(index)).CanonicalKey());
    TSDB_RETURN_IF_ERROR(Drain(db, one).status());
  }
  figures.series_seconds = series_watch.Seconds() / reads;
  return figures;
}

double PerSecond(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

std::string Setting(const BenchOptions& options) {
  return fmt::format("{} samples, {} series, {} per commit, durability {}, in {}", FormatCount(options.samples),
                     FormatCount(options.series), FormatCount(options.batch_samples), options.durability,
                     options.dir.empty() ? "a temporary directory" : options.dir);
}

std::string JsonStart(const char* what, const BenchOptions& options) {
  return fmt::format("{{\"bench\":\"{}\",\"samples\":{},\"series\":{},\"batch\":{},\"durability\":\"{}\"", what,
                     options.samples, options.series, options.batch_samples, options.durability);
}

void ReportWrite(const BenchOptions& options, const WriteFigures& f, std::string* out) {
  const double total = f.append_seconds + f.flush_seconds;
  const double bytes_per_sample = static_cast<double>(f.chunk_file_bytes) / static_cast<double>(options.samples);
  if (options.json) {
    *out += JsonStart("write", options);
    *out += fmt::format(
        ",\"append_seconds\":{},\"flush_seconds\":{},\"appended_per_second\":{:.0f},\"samples_per_second\":{:.0f}"
        ",\"bytes_on_disk\":{},\"bytes_per_sample\":{}}}\n",
        f.append_seconds, f.flush_seconds, PerSecond(options.samples, f.append_seconds),
        PerSecond(options.samples, total), f.bytes_on_disk, bytes_per_sample);
    return;
  }
  *out += Setting(options) + "\n";
  *out += fmt::format("append          {:>10}/s  ({})\n", FormatMagnitude(PerSecond(options.samples, f.append_seconds)),
                      FormatSeconds(f.append_seconds));
  *out += fmt::format("append + flush  {:>10}/s  ({})\n", FormatMagnitude(PerSecond(options.samples, total)),
                      FormatSeconds(total));
  *out += fmt::format("on disk         {:>10}    ({:.3f} bytes per sample in chunk files)\n",
                      FormatBytes(f.bytes_on_disk), bytes_per_sample);
}

void ReportRead(const BenchOptions& options, const ReadFigures& f, std::string* out) {
  if (options.json) {
    *out += JsonStart("read", options);
    *out += fmt::format(
        ",\"scan_samples_per_second\":{:.0f},\"aggregate_samples_per_second\":{:.0f},\"series_read_seconds\":{}}}\n",
        PerSecond(options.samples, f.scan_seconds), PerSecond(options.samples, f.aggregate_seconds), f.series_seconds);
    return;
  }
  *out += Setting(options) + "; files in the page cache\n";
  *out += fmt::format("read all samples        {:>10}/s  ({})\n",
                      FormatMagnitude(PerSecond(options.samples, f.scan_seconds)), FormatSeconds(f.scan_seconds));
  *out += fmt::format("avg,max in 100 buckets  {:>10}/s  ({})\n",
                      FormatMagnitude(PerSecond(options.samples, f.aggregate_seconds)),
                      FormatSeconds(f.aggregate_seconds));
  *out += fmt::format("read one series         {:>10}    ({} samples)\n", FormatSeconds(f.series_seconds),
                      FormatCount(options.samples / options.series));
}

Status RunIn(const std::string& path, const BenchOptions& options, bool read, Program& program) {
  TSDB_ASSIGN_OR_RETURN(std::unique_ptr<Database> db, OpenBench(path, options, program));
  TSDB_ASSIGN_OR_RETURN(const WriteFigures written, Write(*db, options));
  TSDB_RETURN_IF_ERROR(db->Close());
  if (!read) {
    ReportWrite(options, written, program.out.buffer());
    return Status::Ok();
  }
  db.reset();  // so that nothing is read from memory that a fresh start would not have
  TSDB_ASSIGN_OR_RETURN(db, OpenBench(path, options, program));
  TSDB_ASSIGN_OR_RETURN(const ReadFigures figures, Read(*db, options));
  ReportRead(options, figures, program.out.buffer());
  return Status::Ok();
}

Outcome RunBench(const BenchOptions& options, bool read, Program& program) {
  CatchInterrupts();
  const Result<TemporaryDirectory> directory = TemporaryDirectory::Create(options.dir);
  if (!directory.ok()) {
    return Outcome::Failed(directory.status());
  }
  const Status status = RunIn(directory->path() + "/db", options, read, program);
  if (const int signal = InterruptSignal(); signal != 0) {
    return {static_cast<ExitCode>(128 + signal), "interrupted"};
  }
  return status.ok() ? Outcome::Done() : Outcome::Failed(status);
}

void AddBenchOf(CommandSet* set, CLI::App* parent, const std::string& name, const std::string& summary, bool read) {
  CLI::App* command = set->Add(parent, name, summary, {"tsdb-cli bench " + name + " --series 1000 --samples 2000000"});
  auto options = std::make_shared<BenchOptions>();
  command->add_option("--series", options->series, "Number of series")
      ->type_name("N")
      ->check(WholeNumber(1, 100'000'000))
      ->default_str("1000");
  command->add_option("--samples", options->samples, "Samples in all")
      ->type_name("N")
      ->check(WholeNumber(1, 1'000'000'000'000))
      ->default_str("2000000");
  command->add_option("--batch", options->batch_samples, "Samples per commit")
      ->type_name("N")
      ->check(WholeNumber(1, 10'000'000))
      ->default_str("10000");
  command->add_option("--durability", options->durability, "What a commit survives")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"always", "interval", "none"}))
      ->default_str("interval");
  command->add_option("--dir", options->dir, "Work in a new directory below this one (default: TMPDIR, or /tmp)")
      ->type_name("DIR");
  command->add_flag("--json", options->json, "One JSON object");
  set->SetRun(command, [options, read](Program& program) { return RunBench(*options, read, program); });
}

}  // namespace

void AddBench(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "bench", "Measure writing or reading on this machine",
                               {"tsdb-cli bench write --durability always", "tsdb-cli bench read --dir /mnt/disk"});
  command->require_subcommand(1);
  AddBenchOf(set, command, "write", "Measure appending and flushing", false);
  AddBenchOf(set, command, "read", "Measure reading back what was written first", true);
}

}  // namespace tsdb::cli
