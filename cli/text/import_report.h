// ImportReport: what an import of one or more inputs did, as one line for people and as a JSON object for scripts.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tsdb/ingest.h"

namespace tsdb::cli {

struct ImportReport {
  /// Errors kept as text.
  static constexpr std::size_t kErrorsMax = 20;

  /// Sums over all inputs; `errors` holds the first ones.
  ImportSummary sum;
  std::uint64_t series = 0;         // distinct series that got samples
  double seconds = 0;               // until everything is in files
  std::uint64_t bytes_on_disk = 0;  // of the database afterwards

  void Add(const ImportSummary& summary);
  double SamplesPerSecond() const { return seconds > 0 ? static_cast<double>(sum.read) / seconds : 0; }

  /// Lines for people, without a line end.
  std::string ForPeople() const;
  /// One object and a newline. Keys: read stored replaced rejected rounded series new_series seconds
  /// samples_per_second bytes_on_disk errors.
  void AppendJson(std::string* out) const;
};

}  // namespace tsdb::cli
