// What every importer has to hold for any bytes: the same result however the text is cut, counts that add up, labels
// that are well formed, and samples that survive export and import.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/ingest/memory_sink.h"
#include "tsdb/ingest.h"

namespace tsdb::ingest_test {

inline void Require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

inline void CheckExport(TextFormat format, const Imported& imported) {
  auto exporter = *Exporter::Create(format, TimeUnit::kMilliseconds);
  std::string text;
  exporter->Begin(&text);
  for (const auto& [key, samples] : imported.content) {
    SeriesInfo info;
    info.key = key;
    info.labels = imported.labels.at(key);
    std::vector<Timestamp> times;
    std::vector<double> values;
    for (const auto& [time, bits] : samples) {
      times.push_back(time);
      values.push_back(std::bit_cast<double>(bits));
    }
    if (exporter->BeginSeries(info, &text).ok()) {
      exporter->Samples(times, values, &text);
      exporter->EndSeries(&text);
    }
  }
  exporter->End(&text);
  ImportOptions options;
  options.format = format;
  const Imported again = ImportText(options, text);
  Require(again.status.ok() && again.summary.rejected == 0 && again.summary.stored == exporter->summary().samples);
  for (const auto& [key, samples] : again.content) {
    for (const auto& [time, bits] : samples) {
      Require(imported.content.at(key).at(time) == bits);
    }
  }
}

/// `pieces`: sizes of the pieces of which the result is compared with that of one piece.
inline void CheckImport(const ImportOptions& options, std::string_view text,
                        std::initializer_list<std::size_t> pieces = {1, 7}) {
  const Imported whole = ImportText(options, text);
  const ImportSummary& s = whole.summary;
  Require(!whole.status.ok() || s.read == s.stored + s.replaced + s.ignored + s.rejected);
  Require(s.errors.size() <= 20 && s.errors.size() <= s.rejected);
  Require(s.bytes == text.size() || !whole.status.ok());
  for (const std::size_t piece : pieces) {
    const Imported cut = ImportText(options, text, piece);
    Require(cut.status.ToString() == whole.status.ToString() && cut.content == whole.content);
    Require(cut.summary.errors == s.errors && cut.summary.read == s.read && cut.summary.rejected == s.rejected &&
            cut.summary.rounded == s.rounded && cut.summary.ignored == s.ignored);
  }
  for (const TextFormat format :
       {TextFormat::kInflux, TextFormat::kOpenMetrics, TextFormat::kCsv, TextFormat::kJsonLines}) {
    CheckExport(format, whole);
  }
  ImportOptions detected = options;
  detected.format = TextFormat::kAuto;
  static_cast<void>(ImportText(detected, text));
}

inline ImportOptions FuzzOptions(TextFormat format) {
  ImportOptions options;
  options.format = format;
  options.batch_samples = 3;
  options.now = [] { return Timestamp{1000}; };
  return options;
}

}  // namespace tsdb::ingest_test
