// What the index tests share: definitions, a directory that goes away, an index that can be reopened.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "index/series_index.h"

namespace tsdb::index {

/// A new directory, removed with everything in it; in memory where the system offers that, since these tests sync often
/// and none of them cuts the power.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = "/dev/shm/tsdb_index_XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) {
      pattern = (std::filesystem::temp_directory_path() / "tsdb_index_XXXXXX").string();
      EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    }
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string path() const { return path_; }

 private:
  std::string path_;
};

inline SeriesDefinition ByLabels(std::uint64_t id, std::uint64_t commit, std::vector<Label> labels) {
  SeriesDefinition definition;
  definition.id = SeriesId{id};
  definition.commit = CommitNumber{commit};
  definition.labels = Labels::FromPairs(std::move(labels)).value();
  return definition;
}

inline SeriesDefinition ByKey(std::uint64_t id, std::uint64_t commit, std::string key, std::vector<Label> labels) {
  SeriesDefinition definition = ByLabels(id, commit, std::move(labels));
  definition.key = std::move(key);
  definition.created_by_key = true;
  return definition;
}

inline SeriesDefinition Drop(std::uint64_t id, std::uint64_t commit) {
  SeriesDefinition definition;
  definition.id = SeriesId{id};
  definition.commit = CommitNumber{commit};
  definition.dropped = true;
  return definition;
}

inline IndexOptions StoreOptions() {
  IndexOptions options;
  options.store_high = 7;
  options.store_low = 11;
  options.known_commit = CommitNumber{1'000'000'000};
  return options;
}

/// Opens and expects it to work; `rebuilt` says what is expected of it.
inline std::unique_ptr<SeriesIndex> MustOpen(const std::string& directory, bool rebuilt = false,
                                             const IndexOptions& options = StoreOptions()) {
  bool was_rebuilt = false;
  auto index = OpenRocksIndex(directory, options, &was_rebuilt);
  EXPECT_TRUE(index.ok()) << index.status().ToString();
  EXPECT_EQ(was_rebuilt, rebuilt);
  return index.ok() ? std::move(index).value() : nullptr;
}

inline std::vector<std::uint64_t> Ids(const Result<std::vector<SeriesId>>& result) {
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  std::vector<std::uint64_t> ids;
  if (result.ok()) {
    for (const SeriesId id : *result) {
      ids.push_back(id.value);
    }
  }
  return ids;
}

inline std::vector<std::uint64_t> SelectIds(SeriesIndex& index, std::vector<Matcher> matchers) {
  return Ids(index.Select(Selector(std::move(matchers))));
}

}  // namespace tsdb::index
