#include "codec_table.h"

#include <time.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <span>
#include <string>
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
constexpr int kZstdLevel = 3;

/// Keeps a result from being optimised away.
volatile bool sink;

/// A codec of values on one file: bytes per value, million values per second and core.
struct Figures {
  double bytes = 0;
  double encode = 0;
  double decode = 0;
};

enum Codec { kGorilla, kZstd, kSplitZstd, kHead, kFast1024, kDense1024, kFast8192, kDense8192, kCodecs };
constexpr std::array<const char*, kCodecs> kNames = {"Gorilla@480", "zstd-3@8192", "byte-split zstd-3@8192",
                                                     "head@480",    "FAST@1024",   "DENSE@1024",
                                                     "FAST@8192",   "DENSE@8192"};

struct Row {
  std::string name;
  std::array<Figures, kCodecs> values;
  double head_all = 0;  // head, with times
  /// Bytes of times per sample: each column on its own, and equal columns once; @1024 fast, @1024 dense, @8192 dense.
  std::array<double, 3> times{};
  std::array<double, 3> shared_times{};
};

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

/// Encodes and decodes all pieces of a file with one codec of values, measures both and compares.
struct ValueCodec {
  std::function<void(std::span<const double> values, std::string* bytes)> encode;
  std::function<bool(const std::string& bytes, std::span<double> values)> decode;
};

void Measure(const DataFile& file, Codec codec, std::size_t samples, const ValueCodec& functions, Row* row) {
  const std::vector<Piece> pieces = Cut(file, samples);
  std::vector<std::string> encoded(pieces.size());
  Figures& figures = row->values[codec];
  figures.encode = Speed(file.samples(), [&] {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      encoded[i].clear();
      functions.encode(pieces[i].values, &encoded[i]);
    }
  });
  std::vector<double> out(samples);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::span<double> values = std::span(out).first(pieces[i].values.size());
    figures.bytes += static_cast<double>(encoded[i].size()) / static_cast<double>(file.samples());
    if (!functions.decode(encoded[i], values) || !SameBits(values, pieces[i].values)) {
      Mismatch(file.name, kNames[codec]);
    }
  }
  figures.decode = Speed(file.samples(), [&] {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      sink = functions.decode(encoded[i], std::span(out).first(pieces[i].values.size()));
    }
  });
}

void MeasureGorilla(const DataFile& file, Row* row) {
  Measure(file, kGorilla, kHeadSamples,
          {.encode =
               [](std::span<const double> values, std::string* bytes) {
                 GorillaEncoder(bytes).PutValues(values);
                 bytes->append(kBitReaderPadding, '\0');
               },
           .decode =
               [](const std::string& bytes, std::span<double> values) {
                 GorillaDecode(bytes.data(), values.size(), values.data());
                 return true;
               }},
          row);
  // The padding is none of its bytes.
  const auto pieces = static_cast<double>(Cut(file, kHeadSamples).size());
  row->values[kGorilla].bytes -= pieces * kBitReaderPadding / static_cast<double>(file.samples());
}

void Compress(std::string_view raw, std::string* bytes) {
  bytes->resize(ZSTD_compressBound(raw.size()));
  bytes->resize(ZSTD_compress(bytes->data(), bytes->size(), raw.data(), raw.size(), kZstdLevel));
}

void MeasureZstd(const DataFile& file, Row* row) {
  Measure(file, kZstd, 8192,
          {.encode =
               [](std::span<const double> values, std::string* bytes) {
                 Compress({reinterpret_cast<const char*>(values.data()), values.size_bytes()}, bytes);
               },
           .decode =
               [](const std::string& bytes, std::span<double> values) {
                 return ZSTD_decompress(values.data(), values.size_bytes(), bytes.data(), bytes.size()) ==
                        values.size_bytes();
               }},
          row);
  // Byte k of all values, for k = 0 to 7.
  Measure(file, kSplitZstd, 8192,
          {.encode =
               [](std::span<const double> values, std::string* bytes) {
                 std::string split(values.size_bytes(), '\0');
                 for (std::size_t i = 0; i < values.size(); ++i) {
                   const auto* value = reinterpret_cast<const char*>(&values[i]);
                   for (std::size_t k = 0; k < sizeof(double); ++k) {
                     split[k * values.size() + i] = value[k];
                   }
                 }
                 Compress(split, bytes);
               },
           .decode =
               [](const std::string& bytes, std::span<double> values) {
                 std::string split(values.size_bytes(), '\0');
                 const std::size_t got = ZSTD_decompress(split.data(), split.size(), bytes.data(), bytes.size());
                 for (std::size_t i = 0; i < values.size(); ++i) {
                   auto* value = reinterpret_cast<char*>(&values[i]);
                   for (std::size_t k = 0; k < sizeof(double); ++k) {
                     value[k] = split[k * values.size() + i];
                   }
                 }
                 return got == split.size();
               }},
          row);
}

