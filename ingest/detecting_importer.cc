#include "ingest/detecting_importer.h"

#include <algorithm>
#include <utility>

#include "ingest/text_util.h"

namespace tsdb::ingest {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
/// More text than this is not looked at.
constexpr std::size_t kHeadBytesMax = 256 * 1024;
constexpr int kProbedLinesMax = 200;
constexpr std::string_view kChoices = "--format influx, prometheus, openmetrics, csv or jsonl";

struct Probe {
  bool reads = false;
  bool has_time = false;
};

/// Whether a line alone reads as `format`, and whether it has a time of its own.
Probe ProbeLine(TextFormat format, std::string_view line) {
  Probe probe;
  probe.has_time = true;
  ImportOptions options;
  options.format = format;
  options.now = [&probe] {
    probe.has_time = false;
    return Timestamp{0};
  };
  const BatchSink sink = [](const WriteBatch& batch) -> Result<AppendResult> {
    AppendResult result;
    result.stored = batch.size();
    return result;
  };
  Result<std::unique_ptr<Importer>> importer = Importer::Create(options, sink);
  std::string text(line);
  text += format == TextFormat::kOpenMetrics ? "\n# EOF\n" : "\n";
  probe.reads = importer.ok() && (*importer)->Feed(text).ok() && (*importer)->Finish().ok() &&
                (*importer)->summary().read > (*importer)->summary().rejected;
  return probe;
}

bool LooksLikeJson(std::string_view line) {
  std::string_view rest = TrimLeft(line.substr(1));
  if (rest.starts_with('}')) {
    return rest.size() == 1;  // `{} 1` is exposition text, if anything
  }
  if (!rest.starts_with('"')) {
    return false;
  }
  std::size_t i = 1;
  while (i < rest.size() && rest[i] != '"') {
    i += rest[i] == '\\' ? 2 : 1;
  }
  return i < rest.size() && TrimLeft(rest.substr(i + 1)).starts_with(':');
}

/// What the lines of a head say.
struct Evidence {
  bool exposition = false;    // Prometheus or OpenMetrics
  bool open_metrics = false;  // something only OpenMetrics has
  bool has_times = false;     // exposition lines with times, which the two read differently
  bool text_seen = false;     // a line that is neither blank nor comment
  std::string_view first_line;
};

class Detector {
 public:
  explicit Detector(const ImportOptions& options) : options_(options) {}

  /// Looks at one line; true when it settles the format.
  bool Look(std::string_view line) {
    if (line.starts_with('#')) {
      evidence_.open_metrics |= line == "# EOF" || line.starts_with("# UNIT ");
      evidence_.exposition |= evidence_.open_metrics || line.starts_with("# TYPE ") || line.starts_with("# HELP ");
      format_ = TextFormat::kOpenMetrics;
      return evidence_.open_metrics;
    }
    if (!evidence_.text_seen) {
      evidence_.text_seen = true;
      evidence_.first_line = line;
    }
    if (!evidence_.exposition && line.starts_with('{') && LooksLikeJson(line)) {
      format_ = TextFormat::kJsonLines;
      return true;
    }
    if (++probed_ > kProbedLinesMax) {
      return false;
    }
    if (!evidence_.exposition && ProbeLine(TextFormat::kInflux, line).reads) {
      format_ = TextFormat::kInflux;
      return true;
    }
    return LookForExposition(line);
  }

  TextFormat format() const { return format_; }
  const Evidence& evidence() const { return evidence_; }

  Status Undecided() const {
    const std::string where = options_.source + ": ";
    if (evidence_.exposition) {
      return Status::InvalidArgument(where + "cannot tell Prometheus text (times in milliseconds) from OpenMetrics "
                                             "(times in seconds): pass --format prometheus or --format openmetrics");
    }
    if (evidence_.first_line.find(',') != std::string_view::npos) {
      return Status::InvalidArgument(where + "looks like CSV: pass --format csv and name the time and value columns, "
                                             "first line " + QuoteForMessage(evidence_.first_line));
    }
    return Status::InvalidArgument(where + "cannot tell the format, pass " + std::string(kChoices) + ": first line " +
                                   QuoteForMessage(evidence_.first_line));
  }

