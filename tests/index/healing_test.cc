// An index whose files are damaged while it is in use is built again by itself.
#include <gtest/gtest.h>

#include <fstream>

#include "index/healing_index.h"
#include "tests/index/index_test_util.h"

namespace tsdb::index {
namespace {

constexpr std::uint64_t kSeries = 20'000;

SeriesDefinition Number(std::uint64_t id) {
  return ByLabels(id, id, {{"__name__", "m"}, {"n", std::to_string(id)}, {"half", id % 2 == 0 ? "even" : "odd"}});
}

/// Overwrites all but the first and the last part of each table, in place, so that open descriptors see it.
void DamageTables(const std::string& directory) {
  int damaged = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".sst" && entry.file_size() > 4096) {
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      const std::string garbage(entry.file_size() - 3000, '\x5a');
      file.seekp(100);
      file.write(garbage.data(), static_cast<std::streamsize>(garbage.size()));
      ++damaged;
    }
  }
  ASSERT_GT(damaged, 0);
}

class Healing : public ::testing::Test {
 protected:
  IndexOptions Options() const {
    IndexOptions options;
    options.store_high = 1;
    options.store_low = 2;
    options.known_commit = CommitNumber{kSeries};
    return options;
  }

  std::unique_ptr<SeriesIndex> OpenHealing() {
    bool rebuilt = false;
    auto opened = OpenRocksIndex(folder_.path() + "/index", Options(), &rebuilt);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    HealingOptions options;
    options.reopen = [this]() -> Result<std::unique_ptr<SeriesIndex>> {
      std::filesystem::remove_all(folder_.path() + "/index");
      bool unused = false;
      return OpenRocksIndex(folder_.path() + "/index", Options(), &unused);
    };
    options.refill = [this](const std::function<void(const SeriesDefinition&)>& visit, CommitNumber* through) {
      for (std::uint64_t id = 1; id <= kSeries; ++id) {
        visit(Number(id));
      }
      *through = CommitNumber{kSeries};
      return refill_status_;
    };
    return MakeHealingIndex(std::move(*opened), std::move(options));
  }

  void Fill() {
    bool rebuilt = false;
    auto opened = OpenRocksIndex(folder_.path() + "/index", Options(), &rebuilt);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    for (std::uint64_t id = 1; id <= kSeries; ++id) {
      (*opened)->Apply(Number(id));
    }
    ASSERT_TRUE((*opened)->Persist(CommitNumber{kSeries}).ok());
    ASSERT_TRUE((*opened)->Close().ok());
  }

  TemporaryDirectory folder_;
  Status refill_status_;
};

TEST_F(Healing, DamageMetByAReadIsHealedAndTheAnswerIsRight) {
  Fill();
  const auto index = OpenHealing();
  const SeriesDefinition fresh = ByLabels(kSeries + 1, kSeries + 1, {{"__name__", "m"}, {"n", "new"}});
  index->Apply(fresh);
  index->Apply(Drop(7, kSeries + 2));
  DamageTables(folder_.path() + "/index");
  for (std::uint64_t id = 1; id <= kSeries; id += 97) {
    const SeriesId one{id};
    const auto found = index->FindByIds({&one, 1});
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    ASSERT_TRUE((*found)[0].has_value()) << id;
    EXPECT_EQ(*(*found)[0], Number(id));
  }
  EXPECT_EQ(index->rebuilds(), 1u);
  EXPECT_EQ(*index->Count(), kSeries);  // one more, one less
  EXPECT_FALSE((*index->FindByIds(std::vector<SeriesId>{{SeriesId{7}}}))[0].has_value());
  EXPECT_EQ((*index->FindByKey(fresh.ShownKey()))->id, fresh.id);
  EXPECT_EQ(index->Select(Selector({{"half", Matcher::Op::kEqual, {"even"}}}))->size(), kSeries / 2);
  ASSERT_TRUE(index->Persist(CommitNumber{kSeries + 2}).ok());
  ASSERT_TRUE(index->Close().ok());
  EXPECT_EQ(index->Count().status().code(), StatusCode::kClosed);
}

TEST_F(Healing, WhenItCannotBeBuiltAgainTheDamageIsReturned) {
  Fill();
  const auto index = OpenHealing();
  refill_status_ = Status::IoError("no catalogue");
  DamageTables(folder_.path() + "/index");
  Status seen;
  for (std::uint64_t id = 1; id <= kSeries && seen.ok(); id += 97) {
    const SeriesId one{id};
    seen = index->FindByIds({&one, 1}).status();
  }
  EXPECT_EQ(seen.code(), StatusCode::kCorruption) << seen.ToString();
  refill_status_ = Status::Ok();
  const SeriesId one{5};
  EXPECT_TRUE(index->FindByIds({&one, 1}).ok());  // the next call tries again
  EXPECT_EQ(index->rebuilds(), 1u);
}

}  // namespace
}  // namespace tsdb::index
