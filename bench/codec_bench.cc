// Benchmarks of the codecs, beside plain Gorilla XOR (VLDB'15) as the yardstick.
//
//   codec_bench                 Google Benchmark on generated data
//   codec_bench --table         Markdown table over the data files: bytes per value and speeds
//
// The files are gzip CSV (`timestamp_ms,value` or `series,timestamp_ms,value`) in $TSDB_DATA_DIR, by default
// ../shared/data beside the source tree.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "chunk/bit_stream.h"
#include "chunk/codec_kernels.h"
#include "chunk/column_codec.h"
#include "chunk/columns.h"
#include "chunk/head_chunk.h"
#include "data_files.h"
#include "gorilla.h"

namespace tsdb::chunk {
namespace {

constexpr std::size_t kHeadSamples = 480;
constexpr std::size_t kSealedSamples = 1024;

// ---- The table ----

struct Piece {
  std::span<const Timestamp> times;
  std::span<const double> values;
};

std::vector<Piece> Cut(const DataFile& file, std::size_t samples) {
  std::vector<Piece> pieces;
  for (const Columns& series : file.series) {
    for (std::size_t i = 0; i < series.size(); i += samples) {
      const std::size_t n = std::min(samples, series.size() - i);
      pieces.push_back({std::span(series.times).subspan(i, n), std::span(series.values).subspan(i, n)});
    }
  }
  return pieces;
}

double ThreadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Million values per second of processor time: the best of several passes over all pieces.
double Speed(std::size_t samples, const std::function<void()>& pass) {
  double best = 0;
  const double start = ThreadSeconds();
  for (int i = 0; i < 3 || (i < 200 && ThreadSeconds() - start < 0.1); ++i) {
    const double begin = ThreadSeconds();
    pass();
    best = std::max(best, static_cast<double>(samples) / (ThreadSeconds() - begin) / 1e6);
  }
  return best;
}

[[noreturn]] void Mismatch(const std::string& file, const char* codec) {
  std::fprintf(stderr, "%s: %s does not give the values back\n", file.c_str(), codec);
  std::exit(1);
}

bool SameBits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

struct Row {
  std::string name;
  double gorilla = 0, head = 0, sealed = 0;          // bytes per value, values only
  double head_all = 0, sealed_times = 0;             // with times; times only
  double gorilla_encode = 0, gorilla_decode = 0;     // million values a second
  double head_append = 0, head_decode = 0;           // values and times
  double sealed_encode = 0, sealed_decode = 0, times_encode = 0, times_decode = 0;
};

void MeasureGorilla(const DataFile& file, Row* row) {
  const std::vector<Piece> pieces = Cut(file, kHeadSamples);
  std::vector<std::string> encoded(pieces.size());
  std::size_t bytes = 0;
  row->gorilla_encode = Speed(file.samples(), [&] {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      encoded[i].clear();
      GorillaEncoder(&encoded[i]).PutValues(pieces[i].values);
    }
  });
  for (std::string& e : encoded) {
    bytes += e.size();
    e.append(kBitReaderPadding, '\0');
  }
  std::vector<double> out(kHeadSamples);
  row->gorilla_decode = Speed(file.samples(), [&] {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      GorillaDecode(encoded[i].data(), pieces[i].values.size(), out.data());
    }
  });
  row->gorilla = static_cast<double>(bytes) / static_cast<double>(file.samples());
}

