#include "cli/commands/ingest_run.h"

#include <unistd.h>

#include "cli/interrupt.h"

namespace tsdb::cli {
namespace {

/// On a live pipe, samples wait at most this long for a batch to fill.
constexpr int kIdleFlushMs = 1000;

}  // namespace

IngestRun::IngestRun(Database* db, ImportOptions import, WriteOptions write, Program* program)
    : db_(*db), import_(std::move(import)), write_(write), program_(*program), progress_(program->messages) {}

double IngestRun::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

Result<AppendResult> IngestRun::Append(const WriteBatch& batch) {
  Result<AppendResult> result = db_.Append(batch, write_);
  if (!result.ok()) {
    append_status_ = result.status();
    return result;
  }
  for (const SeriesRef ref : result->refs) {
    if (ref.id.value != 0) {
      series_.Insert(ref.id);
    }
  }
  if (tell_acknowledgements_) {
    acknowledged_ += batch.size();
    program_.out.buffer()->append("acknowledged " + std::to_string(acknowledged_) + "\n");
    program_.out.Flush();
  }
  return result;
}

void IngestRun::ShowProgress(const InputStream& input, const Importer& importer, const std::string& path) {
  if (!progress_.enabled()) {
    return;
  }
  ProgressState state;
  state.name = path == "-" ? std::string_view("standard input") : std::string_view(path);
  state.bytes_done = input.consumed();
  state.bytes_total = input.total();
  state.samples = report_.sum.read + importer.summary().read;
  state.seconds = Seconds();
  state.input_seconds = state.seconds - input_start_;
  progress_.Update(state);
}

void IngestRun::ShowErrors(const ImportSummary& summary) {
  std::size_t shown = report_.sum.errors.size();
  for (const std::string& error : summary.errors) {
    if (shown++ == ImportReport::kErrorsMax) {
      return;
    }
    program_.messages.Detail(error);
  }
}

Status IngestRun::FeedAll(InputStream& input, Importer& importer, const std::string& path, bool* complete) {
  // Opening has read the first bytes of the stream already: the first piece is taken without waiting for more.
  for (bool first = true; InterruptSignal() == 0; first = false) {
    if (path == "-" && !first) {
      Wait wait = WaitReadable(STDIN_FILENO, kIdleFlushMs);
      if (wait == Wait::kTimeout) {
        TSDB_RETURN_IF_ERROR(importer.Flush());
        wait = WaitReadable(STDIN_FILENO, -1);
      }
      if (wait == Wait::kInterrupted) {
        break;
      }
    }
    TSDB_ASSIGN_OR_RETURN(const std::string_view piece, input.Next());
    if (piece.empty()) {
      *complete = true;
      break;
    }
    TSDB_RETURN_IF_ERROR(importer.Feed(piece));
    ShowProgress(input, importer, path);
  }
  return Status::Ok();
}

Status IngestRun::ReadInput(const std::string& path) {
  input_start_ = Seconds();
  if (path == "-" && WaitReadable(STDIN_FILENO, -1) == Wait::kInterrupted) {
    return Status::Ok();
  }
  TSDB_ASSIGN_OR_RETURN(const std::unique_ptr<InputStream> input, InputStream::Open(path));
  import_.source = path;
  TSDB_ASSIGN_OR_RETURN(const std::unique_ptr<Importer> importer,
                        Importer::Create(import_, [this](const WriteBatch& batch) { return Append(batch); }));
  bool complete = false;
  Status status = FeedAll(*input, *importer, path, &complete);
  // A last line without a newline is a line only at the end of the input: where reading broke off it may be half of
  // one.
  const Status finished = complete && status.ok() ? importer->Finish() : importer->Flush();
  if (status.ok()) {
    status = finished;
  }
  progress_.Clear();
  ShowErrors(importer->summary());
  report_.Add(importer->summary());
  report_.series = series_.size();
  report_.seconds = Seconds();
  if (!append_status_.ok()) {
    return append_status_.WithContext(path + ": storing what was read");
  }
  if (!status.ok() && import_.stop_on_error && importer->summary().rejected != 0) {
    stopped_ = true;
    return Status::Ok();
  }
  return status;
}

Status IngestRun::Complete() {
  const Status flushed = db_.Flush();
  report_.bytes_on_disk = db_.GetStats().bytes_on_disk;
  report_.seconds = Seconds();
  return flushed;
}

}  // namespace tsdb::cli
