// Tombstones: to which data they apply, their bytes, and their place in the manifest.
#include "chunk/tombstone.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "base/memory_file_system.h"
#include "chunk/manifest.h"
#include "chunk/manifest_codec.h"

namespace tsdb::chunk {
namespace {

TombstonePtr Make(std::uint64_t commit, TimeRange range, std::initializer_list<std::uint64_t> ids) {
  auto tombstone = std::make_shared<Tombstone>();
  tombstone->commit = CommitNumber{commit};
  tombstone->range = range;
  for (const std::uint64_t id : ids) {
    tombstone->ids.Add(id);
  }
  return tombstone;
}

TEST(Tombstone, AppliesToDataWithAnEarlierLastCommitOnly) {
  const TombstoneSet set({Make(5, {10, 20}, {1, 2}), Make(9, {15, 30}, {2})});
  std::vector<DeletedRange> masks;
  set.Collect(SeriesId{2}, TimeRange{}, &masks);
  ASSERT_EQ(masks.size(), 2u);
  EXPECT_TRUE(IsDeleted(masks, CommitNumber{4}, 12));
  EXPECT_FALSE(IsDeleted(masks, CommitNumber{5}, 12)) << "written with or after the delete";
  EXPECT_TRUE(IsDeleted(masks, CommitNumber{8}, 15));
  EXPECT_TRUE(IsDeleted(masks, CommitNumber{8}, 30));
  EXPECT_FALSE(IsDeleted(masks, CommitNumber{8}, 31));
  EXPECT_FALSE(IsDeleted(masks, CommitNumber{9}, 15));
  masks.clear();
  set.Collect(SeriesId{1}, {21, 100}, &masks);
  EXPECT_TRUE(masks.empty());
}

TEST(Tombstone, RemovesExactlyTheDeletedSamples) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    Columns columns;
    for (Timestamp t = 0; t < 60; ++t) {
      if (random() % 3 != 0) {
        columns.Append(t, static_cast<double>(t));
      }
    }
    std::vector<DeletedRange> masks;
    for (std::size_t i = random() % 5; i > 0; --i) {
      const auto from = static_cast<Timestamp>(random() % 60);
      masks.push_back({{from, from + static_cast<Timestamp>(random() % 20)}, CommitNumber{random() % 10}});
    }
    const CommitNumber last{random() % 10};
    Columns expected;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!IsDeleted(masks, last, columns.times[i])) {
        expected.Append(columns.times[i], columns.values[i]);
      }
    }
    const std::size_t before = columns.size();
    EXPECT_EQ(RemoveDeleted(masks, last, &columns), before - expected.size());
    EXPECT_EQ(columns.times, expected.times);
    EXPECT_EQ(columns.values, expected.values);
  }
}

TEST(Tombstone, OfManySeriesIsFoundForEachOfThem) {
  auto large = std::make_shared<Tombstone>();
  large->commit = CommitNumber{3};
  for (std::uint64_t id = 1; id <= 1000; id += 2) {
    large->ids.Add(id);
  }
  const TombstoneSet set({large});
  for (std::uint64_t id = 1; id <= 1001; ++id) {
    std::vector<DeletedRange> masks;
    set.Collect(SeriesId{id}, TimeRange{}, &masks);
    EXPECT_EQ(masks.size(), id % 2 == 1 && id < 1000 ? 1u : 0u) << id;
  }
}

TEST(IdBytes, AreReadBackAndNothingElseIs) {
  IdSet ids;
  ids.AddRange(1, 1000);
  ids.Add(1002);
  ids.AddRange(1ull << 40, (1ull << 40) + 5);
  std::string bytes;
  EncodeIds(ids, &bytes);
  EXPECT_LT(bytes.size(), 20u);
  ByteReader reader(bytes);
  IdSet decoded;
  ASSERT_TRUE(DecodeIds(&reader, &decoded));
  EXPECT_TRUE(reader.empty());
  EXPECT_TRUE(decoded == ids);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    ByteReader shorter(std::string_view(bytes).substr(0, cut));
    EXPECT_FALSE(DecodeIds(&shorter, &decoded)) << cut;
  }
  // A run that touches the one before, id 0, more ids than there can be.
  for (const std::string& bad : {std::string("\x02\x01\x00\x01\x00", 5), std::string("\x01\x00\x00", 3),
                                 std::string("\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11)}) {
    ByteReader damaged(bad);
    EXPECT_FALSE(DecodeIds(&damaged, &decoded));
  }
}

TEST(ManifestLife, DeletesDropsAndRetentionAreKeptAndReplaced) {
  MemoryFileSystem fs;
  ManifestState initial;
  initial.store_high = 1;
  auto manifest = Manifest::Create(fs, "/db", initial);
  ASSERT_TRUE(manifest.ok());
  ManifestEdit edit;
  edit.added_tombstones = {Make(5, {-3, 20}, {1, 2}), Make(7, {}, {9})};
  Drop drop;
  drop.commit = CommitNumber{6};
  drop.until_wall_nanos = -4;
  drop.dead_from_file = 3;
  drop.ids.Add(8);
  edit.drops = {drop};
  RetentionPositions retention;
  retention.classes = {{"{a=\"b\"}", 50}};
  retention.floor = -7;
  retention.trusted_now = 99;
  retention.own_settings.Add(4);
  edit.retention = retention;
  edit.settings = initial.settings;
  edit.settings->retention = 77;
  ASSERT_TRUE((*manifest)->Append(edit).ok());
  for (const bool rewritten : {false, true}) {
    auto state = Manifest::Load(fs, "/db");
    ASSERT_TRUE(state.ok()) << state.status().ToString();
    ASSERT_EQ(state->tombstones.size(), 2u);
    EXPECT_EQ(state->tombstones[0]->range, (TimeRange{-3, 20}));
    EXPECT_TRUE(state->tombstones[0]->ids == edit.added_tombstones[0]->ids);
    EXPECT_EQ(state->drops, std::vector<Drop>{drop});
    EXPECT_EQ(state->retention, retention);
    EXPECT_EQ(state->settings.retention, 77);
    if (!rewritten) {
      ASSERT_TRUE(Manifest::Replace(fs, "/db", *state).ok());
    }
  }
  auto again = Manifest::Open(fs, "/db", nullptr);
  ASSERT_TRUE(again.ok());
  ManifestEdit gone;
  gone.removed_tombstones = {CommitNumber{5}};
  gone.drops.emplace();
  ASSERT_TRUE((*again)->Append(gone).ok());
  auto state = Manifest::Load(fs, "/db");
  ASSERT_TRUE(state.ok());
  ASSERT_EQ(state->tombstones.size(), 1u);
  EXPECT_EQ(state->tombstones[0]->commit, CommitNumber{7});
  EXPECT_TRUE(state->drops.empty());
  ManifestEdit behind;
  behind.added_tombstones = {Make(2, {}, {1})};
  EXPECT_EQ(ApplyEdit(behind, &*state).code(), StatusCode::kCorruption);
}

TEST(ManifestLife, CutBytesAreCorruption) {
  ManifestEdit edit;
  edit.added_tombstones = {Make(5, {-3, 20}, {1, 2})};
  const std::string bytes = EncodeEdit(edit);
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    ManifestRecord record;
    EXPECT_FALSE(DecodeRecord(std::string_view(bytes).substr(0, cut), &record).ok()) << cut;
  }
}

}  // namespace
}  // namespace tsdb::chunk
