#include "tests/crash/walk.h"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace tsdb::engine {
namespace {

using CutMode = MemoryFileSystem::CutMode;

constexpr std::uint64_t kSeed = 7;
constexpr int kSteps = 54;

struct Outcome {
  Oracle oracle;
  std::size_t durable = 0;           // batches acknowledged under `always`, or flushed
  std::function<void(Contents*)> unanswered;  // what the operation that was cut does
  bool closed = false;
};

Result<std::unique_ptr<Database>> OpenOn(MemoryFileSystem* fs, FakeClock* clock) {
  return OpenDatabase("/db", QuietOptions(), MemoryEnvironment(fs, clock));
}

// Runs the script until the disk stops; every run does the same up to there. A flush that fails while the disk works is
// tried again.
Outcome RunScript(MemoryFileSystem* fs) {
  Outcome outcome;
  FakeClock clock;
  Workload workload(kSeed);
  Ages ages;
  auto db = OpenOn(fs, &clock);
  if (!db.ok()) {
    return outcome;
  }
  for (int step = 0; step < kSteps; ++step) {
    clock.Advance(1'000'000);
    if (step % 9 == 8) {
      const auto into_files = [&] { return IntoFiles(**db, step / 9); };
      if (!into_files().ok() && !into_files().ok()) {
        return outcome;
      }
      outcome.durable = outcome.oracle.batches();
      continue;
    }
    const Durability durability = step % 3 == 0 ? Durability::kAlways : static_cast<Durability>(step % 2);
    if (step % 5 == 4) {
      const RandomEnd end = step % 15 == 14 ? NextRetention(workload) : NextEnd(workload);
      bool durable = false;
      if (!Run(**db, end, durability, &durable).ok()) {
        outcome.unanswered = [end, ages](Contents* contents) {
          Ages after = ages;
          end.Apply(contents, &after);
        };
        return outcome;
      }
      outcome.oracle.Change([&](Contents* contents) { end.Apply(contents, &ages); });
      outcome.durable = durable ? outcome.oracle.batches() : outcome.durable;
      continue;
    }
    const RandomBatch batch = workload.Next(durability);
    const auto result = Run(**db, batch);
    if (!result.ok()) {
      outcome.unanswered = [with = ages.With(batch.ops, outcome.oracle)](Contents* contents) { *contents = with; };
      return outcome;
    }
    ages.Apply(batch.ops, &outcome.oracle);
    if (durability == Durability::kAlways && result->commit.value != 0) {
      outcome.durable = outcome.oracle.batches();
    }
  }
  outcome.closed = (*db)->Close().ok();
  if (outcome.closed) {
    outcome.durable = outcome.oracle.batches();
  }
  return outcome;
}

/// Opens and reads; the database stays open.
Result<Contents> OpenAndRead(MemoryFileSystem* fs, FakeClock* clock, std::unique_ptr<Database>* db) {
  db->reset();
  TSDB_ASSIGN_OR_RETURN(*db, OpenOn(fs, clock));
  return TryReadAll(**db);
}

/// One more series and sample, durable, and a flush when `flush`.
Status WriteMore(Database& db, bool flush) {
  SeriesSettings settings;
  settings.retention = std::int64_t{1} << 40;  // whatever that of the database is
  TSDB_ASSIGN_OR_RETURN(const SeriesRef ref, db.CreateSeriesByKey("after", {}, settings));
  TSDB_RETURN_IF_ERROR(Put(db, ref, 1, 1, WriteOptions::With(Durability::kAlways)));
  return flush ? db.Flush() : Status::Ok();
}

std::string Compare(const Result<Contents>& read, Contents expected, bool with_more, std::string_view when) {
  if (!read.ok()) {
    return fmt::format("{}: {}", when, read.status().ToString());
  }
  if (with_more) {
    expected["after"][1] = std::bit_cast<std::uint64_t>(1.0);
  }
  return *read == expected ? "" : fmt::format("{}: {}", when, Difference(*read, expected));
}

// What was found stays: over further writes, a power cut, a clean close.
std::string CheckItStays(MemoryFileSystem* fs, const Contents& found, std::unique_ptr<Database> db, FakeClock* clock) {
  if (Status status = WriteMore(*db, /*flush=*/false); !status.ok()) {
    return "writing on: " + status.ToString();
  }
  auto cut = fs->AfterPowerCut(CutMode::kDropUnsynced);
  std::unique_ptr<Database> after_cut;
  if (auto wrong = Compare(OpenAndRead(cut.get(), clock, &after_cut), found, true, "after a second cut");
      !wrong.empty()) {
    return wrong;
  }
  if (Status status = db->Close(); !status.ok()) {
    return "close: " + status.ToString();
  }
  db.reset();
  cut = fs->AfterPowerCut(CutMode::kDropUnsynced);
  if (auto wrong = Compare(OpenAndRead(cut.get(), clock, &after_cut), found, true, "after a close and a cut");
      !wrong.empty()) {
    return wrong;
  }
  const std::uint64_t segments = after_cut->recovery_report().segments;
  return segments == 0 ? "" : fmt::format("a clean close left {} log segments", segments);
}

std::string CheckRecovered(MemoryFileSystem* fs, const Outcome& outcome) {
  FakeClock clock;
  std::unique_ptr<Database> db;
  const auto found = OpenAndRead(fs, &clock, &db);
  if (!found.ok()) {
    return found.status().ToString();
  }
  Contents with_the_last = outcome.oracle.contents();
  if (outcome.unanswered) {
    outcome.unanswered(&with_the_last);
  }
  if (!outcome.oracle.FindPrefix(*found, outcome.durable) && *found != with_the_last) {
    return fmt::format("neither a prefix of at least {} of {} batches, nor all of them with the one without answer",
                       outcome.durable, outcome.oracle.batches());
  }
  return CheckItStays(fs, *found, std::move(db), &clock);
}

}  // namespace

