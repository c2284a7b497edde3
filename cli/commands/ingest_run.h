// IngestRun: one run of the ingest command: feeds inputs to importers, importers to the database, and keeps count.
//
// Thread safety: none.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "cli/program.h"
#include "cli/text/id_set.h"
#include "cli/text/import_report.h"
#include "cli/text/progress.h"
#include "tsdb/database.h"
#include "tsdb/ingest.h"

namespace tsdb::cli {

class IngestRun {
 public:
  /// `import` is the pattern for every input; its source is filled in.
  IngestRun(Database* db, ImportOptions import, WriteOptions write, Program* program);

  /// Reads one input to its end, or until a signal comes; then what was read in whole lines is stored. An error ends
  /// the run: the input or the database failed. A bad line does so only under stop_on_error; then stopped() is set and
  /// the result is OK.
  Status ReadInput(const std::string& path);

  /// Moves everything to files and takes the final figures.
  Status Complete();

  /// From now on each commit is told on standard output: "acknowledged N", N samples handled so far.
  void TellAcknowledgements() { tell_acknowledgements_ = true; }

  bool stopped() const { return stopped_; }
  const ImportReport& report() const { return report_; }

 private:
  Result<AppendResult> Append(const WriteBatch& batch);
  /// Feeds until the end of the input; sets *complete when it was reached.
  Status FeedAll(InputStream& input, Importer& importer, const std::string& path, bool* complete);
  void ShowProgress(const InputStream& input, const Importer& importer, const std::string& path);
  void ShowErrors(const ImportSummary& summary);
  double Seconds() const;

  Database& db_;
  ImportOptions import_;
  const WriteOptions write_;
  Program& program_;
  Progress progress_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double input_start_ = 0;   // seconds after start_
  Status append_status_;     // the failure that ended an import, as the database gave it
  IdSet series_;
  bool stopped_ = false;
  bool tell_acknowledgements_ = false;
  std::uint64_t acknowledged_ = 0;
  ImportReport report_;
};

}  // namespace tsdb::cli
