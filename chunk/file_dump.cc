#include "chunk/file_dump.h"

#include <fmt/format.h>

#include "chunk/catalogue_file.h"
#include "chunk/catalogue_format.h"
#include "chunk/chunk_columns.h"
#include "chunk/chunk_file.h"
#include "chunk/manifest_codec.h"
#include "chunk/manifest_log.h"

namespace tsdb::chunk {

namespace {

std::string StatisticsText(const ValueStatistics& s) {
  return fmt::format("count={} nan={} min={} max={} sum={} resets={}", s.count, s.nan_count, s.min, s.max, s.sum.Sum(),
                     s.resets ? fmt::format("{}", s.resets->Sum() + 0.0) : "unknown");
}

std::string EntryText(const ChunkEntry& e) {
  return fmt::format("chunk series={} from={} to={} count={} times={}@{}+{} values={}@{}+{} statistics={}", e.id.value,
                     e.first_time, e.last_time, e.count, TimesName(e.time_encoding), e.time_offset, e.time_bytes,
                     ValuesName(e.value_encoding), e.value_offset, e.value_bytes, e.statistics_bytes);
}

/// Statistics of a row, and of its pages when there are several.
void DumpStatistics(const ChunkRows& rows, std::size_t index, const ChunkStatistics& s, const LineSink& line) {
  line(fmt::format("  statistics {} first={} last={}", StatisticsText(s), s.first, s.last));
  for (std::size_t i = 0; i < s.pages.size(); ++i) {
    const std::size_t page = i * s.page_step;
    line(fmt::format("  page {} from={} {}", page, rows.PageTime(index, page), StatisticsText(s.pages[i])));
  }
}

std::string TotalsText(std::string_view name, const EncodingTotals& t) {
  return fmt::format("{} columns={} samples={} bytes={}", name, t.columns, t.samples, t.bytes);
}

std::string MetaText(const ChunkFileMeta& m) {
  return fmt::format("number={} bytes={} commits={}..{} times={}..{} series={} chunks={} samples={} level={}", m.number,
                     m.bytes, m.first_commit.value, m.last_commit.value, m.first_time, m.last_time, m.series, m.chunks,
                     m.samples, m.level);
}

std::string MetaText(const CatalogueMeta& m) {
  return fmt::format("number={} bytes={} commits={}..{} definitions={}", m.number, m.bytes, m.first_commit.value,
                     m.last_commit.value, m.definitions);
}

std::string SettingsText(const CreateOptions& s) {
  return fmt::format("unit={} durability={} duplicates={} retention={} bytes_max={}", TimeUnitName(s.unit),
                     DurabilityName(s.durability), DuplicatePolicyName(s.duplicates), s.retention, s.bytes_max);
}

void DumpPosition(std::string_view name, std::int64_t value, const LineSink& line) {
  if (value != 0) {
    line(fmt::format("  {}={}", name, value));
  }
}

/// Deletes, drops and retention.
void DumpLife(const ManifestEdit& edit, const LineSink& line) {
  for (const CommitNumber commit : edit.removed_tombstones) {
    line(fmt::format("  - tombstones commit={}", commit.value));
  }
  for (const TombstonePtr& tombstone : edit.added_tombstones) {
    line(fmt::format("  + tombstone commit={} series={} times={}..{}", tombstone->commit.value, tombstone->ids.Count(),
                     tombstone->range.from, tombstone->range.to));
  }
  if (edit.drops) {
    for (const Drop& drop : *edit.drops) {
      line(fmt::format("  drop commit={} series={} until={}", drop.commit.value, drop.ids.Count(),
                       drop.until_wall_nanos));
    }
  }
  if (edit.retention) {
    line(fmt::format("  retention floor={} bytes_floor={} newest={} trusted_now={} series_with_own_settings={}",
                     edit.retention->floor, edit.retention->bytes_floor, edit.retention->newest,
                     edit.retention->trusted_now, edit.retention->own_settings.Count()));
    for (const RetentionClass& one : edit.retention->classes) {
      line(fmt::format("  retention class {} age={}", one.selector, one.age));
    }
  }
}

void DumpRecord(const ManifestRecord& record, const LineSink& line) {
  if (record.whole_state) {
    line(fmt::format("  store={:016x}{:016x}", record.store_high, record.store_low));
  }
  const ManifestEdit& edit = record.edit;
  if (edit.settings) {
    line("  settings " + SettingsText(*edit.settings));
  }
  for (const std::uint64_t number : edit.removed_chunk_files) {
    line(fmt::format("  - chunk file number={}", number));
  }
  for (const ChunkFileMeta& meta : edit.added_chunk_files) {
    line("  + chunk file " + MetaText(meta));
  }
  for (const std::uint64_t number : edit.removed_catalogue_files) {
    line(fmt::format("  - catalogue number={}", number));
  }
  for (const CatalogueMeta& meta : edit.added_catalogue_files) {
    line("  + catalogue " + MetaText(meta));
  }
  DumpPosition("flushed_commit", static_cast<std::int64_t>(edit.flushed_commit.value), line);
  DumpPosition("next_file_number", static_cast<std::int64_t>(edit.next_file_number), line);
  DumpPosition("next_series_id", static_cast<std::int64_t>(edit.next_series_id), line);
  DumpPosition("last_commit", static_cast<std::int64_t>(edit.last_commit.value), line);
  DumpPosition("last_segment", static_cast<std::int64_t>(edit.last_segment), line);
  DumpPosition("last_wall_nanos", edit.last_wall_nanos, line);
  DumpLife(edit, line);
}

/// Prints the message of damage and passes it on.
Status ShowDamage(const Status& status, const LineSink& line) {
  if (status.code() == StatusCode::kCorruption) {
    line("damage: " + std::string(status.message()));
  }
  return status;
}

/// Remembers corruption and lets the dump go on; passes other errors.
Status KeepCorruption(const Status& status, Status* result) {
  if (status.code() != StatusCode::kCorruption) {
    return status;
  }
  *result = status;
  return {};
}

Status DumpRows(const ChunkFileReader& reader, const ChunkRows& rows, Status* result, const LineSink& line) {
  Columns columns;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto statistics = rows.Statistics(i);
    line(EntryText(rows.entries[i]));
    TSDB_RETURN_IF_ERROR(KeepCorruption(ShowDamage(statistics.status(), line), result));
    if (statistics.ok()) {
      DumpStatistics(rows, i, *statistics, line);
    }
    TSDB_RETURN_IF_ERROR(KeepCorruption(ShowDamage(reader.Read(rows.entries[i], &columns), line), result));
  }
  return {};
}

}  // namespace

