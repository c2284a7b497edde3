// Samples out of order in the head, against a map.
#include <algorithm>
#include <iterator>
#include <map>
#include <random>

#include "chunk/columns.h"
#include "engine/head/head_series.h"
#include "tests/engine/engine_test_util.h"

namespace tsdb::engine {
namespace {

using Model = std::map<Timestamp, double>;

void ExpectSame(const HeadSeries& series, const Model& model, TimeRange range) {
  chunk::Columns columns;
  TSDB_ASSERT_OK(DecodeSnapshot(series.TakeSnapshot(range), range, &columns));
  std::size_t at = 0;
  for (auto it = model.lower_bound(range.from); it != model.end() && it->first <= range.to; ++it, ++at) {
    ASSERT_LT(at, columns.size());
    ASSERT_EQ(columns.times[at], it->first);
    ASSERT_EQ(columns.values[at], it->second) << "at " << it->first;
  }
  ASSERT_EQ(at, columns.size());
}

TEST(LateSamples, AnyOrderOfArrivalGivesTheLastValueOfEachTime) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 60; ++round) {
    HeadSeries series(SeriesId{1}, DuplicatePolicy::kLast);
    Model model;
    std::ptrdiff_t bytes = 0;
    const auto put = [&](Timestamp time, double value) {
      bytes += series.Put(time, value);
      model[time] = value;
      if (random() % 97 == 0) {
        const Timestamp probe = static_cast<Timestamp>(random() % 6000);
        const auto found = series.Find(probe);
        ASSERT_EQ(found.has_value(), model.contains(probe)) << probe;
        ASSERT_TRUE(!found || *found == model[probe]) << probe;
      }
    };
    const int pieces = 1 + static_cast<int>(random() % 5);
    double value = 0;
    for (int piece = 0; piece < pieces; ++piece) {
      const auto start = static_cast<Timestamp>(random() % 5000);
      const int count = static_cast<int>(random() % 1500);
      const int kind = static_cast<int>(random() % 4);
      for (int i = 0; i < count; ++i) {
        const Timestamp time = kind == 0   ? start + i                                      // a run that rises
                               : kind == 1 ? start + count - i                              // one that falls
                               : kind == 2 ? static_cast<Timestamp>(random() % 6000)        // shuffled, repeating
                                           : start + i - static_cast<Timestamp>(random() % 8);  // jitter
        put(time, ++value);
      }
    }
    if (model.empty()) {
      continue;
    }
    ExpectSame(series, model, TimeRange{});
    for (int k = 0; k < 5; ++k) {
      const auto from = static_cast<Timestamp>(random() % 6000);
      ExpectSame(series, model, {from, from + static_cast<Timestamp>(random() % 900)});
    }
    // In slices, as a flush takes them.
    const std::vector<Timestamp> starts = series.SliceStarts(1024);
    ASSERT_TRUE(std::ranges::is_sorted(starts));
    std::size_t sliced = 0;
    for (std::size_t slice = 0; slice <= starts.size(); ++slice) {
      const TimeRange range = {slice == 0 ? kTimestampMin : starts[slice - 1],
                               slice == starts.size() ? kTimestampMax : starts[slice] - 1};
      ExpectSame(series, model, range);
      sliced += static_cast<std::size_t>(
          std::distance(model.lower_bound(range.from), model.upper_bound(range.to)));
    }
    EXPECT_EQ(sliced, model.size());
    EXPECT_EQ(series.Newest()->time, model.rbegin()->first);
    ASSERT_TRUE(series.Newest().has_value());
    EXPECT_EQ(series.Newest()->value, model.rbegin()->second);
    EXPECT_GE(bytes, 0);
  }
}

TEST(LateSamples, ALateRunThatRisesCostsWhatOneInOrderDoes) {
  HeadSeries in_order(SeriesId{1}, DuplicatePolicy::kLast);
  HeadSeries late(SeriesId{2}, DuplicatePolicy::kLast);
  std::ptrdiff_t in_order_bytes = 0;
  std::ptrdiff_t late_bytes = late.Put(1'000'000'000, 1);
  for (int i = 0; i < 20'000; ++i) {
    in_order_bytes += in_order.Put(i * 1000, i % 50);
    late_bytes += late.Put(i * 1000, i % 50);
  }
  EXPECT_LT(late_bytes, in_order_bytes * 3 / 2 + 4096);
}

}  // namespace
}  // namespace tsdb::engine
