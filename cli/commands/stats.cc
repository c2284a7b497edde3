// stats: sizes and counts of the database, and what its last opening found.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/open_database.h"
#include "cli/text/escape.h"
#include "cli/text/numbers.h"
#include "cli/text/table.h"

namespace tsdb::cli {
namespace {

enum class Shown { kCount, kBytes };

/// A number of the statistics, with its JSON key and its words for people.
struct Figure {
  const char* key;
  const char* words;
  std::uint64_t value;
  Shown shown = Shown::kCount;
};

std::vector<Figure> Figures(const Stats& s) {
  const std::uint64_t unmerged = s.chunk_files_by_level.empty() ? 0 : s.chunk_files_by_level[0];
  return {
      {"series", "series", s.series},
      {"series_in_memory", "series in memory", s.series_in_memory},
      {"samples", "samples", s.samples_in_files + s.samples_in_head},
      {"samples_in_head", "samples not yet in files", s.samples_in_head},
      {"samples_in_files", "samples in files", s.samples_in_files},
      {"bytes_on_disk", "bytes on disk", s.bytes_on_disk, Shown::kBytes},
      {"chunk_file_bytes", "of those, chunk files", s.chunk_file_bytes, Shown::kBytes},
      {"catalogue_bytes", "of those, catalogue", s.catalogue_bytes, Shown::kBytes},
      {"index_bytes", "of those, label index", s.index_bytes, Shown::kBytes},
      {"wal_bytes", "of those, log", s.wal_bytes, Shown::kBytes},
      {"chunk_files", "chunk files", s.chunk_files},
      {"chunk_files_flushed", "of those, not yet merged", unmerged},
      {"chunks", "chunks", s.chunks},
      {"directory_bytes", "directories of chunk files", s.directory_bytes, Shown::kBytes},
      {"chunk_files_skipped", "chunk files left out, damaged or gone", s.chunk_files_skipped},
      {"samples_skipped", "samples in those", s.samples_skipped},
      {"files_quarantined", "files in quarantine", s.files_quarantined},
      {"wal_segments", "log segments", s.wal_segments},
      {"memory_bytes", "memory", s.memory_bytes, Shown::kBytes},
      {"head_bytes", "of that, unflushed data", s.head_bytes, Shown::kBytes},
      {"registry_bytes", "of that, series in use", s.registry_bytes, Shown::kBytes},
      {"index_memory_bytes", "of that, caches of the label index", s.index_memory_bytes, Shown::kBytes},
      {"file_memory_bytes", "of that, directories of chunk files", s.file_memory_bytes, Shown::kBytes},
      {"memory_bytes_max", "memory budget", s.memory_bytes_max, Shown::kBytes},
      {"last_commit", "last commit", s.last_commit.value},
      {"durable_commit", "synced up to commit", s.durable_commit.value},
      {"flushed_commit", "in files up to commit", s.flushed_commit.value},
  };
}

std::vector<Figure> RecoveryFigures(const RecoveryReport& r) {
  return {
      {"segments", "log segments read", r.segments},
      {"commits", "commits applied", r.commits},
      {"samples", "samples in those", r.samples},
      {"commits_skipped", "commits already in files", r.commits_skipped},
      {"bytes_dropped", "log bytes dropped", r.bytes_dropped, Shown::kBytes},
      {"samples_orphaned", "samples orphaned", r.samples_orphaned},
      {"files_removed", "leftover files removed", r.files_removed},
  };
}

/// Bytes of chunk files per sample in them; 0 when there are none.
double BytesPerSample(const Stats& stats) {
  return stats.samples_in_files == 0
             ? 0
             : static_cast<double>(stats.chunk_file_bytes) / static_cast<double>(stats.samples_in_files);
}

void AddRows(const std::vector<Figure>& figures, Table* table) {
  for (const Figure& f : figures) {
    table->AddRow({f.words, f.shown == Shown::kBytes ? FormatBytes(f.value) : FormatCount(f.value)});
  }
}

void AddEncodings(std::string_view of, const std::vector<EncodingStats>& encodings, Table* table) {
  for (const EncodingStats& e : encodings) {
    table->AddRow({fmt::format("{}: {}", of, e.name), FormatCount(e.columns), FormatCount(e.samples),
                   FormatBytes(e.bytes)});
  }
}

void WriteTable(const Stats& stats, const RecoveryReport& recovery, bool color, std::string* out) {
  Table table({"database", ""}, {false, true});
  AddRows(Figures(stats), &table);
  table.AddRow({"bytes per sample in chunk files", fmt::format("{:.3f}", BytesPerSample(stats))});
  table.AddRow({"unit", std::string(TimeUnitName(stats.unit))});
  table.AddRow({"durability", std::string(DurabilityName(stats.durability))});
  table.AddRow({"duplicates", std::string(DuplicatePolicyName(stats.duplicates))});
  table.AppendTo(out, color);
  const std::pair<const char*, const std::string*> errors[] = {{"writes are refused", &stats.write_error},
                                                               {"flushes fail", &stats.flush_error},
                                                               {"merges fail", &stats.merge_error}};
  for (const auto& [what, error] : errors) {
    if (!error->empty()) {
      *out += fmt::format("{}: {}\n", what, Printable(*error));
    }
  }
  *out += '\n';
  if (stats.chunk_files != 0) {
    Table encodings({"encodings in chunk files", "columns", "samples", "bytes"}, {false, true, true, true});
    AddEncodings("times", stats.time_encodings, &encodings);
    AddEncodings("values", stats.value_encodings, &encodings);
    encodings.AppendTo(out, color);
    *out += '\n';
  }
  Table opening({"recovery at this opening", ""}, {false, true});
  AddRows(RecoveryFigures(recovery), &opening);
  opening.AddRow({"label index rebuilt", recovery.index_rebuilt ? "yes" : "no"});
  opening.AddRow({"time", FormatSeconds(recovery.seconds)});
  opening.AppendTo(out, color);
}

void AppendJsonFigures(const std::vector<Figure>& figures, std::string* out) {
  for (const Figure& f : figures) {
    *out += fmt::format("\"{}\":{},", f.key, f.value);
  }
}

void AppendJsonEncodings(std::string_view key, const std::vector<EncodingStats>& encodings, std::string* out) {
  *out += fmt::format("\"{}\":[", key);
  for (std::size_t i = 0; i < encodings.size(); ++i) {
    const EncodingStats& e = encodings[i];
    *out += fmt::format("{}{{\"name\":\"{}\",\"columns\":{},\"samples\":{},\"bytes\":{}}}", i == 0 ? "" : ",",
                        e.name, e.columns, e.samples, e.bytes);
  }
  *out += "],";
}

void WriteJson(const Stats& stats, const RecoveryReport& recovery, std::string* out) {
  *out += '{';
  AppendJsonFigures(Figures(stats), out);
  AppendJsonEncodings("time_encodings", stats.time_encodings, out);
  AppendJsonEncodings("value_encodings", stats.value_encodings, out);
  *out += "\"bytes_per_sample\":";
  AppendJsonNumber(BytesPerSample(stats), out);
  *out += fmt::format(",\"unit\":\"{}\",\"durability\":\"{}\",\"duplicates\":\"{}\",\"write_error\":",
                      TimeUnitName(stats.unit), DurabilityName(stats.durability),
                      DuplicatePolicyName(stats.duplicates));
  AppendJsonString(stats.write_error, out);
  *out += ",\"flush_error\":";
  AppendJsonString(stats.flush_error, out);
  *out += ",\"merge_error\":";
  AppendJsonString(stats.merge_error, out);
  *out += ",\"recovery\":{";
  AppendJsonFigures(RecoveryFigures(recovery), out);
  *out += fmt::format("\"index_rebuilt\":{},\"seconds\":", recovery.index_rebuilt);
  AppendJsonNumber(recovery.seconds, out);
  *out += ",\"notes\":[";
  for (std::size_t i = 0; i < recovery.notes.size(); ++i) {
    *out += i == 0 ? "" : ",";
    AppendJsonString(recovery.notes[i], out);
  }
  *out += "]}}\n";
}

Outcome RunStats(bool json, Program& program) {
  Result<std::unique_ptr<Database>> db = OpenForReading(program, Reads::kAll);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  const Stats stats = (*db)->GetStats();
  if (json) {
    WriteJson(stats, (*db)->recovery_report(), program.out.buffer());
  } else {
    WriteTable(stats, (*db)->recovery_report(), program.color, program.out.buffer());
  }
  return Outcome::Done();
}

}  // namespace

void AddStats(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "stats", "Show sizes, counts and the recovery report",
                               {"tsdb-cli stats", "tsdb-cli --db ./metrics stats --json"});
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "One JSON object");
  set->SetRun(command, [json](Program& program) { return RunStats(*json, program); });
}

}  // namespace tsdb::cli
