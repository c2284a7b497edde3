// A database of some dozen series of different lengths, and answers as text, for tests of queries.
#pragma once

#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/engine_test_util.h"

namespace tsdb::engine {

/// One answer as text: "key|time:v,v|time:v,v" per series.
inline std::vector<std::string> Answer(Database& db, const QuerySpec& spec, Status* status = nullptr) {
  std::vector<std::string> answer;
  auto result = db.Query(spec);
  if (!result.ok()) {
    if (status == nullptr) {
      ADD_FAILURE() << result.status().ToString();
    } else {
      *status = result.status();
    }
    return answer;
  }
  ColumnBatch batch;
  while ((*result)->NextSeries()) {
    std::string text = (*result)->series().key;
    while ((*result)->NextBatch(&batch)) {
      for (std::size_t i = 0; i < batch.times.size(); ++i) {
        text += "|" + std::to_string(batch.times[i]) + ":";
        for (std::size_t k = 0; k < batch.columns.size(); ++k) {
          const double value = batch.columns[k][i];
          text += (k == 0 ? "" : ",") + (std::isnan(value) ? "-" : std::to_string(std::bit_cast<std::uint64_t>(value)));
        }
      }
    }
    answer.push_back(std::move(text));
  }
  if (status != nullptr) {
    *status = (*result)->status();
  } else {
    EXPECT_TRUE((*result)->status().ok()) << (*result)->status().ToString();
  }
  return answer;
}

class QuerySeries : public testing::Test {
 protected:
  /// 40 series of 5 hosts; some have few samples, one has none.
  void SetUp() override {
    TSDB_ASSERT_OPEN(db_, "/db", QuietOptions(), MemoryEnvironment(&fs_, &clock_));
    std::mt19937_64 random(7);
    WriteBatch batch;
    for (int i = 0; i < 40; ++i) {
      const Labels labels{{"__name__", "m" + std::to_string(i % 4)},
                          {"host", std::string(1, static_cast<char>('a' + i % 5))},
                          {"n", std::to_string(100 + i)}};
      refs_.push_back(*db_->CreateSeries(labels));
      const int samples = i == 17 ? 0 : i % 7 == 0 ? 5 : 3000;
      for (int k = 0; k < samples; ++k) {
        batch.Add(refs_.back(), (i % 3 == 0 ? 5 : 0) + 10 * k, static_cast<double>(random() % 1000) / 10);
      }
      if (i == 25) {
        ASSERT_TRUE(db_->Append(batch).ok());
        batch.Clear();
        TSDB_ASSERT_OK(db_->Flush());
      }
    }
    ASSERT_TRUE(db_->Append(batch).ok());
  }

  static QuerySpec Select(const std::string& selector) {
    QuerySpec spec;
    spec.selector = *Selector::Parse(selector);
    return spec;
  }

  MemoryFileSystem fs_;
  FakeClock clock_;
  std::unique_ptr<Database> db_;
  std::vector<SeriesRef> refs_;
};

}  // namespace tsdb::engine
