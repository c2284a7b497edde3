// What engine tests share: a database on a file system in memory, and short ways to write and read.
//
// Not for tests of the real disk or of RocksDB; those open Database::Open on a temporary folder.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/memory_file_system.h"
#include "engine/open.h"
#include "index/series_index.h"
#include "tsdb/database.h"

namespace tsdb::engine {

/// An index in memory that is empty at every open: recovery has to fill it from the catalogue and the log.
inline Environment MemoryEnvironment(FileSystem* fs, Clock* clock) {
  Environment environment;
  environment.fs = fs;
  environment.clock = clock;
  environment.open_index = [](const std::string&, const index::IndexOptions&,
                              bool* rebuilt) -> Result<std::unique_ptr<index::SeriesIndex>> {
    *rebuilt = false;
    return index::NewMemoryIndex();
  };
  return environment;
}

inline OpenOptions QuietOptions() {
  OpenOptions options;
  options.background = false;
  return options;
}

/// Sets `db` or fails the test.
#define TSDB_ASSERT_OPEN(db, ...)                                      \
  do {                                                                 \
    auto opened_ = ::tsdb::engine::OpenDatabase(__VA_ARGS__);          \
    ASSERT_TRUE(opened_.ok()) << opened_.status().ToString();          \
    (db) = std::move(*opened_);                                        \
  } while (false)

#define TSDB_ASSERT_OK(expr)                                \
  do {                                                      \
    const ::tsdb::Status ok_status_ = (expr);               \
    ASSERT_TRUE(ok_status_.ok()) << ok_status_.ToString();  \
  } while (false)

using Samples = std::map<Timestamp, std::uint64_t>;  // time → bits of the value
using Contents = std::map<std::string, Samples>;     // shown key → samples

/// Everything a query of all series gives; each series with samples once.
inline Contents ReadAll(Database& db, const QuerySpec& spec = {}) {
  Contents contents;
  auto result = db.Query(spec);
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  if (!result.ok()) {
    return contents;
  }
  ColumnBatch batch;
  while ((*result)->NextSeries()) {
    Samples& samples = contents[(*result)->series().key];
    while ((*result)->NextBatch(&batch)) {
      for (std::size_t i = 0; i < batch.times.size(); ++i) {
        samples[batch.times[i]] = std::bit_cast<std::uint64_t>(batch.columns[0][i]);
      }
    }
  }
  EXPECT_TRUE((*result)->status().ok()) << (*result)->status().ToString();
  return contents;
}

/// Rows of the only series a query gives, in its order.
inline std::vector<Sample> ReadRows(Database& db, const QuerySpec& spec) {
  std::vector<Sample> rows;
  auto result = db.Query(spec);
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  ColumnBatch batch;
  while (result.ok() && (*result)->NextSeries()) {
    while ((*result)->NextBatch(&batch)) {
      for (std::size_t i = 0; i < batch.times.size(); ++i) {
        rows.push_back({batch.times[i], batch.columns[0][i]});
      }
    }
  }
  EXPECT_TRUE(!result.ok() || (*result)->status().ok());
  return rows;
}

inline Status Put(Database& db, SeriesRef ref, Timestamp time, double value, const WriteOptions& options = {}) {
  WriteBatch batch;
  batch.Add(ref, time, value);
  auto result = db.Append(batch, options);
  if (!result.ok()) {
    return result.status();
  }
  return result->rejected.empty() ? Status::Ok() : result->rejected[0].status;
}

inline Labels Series(const std::string& metric, const std::string& host = "a") {
  return Labels{{"__name__", metric}, {"host", host}};
}

}  // namespace tsdb::engine
