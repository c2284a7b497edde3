#include "tests/crash/byte_flips.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "base/clock.h"
#include "base/memory_file_system.h"
#include "chunk/catalogue_file.h"
#include "chunk/chunk_file.h"
#include "chunk/manifest.h"
#include "chunk/manifest_log.h"
#include "wal/replay.h"
#include "wal/segment.h"

namespace tsdb::engine {
namespace {

constexpr std::uint64_t kStoreHigh = 0x1122334455667788;
constexpr std::uint64_t kStoreLow = 0x99aabbccddeeff00;

/// What reading gave: empty when all is well.
using Read = std::function<std::string(MemoryFileSystem& fs)>;

/// An I/O or memory error would be the wrong report for damage: it counts as none.
std::string Report(const Status& status) {
  const bool is_damage = status.code() == StatusCode::kCorruption || status.code() == StatusCode::kNotSupported;
  return is_damage ? status.ToString() : "";
}

/// Flips one bit of each byte in turn, and all bits of it.
std::string FlipEveryByte(MemoryFileSystem& fs, const std::string& path, const std::set<std::uint64_t>& harmless,
                          const Read& read) {
  const std::string good = *fs.ReadWhole(path);
  if (std::string report = read(fs); !report.empty()) {
    return "undamaged: " + report;
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int mask : {1 << (at % 8), 0xff}) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ mask);
      fs.WriteWhole(path, bytes);
      const std::string report = read(fs);
      if (report.empty() && !harmless.contains(at)) {
        return fmt::format("{}: byte {} of {} changed and nothing was reported", path, at, good.size());
      }
      if (!report.empty() && report.find(path.substr(path.rfind('/') + 1)) == std::string::npos) {
        return fmt::format("byte {} of {} changed and the report does not name the file: {}", at, path, report);
      }
    }
  }
  fs.WriteWhole(path, good);
  return "";
}