Status DumpChunkFileTo(FileSystem& fs, const std::string& path, const LineSink& line) {
  auto opened = ChunkFileReader::Open(fs, path);
  TSDB_RETURN_IF_ERROR(ShowDamage(opened.status(), line));
  const ChunkFileReader& reader = **opened;
  const ChunkFileOptions& options = reader.options();
  line(fmt::format("chunk file {}", path));
  line(fmt::format("header store={:016x}{:016x} number={} commits={}..{} level={}", options.store_high,
                   options.store_low, options.number, options.first_commit.value, options.last_commit.value,
                   options.level));
  Status result;
  ChunkRows rows;
  for (std::size_t block = 0; block < reader.blocks(); ++block) {
    TSDB_RETURN_IF_ERROR(KeepCorruption(ShowDamage(reader.ReadBlock(block, &rows), line), &result));
    TSDB_RETURN_IF_ERROR(DumpRows(reader, rows, &result, line));
  }
  for (const EncodingTotals& totals : reader.totals().times) {
    line("times " + TotalsText(TimesName(totals.encoding), totals));
  }
  for (const EncodingTotals& totals : reader.totals().values) {
    line("values " + TotalsText(ValuesName(totals.encoding), totals));
  }
  line(fmt::format("directory blocks={} bytes={}", reader.blocks(), reader.totals().directory_bytes));
  line("footer " + MetaText(reader.meta()));
  return result;
}

Status DumpManifestTo(FileSystem& fs, const std::string& path, const LineSink& line) {
  TSDB_ASSIGN_OR_RETURN(const std::string file, ReadFile(fs, path, kManifestBytesMax));
  const auto at = [&](const Status& status) {
    return status.ok() ? Status() : Status(status.code(), path + std::string(status.message()));
  };
  auto number = DecodeManifestHeader(file);
  TSDB_RETURN_IF_ERROR(ShowDamage(at(number.status()), line));
  line(fmt::format("manifest {}", path));
  line(fmt::format("header number={}", *number));
  const auto scan = ScanManifest(file, *number, [&](const ManifestFrame& frame) -> Status {
    if (frame.record.empty()) {
      line(fmt::format("@{} sealed", frame.offset));
      return {};
    }
    ManifestRecord record;
    TSDB_RETURN_IF_ERROR(DecodeRecord(frame.record, &record).WithContext(fmt::format("@{}", frame.offset)));
    line(fmt::format("@{} {} bytes={}", frame.offset, record.whole_state ? "state" : "edit", frame.record.size()));
    DumpRecord(record, line);
    return {};
  });
  TSDB_RETURN_IF_ERROR(ShowDamage(at(scan.status()), line));
  if (!scan->torn.empty()) {
    line("tail " + scan->torn + " (the next open leaves them out)");
  }
  return {};
}

Status DumpCatalogueTo(FileSystem& fs, const std::string& path, const LineSink& line) {
  TSDB_ASSIGN_OR_RETURN(const std::unique_ptr<RandomReadFile> file, fs.OpenReadable(path));
  const auto header = ReadCatalogueHeader(*file);
  TSDB_RETURN_IF_ERROR(ShowDamage(header.status(), line));
  line(fmt::format("catalogue {}", path));
  line(fmt::format("header store={:016x}{:016x} number={} commits={}..{} definitions={}", header->store_high,
                   header->store_low, header->number, header->first_commit.value, header->last_commit.value,
                   header->definitions));
  const Status status = ReadCatalogueFile(
      fs, path, header->store_high, header->store_low, [&](const SeriesDefinition& d) -> Status {
        if (d.dropped) {
          line(fmt::format("series {} commit={} dropped", d.id.value, d.commit.value));
          return {};
        }
        line(fmt::format("series {} commit={} {} {}{}", d.id.value, d.commit.value,
                         d.created_by_key ? "by key" : "by labels", d.ShownKey(),
                         d.created_by_key ? " labels=" + d.labels.CanonicalKey() : ""));
        return {};
      });
  return ShowDamage(status, line);
}

}  // namespace tsdb::chunk