void MeasureHead(const DataFile& file, Row* row) {
  const std::vector<Piece> pieces = Cut(file, kHeadSamples);
  const auto samples = static_cast<double>(file.samples());
  std::size_t bytes = 0;
  row->head_append = Speed(file.samples(), [&] {
    bytes = 0;
    for (const Piece& piece : pieces) {
      HeadChunk head;
      for (std::size_t i = 0; i < piece.times.size(); ++i) {
        head.Append(piece.times[i], piece.values[i]);
      }
      bytes += head.memory_bytes();
    }
  });
  bytes = 0;
  std::size_t grid_bytes = 0;
  std::size_t grid_time_bits = 0;
  std::vector<HeadChunk::Snapshot> snapshots;
  for (const Piece& piece : pieces) {
    HeadChunk head;
    HeadChunk grid;
    for (std::size_t i = 0; i < piece.times.size(); ++i) {
      head.Append(piece.times[i], piece.values[i]);
      grid.Append(static_cast<Timestamp>(1000 * i), piece.values[i]);
    }
    snapshots.push_back(head.TakeSnapshot());
    bytes += snapshots.back().bits.size();
    grid_bytes += grid.TakeSnapshot().bits.size();
    // On this grid times take 64 bits, then 16 (the step of 1000 and its length), then one each.
    const std::size_t n = piece.times.size();
    grid_time_bits += 64 + (n > 1 ? 16 + n - 2 : 0);
  }
  row->head = (static_cast<double>(grid_bytes) - static_cast<double>(grid_time_bits) / 8) / samples;
  row->head_all = static_cast<double>(bytes) / samples;
  std::vector<Timestamp> times;
  std::vector<double> values;
  row->head_decode = Speed(file.samples(), [&] {
    for (const HeadChunk::Snapshot& snapshot : snapshots) {
      times.clear();
      values.clear();
      if (!DecodeHeadChunk(snapshot, &times, &values).ok()) {
        Mismatch(file.name, "head chunk");
      }
    }
  });
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    times.clear();
    values.clear();
    if (!DecodeHeadChunk(snapshots[i], &times, &values).ok() || !SameBits(values, pieces[i].values) ||
        !std::equal(times.begin(), times.end(), pieces[i].times.begin(), pieces[i].times.end())) {
      Mismatch(file.name, "head chunk");
    }
  }
}

void MeasureSealed(const DataFile& file, Row* row) {
  const std::vector<Piece> pieces = Cut(file, kSealedSamples);
  const auto samples = static_cast<double>(file.samples());
  std::vector<std::string> values(pieces.size());
  std::vector<std::string> times(pieces.size());
  std::vector<std::uint8_t> value_encoding(pieces.size());
  std::vector<std::uint8_t> time_encoding(pieces.size());
  row->sealed_encode = Speed(file.samples(), [&] {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      values[i].clear();
      value_encoding[i] = static_cast<std::uint8_t>(EncodeValues(pieces[i].values, Effort::kFast, &values[i]));
    }
  });
  row->times_encode = Speed(file.samples(), [&] {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      times[i].clear();
      time_encoding[i] = static_cast<std::uint8_t>(EncodeTimes(pieces[i].times, Effort::kFast, &times[i]));
    }
  });
  std::vector<double> out(kSealedSamples);
  std::vector<Timestamp> out_times(kSealedSamples);
  std::size_t value_bytes = 0;
  std::size_t time_bytes = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::size_t n = pieces[i].values.size();
    value_bytes += values[i].size();
    time_bytes += times[i].size();
    if (!DecodeValues(value_encoding[i], values[i], n, out.data()).ok() ||
        !SameBits(std::span(out).first(n), pieces[i].values)) {
      Mismatch(file.name, "value column");
    }
    if (!DecodeTimes(time_encoding[i], times[i], n, out_times.data()).ok() ||
        !std::equal(pieces[i].times.begin(), pieces[i].times.end(), out_times.begin())) {
      Mismatch(file.name, "time column");
    }
  }
  row->sealed_decode = Speed(file.samples(), [&] {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      benchmark::DoNotOptimize(DecodeValues(value_encoding[i], values[i], pieces[i].values.size(), out.data()).ok());
    }
  });
  row->times_decode = Speed(file.samples(), [&] {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      benchmark::DoNotOptimize(DecodeTimes(time_encoding[i], times[i], pieces[i].times.size(), out_times.data()).ok());
    }
  });
  row->sealed = static_cast<double>(value_bytes) / samples;
  row->sealed_times = static_cast<double>(time_bytes) / samples;
}

double GeometricMean(const std::vector<Row>& rows, double Row::*member) {
  double sum = 0;
  for (const Row& row : rows) {
    sum += std::log(row.*member);
  }
  return std::exp(sum / static_cast<double>(rows.size()));
}

