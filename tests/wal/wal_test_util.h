// Helpers of the log's tests: records with known content, a visitor that remembers, and short forms of open and replay.
#pragma once

#include <bit>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/memory_file_system.h"
#include "wal/log.h"
#include "wal/record.h"
#include "wal/replay.h"

namespace tsdb::wal {

inline const std::string kDirectory = "wal";
inline constexpr StoreId kStore{0x1122334455667788, 0x99aabbccddeeff00};

/// The content of the n-th record of a test: its size and values follow from n.
inline std::vector<Put> PutsOf(std::uint64_t n) {
  std::vector<Put> puts;
  for (std::uint64_t i = 0; i <= n % 5; ++i) {
    puts.push_back({{1 + i * (n % 3)}, static_cast<Timestamp>(1'700'000'000'000 + n), static_cast<double>(n) + 0.1});
  }
  return puts;
}

inline std::string PayloadOf(std::uint64_t n) {
  RecordBuilder builder;
  builder.AddPuts(PutsOf(n));
  return std::string(builder.payload());
}

inline bool SameBits(const std::vector<Put>& a, const std::vector<Put>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Put& x, const Put& y) {
    return x.id == y.id && x.time == y.time &&
           std::bit_cast<std::uint64_t>(x.value) == std::bit_cast<std::uint64_t>(y.value);
  });
}

/// Remembers what it saw.
class Recorder final : public ReplayVisitor {
 public:
  Status OnCommit(CommitNumber commit, std::int64_t wall_nanos) override {
    EXPECT_TRUE(order.empty() || order.back() < commit.value) << "commits out of order";
    EXPECT_GE(wall_nanos, last_wall_nanos);
    last_wall_nanos = wall_nanos;
    order.push_back(commit.value);
    puts[commit.value];
    return {};
  }
  Status OnPuts(std::span<const Put> run) override {
    auto& to = puts[order.empty() ? 0 : order.back()];
    to.insert(to.end(), run.begin(), run.end());
    return {};
  }
  Status OnDefinition(const SeriesDefinition& definition) override {
    definitions.push_back(definition);
    return {};
  }

  std::vector<std::uint64_t> order;
  std::map<std::uint64_t, std::vector<Put>> puts;
  std::vector<SeriesDefinition> definitions;
  std::int64_t last_wall_nanos = 0;
};

struct Replayed {
  Recorder recorder;
  ReplayReport report;
  const std::vector<std::uint64_t>& commits() const { return recorder.order; }
};

inline Replayed ReplayAll(FileSystem& fs, std::uint64_t after = 0, std::uint64_t synced = 0) {
  Replayed replayed;
  auto report = Replay(fs, kDirectory, {kStore, {after}, {synced}}, replayed.recorder);
  EXPECT_TRUE(report.ok()) << report.status().ToString();
  if (report.ok()) {
    replayed.report = *std::move(report);
  }
  return replayed;
}

inline LogOptions TestOptions() {
  LogOptions options;
  options.store_id = kStore;
  options.sync_interval_ms = 0;
  options.reserve_bytes = 4096;
  return options;
}

/// Options of a log that goes on behind what replay found.
inline LogOptions OptionsAfter(const ReplayReport& report) {
  LogOptions options = TestOptions();
  options.last_commit = std::max(report.last_commit, report.last_valid_commit);
  options.last_valid_commit = report.last_valid_commit;
  options.last_segment = report.last_segment;
  options.last_wall_nanos = report.last_wall_nanos;
  return options;
}

inline Result<std::unique_ptr<Log>> TryOpen(FileSystem& fs, LogOptions options = TestOptions()) {
  static FakeClock clock;
  return Log::Open(fs, clock, kDirectory, std::move(options));
}

inline std::unique_ptr<Log> MustOpen(FileSystem& fs, LogOptions options = TestOptions()) {
  auto log = TryOpen(fs, std::move(options));
  EXPECT_TRUE(log.ok()) << log.status().ToString();
  return log.ok() ? *std::move(log) : nullptr;
}

struct Written {
  Status status;
  std::uint64_t commit = 0;
};

inline Written WriteOne(Log& log, std::string_view payload, Durability durability = Durability::kNone) {
  LogRecord record;
  record.payload = payload;
  EXPECT_TRUE(log.Enqueue(&record, durability, log.epoch()));
  Status status = log.Write(&record);
  EXPECT_EQ(record.state(), status.ok() ? LogRecord::State::kWritten : LogRecord::State::kFailed);
  return {std::move(status), record.commit().value};
}

/// Writes record n; its content follows from its commit number, so replay can check it.
inline Written WriteNext(Log& log, Durability durability = Durability::kNone) {
  return WriteOne(log, PayloadOf(log.last_assigned().value + 1), durability);
}

/// Every commit seen holds what WriteNext wrote.
inline bool ContentIsRight(const Recorder& recorder) {
  for (const auto& [commit, puts] : recorder.puts) {
    if (!SameBits(puts, PutsOf(commit))) {
      return false;
    }
  }
  return true;
}

inline std::vector<std::uint64_t> UpTo(std::uint64_t n) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 1; i <= n; ++i) {
    numbers.push_back(i);
  }
  return numbers;
}

inline std::string SegmentPath(std::uint64_t number) { return JoinPath(kDirectory, SegmentFileName(number)); }

}  // namespace tsdb::wal