 private:
  bool LookForExposition(std::string_view line) {
    const Probe prometheus = ProbeLine(TextFormat::kPrometheus, line);
    if (prometheus.reads) {
      evidence_.exposition = true;
      evidence_.has_times |= prometheus.has_time;
      return false;
    }
    if (ProbeLine(TextFormat::kOpenMetrics, line).reads) {
      evidence_.exposition = true;
      evidence_.open_metrics = true;
      format_ = TextFormat::kOpenMetrics;
      return true;
    }
    return false;
  }

  const ImportOptions& options_;
  Evidence evidence_;
  TextFormat format_ = TextFormat::kAuto;
  int probed_ = 0;
};

bool NamesCsvColumns(const CsvOptions& csv) {
  return !csv.time_column.empty() || !csv.value_columns.empty() || !csv.label_columns.empty();
}

}  // namespace

Result<TextFormat> DetectFormat(std::string_view head, bool complete, const ImportOptions& options) {
  if (NamesCsvColumns(options.csv)) {
    return TextFormat::kCsv;
  }
  const bool at_limit = head.size() >= kHeadBytesMax;
  head = head.substr(0, kHeadBytesMax);
  Detector detector(options);
  while (!head.empty()) {
    const std::size_t newline = head.find('\n');
    if (newline == std::string_view::npos && !complete) {
      break;
    }
    const std::string_view line = TrimRight(TrimLeft(head.substr(0, newline)));
    head.remove_prefix(newline == std::string_view::npos ? head.size() : newline + 1);
    if (line.empty()) {
      continue;
    }
    if (!detector.evidence().text_seen && line == "series,time,value") {
      return TextFormat::kCsv;
    }
    if (detector.Look(line)) {
      return detector.format();
    }
  }
  const Evidence& evidence = detector.evidence();
  if (!complete && !at_limit) {
    return TextFormat::kAuto;
  }
  if (evidence.exposition && (complete || !evidence.has_times)) {
    return TextFormat::kPrometheus;  // OpenMetrics would have had its end mark
  }
  if (complete && !evidence.text_seen) {
    return TextFormat::kInflux;  // nothing but blank lines and comments
  }
  return detector.Undecided();
}

DetectingImporter::DetectingImporter(const ImportOptions& options, BatchSink sink)
    : options_(options), sink_(std::move(sink)) {}

Status DetectingImporter::Detect(bool complete) {
  std::string_view text = head_;
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  TSDB_ASSIGN_OR_RETURN(const TextFormat format, DetectFormat(text, complete, options_));
  if (format == TextFormat::kAuto) {
    next_try_bytes_ = std::min(2 * head_.size(), kHeadBytesMax + kByteOrderMark.size());
    return {};
  }
  ImportOptions options = options_;
  options.format = format;
  TSDB_ASSIGN_OR_RETURN(importer_, Importer::Create(options, sink_));
  const Status fed = importer_->Feed(head_);
  head_ = {};
  return fed;
}

Status DetectingImporter::Feed(std::string_view bytes) {
  if (importer_ != nullptr) {
    return importer_->Feed(bytes);
  }
  if (!status_.ok()) {
    return status_;
  }
  empty_.bytes += bytes.size();
  head_.append(bytes);
  if (head_.size() >= next_try_bytes_) {
    status_ = Detect(false);
  }
  return status_;
}

Status DetectingImporter::Flush() { return importer_ != nullptr ? importer_->Flush() : status_; }

Status DetectingImporter::Finish() {
  if (importer_ == nullptr && status_.ok()) {
    status_ = Detect(true);
  }
  if (importer_ == nullptr || !status_.ok()) {
    return status_;
  }
  return importer_->Finish();
}

const ImportSummary& DetectingImporter::summary() const { return importer_ != nullptr ? importer_->summary() : empty_; }

}  // namespace tsdb::ingest