Status WriteChunkFile(MemoryFileSystem& fs, const std::string& path) {
  chunk::ChunkFileOptions options;
  options.store_high = kStoreHigh;
  options.store_low = kStoreLow;
  options.number = 7;
  options.first_commit = {3};
  options.last_commit = {9};
  TSDB_ASSIGN_OR_RETURN(const auto writer, chunk::ChunkFileWriter::Create(fs, path, options));
  std::mt19937_64 random(1);
  chunk::Columns columns;
  for (std::uint64_t id = 1; id <= 3; ++id) {
    if (id != 2) {  // the second one shares its times with the first
      columns.times.clear();
      for (Timestamp t = 0; columns.times.size() < 40; t += 1 + static_cast<Timestamp>(random() % 1000)) {
        columns.times.push_back(t);
      }
    }
    columns.values.clear();
    while (columns.values.size() < columns.times.size()) {
      columns.values.push_back(static_cast<double>(random() % 10'000) / 16);
    }
    TSDB_RETURN_IF_ERROR(writer->Add({id}, {columns.times, columns.values}));
  }
  return writer->Finish().status();
}

chunk::ManifestEdit EditNumber(std::uint64_t n) {
  chunk::ManifestEdit edit;
  chunk::ChunkFileMeta meta;
  meta.number = n;
  meta.bytes = 1000 * n;
  meta.first_commit = {n};
  meta.last_commit = {n};
  meta.first_time = 5;
  meta.last_time = 50;
  meta.series = meta.chunks = 2;
  meta.samples = 70;
  edit.added_chunk_files.push_back(meta);
  edit.flushed_commit = {n};
  edit.next_file_number = n + 1;
  return edit;
}

Status WriteManifest(MemoryFileSystem& fs) {
  chunk::ManifestState state;
  state.store_high = kStoreHigh;
  state.store_low = kStoreLow;
  TSDB_ASSIGN_OR_RETURN(const auto manifest, chunk::Manifest::Create(fs, "/db", state));
  TSDB_RETURN_IF_ERROR(manifest->Append(EditNumber(1)));
  return manifest->Append(EditNumber(2));
}

std::string ReadManifest(MemoryFileSystem& fs) { return Report(chunk::Manifest::Load(fs, "/db").status()); }

class Ignore final : public wal::ReplayVisitor {
 public:
  Status OnCommit(CommitNumber, std::int64_t) override { return Status::Ok(); }
  Status OnDefinition(const SeriesDefinition&) override { return Status::Ok(); }
  Status OnPuts(std::span<const wal::Put>) override { return Status::Ok(); }
};

Status WriteSegment(MemoryFileSystem& fs) {
  FakeClock clock;
  wal::LogOptions options;
  options.store_id = {kStoreHigh, kStoreLow};
  options.sync_interval_ms = 0;
  TSDB_ASSIGN_OR_RETURN(const auto log, wal::Log::Open(fs, clock, "/wal", options));
  for (std::uint64_t i = 1; i <= 4; ++i) {
    wal::RecordBuilder record;
    const std::vector<wal::Put> puts = {{{i}, static_cast<Timestamp>(i * 1000), 0.1 * static_cast<double>(i)},
                                        {{i + 1}, static_cast<Timestamp>(i * 1001), 2.5}};
    record.AddPuts(puts);
    wal::LogRecord pending;
    pending.payload = record.payload();
    if (!log->Enqueue(&pending, Durability::kAlways, log->epoch())) {
      return Status::Internal("the record was refused");
    }
    TSDB_RETURN_IF_ERROR(log->Write(&pending));
  }
  return Status::Ok();
}

/// Two bytes of a column of times change so that their sum stays: the times may still rise and end where they should.
std::string ShiftTimes(MemoryFileSystem& fs, const std::string& path) {
  const std::string good = *fs.ReadWhole(path);
  auto reader = chunk::ChunkFileReader::Open(fs, path);
  if (!reader.ok()) {
    return reader.status().ToString();
  }
  chunk::ChunkRows rows;
  if (Status status = (*reader)->ReadBlock(0, &rows); !status.ok()) {
    return status.ToString();
  }
  const chunk::ChunkEntry entry = rows.entries[0];
  chunk::Columns expected;
  if (Status status = (*reader)->Read(entry, &expected); !status.ok()) {
    return status.ToString();
  }
  const auto begin = static_cast<std::size_t>(entry.time_offset);
  chunk::Columns found;
  for (std::size_t i = begin; i < begin + entry.time_bytes; ++i) {
    for (std::size_t j = begin; j < begin + entry.time_bytes; ++j) {
      for (const int by : {1, 4, 16, 64}) {
        std::string bytes = good;
        bytes[i] = static_cast<char>(bytes[i] + by);
        bytes[j] = static_cast<char>(bytes[j] - by);
        fs.WriteWhole(path, bytes);
        if (bytes == good) {
          continue;
        }
        const auto damaged = chunk::ChunkFileReader::Open(fs, path);
        if (damaged.ok() && (*damaged)->Read(entry, &found).ok() && found.times != expected.times) {
          return fmt::format("{}: bytes {} and {} changed and other times came out", path, i, j);
        }
      }
    }
  }
  fs.WriteWhole(path, good);
  return "";
}

/// All that a reader gives for the rows and samples of a file; an error instead of it when something is damaged.
Result<std::string> ReadAllRows(MemoryFileSystem& fs, const std::string& path) {
  TSDB_ASSIGN_OR_RETURN(const auto reader, chunk::ChunkFileReader::Open(fs, path));
  std::string all;
  chunk::ChunkRows rows;
  chunk::Columns columns;
  for (std::size_t block = 0; block < reader->blocks(); ++block) {
    TSDB_RETURN_IF_ERROR(reader->ReadBlock(block, &rows));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const chunk::ChunkEntry& entry = rows.entries[i];
      TSDB_ASSIGN_OR_RETURN(const chunk::ChunkStatistics statistics, rows.Statistics(i));
      TSDB_RETURN_IF_ERROR(reader->Read(entry, &columns));
      all += fmt::format("{} {} {} {} {} {} {}:", entry.id.value, entry.first_time, entry.last_time, entry.count,
                         statistics.min, statistics.max, statistics.nan_count);
      for (std::size_t k = 0; k < columns.size(); ++k) {
        all += fmt::format(" {}={}", columns.times[k], columns.values[k]);
      }
      all += "\n";
    }
  }
  return all;
}

/// What is read without Verify, which would see more: other rows or values must not come out.
std::string FlipAndReadRows(MemoryFileSystem& fs, const std::string& path) {
  const std::string good = *fs.ReadWhole(path);
  const auto expected = ReadAllRows(fs, path);
  if (!expected.ok()) {
    return expected.status().ToString();
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int mask : {1 << (at % 8), 0xff}) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ mask);
      fs.WriteWhole(path, bytes);
      const auto found = ReadAllRows(fs, path);
      if (found.ok() && *found != *expected) {
        return fmt::format("{}: byte {} changed and other rows came out", path, at);
      }
    }
  }
  fs.WriteWhole(path, good);
  return "";
}

}  // namespace

