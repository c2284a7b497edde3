// compact: merge the chunk files into their final form.
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/open_database.h"
#include "cli/text/numbers.h"
#include "cli/text/progress.h"

namespace tsdb::cli {
namespace {

/// Shows how far the merge is, and ends it when the user asks for that.
class Watcher {
 public:
  explicit Watcher(const Messages& messages) : progress_(messages) {}

  bool Take(const JobProgress& job) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    if (job.merges_done != merges_) {
      merges_ = job.merges_done;
      merge_start_ = seconds;
    }
    const std::string name = fmt::format("merge {}", job.merges_done + 1);
    ProgressState state;
    state.name = name;
    // Of a merge the samples are known beforehand, and all of them take about the same time.
    state.bytes_done = job.samples_done;
    state.bytes_total = job.samples_total;
    state.samples = job.samples_done;
    state.seconds = seconds - merge_start_;
    state.input_seconds = state.seconds;
    progress_.Update(state);
    return InterruptSignal() == 0;
  }
  void Clear() { progress_.Clear(); }

 private:
  Progress progress_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::uint64_t merges_ = 0;
  double merge_start_ = 0;
};

void Summarize(const CompactReport& report, std::uint64_t disk_before, std::uint64_t disk_after,
               const Messages& messages) {
  const auto per_sample = [](std::uint64_t bytes, std::uint64_t samples) {
    return samples == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(samples);
  };
  messages.Note(fmt::format("chunk files: {} -> {}, {} -> {} ({:.3f} -> {:.3f} bytes a sample)",
                            FormatCount(report.files_before), FormatCount(report.files_after),
                            FormatBytes(report.bytes_before), FormatBytes(report.bytes_after),
                            per_sample(report.bytes_before, report.samples_before),
                            per_sample(report.bytes_after, report.samples_after)));
  messages.Note(fmt::format("whole directory: {} -> {}", FormatBytes(disk_before), FormatBytes(disk_after)));
}

Outcome RunCompact(bool purge, Program& program) {
  Result<std::unique_ptr<Database>> db = OpenExisting(program);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  (*db)->PauseMerging();
  CatchInterrupts();
  const std::uint64_t disk_before = (*db)->GetStats().bytes_on_disk;
  Watcher watcher(program.messages);
  CompactOptions options;
  options.purge = purge;
  options.progress = [&watcher](const JobProgress& job) { return watcher.Take(job); };
  const Result<CompactReport> report = (*db)->Compact(options);
  watcher.Clear();
  const Status closed = (*db)->Close();
  if (!report.ok()) {
    const int signal = InterruptSignal();
    if (report.status().code() == StatusCode::kCancelled && signal != 0) {
      return {static_cast<ExitCode>(128 + signal), "interrupted: what was merged so far stays"};
    }
    return report.status().code() == StatusCode::kCorruption
               ? Outcome::Partly(std::string(report.status().message()) + ": see 'tsdb-cli verify'")
               : Outcome::Failed(report.status());
  }
  if (!closed.ok()) {
    return Outcome::Failed(closed);
  }
  Result<std::unique_ptr<Database>> again = OpenExisting(program);
  if (!again.ok()) {
    return Outcome::Failed(again.status());
  }
  Summarize(*report, disk_before, (*again)->GetStats().bytes_on_disk, program.messages);
  return Outcome::Done();
}

}  // namespace

void AddCompact(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "compact", "Merge everything into few files, as small as they get",
                               {"tsdb-cli --db ./metrics compact", "tsdb-cli --db ./metrics compact --purge"});
  auto purge = std::make_shared<bool>(false);
  command->add_flag("--purge", *purge, "Also take what was deleted, dropped or has expired off the disk");
  set->SetRun(command, [purge](Program& program) { return RunCompact(*purge, program); });
}

}  // namespace tsdb::cli
