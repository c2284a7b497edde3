// Benchmarks of the codecs, beside plain Gorilla XOR (VLDB'15) as the yardstick.
//
//   codec_bench                 Google Benchmark on generated data
//   codec_bench --table         Markdown table over the data files: bytes per value and speeds
//
// The files are gzip CSV (`timestamp_ms,value` or `series,timestamp_ms,value`) in $TSDB_DATA_DIR, by default
// ../shared/data beside the source tree.
#include <benchmark/benchmark.h>
#include <time.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "chunk/bit_stream.h"
#include "chunk/codec_kernels.h"
#include "chunk/column_codec.h"
#include "chunk/columns.h"
#include "chunk/head_chunk.h"

namespace tsdb::chunk {
namespace {

constexpr std::size_t kHeadSamples = 480;
constexpr std::size_t kSealedSamples = 1024;

// ---- Gorilla, the yardstick ----

class GorillaEncoder {
 public:
  explicit GorillaEncoder(std::string* out) : bits_(out) {}
  void PutValues(std::span<const double> values) {
    std::uint64_t previous = std::bit_cast<std::uint64_t>(values[0]);
    unsigned leading = 64;
    unsigned trailing = 0;
    bits_.Put(previous, 64);
    for (const double value : values.subspan(1)) {
      const auto now = std::bit_cast<std::uint64_t>(value);
      const std::uint64_t x = now ^ previous;
      previous = now;
      if (x == 0) {
        bits_.Put(0, 1);
        continue;
      }
      const unsigned lead = std::min<unsigned>(31, static_cast<unsigned>(std::countl_zero(x)));
      const auto trail = static_cast<unsigned>(std::countr_zero(x));
      if (leading != 64 && lead >= leading && trail >= trailing) {
        bits_.Put(1, 2);
        bits_.Put(x >> trailing, 64 - leading - trailing);
      } else {
        leading = lead;
        trailing = trail;
        const unsigned size = 64 - lead - trail;
        bits_.Put(3 | lead << 2 | std::uint64_t{size & 63} << 7, 13);
        bits_.Put(x >> trail, size);
      }
    }
    bits_.Finish();
  }

 private:
  BitWriter bits_;
};

void GorillaDecode(const char* padded, std::size_t count, double* out) {
  BitReader bits(padded);
  std::uint64_t previous = bits.Get(64);
  unsigned size = 0;
  unsigned trailing = 0;
  out[0] = std::bit_cast<double>(previous);
  for (std::size_t i = 1; i < count; ++i) {
    if (bits.Get(1) != 0) {
      if (bits.Get(1) != 0) {
        const auto lead = static_cast<unsigned>(bits.Get(5));
        size = static_cast<unsigned>(bits.Get(6));
        size = size == 0 ? 64 : size;
        trailing = 64 - lead - size;
      }
      previous ^= bits.Get(size) << trailing;
    }
    out[i] = std::bit_cast<double>(previous);
  }
}

// ---- Data ----

struct DataFile {
  std::string name;
  std::vector<Columns> series;
  std::size_t samples() const {
    std::size_t n = 0;
    for (const Columns& s : series) {
      n += s.size();
    }
    return n;
  }
};

std::string ReadGzip(const std::string& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    return text;
  }
  std::array<char, 1 << 16> buffer;
  for (int n = gzread(file, buffer.data(), buffer.size()); n > 0; n = gzread(file, buffer.data(), buffer.size())) {
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  gzclose(file);
  return text;
}

DataFile LoadCsv(const std::filesystem::path& path) {
  DataFile file;
  file.name = path.filename().string();
  file.name.resize(file.name.find('.'));
  const std::string text = ReadGzip(path.string());
  std::string_view rest = text;
  rest.remove_prefix(std::min(rest.size(), rest.find('\n') + 1));
  std::unordered_map<std::string, std::size_t> index;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.size(), rest.find('\n'));
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    const std::size_t value_at = line.rfind(',') + 1;
    const std::size_t time_comma = line.rfind(',', value_at - 2);
    const std::size_t time_at = time_comma == std::string_view::npos ? 0 : time_comma + 1;
    const std::string_view name = line.substr(0, time_at);
    const auto [place, added] = index.try_emplace(std::string(name), file.series.size());
    if (added) {
      file.series.emplace_back();
    }
    Timestamp time = 0;
    std::from_chars(line.data() + time_at, line.data() + value_at - 1, time);
    std::string_view number = line.substr(value_at);
    if (!number.empty() && number[0] == '+') {
      number.remove_prefix(1);
    }
    double value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    Columns& columns = file.series[place->second];
    if (columns.empty() || time > columns.times.back()) {
      columns.Append(time, value);
    }
  }
  return file;
}

std::vector<DataFile> LoadFiles() {
  const char* env = std::getenv("TSDB_DATA_DIR");
  const std::filesystem::path folder =
      env != nullptr ? std::filesystem::path(env)
                     : std::filesystem::path(__FILE__).parent_path() / ".." / ".." / "shared" / "data";
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().ends_with(".csv.gz")) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<DataFile> files;
  for (const auto& path : paths) {
    files.push_back(LoadCsv(path));
  }
  return files;
}

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
      value_encoding[i] = static_cast<std::uint8_t>(EncodeValues(pieces[i].values, &values[i]));
    }
  });
  row->times_encode = Speed(file.samples(), [&] {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      times[i].clear();
      time_encoding[i] = static_cast<std::uint8_t>(EncodeTimes(pieces[i].times, &times[i]));
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
  std::printf("Bytes per value (values only unless said), one core, %s; Gorilla and head @%zu samples, sealed @%zu.\n\n",
              Kernels().name, kHeadSamples, kSealedSamples);
  std::printf("| file | Gorilla | head | head + times | sealed | sealed times | Gorilla enc/dec M/s | head append/decode M/s |"
              " sealed enc/dec M/s | times enc/dec M/s |\n|---|---|---|---|---|---|---|---|---|---|\n");
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
    benchmark::DoNotOptimize(EncodeValues(columns.values, &bytes));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * columns.size()));
}
BENCHMARK(BM_EncodeValues)->Arg(120)->Arg(1024)->Arg(8192);

void BM_DecodeValues(benchmark::State& state) {
  const Columns columns = Walk(static_cast<std::size_t>(state.range(0)));
  UseScalarKernels(state.range(1) != 0);
  state.SetLabel(Kernels().name);
  std::string bytes;
  const auto encoding = static_cast<std::uint8_t>(EncodeValues(columns.values, &bytes));
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
