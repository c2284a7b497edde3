#include "wal/dump.h"

#include <fmt/format.h>

#include "wal/record.h"
#include "wal/replay.h"
#include "wal/segment_reader.h"

namespace tsdb::wal {
namespace {

using Line = std::function<void(std::string_view)>;

class Printer final : public RecordVisitor {
 public:
  explicit Printer(const Line& line) : line_(line) {}
  Status OnPuts(std::span<const Put> puts) override {
    for (const Put& put : puts) {
      line_(fmt::format("      series {} time {} value {}", put.id.value, put.time, put.value));
    }
    return {};
  }
  Status OnDefinition(const SeriesDefinition& definition) override {
    line_(fmt::format("      series {} key {}{}{}", definition.id.value, definition.ShownKey(),
                      definition.created_by_key ? " labels " + definition.labels.CanonicalKey() : "",
                      definition.dropped ? " dropped" : ""));
    return {};
  }
  Status OnDelete(const DeleteOperation& operation) override {
    line_(fmt::format("      {} series from {} to {}{}", operation.ids.Count(), operation.range.from,
                      operation.range.to, Ids(operation.ids)));
    return {};
  }
  Status OnDrop(const DropOperation& operation) override {
    line_(fmt::format("      {} series, reason {}, may come back until {}{}", operation.ids.Count(),
                      static_cast<unsigned>(operation.reason), operation.until_wall_nanos, Ids(operation.ids)));
    return {};
  }
  Status OnFloor(const FloorOperation& operation) override {
    line_(fmt::format("      below {}", operation.floor));
    return {};
  }
  Status OnSettings(const SettingsOperation& operation) override {
    if (operation.retention) {
      line_(fmt::format("      retention {}", *operation.retention));
    }
    if (operation.bytes_max) {
      line_(fmt::format("      bytes {}", *operation.bytes_max));
    }
    if (operation.classes) {
      for (const RetentionClass& one : *operation.classes) {
        line_(fmt::format("      class {} retention {}", one.selector, one.age));
      }
    }
    return {};
  }

 private:
  /// ": 1, 2, 5", the first ones.
  static std::string Ids(const IdSet& ids) {
    constexpr int kShown = 20;
    std::string text;
    int shown = 0;
    ids.ForEach([&](std::uint64_t id) {
      if (shown < kShown) {
        text += fmt::format("{}{}", shown == 0 ? ": " : ", ", id);
      } else if (shown == kShown) {
        text += ", …";
      }
      ++shown;
    });
    return text;
  }

  const Line& line_;
};

/// Frames verify only with the id of their store; when the header is damaged a neighbour may know it.
Result<StoreId> StoreOfNeighbours(FileSystem& fs, const std::string& directory) {
  TSDB_ASSIGN_OR_RETURN(const auto entries, fs.List(directory));
  for (const DirectoryEntry& entry : entries) {
    if (const auto number = entry.is_directory ? std::nullopt : ParseSegmentFileName(entry.name)) {
      TSDB_ASSIGN_OR_RETURN(const auto reader, SegmentReader::Open(fs, directory, *number));
      SegmentHeader header;
      TSDB_ASSIGN_OR_RETURN(const bool valid, reader->ReadHeader(&header));
      if (valid) {
        return header.store_id;
      }
    }
  }
  return StoreId{};
}

class Dumper {
 public:
  Dumper(SegmentReader& reader, const Line& line) : reader_(reader), line_(line) {}

  Status Run(FileSystem& fs, const std::string& directory);

 private:
  void PrintDamage(std::uint64_t offset, std::uint64_t bytes, std::string_view what);
  void PrintFrame(std::uint64_t offset, const FrameHeader& header, std::string_view payload);
  void PrintRecord(std::uint64_t offset, CommitNumber commit, std::string_view record);