std::string FlipEveryByteOfAChunkFile() {
  MemoryFileSystem fs;
  if (Status status = WriteChunkFile(fs, "/f.chunk"); !status.ok()) {
    return status.ToString();
  }
  if (std::string wrong = ShiftTimes(fs, "/f.chunk"); !wrong.empty()) {
    return wrong;
  }
  if (std::string wrong = FlipAndReadRows(fs, "/f.chunk"); !wrong.empty()) {
    return wrong;
  }
  return FlipEveryByte(fs, "/f.chunk", {}, [](MemoryFileSystem& disk) {
    const auto reader = chunk::ChunkFileReader::Open(disk, "/f.chunk");
    if (!reader.ok()) {
      return Report(reader.status());
    }
    std::vector<std::string> damage;
    const Status status = (*reader)->Verify(&damage);
    return damage.empty() ? Report(status) : damage.front();
  });
}

std::string FlipEveryByteOfACatalogue() {
  MemoryFileSystem fs;
  std::vector<SeriesDefinition> definitions;
  for (std::uint64_t id = 1; id <= 5; ++id) {
    SeriesDefinition& definition = definitions.emplace_back();
    definition.id = {id};
    definition.commit = {id};
    definition.labels = Labels{{"__name__", "m"}, {"host", std::to_string(id)}};
  }
  const auto meta = chunk::WriteCatalogueFile(fs, "/f.catalogue", 7, kStoreHigh, kStoreLow, definitions);
  if (!meta.ok()) {
    return meta.status().ToString();
  }
  return FlipEveryByte(fs, "/f.catalogue", {}, [](MemoryFileSystem& disk) {
    return Report(chunk::ReadCatalogueFile(disk, "/f.catalogue", kStoreHigh, kStoreLow,
                                           [](const SeriesDefinition&) { return Status::Ok(); }));
  });
}

std::string FlipEveryByteOfAManifest() {
  MemoryFileSystem fs;
  if (Status status = WriteManifest(fs); !status.ok()) {
    return status.ToString();
  }
  std::set<std::uint64_t> harmless;
  const std::string bytes = *fs.ReadWhole("/db/manifest/000001");
  const auto scan = chunk::ScanManifest(bytes, 1, [&](const chunk::ManifestFrame& frame) {
    for (std::uint64_t i = 0; frame.record.empty() && i < chunk::kFrameHeaderBytes; ++i) {
      harmless.insert(frame.offset + i);
    }
    return Status::Ok();
  });
  if (!scan.ok()) {
    return scan.status().ToString();
  }
  return FlipEveryByte(fs, "/db/manifest/000001", harmless, ReadManifest);
}

std::string FlipEveryByteOfCurrent() {
  MemoryFileSystem fs;
  if (Status status = WriteManifest(fs); !status.ok()) {
    return status.ToString();
  }
  return FlipEveryByte(fs, "/db/CURRENT", {}, ReadManifest);
}

std::string FlipEveryByteOfASegment() {
  MemoryFileSystem fs;
  if (Status status = WriteSegment(fs); !status.ok()) {
    return status.ToString();
  }
  const std::string path = "/wal/" + wal::SegmentFileName(1);
  const std::string bytes = *fs.ReadWhole(path);
  std::set<std::uint64_t> harmless;
  for (std::uint64_t at = wal::kSegmentHeaderBytes; at < bytes.size();) {
    const std::uint64_t payload_bytes = wal::LoadFrameHeader(bytes.data() + at).payload_bytes;
    const std::uint64_t end = at + wal::FrameBytes(payload_bytes);
    for (at += wal::kFrameHeaderBytes + payload_bytes; at < end; ++at) {
      harmless.insert(at);
    }
  }
  return FlipEveryByte(fs, path, harmless, [](MemoryFileSystem& disk) {
    wal::ReplayOptions options;
    options.store_id = {kStoreHigh, kStoreLow};
    Ignore visitor;
    const auto report = wal::Replay(disk, "/wal", options, visitor);
    if (!report.ok()) {
      return Report(report.status());
    }
    return report->damage.empty() ? std::string() : report->damage[0].path + ": " + report->damage[0].reason;
  });
}

}  // namespace tsdb::engine
