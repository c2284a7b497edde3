#include "chunk/columns.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>

#include "column_shapes.h"

namespace tsdb::chunk {
namespace {

ColumnsView View(const Columns& columns) { return {columns.times, columns.values}; }

Columns Make(std::initializer_list<std::pair<Timestamp, double>> samples) {
  Columns columns;
  for (const auto& [time, value] : samples) {
    columns.Append(time, value);
  }
  return columns;
}

Columns Merge(const std::vector<Columns>& oldest_first) {
  std::vector<ColumnsView> views;
  for (const Columns& columns : oldest_first) {
    views.push_back(View(columns));
  }
  Columns out = Make({{99, 99}});  // what was there goes
  MergeColumns(views, &out);
  return out;
}

TEST(MergeColumns, OfNothingIsEmpty) {
  EXPECT_TRUE(Merge({}).empty());
  EXPECT_TRUE(Merge({Columns(), Columns()}).empty());
}

TEST(MergeColumns, CopiesInputsThatDoNotOverlapInOrderOfTime) {
  const Columns out = Merge({Make({{5, 1}, {6, 2}}), Make({{1, 3}, {2, 4}}), Make({{8, 5}})});
  EXPECT_EQ(out.times, (std::vector<Timestamp>{1, 2, 5, 6, 8}));
  EXPECT_EQ(out.values, (std::vector<double>{3, 4, 1, 2, 5}));
}

TEST(MergeColumns, TheLaterInputWinsOnEqualTime) {
  const Columns out = Merge({Make({{1, 10}, {2, 10}, {3, 10}}), Make({{2, 20}}), Make({{2, 30}, {3, 30}})});
  EXPECT_EQ(out.times, (std::vector<Timestamp>{1, 2, 3}));
  EXPECT_EQ(out.values, (std::vector<double>{10, 30, 30}));
}

TEST(MergeColumns, InputsThatTouchAtOneTimeOverlap) {
  const Columns out = Merge({Make({{3, 1}, {4, 1}}), Make({{1, 2}, {3, 2}})});
  EXPECT_EQ(out.times, (std::vector<Timestamp>{1, 3, 4}));
  EXPECT_EQ(out.values, (std::vector<double>{2, 2, 1}));
}

TEST(MergeColumns, KeepsEveryBitOfTheValues) {
  const double stale = shapes::FromBits(0x7ff0000000000002);
  const Columns out = Merge({Make({{1, stale}, {2, 0.0}}), Make({{2, -0.0}})});
  EXPECT_EQ(std::bit_cast<std::uint64_t>(out.values[0]), 0x7ff0000000000002u);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(out.values[1]), std::uint64_t{1} << 63);
}

TEST(MergeColumns, AgreesWithAMapOverRandomInputs) {
  const std::uint64_t seed = 42;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 3000; ++round) {
    std::vector<Columns> inputs(random() % 7);
    std::map<Timestamp, double> model;
    double value = 0;
    const std::uint64_t spread = 1 + random() % 200;
    for (Columns& input : inputs) {
      auto time = static_cast<Timestamp>(random() % spread) - 50;
      for (auto count = random() % 40; count > 0; --count) {
        input.Append(time, ++value);
        model[time] = value;
        time += 1 + static_cast<Timestamp>(random() % (1 + random() % 20));
      }
    }
    const Columns out = Merge(inputs);
    ASSERT_EQ(out.times.size(), model.size()) << "round " << round;
    std::size_t i = 0;
    for (const auto& [time, expected] : model) {
      ASSERT_EQ(out.times[i], time) << "round " << round;
      ASSERT_EQ(out.values[i], expected) << "round " << round;
      ++i;
    }
  }
}

TEST(Slice, KeepsBothEnds) {
  const Columns columns = Make({{1, 1}, {3, 3}, {5, 5}, {7, 7}});
  const ColumnsView view = Slice(View(columns), {3, 5});
  EXPECT_EQ(std::vector<Timestamp>(view.times.begin(), view.times.end()), (std::vector<Timestamp>{3, 5}));
  EXPECT_EQ(std::vector<double>(view.values.begin(), view.values.end()), (std::vector<double>{3, 5}));
}

TEST(Slice, MayKeepNothingOrEverything) {
  const Columns columns = Make({{kTimestampMin, 1}, {3, 3}, {kTimestampMax, 5}});
  EXPECT_TRUE(Slice(View(columns), {4, 1000}).times.empty());
  EXPECT_TRUE(Slice(View(columns), {5, 2}).times.empty());
  EXPECT_TRUE(Slice({}, {}).times.empty());
  EXPECT_EQ(Slice(View(columns), {}).times.size(), 3u);
}

}  // namespace
}  // namespace tsdb::chunk
