// Every I/O operation of a fixed run fails once, several in a row fail, or the power is cut there; then what was
// acknowledged is compared with what replay gives back.
//
// The rule: acknowledged commits are there (after a power cut: those acknowledged as synced, and of the others a
// prefix); failed ones never are once a later one was acknowledged, before that whole or not at all; refused ones never
// are.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/wal/faulty_file_system.h"
#include "tests/wal/wal_test_util.h"

namespace tsdb::wal {
namespace {

using CutMode = MemoryFileSystem::CutMode;

/// What the writers of a run know.
struct Acknowledged {
  std::vector<std::uint64_t> commits;
  std::vector<std::uint64_t> failed;     // not refused
  std::uint64_t durable = 0;             // highest commit acknowledged as synced
};

void Note(const LogRecord& record, const Status& status, Durability level, Acknowledged* run) {
  if (status.ok()) {
    run->commits.push_back(record.commit().value);
    if (level == Durability::kAlways) {
      run->durable = std::max(run->durable, record.commit().value);
    }
  } else if (status.code() != StatusCode::kNoSpace) {
    run->failed.push_back(record.commit().value);
  }
}

void WriteGroupOf(Log& log, std::size_t count, Durability level, Acknowledged* run) {
  std::vector<LogRecord> records(count);
  std::vector<std::string> payloads(count);
  for (std::size_t i = 0; i < count; ++i) {
    payloads[i] = PayloadOf(log.last_assigned().value + 1);
    records[i].payload = payloads[i];
    ASSERT_TRUE(log.Enqueue(&records[i], level, log.epoch()));
  }
  for (LogRecord& record : records) {
    Note(record, log.Write(&record), level, run);
  }
}

/// The fixed run. Ends early when the log cannot be opened.
Acknowledged RunWorkload(FileSystem& fs, LogOptions options = TestOptions()) {
  Acknowledged run;
  options.segment_bytes_max = 1500;
  options.reserve_bytes = 512;
  auto opened = TryOpen(fs, options);
  if (!opened.ok()) {
    return run;
  }
  Log& log = **opened;
  for (std::size_t step = 0; step < 24; ++step) {
    const auto level = static_cast<Durability>(step % 5 == 2 ? 2 : step % 2);
    WriteGroupOf(log, step % 4 == 1 ? 3 : 1, level, &run);
    const std::uint64_t last = run.commits.empty() ? 0 : run.commits.back();
    if (step % 7 == 3 && log.SyncNow().ok()) {
      run.durable = std::max(run.durable, last);
    }
    if (step % 9 == 5 && log.SyncThrough({last}).ok()) {
      run.durable = std::max(run.durable, last);
    }
    if (step == 10) {
      log.RequestRoll();
    }
  }
  return run;
}

/// Compares what replay of `fs` gives with the run. Returns the commits seen.
std::vector<std::uint64_t> CheckAfter(FileSystem& fs, const Acknowledged& run, bool all_acknowledged,
                                      Replayed* replayed) {
  *replayed = ReplayAll(fs);
  EXPECT_TRUE(ContentIsRight(replayed->recorder));
  std::vector<std::uint64_t> seen = replayed->commits();
  const std::uint64_t last_acknowledged = run.commits.empty() ? 0 : run.commits.back();
  std::vector<std::uint64_t> expected = run.commits;
  for (const std::uint64_t commit : run.failed) {
    if (commit > last_acknowledged && std::find(seen.begin(), seen.end(), commit) != seen.end()) {
      expected.push_back(commit);  // nothing was acknowledged since: it may be there
    }
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_LE(seen.size(), expected.size());
  EXPECT_TRUE(std::equal(seen.begin(), seen.end(), expected.begin(),
                         expected.begin() + static_cast<std::ptrdiff_t>(std::min(seen.size(), expected.size()))))
      << "not a prefix of what was acknowledged";
  EXPECT_GE(seen.empty() ? 0 : seen.back(), run.durable) << "synced commits are missing";
  if (all_acknowledged) {
    EXPECT_GE(seen.size(), run.commits.size()) << "acknowledged commits are missing";
  }
  for (const LogDamage& damage : replayed->report.damage) {
    EXPECT_TRUE(damage.tail) << damage.path << "@" << damage.offset << " " << damage.reason;
  }
  return seen;
}

/// The log goes on from the crash, is synced and loses its power: the old commits and the new ones are there, no
/// others.
void CheckGoesOn(MemoryFileSystem& fs, const Replayed& replayed, std::vector<std::uint64_t> expected) {
  auto log = MustOpen(fs, OptionsAfter(replayed.report));
  ASSERT_TRUE(log);
  for (int i = 0; i < 3; ++i) {
    const Written written = WriteNext(*log, i == 1 ? Durability::kAlways : Durability::kNone);
    ASSERT_TRUE(written.status.ok()) << written.status.ToString();
    expected.push_back(written.commit);
  }
  ASSERT_TRUE(log->SyncNow().ok());
  log.reset();
  const auto cut = fs.AfterPowerCut(CutMode::kDropUnsynced);
  const Replayed again = ReplayAll(*cut);
  EXPECT_EQ(again.commits(), expected);
  EXPECT_TRUE(ContentIsRight(again.recorder));
  EXPECT_TRUE(again.report.damage.empty()) << again.report.damage[0].reason;
}

void CheckImages(const MemoryFileSystem& fs, const Acknowledged& run, std::uint64_t seed) {
  Replayed replayed;
  {
    SCOPED_TRACE("process crash");
    const auto image = fs.AfterPowerCut(CutMode::kKeepUnsynced);
    const auto seen = CheckAfter(*image, run, true, &replayed);
    CheckGoesOn(*image, replayed, seen);
  }
  {
    SCOPED_TRACE("power cut, unsynced dropped");
    const auto image = fs.AfterPowerCut(CutMode::kDropUnsynced);
    const auto seen = CheckAfter(*image, run, false, &replayed);
    CheckGoesOn(*image, replayed, seen);
  }
  for (std::uint64_t i = 0; i < 3; ++i) {
    SCOPED_TRACE("power cut, random, seed " + std::to_string(seed * 10 + i));
    const auto image = fs.AfterPowerCut(CutMode::kRandom, seed * 10 + i);
    const auto seen = CheckAfter(*image, run, false, &replayed);
    CheckGoesOn(*image, replayed, seen);
  }
}

std::uint64_t OperationsOfTheRun() {
  MemoryFileSystem memory;
  FaultyFileSystem fs(memory);
  const Acknowledged run = RunWorkload(fs);
  EXPECT_EQ(run.commits.size(), 36u);
  return fs.operations();
}

TEST(LogCrash, AcknowledgedCommitsSurviveAPowerCutAtEveryOperation) {
  MemoryFileSystem whole;
  (void)RunWorkload(whole);
  for (std::uint64_t n = 1; n <= whole.operations() + 1; ++n) {
    SCOPED_TRACE("power cut at operation " + std::to_string(n));
    MemoryFileSystem fs;
    fs.StopAt(n);
    const Acknowledged run = RunWorkload(fs);
    CheckImages(fs, run, n);
    if (HasFailure()) {
      return;
    }
  }
}

TEST(LogCrash, ASecondPowerCutWhileGoingOnLosesNothingOlder) {
  MemoryFileSystem first;
  first.StopAt(40);
  const Acknowledged run = RunWorkload(first);
  Replayed replayed;
  for (const CutMode mode : {CutMode::kDropUnsynced, CutMode::kRandom}) {
    const auto image = first.AfterPowerCut(mode, 3);
    const auto seen = CheckAfter(*image, run, false, &replayed);
    for (std::uint64_t n = 1; n <= 30; ++n) {
      SCOPED_TRACE("second cut at operation " + std::to_string(n));
      const auto again = image->Clone();
      again->StopAt(again->operations() + n);
      Acknowledged second = RunWorkload(*again, OptionsAfter(replayed.report));
      second.commits.insert(second.commits.begin(), seen.begin(), seen.end());
      second.durable = std::max(second.durable, seen.empty() ? 0 : seen.back());
      CheckImages(*again, second, n);
      if (HasFailure()) {
        return;
      }
    }
  }
}

struct FaultRow {
  const char* name;
  StatusCode code;
  Fault::Effect effect;
  std::uint64_t in_a_row;
};

class LogFault : public ::testing::TestWithParam<FaultRow> {};

TEST_P(LogFault, OfEveryOperationKeepsTheAcknowledgedCommitsExact) {
  const FaultRow row = GetParam();
  const std::uint64_t operations = OperationsOfTheRun();
  for (std::uint64_t n = 1; n <= operations; ++n) {
    SCOPED_TRACE("operation " + std::to_string(n) + " fails");
    MemoryFileSystem memory;
    FaultyFileSystem fs(memory);
    fs.set_plan([&](std::uint64_t number, std::string_view operation) {
      const bool space = row.code != StatusCode::kNoSpace || operation == "Append" || operation == "Reserve" ||
                         operation == "OpenWritable";
      return number >= n && number < n + row.in_a_row && space ? Fault{{row.code, "injected"}, row.effect} : Fault{};
    });
    const Acknowledged run = RunWorkload(fs);
    CheckImages(memory, run, n);
    if (!run.commits.empty() && n + row.in_a_row + 15 < operations) {
      EXPECT_GT(run.commits.back(), 30u) << "writing did not resume";
    }
    if (HasFailure()) {
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Effects, LogFault,
    ::testing::Values(FaultRow{"OnceWithoutEffect", StatusCode::kIoError, Fault::Effect::kNone, 1},
                      FaultRow{"OnceHalfDone", StatusCode::kIoError, Fault::Effect::kHalf, 1},
                      FaultRow{"OnceWhollyDone", StatusCode::kIoError, Fault::Effect::kWhole, 1},
                      FaultRow{"TwiceWithoutEffect", StatusCode::kIoError, Fault::Effect::kNone, 2},
                      FaultRow{"TwiceWhollyDone", StatusCode::kIoError, Fault::Effect::kWhole, 2},
                      FaultRow{"SixTimesWhollyDone", StatusCode::kIoError, Fault::Effect::kWhole, 6},
                      FaultRow{"SixTimesHalfDone", StatusCode::kIoError, Fault::Effect::kHalf, 6},
                      FaultRow{"NoSpaceOnce", StatusCode::kNoSpace, Fault::Effect::kNone, 1},
                      FaultRow{"NoSpaceHalfDone", StatusCode::kNoSpace, Fault::Effect::kHalf, 5}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace tsdb::wal
