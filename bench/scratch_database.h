// ScratchDatabase: a database in a folder of its own below $TMPDIR (else /tmp), removed with the object. For
// benchmarks: any error ends the program with its message.
//
// Thread safety: that of Database.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/tsbs_generator.h"
#include "tsdb/database.h"

namespace tsdb::bench {

/// Prints the status and ends the program when it is not OK.
void MustBeOk(const Status& status);
template <typename T>
T Must(Result<T> result) {
  MustBeOk(result.status());
  return std::move(result).value();
}

/// Processor time of the whole process so far, all threads.
double ProcessorSeconds();

class ScratchDatabase {
 public:
  explicit ScratchDatabase(const OpenOptions& options = {});
  ~ScratchDatabase();
  ScratchDatabase(const ScratchDatabase&) = delete;
  ScratchDatabase& operator=(const ScratchDatabase&) = delete;

  Database& operator*() { return *database_; }
  Database* operator->() { return database_.get(); }

  /// Creates the generator's series; one ref per series.
  std::vector<SeriesRef> CreateSeries(const TsbsGenerator& generator);
  /// Creates the series and appends all samples the generator still has; returns how many.
  std::uint64_t Fill(TsbsGenerator* generator);
  /// Drops the database without closing it, as a crash of the process does, and opens it again: the log is replayed.
  void CrashAndReopen();
  /// Returns when no merge has run for a while: the files are as background jobs leave them.
  void WaitForJobs();
  /// Bytes of every file in the folder.
  std::uint64_t BytesOnDisk() const;

 private:
  OpenOptions options_;
  std::string path_;
  std::unique_ptr<Database> database_;
};

}  // namespace tsdb::bench
