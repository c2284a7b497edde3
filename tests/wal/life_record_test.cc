// Records of deletes, drops, floors and settings: what is written is read, and damage is damage.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "wal/record.h"

namespace tsdb::wal {
namespace {

class Recorder final : public RecordVisitor {
 public:
  Status OnPuts(std::span<const Put>) override { return Status::Ok(); }
  Status OnDefinition(const SeriesDefinition&) override { return Status::Ok(); }
  Status OnDelete(const DeleteOperation& operation) override {
    deletes.push_back(operation);
    return Status::Ok();
  }
  Status OnDrop(const DropOperation& operation) override {
    drops.push_back(operation);
    return Status::Ok();
  }
  Status OnFloor(const FloorOperation& operation) override {
    floors.push_back(operation);
    return Status::Ok();
  }
  Status OnSettings(const SettingsOperation& operation) override {
    settings.push_back(operation);
    return Status::Ok();
  }

  std::vector<DeleteOperation> deletes;
  std::vector<DropOperation> drops;
  std::vector<FloorOperation> floors;
  std::vector<SettingsOperation> settings;
};

RecordBuilder MakeRecord() {
  IdSet ids;
  ids.AddRange(3, 9);
  ids.Add(1ull << 35);
  RecordBuilder record;
  record.AddDelete({-5, 70}, ids);
  record.AddDrop({-1, DropReason::kExpired, ids});
  record.AddFloor({-33});
  record.AddSettings({5, 6, std::vector<RetentionClass>{{"{a=\"b\"}", 7}, {"{}", 0}}});
  record.AddSettings({std::nullopt, 8, std::nullopt});
  return record;
}

TEST(LifeRecord, IsReadAsItWasWritten) {
  const RecordBuilder record = MakeRecord();
  Recorder read;
  ASSERT_TRUE(VisitRecord(record.payload(), CommitNumber{4}, read).ok());
  ASSERT_EQ(read.deletes.size(), 1u);
  EXPECT_EQ(read.deletes[0].range, (TimeRange{-5, 70}));
  EXPECT_EQ(read.deletes[0].ids.Count(), 8u);
  EXPECT_TRUE(read.deletes[0].ids.Contains(1ull << 35));
  ASSERT_EQ(read.drops.size(), 1u);
  EXPECT_EQ(read.drops[0].until_wall_nanos, -1);
  EXPECT_EQ(read.drops[0].reason, DropReason::kExpired);
  EXPECT_TRUE(read.drops[0].ids == read.deletes[0].ids);
  ASSERT_EQ(read.floors.size(), 1u);
  EXPECT_EQ(read.floors[0].floor, -33);
  ASSERT_EQ(read.settings.size(), 2u);
  EXPECT_EQ(read.settings[0].retention, 5);
  EXPECT_EQ(read.settings[0].bytes_max, 6u);
  ASSERT_EQ(read.settings[0].classes->size(), 2u);
  EXPECT_EQ((*read.settings[0].classes)[0], (RetentionClass{"{a=\"b\"}", 7}));
  EXPECT_FALSE(read.settings[1].retention.has_value());
  EXPECT_EQ(read.settings[1].bytes_max, 8u);
}

TEST(LifeRecord, CutAnywhereItIsDamaged) {
  const RecordBuilder record = MakeRecord();
  const std::string_view whole = record.payload();
  std::set<std::size_t> borders;
  ByteReader reader(whole);
  while (!reader.empty()) {
    borders.insert(reader.offset());
    OpKind kind{};
    std::string_view body;
    ASSERT_TRUE(ReadOperation(&reader, &kind, &body));
  }
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    Recorder read;
    const Status status = VisitRecord(whole.substr(0, cut), CommitNumber{4}, read);
    EXPECT_EQ(status.ok(), borders.contains(cut)) << cut;
  }
}

TEST(LifeRecord, BodiesWithBytesLeftOverOrMissingAreDamaged) {
  const RecordBuilder record = MakeRecord();
  ByteReader reader(record.payload());
  while (!reader.empty()) {
    OpKind kind{};
    std::string_view body;
    ASSERT_TRUE(ReadOperation(&reader, &kind, &body));
    for (const std::string& wrong : {std::string(body) + "x", std::string(body.substr(0, body.size() - 1))}) {
      std::string bytes(1, static_cast<char>(kind));
      PutLengthPrefixed(&bytes, wrong);
      Recorder read;
      EXPECT_EQ(VisitRecord(bytes, CommitNumber{4}, read).code(), StatusCode::kCorruption) << OpKindName(kind);
    }
  }
}

}  // namespace
}  // namespace tsdb::wal