double Median(const std::vector<Row>& rows, double Row::*member) {
  std::vector<double> values;
  for (const Row& row : rows) {
    values.push_back(row.*member);
  }
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int WriteTable() {
  std::vector<Row> rows;
  for (const DataFile& file : LoadFiles()) {
    Row row;
    row.name = file.name;
    MeasureGorilla(file, &row);
    MeasureHead(file, &row);
    MeasureSealed(file, &row);
    rows.push_back(row);
  }
  if (rows.empty()) {
    std::fprintf(stderr, "no *.csv.gz files: set TSDB_DATA_DIR to their folder\n");
    return 1;
  }
  std::printf("Bytes per value (values only unless said), one core, %s; Gorilla and head @%zu samples, "
              "sealed @%zu.\n\n",
              Kernels().name, kHeadSamples, kSealedSamples);
  std::printf("| file | Gorilla | head | head + times | sealed | sealed times | Gorilla enc/dec M/s |"
              " head append/decode M/s | sealed enc/dec M/s | times enc/dec M/s |\n"
              "|---|---|---|---|---|---|---|---|---|---|\n");
  const auto line = [](const Row& r) {
    std::printf("| %s | %.3f | %.3f | %.3f | %.3f | %.3f | %.0f / %.0f | %.0f / %.0f | %.0f / %.0f | %.0f / %.0f |\n",
                r.name.c_str(), r.gorilla, r.head, r.head_all, r.sealed, r.sealed_times, r.gorilla_encode,
                r.gorilla_decode, r.head_append, r.head_decode, r.sealed_encode, r.sealed_decode, r.times_encode,
                r.times_decode);
  };
  Row total;
  total.name = "**geometric mean; median speed**";
  for (const auto member : {&Row::gorilla, &Row::head, &Row::head_all, &Row::sealed, &Row::sealed_times}) {
    total.*member = GeometricMean(rows, member);
  }
  for (const auto member : {&Row::gorilla_encode, &Row::gorilla_decode, &Row::head_append, &Row::head_decode,
                            &Row::sealed_encode, &Row::sealed_decode, &Row::times_encode, &Row::times_decode}) {
    total.*member = Median(rows, member);
  }
  for (const Row& row : rows) {
    line(row);
  }
  line(total);
  return 0;
}

// ---- Google Benchmark ----

/// A random walk of two decimals on a ten-second grid.
Columns Walk(std::size_t count) {
  Columns columns;
  std::mt19937_64 random(1);
  std::normal_distribution<double> step(0, 1);
  double value = 50;
  for (std::size_t i = 0; i < count; ++i) {
    value = std::clamp(value + step(random), 0.0, 100.0);
    columns.Append(static_cast<Timestamp>(1'700'000'000'000 + 10'000 * i), std::round(value * 100) / 100);
  }
  return columns;
}

void BM_HeadAppend(benchmark::State& state) {
  const Columns columns = Walk(kHeadSamples);
  for (auto _ : state) {
    HeadChunk head;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      head.Append(columns.times[i], columns.values[i]);
    }
    benchmark::DoNotOptimize(head.tail());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * columns.size()));
}
BENCHMARK(BM_HeadAppend);

void BM_HeadDecode(benchmark::State& state) {
  const Columns columns = Walk(kHeadSamples);
  HeadChunk head;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    head.Append(columns.times[i], columns.values[i]);
  }
  const HeadChunk::Snapshot snapshot = head.TakeSnapshot();
  Columns out;
  for (auto _ : state) {
    out.Clear();
    benchmark::DoNotOptimize(DecodeHeadChunk(snapshot, &out.times, &out.values).ok());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * columns.size()));
}
BENCHMARK(BM_HeadDecode);

void BM_EncodeValues(benchmark::State& state) {
  const Columns columns = Walk(static_cast<std::size_t>(state.range(0)));
  std::string bytes;
  for (auto _ : state) {
    bytes.clear();
    benchmark::DoNotOptimize(EncodeValues(columns.values, Effort::kFast, &bytes));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * columns.size()));
}
BENCHMARK(BM_EncodeValues)->Arg(120)->Arg(1024)->Arg(8192);

void BM_DecodeValues(benchmark::State& state) {
  const Columns columns = Walk(static_cast<std::size_t>(state.range(0)));
  UseScalarKernels(state.range(1) != 0);
  state.SetLabel(Kernels().name);
  std::string bytes;
  const auto encoding = static_cast<std::uint8_t>(EncodeValues(columns.values, Effort::kFast, &bytes));
  std::vector<double> out(columns.size());
  for (auto _ : state) {
    benchmark::DoNotOptimize(DecodeValues(encoding, bytes, columns.size(), out.data()).ok());
  }
  UseScalarKernels(false);
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * columns.size()));
}
BENCHMARK(BM_DecodeValues)->ArgsProduct({{120, 1024, 8192}, {0, 1}});

}  // namespace
}  // namespace tsdb::chunk

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--table") {
      return tsdb::chunk::WriteTable();
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
