#include "compaction/picker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "compaction/output_plan.h"

namespace tsdb::compaction {
namespace {

constexpr Timestamp kDay = 86'400'000;
constexpr std::uint64_t kMiB = 1 << 20;

/// A database of files that are only sizes: bytes per day. Flushes come in, picks are carried out.
class Simulation {
 public:
  void Flush(const DayBytes& days) {
    ++commit_;
    Add(days, kLevelFlushed, {commit_}, {commit_});
    flushed_bytes_ += metas_.back().bytes;
  }

  /// Merges until nothing is due; checks each pick.
  void Settle() {
    for (int i = 0; i < 1000; ++i) {
      const Pick pick = PickMerge(metas_, Options());
      if (pick.files.empty()) {
        return;
      }
      ASSERT_NO_FATAL_FAILURE(Run(pick, false));
    }
    FAIL() << "merging never ends";
  }
  void Finish() {
    bool rest_is_final = false;
    for (int i = 0; i < 1000; ++i) {
      const Pick pick = PickFinal(metas_, Options(), {commit_}, rest_is_final);
      if (pick.files.empty()) {
        return;
      }
      rest_is_final |= pick.cut;
      ASSERT_NO_FATAL_FAILURE(Run(pick, true));
    }
    FAIL() << "merging never ends";
  }

  const std::vector<chunk::ChunkFileMeta>& metas() const { return metas_; }
  double amplification() const {
    return static_cast<double>(flushed_bytes_ + merged_bytes_) / static_cast<double>(flushed_bytes_);
  }
  std::uint64_t bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& meta : metas_) {
      bytes += meta.bytes;
    }
    return bytes;
  }
  std::uint64_t flushed_bytes() const { return flushed_bytes_; }
  std::size_t most_files() const { return most_files_; }
  std::set<std::uint64_t>& unreadable() { return unreadable_; }

 private:
  PickOptions Options() const {
    PickOptions options;
    options.now = newest_;
    options.unreadable = unreadable_;
    return options;
  }

  void Add(const DayBytes& days, std::uint32_t level, CommitNumber first, CommitNumber last) {
    chunk::ChunkFileMeta meta;
    meta.number = next_number_++;
    meta.level = level;
    meta.first_commit = first;
    meta.last_commit = last;
    meta.first_time = days.begin()->first;
    meta.last_time = days.rbegin()->first + kDay - 1;
    for (const auto& [day, bytes] : days) {
      meta.bytes += bytes;
    }
    newest_ = std::max(newest_, meta.last_time);
    contents_[meta.number] = days;
    metas_.push_back(meta);
    std::ranges::stable_sort(metas_, {}, &chunk::ChunkFileMeta::last_commit);
    most_files_ = std::max(most_files_, metas_.size());
  }

  void Run(const Pick& pick, bool final_form) {
    DayBytes days;
    std::vector<chunk::ChunkFileMeta> inputs;
    for (const std::uint64_t number : pick.files) {
      const auto meta = std::ranges::find(metas_, number, &chunk::ChunkFileMeta::number);
      ASSERT_NE(meta, metas_.end());
      ASSERT_FALSE(unreadable_.contains(number));
      ASSERT_TRUE(inputs.empty() || inputs.back().last_commit <= meta->last_commit);
      inputs.push_back(*meta);
      for (const auto& [day, bytes] : contents_[number]) {
        days[day] += bytes;
      }
    }
    std::vector<MergeOutput> outputs;
    if (pick.cut) {
      outputs = PlanOutputs(days, FindPartitions(metas_, TimeUnit::kMilliseconds),
                            {TimeUnit::kMilliseconds, newest_, final_form});
    } else {
      outputs.push_back({{pick.span}, pick.level});
    }
    CheckNothingBetween(inputs);
    CommitNumber first = inputs.front().first_commit;
    for (const chunk::ChunkFileMeta& input : inputs) {
      first = std::min(first, input.first_commit);
      std::erase_if(metas_, [&](const auto& meta) { return meta.number == input.number; });
    }
    const CommitNumber last = inputs.back().last_commit;
    for (const MergeOutput& output : outputs) {
      DayBytes share;
      for (const auto& [day, bytes] : days) {
        for (const TimeRange& range : output.ranges) {
          if (range.Contains(day)) {
            share[day] += bytes;
          }
        }
      }
      if (!share.empty()) {
        Add(share, output.level, first, last);
        merged_bytes_ += metas_.empty() ? 0 : contents_bytes(share);
      }
    }
  }

  static std::uint64_t contents_bytes(const DayBytes& days) {
    std::uint64_t bytes = 0;
    for (const auto& [day, b] : days) {
      bytes += b;
    }
    return bytes;
  }

  /// No file that stays and shares a day with the inputs has commits between theirs.
  void CheckNothingBetween(const std::vector<chunk::ChunkFileMeta>& inputs) {
    for (const chunk::ChunkFileMeta& other : metas_) {
      if (std::ranges::find(inputs, other.number, &chunk::ChunkFileMeta::number) != inputs.end()) {
        continue;
      }
      for (const auto& [day, unused] : contents_[other.number]) {
        bool older = false;
        bool newer = false;
        for (const chunk::ChunkFileMeta& input : inputs) {
          const bool shares = contents_[input.number].contains(day);
          older |= shares && input.last_commit < other.first_commit;
          newer |= input.last_commit > other.last_commit;
        }
        ASSERT_FALSE(older && newer) << "file " << other.number << " lies between what is merged";
      }
    }
  }