Result<Contents> TryReadAll(Database& db) {
  Contents contents;
  TSDB_ASSIGN_OR_RETURN(const auto result, db.Query({}));
  ColumnBatch batch;
  while (result->NextSeries()) {
    Samples& samples = contents[result->series().key];
    while (result->NextBatch(&batch)) {
      for (std::size_t i = 0; i < batch.times.size(); ++i) {
        samples[batch.times[i]] = std::bit_cast<std::uint64_t>(batch.columns[0][i]);
      }
    }
  }
  TSDB_RETURN_IF_ERROR(result->status());
  return contents;
}

std::string WalkPowerCuts(std::uint64_t random_cuts, bool manifest_fails, std::uint64_t* operations) {
  *operations = ~std::uint64_t{0};
  for (std::uint64_t stop = 1; stop <= *operations; ++stop) {
    MemoryFileSystem fs;
    if (manifest_fails) {
      // The third append: state and seal of the new manifest come before it.
      const auto count = std::make_shared<int>(0);
      fs.SetFault([count](std::uint64_t, std::string_view operation, const std::string& path) {
        const bool hit = operation == "Append" && path.find("/manifest/") != std::string::npos && ++*count == 3;
        return hit ? Status::IoError("append to the manifest fails as told") : Status::Ok();
      });
    }
    fs.StopAt(stop);
    const Outcome outcome = RunScript(&fs);
    if (outcome.closed && fs.operations() < stop) {
      *operations = fs.operations();
      break;
    }
    for (std::uint64_t cut = 0; cut < random_cuts + 2; ++cut) {
      const CutMode mode = cut == 0 ? CutMode::kDropUnsynced : cut == 1 ? CutMode::kKeepUnsynced : CutMode::kRandom;
      const auto after = fs.AfterPowerCut(mode, stop * 1000 + cut);
      if (const std::string wrong = CheckRecovered(after.get(), outcome); !wrong.empty()) {
        return fmt::format("power cut at operation {}, mode {}, seed {}: {}", stop, static_cast<int>(mode),
                           stop * 1000 + cut, wrong);
      }
    }
  }
  return "";
}

std::string WalkKills() {
  for (std::uint64_t stop = 1;; ++stop) {
    MemoryFileSystem fs;
    fs.StopAt(stop);
    const bool closed = RunScript(&fs).closed;
    if (closed && fs.operations() < stop) {
      return "";
    }
    fs.StopAt(0);
    FakeClock clock;
    std::unique_ptr<Database> db;
    const auto found = OpenAndRead(&fs, &clock, &db);
    if (!found.ok()) {
      return fmt::format("killed at operation {}: {}", stop, found.status().ToString());
    }
    std::unique_ptr<Database> after;
    auto cut = fs.AfterPowerCut(CutMode::kDropUnsynced);
    std::string wrong = Compare(OpenAndRead(cut.get(), &clock, &after), *found, false, "after a cut");
    if (wrong.empty()) {
      wrong = CheckItStays(&fs, *found, std::move(db), &clock);
    }
    if (!wrong.empty()) {
      return fmt::format("killed at operation {}: {}", stop, wrong);
    }
  }
}

std::string WalkKilledOpens() {
  for (std::uint64_t stop = 1;; ++stop) {
    MemoryFileSystem first;
    first.StopAt(stop);
    const bool closed = RunScript(&first).closed;
    if (closed && first.operations() < stop) {
      return "";
    }
    for (std::uint64_t open_stop = 1;; ++open_stop) {
      const auto fs = first.Clone();
      FakeClock clock;
      fs->StopAt(open_stop);
      const bool opened = OpenOn(fs.get(), &clock).ok();
      const bool past_the_open = opened && fs->operations() < open_stop;
      fs->StopAt(0);
      std::unique_ptr<Database> db;
      const auto found = OpenAndRead(fs.get(), &clock, &db);
      std::string wrong = found.ok() ? "" : found.status().ToString();
      if (wrong.empty()) {
        const Status more = WriteMore(*db, /*flush=*/true);
        wrong = more.ok() ? "" : "writing on: " + more.ToString();
      }
      if (wrong.empty()) {
        std::unique_ptr<Database> after;
        auto cut = fs->AfterPowerCut(CutMode::kDropUnsynced);
        wrong = Compare(OpenAndRead(cut.get(), &clock, &after), *found, true, "after a flush and a cut");
      }
      if (!wrong.empty()) {
        return fmt::format("killed at operation {} and again at operation {} of the open: {}", stop, open_stop, wrong);
      }
      if (past_the_open) {
        break;
      }
    }
  }
}

}  // namespace tsdb::engine
