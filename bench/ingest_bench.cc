// Parsers alone: text in memory to batches, with a sink that only hands out refs.
//   ingest_bench --benchmark_filter=Influx
#include <cstdint>
#include <string>

#include <benchmark/benchmark.h>

#include "tsdb/ingest.h"

namespace tsdb {
namespace {

/// Gives each label set a ref and forgets the samples.
class NullSink {
 public:
  Result<AppendResult> operator()(const WriteBatch& batch) {
    AppendResult result;
    result.stored = batch.size();
    for (std::size_t i = 0; i < batch.labels().size(); ++i) {
      result.refs.push_back(SeriesRef{SeriesId{++last_id_}});
    }
    benchmark::DoNotOptimize(batch.entries().data());
    return result;
  }

 private:
  std::uint64_t last_id_ = 0;
};

void Run(benchmark::State& state, const ImportOptions& options, const std::string& text, std::int64_t samples) {
  constexpr std::size_t kPieceBytes = 256 * 1024;
  for (auto _ : state) {
    auto importer = *Importer::Create(options, NullSink());
    for (std::size_t at = 0; at < text.size(); at += kPieceBytes) {
      if (!importer->Feed(std::string_view(text).substr(at, kPieceBytes)).ok()) {
        state.SkipWithError("Feed failed");
      }
    }
    if (!importer->Finish().ok() || importer->summary().stored != static_cast<std::uint64_t>(samples)) {
      state.SkipWithError("not everything was stored");
    }
  }
  state.SetItemsProcessed(state.iterations() * samples);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

/// `fields` values a line, `hosts` series prefixes in turn, as a monitoring agent writes them.
std::string InfluxText(int lines, int hosts, int fields, bool decimals) {
  std::string text;
  std::uint64_t random = 1;
  for (int line = 0; line < lines; ++line) {
    text += "cpu,hostname=host_" + std::to_string(line % hosts) +
            ",region=eu-central-1,datacenter=eu-central-1a,rack=6,os=Ubuntu15.10,arch=x86,team=SF,service=19 ";
    for (int field = 0; field < fields; ++field) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      text += (field == 0 ? "usage_" : ",usage_") + std::to_string(field) + "=" + std::to_string(random >> 58);
      text += decimals ? "." + std::to_string(random >> 40 & 4095) : "i";
    }
    text += " " + std::to_string(1451606400000000000 + line / hosts * 10'000'000'000) + "\n";
  }
  return text;
}

void BM_Influx(benchmark::State& state) {
  const int lines = 40'000;
  const auto fields = static_cast<int>(state.range(0));
  const std::string text = InfluxText(lines, static_cast<int>(state.range(1)), fields, state.range(2) != 0);
  ImportOptions options;
  options.format = TextFormat::kInflux;
  Run(state, options, text, static_cast<std::int64_t>(lines) * fields);
}
BENCHMARK(BM_Influx)
    ->ArgNames({"fields", "hosts", "decimals"})
    ->Args({10, 100, 0})
    ->Args({10, 100, 1})
    ->Args({10, 4000, 1})
    ->Args({1, 100, 1});

}  // namespace
}  // namespace tsdb