  SegmentReader& reader_;
  const Line& line_;
  std::uint64_t damaged_places_ = 0;
};

Status Dumper::Run(FileSystem& fs, const std::string& directory) {
  SegmentHeader header;
  TSDB_ASSIGN_OR_RETURN(const bool has_header, reader_.ReadHeader(&header));
  if (has_header) {
    line_(fmt::format("segment {} version {} store {:016x}{:016x} after segment {} and commit {} wall {}",
                      header.number, header.version, header.store_id.high, header.store_id.low, header.prior_number,
                      header.last_valid.value, header.wall_nanos));
    if (header.version != kSegmentVersion) {
      return Status::NotSupported(fmt::format("{}: log format version {}, this program reads {}", reader_.path(),
                                              header.version, kSegmentVersion));
    }
  } else {
    PrintDamage(0, std::min<std::uint64_t>(reader_.file_bytes(), kSegmentHeaderBytes), "segment header is damaged");
    TSDB_ASSIGN_OR_RETURN(header.store_id, StoreOfNeighbours(fs, directory));
  }
  reader_.set_store(header.store_id);
  for (std::uint64_t offset = kSegmentHeaderBytes; offset < reader_.file_bytes();) {
    FrameHeader frame;
    std::string_view payload;
    TSDB_ASSIGN_OR_RETURN(const auto found, reader_.ReadFrame(offset, &frame, &payload));
    std::uint64_t next = offset + FrameBytes(frame.payload_bytes);
    switch (found) {
      case SegmentReader::Found::kFrame:
        PrintFrame(offset, frame, payload);
        break;
      case SegmentReader::Found::kBadPayload:
        PrintDamage(offset, std::min(next, reader_.file_bytes()) - offset,
                    fmt::format("payload of commits {}-{} does not match its checksum", frame.first.value,
                                frame.last().value));
        break;
      case SegmentReader::Found::kNothing:
        TSDB_ASSIGN_OR_RETURN(next, reader_.FindFrame(offset + kFrameAlignment));
        PrintDamage(offset, next - offset, "no group here");
        break;
    }
    offset = next;
  }
  if (damaged_places_ > 0) {
    return Status::Corruption(fmt::format("{}: {} damaged place(s)", reader_.path(), damaged_places_));
  }
  return {};
}

void Dumper::PrintDamage(std::uint64_t offset, std::uint64_t bytes, std::string_view what) {
  ++damaged_places_;
  line_(fmt::format("@{} DAMAGED {} bytes: {}", offset, bytes, what));
}

void Dumper::PrintFrame(std::uint64_t offset, const FrameHeader& header, std::string_view payload) {
  line_(fmt::format("@{} commits {}-{} ({}) {} bytes previous {} synced {} wall {}", offset, header.first.value,
                    header.last().value, header.records, FrameBytes(header.payload_bytes), header.previous.value,
                    header.synced.value, header.wall_nanos));
  ByteReader records(payload);
  for (std::uint32_t i = 0; i < header.records; ++i) {
    std::string_view record;
    if (!records.ReadLengthPrefixed(&record)) {
      PrintDamage(offset, payload.size(), "the group holds fewer records than it says");
      return;
    }
    PrintRecord(offset, {header.first.value + i}, record);
  }
}

void Dumper::PrintRecord(std::uint64_t offset, CommitNumber commit, std::string_view record) {
  Printer printer(line_);
  ByteReader operations(record);
  line_(fmt::format("  commit {}", commit.value));
  while (!operations.empty()) {
    const std::size_t begin = operations.offset();
    OpKind kind{};
    std::string_view body;
    if (!ReadOperation(&operations, &kind, &body)) {
      PrintDamage(offset, record.size(), fmt::format("commit {}: operation cut off", commit.value));
      return;
    }
    line_(fmt::format("    {} {} bytes", OpKindName(kind), body.size()));
    const Status status = VisitRecord(record.substr(begin, operations.offset() - begin), commit, printer);
    if (status.code() == StatusCode::kCorruption) {
      PrintDamage(offset, record.size(), status.message());
    } else if (!status.ok()) {
      line_(fmt::format("      not shown: kind {} of a later version", static_cast<unsigned>(kind)));
    }
  }
}

}  // namespace

Status DumpSegment(FileSystem& fs, const std::string& path, const Line& line) {
  const auto number = ParseSegmentFileName(path.substr(path.rfind('/') + 1));
  if (!number) {
    return Status::InvalidArgument(path + ": not the name of a log segment, such as " + SegmentFileName(17));
  }
  const std::string directory = ParentPath(path);
  TSDB_ASSIGN_OR_RETURN(const auto reader, SegmentReader::Open(fs, directory, *number));
  return Dumper(*reader, line).Run(fs, directory);
}

}  // namespace tsdb::wal
