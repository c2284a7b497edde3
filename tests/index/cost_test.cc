// Measurements, run by hand:
//   index_test --gtest_also_run_disabled_tests --gtest_filter='IndexCost.*'
// CPU time of the process, so that a busy machine disturbs little. TSDB_COST_SERIES sets the number of series.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstdio>
#include <ctime>

#include "tests/index/index_test_util.h"

namespace tsdb::index {
namespace {

using Op = Matcher::Op;

double CpuMicros() { return static_cast<double>(std::clock()) * 1e6 / CLOCKS_PER_SEC; }

SeriesDefinition CostSeries(std::uint64_t i) {
  return ByLabels(i, i,
                  {{"__name__", "cpu_usage_" + std::to_string(i % 10)},
                   {"host", "host-" + std::to_string(i / 10)},
                   {"region", "eu-" + std::to_string(i / 10 % 9)},
                   {"rack", std::to_string(i / 10 % 97)},
                   {"os", i / 10 % 3 == 0 ? "debian" : "other"}});
}

TEST(IndexCost, DISABLED_BulkCreationAndSelection) {
  const char* wish = std::getenv("TSDB_COST_SERIES");
  const std::uint64_t series = wish == nullptr ? 1'000'000 : std::strtoull(wish, nullptr, 10);
  constexpr std::uint64_t kBatch = 1000;
  const TemporaryDirectory directory;
  auto index = MustOpen(directory.path());
  for (int round = 0; round < 2; ++round) {  // into an empty index, then into one that has as many already
    const std::uint64_t first = 1 + static_cast<std::uint64_t>(round) * series;
    double find = 0;
    double apply = 0;
    for (std::uint64_t begin = first; begin < first + series; begin += kBatch) {
      std::vector<SeriesDefinition> batch;
      std::vector<const Labels*> sets;
      for (std::uint64_t i = begin; i < begin + kBatch; ++i) {
        batch.push_back(CostSeries(i));
      }
      for (const SeriesDefinition& definition : batch) {
        sets.push_back(&definition.labels);
      }
      double start = CpuMicros();
      ASSERT_FALSE(index->FindByLabels(sets).value()[0].has_value());
      find += CpuMicros() - start;
      start = CpuMicros();
      for (const SeriesDefinition& definition : batch) {
        index->Apply(definition);
      }
      apply += CpuMicros() - start;
    }
    const double n = static_cast<double>(series);
    const double bytes = static_cast<double>(index->memory_bytes());
    const auto select = [&](const char* what, std::vector<Matcher> matchers) {
      const double start = CpuMicros();
      const std::size_t found = SelectIds(*index, std::move(matchers)).size();
      std::printf("  select %-28s %8.2f ms, %zu series\n", what, (CpuMicros() - start) / 1000, found);
    };
    const auto select_all = [&] {
      select("host=", {{"host", Op::kEqual, {"host-77"}}});
      select("__name__=,host=", {{"__name__", Op::kEqual, {"cpu_usage_3"}}, {"host", Op::kEqual, {"host-77"}}});
      select("__name__=,region=", {{"__name__", Op::kEqual, {"cpu_usage_3"}}, {"region", Op::kEqual, {"eu-4"}}});
      select("host=~host-777.*", {{"host", Op::kRegex, {"host-777.*"}}});
      select("host=~.*77", {{"host", Op::kRegex, {".*77"}}});
      select("rack=,__name__=,host=~.*7", {{"rack", Op::kEqual, {"5"}}, {"__name__", Op::kEqual, {"cpu_usage_3"}},
                                           {"host", Op::kRegex, {".*7"}}});
    };
    std::printf("round %d: find %.2f us, apply %.2f us per series; overlay %.0f bytes per series\n", round, find / n,
                apply / n, bytes / n);
    select_all();
    const double start = CpuMicros();
    ASSERT_TRUE(index->Persist(CommitNumber{first + series - 1}).ok());
    std::printf("round %d: persist %.2f us per series\n", round, (CpuMicros() - start) / n);
    select_all();
  }
  const double start = CpuMicros();
  index.reset();
  index = MustOpen(directory.path());
  std::printf("reopen %.2f ms\n", (CpuMicros() - start) / 1000);
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    bytes += entry.file_size();
  }
  std::printf("on disk %.1f bytes per series\n", static_cast<double>(bytes) / (2 * static_cast<double>(series)));
}

}  // namespace
}  // namespace tsdb::index
