// What the codecs must reach on the recorded data files ($TSDB_DATA_DIR, by default ../shared/data beside the source
// tree): bytes only, speeds are codec_bench's business.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "bench/data_files.h"
#include "bench/gorilla.h"
#include "chunk/column_codec.h"
#include "chunk/head_chunk.h"

namespace tsdb::chunk {
namespace {

/// Bytes per sample of one file.
struct Sizes {
  double values = 0;
  double times = 0;         // equal columns once
  double own_times = 0;     // each on its own
};

struct Layout {
  std::size_t samples;  // of a chunk
  Effort effort;
};

class CodecGate : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { files_ = new std::vector<DataFile>(LoadFiles()); }
  static void TearDownTestSuite() { delete files_; }
  void SetUp() override {
    if (files_->empty()) {
      GTEST_SKIP() << "no data files: TSDB_DATA_DIR names their folder";
    }
  }

  static Sizes Encode(const DataFile& file, Layout layout) {
    Sizes sizes;
    std::set<std::string> seen;
    std::string bytes;
    for (const Columns& series : file.series) {
      for (std::size_t i = 0; i < series.size(); i += layout.samples) {
        const std::size_t n = std::min(layout.samples, series.size() - i);
        bytes.clear();
        EncodeValues(std::span(series.values).subspan(i, n), layout.effort, &bytes);
        sizes.values += static_cast<double>(bytes.size());
        bytes.clear();
        EncodeTimes(std::span(series.times).subspan(i, n), layout.effort, &bytes);
        sizes.own_times += static_cast<double>(bytes.size());
        sizes.times += seen.insert(bytes).second ? static_cast<double>(bytes.size()) : 0;
      }
    }
    const auto samples = static_cast<double>(file.samples());
    return {sizes.values / samples, sizes.times / samples, sizes.own_times / samples};
  }

  template <typename Bytes>
  static double GeometricMean(Bytes bytes) {
    double sum = 0;
    for (const DataFile& file : *files_) {
      sum += std::log(bytes(file));
    }
    return std::exp(sum / static_cast<double>(files_->size()));
  }

  static std::vector<DataFile>* files_;
};
std::vector<DataFile>* CodecGate::files_ = nullptr;

TEST_F(CodecGate, FastChunksOf1024Take92HundredthsOfAByteAValue) {
  EXPECT_LE(GeometricMean([](const DataFile& file) { return Encode(file, {1024, Effort::kFast}).values; }), 0.92);
}

TEST_F(CodecGate, DenseChunksOf1024TakeEightTenthsOfAByteAValue) {
  EXPECT_LE(GeometricMean([](const DataFile& file) { return Encode(file, {1024, Effort::kDense}).values; }), 0.80);
}

TEST_F(CodecGate, DenseChunksOf8192AreSmallOnEveryFile) {
  // Bytes per sample with times; those that whole scrapes share count once.
  struct Limit {
    const char* file;
    bool share;
    double bytes;
  };
  const Limit limits[] = {
      {"tsbs_cpu_int", true, 0.31},          {"tsbs_cpu_fp2", true, 1.13},
      {"tsbs_cpu_float", true, 6.254},       {"node_gauges_1s", true, 1.36},
      {"node_counters_1s", true, 0.87},      {"node_constant_1s", true, 0.02},
      {"prom_self_5s", true, 0.983},         {"proc_sleep_1s", true, 1.558},
      {"proc_sleep_100ms", true, 1.058},     {"nab_realAWSCloudwatch", false, 1.29},
      {"nab_realAdExchange", false, 6.718},  {"nab_realKnownCause", false, 3.638},
      {"nab_realTraffic", false, 1.379},     {"nab_realTweets", false, 0.569},
      {"neon", false, 0.809},                {"alp_rg_city_temperature_f_tw", false, 0.842},
      {"alp_rg_food_prices_tw", false, 1.334}, {"alp_rg_bitcoin_transactions_f_tw", false, 3.709},
      {"alp_rg_nyc29_tw", false, 3.463},     {"alp_rg_gov26_tw", false, 0.062},
      {"alp_samples", false, 2.615},
  };
  std::map<std::string, Sizes> sizes;
  for (const DataFile& file : *files_) {
    sizes[file.name] = Encode(file, {8192, Effort::kDense});
  }
  for (const Limit& limit : limits) {
    if (const auto found = sizes.find(limit.file); found != sizes.end()) {
      const Sizes& size = found->second;
      EXPECT_LE(size.values + (limit.share ? size.times : size.own_times), limit.bytes) << limit.file;
    }
  }
  EXPECT_LE(GeometricMean([&](const DataFile& file) { return sizes[file.name].values; }), 0.77);
}

TEST_F(CodecGate, HeadChunksOf480AreSmallerThanGorilla) {
  const double mean = GeometricMean([](const DataFile& file) {
    double head_bits = 0;
    std::size_t gorilla_bytes = 0;
    for (const Columns& series : file.series) {
      for (std::size_t i = 0; i < series.size(); i += 480) {
        const std::size_t n = std::min<std::size_t>(480, series.size() - i);
        HeadChunk head;
        for (std::size_t k = 0; k < n; ++k) {
          head.Append(static_cast<Timestamp>(1000 * k), series.values[i + k]);
        }
        // On this grid times take 64 bits, then 16 (the step of 1000 and its length), then one each.
        head_bits += 8 * static_cast<double>(head.used_bytes()) - 64 - (n > 1 ? 16 + static_cast<double>(n - 2) : 0);
        std::string bytes;
        GorillaEncoder(&bytes).PutValues(std::span(series.values).subspan(i, n));
        gorilla_bytes += bytes.size();
      }
    }
    EXPECT_LE(head_bits / 8, 1.03 * static_cast<double>(gorilla_bytes)) << file.name;
    return head_bits / 8 / static_cast<double>(file.samples());
  });
  EXPECT_LE(mean, 1.15);
}

}  // namespace
}  // namespace tsdb::chunk