  std::vector<chunk::ChunkFileMeta> metas_;
  std::map<std::uint64_t, DayBytes> contents_;
  std::set<std::uint64_t> unreadable_;
  std::uint64_t next_number_ = 1;
  std::uint64_t commit_ = 0;
  Timestamp newest_ = kTimestampMin;
  std::uint64_t flushed_bytes_ = 0;
  std::uint64_t merged_bytes_ = 0;
  std::size_t most_files_ = 0;
};

TEST(Picker, LiveDataOfAYearIsWrittenFewTimesIntoFewFiles) {
  Simulation simulation;
  for (Timestamp hour = 0; hour < 365 * 24; ++hour) {
    simulation.Flush({{hour / 24 * kDay, 2 * kMiB}});
    ASSERT_NO_FATAL_FAILURE(simulation.Settle());
  }
  EXPECT_EQ(simulation.bytes(), simulation.flushed_bytes()) << "nothing is lost";
  EXPECT_LE(simulation.amplification(), 4.0);
  EXPECT_LE(simulation.most_files(), 420u);  // days of 48 MiB are too large to be joined
}

TEST(Picker, ALittleLiveDataIsWrittenFewTimesIntoFewFiles) {
  Simulation simulation;
  for (Timestamp hour = 0; hour < 365 * 24; ++hour) {
    simulation.Flush({{hour / 24 * kDay, kMiB / 8}});
    ASSERT_NO_FATAL_FAILURE(simulation.Settle());
  }
  EXPECT_EQ(simulation.bytes(), simulation.flushed_bytes());
  EXPECT_LE(simulation.amplification(), 7.0);
  EXPECT_LE(simulation.most_files(), 60u);
}

TEST(Picker, TenYearsOneSeriesAfterAnotherEndInFewFiles) {
  Simulation simulation;
  for (int flush = 0; flush < 60; ++flush) {
    DayBytes days;
    for (Timestamp day = 0; day < 3650; ++day) {
      days[day * kDay] = 2000;
    }
    simulation.Flush(days);
    ASSERT_NO_FATAL_FAILURE(simulation.Settle());
  }
  EXPECT_EQ(simulation.bytes(), simulation.flushed_bytes());
  EXPECT_LE(simulation.amplification(), 6.0);
  EXPECT_LE(simulation.metas().size(), 100u);
  ASSERT_NO_FATAL_FAILURE(simulation.Finish());
  EXPECT_LE(simulation.metas().size(), 40u);
}

TEST(Picker, RandomWritesAreMergedInOrderAndAlwaysComeToAnEnd) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Simulation simulation;
    for (int step = 0; step < 200; ++step) {
      DayBytes days;
      for (std::uint64_t i = 1 + random() % 20; i > 0; --i) {
        const auto back = static_cast<Timestamp>(random() % (random() % 3 == 0 ? 2000 : 3));
        days[(step - back) * kDay] += 1 + random() % (3 * kMiB);
      }
      simulation.Flush(days);
      if (random() % 30 == 0) {
        // One cannot be read from now on.
        simulation.unreadable().insert(simulation.metas()[random() % simulation.metas().size()].number);
      }
      ASSERT_NO_FATAL_FAILURE(simulation.Settle());
      if (random() % 50 == 0) {
        ASSERT_NO_FATAL_FAILURE(simulation.Finish());
      }
    }
    EXPECT_EQ(simulation.bytes(), simulation.flushed_bytes());
  }
}

TEST(Picker, TimesAtTheEndsOfTimeAndFarApartStayInOneRest) {
  DayBytes days;
  for (Timestamp t = kTimestampMin; t < kTimestampMax - kTimestampMax / 500; t += kTimestampMax / 500) {
    days[SpanOf(t, kLevelDay, TimeUnit::kMilliseconds).from] = 100;
  }
  days[SpanOf(kTimestampMax, kLevelDay, TimeUnit::kMilliseconds).from] = 100;
  const auto outputs = PlanOutputs(days, {}, {TimeUnit::kMilliseconds, kTimestampMax, false});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].level, kLevelRest);
  EXPECT_EQ(outputs[0].ranges, std::vector<TimeRange>{TimeRange{}});
  const auto final_outputs = PlanOutputs(days, {}, {TimeUnit::kMilliseconds, kTimestampMax, true});
  EXPECT_EQ(final_outputs.size(), kOutputsMax + 1);
}

TEST(Picker, NothingIsDueForFewFiles) {
  Simulation simulation;
  for (int i = 0; i < 3; ++i) {
    simulation.Flush({{0, kMiB}});
  }
  EXPECT_TRUE(PickMerge(simulation.metas(), {}).files.empty());
  EXPECT_TRUE(PickMerge({}, {}).files.empty());
}

}  // namespace
}  // namespace tsdb::compaction
