// A plain model of a database for import tests: label sets with their samples in a map, refs, duplicates by "last".
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tsdb/ingest.h"

namespace tsdb::ingest_test {

/// Canonical key -> time -> bits of the value.
using Content = std::map<std::string, std::map<Timestamp, std::uint64_t>>;

class MemorySink {
 public:
  BatchSink AsSink() {
    return [this](const WriteBatch& batch) { return Append(batch); };
  }

  Result<AppendResult> Append(const WriteBatch& batch);

  const Content& content() const { return content_; }
  /// Labels by canonical key.
  const std::map<std::string, Labels>& labels() const { return labels_; }
  /// Forgets a series as a drop does: its ref is refused from now on.
  void Drop(const std::string& key);

  /// Samples refused by these times get kOutOfRange.
  std::set<Timestamp> refused_times;
  /// Returned instead of appending, when not OK.
  Status failure;
  std::size_t batches = 0;
  std::size_t samples_by_ref = 0;
  std::size_t samples_by_labels = 0;

 private:
  Content content_;
  std::map<std::string, Labels> labels_;
  std::map<std::string, std::uint64_t> id_of_;
  std::map<std::uint64_t, std::string> key_of_;
  std::uint64_t last_id_ = 0;
};

inline Result<AppendResult> MemorySink::Append(const WriteBatch& batch) {
  if (!failure.ok()) {
    return failure;
  }
  ++batches;
  AppendResult result;
  for (const Labels& labels : batch.labels()) {
    const std::string key = labels.CanonicalKey();
    auto [found, added] = id_of_.try_emplace(key, last_id_ + 1);
    if (added) {
      ++last_id_;
      ++result.new_series;
      key_of_[last_id_] = key;
      labels_[key] = labels;
      content_[key];
    }
    result.refs.push_back(SeriesRef{SeriesId{found->second}});
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const WriteBatch::Entry& entry = batch.entries()[i];
    std::uint64_t id = entry.series;
    if ((entry.series & WriteBatch::Entry::kLocal) != 0) {
      ++samples_by_labels;
      id = result.refs.at(entry.series & ~WriteBatch::Entry::kLocal).id.value;
    } else {
      ++samples_by_ref;
    }
    const auto key = key_of_.find(id);
    if (key == key_of_.end()) {
      result.rejected.push_back({i, Status::Dropped("series was dropped: resolve again")});
      continue;
    }
    if (refused_times.count(entry.time) != 0) {
      result.rejected.push_back({i, Status::OutOfRange("time too far ahead")});
      continue;
    }
    const bool added =
        content_[key->second].insert_or_assign(entry.time, std::bit_cast<std::uint64_t>(entry.value)).second;
    ++result.stored;
    result.replaced += added ? 0 : 1;
  }
  return result;
}

inline void MemorySink::Drop(const std::string& key) {
  const auto found = id_of_.find(key);
  key_of_.erase(found->second);
  id_of_.erase(found);
  content_.erase(key);
  labels_.erase(key);
}

/// What an import of `text` gave.
struct Imported {
  Status status;
  ImportSummary summary;
  Content content;
  std::map<std::string, Labels> labels;
};

/// Feeds `text` in pieces of `piece` bytes (0: in one).
inline Imported ImportText(const ImportOptions& options, std::string_view text, std::size_t piece = 0) {
  MemorySink sink;
  Imported out;
  Result<std::unique_ptr<Importer>> importer = Importer::Create(options, sink.AsSink());
  if (!importer.ok()) {
    out.status = importer.status();
    return out;
  }
  std::string_view rest = text;
  while (!rest.empty() && out.status.ok()) {
    // A copy of its own, so that a parser that keeps a view into an earlier piece is caught by the sanitizer.
    const std::string part(rest.substr(0, piece == 0 ? rest.size() : piece));
    rest.remove_prefix(part.size());
    out.status = (*importer)->Feed(part);
  }
  if (out.status.ok()) {
    out.status = (*importer)->Finish();
  }
  out.summary = (*importer)->summary();
  out.content = sink.content();
  out.labels = sink.labels();
  return out;
}

/// Cuts `text` in two at every position and feeds it byte by byte; "" when all give what one piece gives, else a
/// description of the first difference.
inline std::string DifferenceBetweenSplits(const ImportOptions& options, std::string_view text) {
  const Imported whole = ImportText(options, text);
  const auto same = [&](const Imported& other) {
    return whole.status.ToString() == other.status.ToString() && whole.content == other.content &&
           whole.summary.errors == other.summary.errors && whole.summary.read == other.summary.read &&
           whole.summary.stored == other.summary.stored && whole.summary.rejected == other.summary.rejected &&
           whole.summary.ignored == other.summary.ignored && whole.summary.rounded == other.summary.rounded &&
           whole.summary.lines == other.summary.lines && whole.summary.bytes == other.summary.bytes;
  };
  if (!same(ImportText(options, text, 1))) {
    return "byte by byte";
  }
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    MemorySink sink;
    Imported split;
    auto importer = Importer::Create(options, sink.AsSink());
    split.status = (*importer)->Feed(std::string(text.substr(0, cut)));
    if (split.status.ok()) {
      split.status = (*importer)->Feed(std::string(text.substr(cut)));
    }
    if (split.status.ok()) {
      split.status = (*importer)->Finish();
    }
    split.summary = (*importer)->summary();
    split.content = sink.content();
    if (!same(split)) {
      return "cut at " + std::to_string(cut);
    }
  }
  return "";
}

inline std::uint64_t Bits(double value) { return std::bit_cast<std::uint64_t>(value); }

}  // namespace tsdb::ingest_test