void MeasureHead(const DataFile& file, Row* row) {
  const std::vector<Piece> pieces = Cut(file, kHeadSamples);
  const auto samples = static_cast<double>(file.samples());
  std::size_t bytes = 0;
  row->values[kHead].encode = Speed(file.samples(), [&] {
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
  row->values[kHead].bytes = (static_cast<double>(grid_bytes) - static_cast<double>(grid_time_bits) / 8) / samples;
  row->head_all = static_cast<double>(bytes) / samples;
  std::vector<Timestamp> times;
  std::vector<double> values;
  row->values[kHead].decode = Speed(file.samples(), [&] {
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

/// The number of the encoding is put before the column.
void MeasureColumns(const DataFile& file, Codec codec, std::size_t samples, Effort effort, Row* row) {
  Measure(file, codec, samples,
          {.encode =
               [effort](std::span<const double> values, std::string* bytes) {
                 bytes->push_back('\0');
                 (*bytes)[0] = static_cast<char>(EncodeValues(values, effort, bytes));
               },
           .decode =
               [](const std::string& bytes, std::span<double> values) {
                 return DecodeValues(static_cast<std::uint8_t>(bytes[0]), std::string_view(bytes).substr(1),
                                     values.size(), values.data())
                     .ok();
               }},
          row);
  row->values[codec].bytes -= static_cast<double>(Cut(file, samples).size()) / static_cast<double>(file.samples());
}

void MeasureTimes(const DataFile& file, std::size_t samples, Effort effort, double* alone, double* shared) {
  std::set<std::string> seen;
  std::vector<Timestamp> out(samples);
  for (const Piece& piece : Cut(file, samples)) {
    std::string bytes;
    const auto encoding = static_cast<std::uint8_t>(EncodeTimes(piece.times, effort, &bytes));
    if (!DecodeTimes(encoding, bytes, piece.times.size(), out.data()).ok() ||
        !std::equal(piece.times.begin(), piece.times.end(), out.begin())) {
      Mismatch(file.name, "time column");
    }
    const double per_sample = static_cast<double>(bytes.size()) / static_cast<double>(file.samples());
    *alone += per_sample;
    bytes.append(reinterpret_cast<const char*>(piece.times.data()), piece.times.size_bytes());
    *shared += seen.insert(bytes).second ? per_sample : 0;
  }
}

template <typename Get>
double GeometricMean(const std::vector<Row>& rows, Get get) {
  double sum = 0;
  for (const Row& row : rows) {
    sum += std::log(get(row));
  }
  return std::exp(sum / static_cast<double>(rows.size()));
}

template <typename Get>
double Median(const std::vector<Row>& rows, Get get) {
  std::vector<double> values;
  for (const Row& row : rows) {
    values.push_back(get(row));
  }
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void PrintBytes(const std::vector<Row>& rows) {
  std::printf("Bytes per value, values only:\n\n| file |");
  for (const char* name : kNames) {
    std::printf(" %s |", name);
  }
  std::printf("\n|---|");
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    std::printf("---|");
  }
  const auto line = [](const char* name, auto bytes) {
    std::printf("\n| %s |", name);
    for (std::size_t c = 0; c < kCodecs; ++c) {
      std::printf(" %.3f |", bytes(c));
    }
  };
  for (const Row& row : rows) {
    line(row.name.c_str(), [&](std::size_t c) { return row.values[c].bytes; });
  }
  line("**geometric mean**", [&](std::size_t c) {
    return GeometricMean(rows, [c](const Row& row) { return row.values[c].bytes; });
  });
}

void PrintTotals(const std::vector<Row>& rows) {
  std::printf("\n\nBytes per sample, values and times; *shared*: equal columns of times count once:\n\n"
              "| file | head@480 | FAST@1024 | DENSE@1024 | DENSE@1024 shared | DENSE@8192 | DENSE@8192 shared |\n"
              "|---|---|---|---|---|---|---|\n");
  for (const Row& row : rows) {
    const auto& v = row.values;
    std::printf("| %s | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f |\n", row.name.c_str(), row.head_all,
                v[kFast1024].bytes + row.times[0], v[kDense1024].bytes + row.times[1],
                v[kDense1024].bytes + row.shared_times[1], v[kDense8192].bytes + row.times[2],
                v[kDense8192].bytes + row.shared_times[2]);
  }
}

void PrintSpeeds(const std::vector<Row>& rows) {
  std::printf("\nMillion values per second of one core, encoding / decoding (head: with times):\n\n| file |");
  for (const char* name : kNames) {
    std::printf(" %s |", name);
  }
  std::printf("\n|---|");
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    std::printf("---|");
  }
  for (const Row& row : rows) {
    std::printf("\n| %s |", row.name.c_str());
    for (const Figures& figures : row.values) {
      std::printf(" %.0f / %.0f |", figures.encode, figures.decode);
    }
  }
  std::printf("\n| **median** |");
  for (std::size_t c = 0; c < kCodecs; ++c) {
    std::printf(" %.0f / %.0f |", Median(rows, [c](const Row& row) { return row.values[c].encode; }),
                Median(rows, [c](const Row& row) { return row.values[c].decode; }));
  }
  std::printf("\n");
}

}  // namespace

int WriteCodecTable() {
  std::vector<Row> rows;
  for (const DataFile& file : LoadFiles()) {
    Row row;
    row.name = file.name;
    MeasureGorilla(file, &row);
    MeasureZstd(file, &row);
    MeasureHead(file, &row);
    MeasureColumns(file, kFast1024, 1024, Effort::kFast, &row);
    MeasureColumns(file, kDense1024, 1024, Effort::kDense, &row);
    MeasureColumns(file, kFast8192, 8192, Effort::kFast, &row);
    MeasureColumns(file, kDense8192, 8192, Effort::kDense, &row);
    MeasureTimes(file, 1024, Effort::kFast, &row.times[0], &row.shared_times[0]);
    MeasureTimes(file, 1024, Effort::kDense, &row.times[1], &row.shared_times[1]);
    MeasureTimes(file, 8192, Effort::kDense, &row.times[2], &row.shared_times[2]);
    rows.push_back(row);
  }
  if (rows.empty()) {
    std::fprintf(stderr, "no *.csv.gz files: set TSDB_DATA_DIR to their folder\n");
    return 1;
  }
  std::printf("Kernels: %s.\n\n", Kernels().name);
  PrintBytes(rows);
  PrintTotals(rows);
  PrintSpeeds(rows);
  return 0;
}

}  // namespace tsdb::chunk
