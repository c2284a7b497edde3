// Text to batches and back: parsers for the formats people have, exporters for the formats people read.
//
// Importer: feed it bytes in any pieces; it gives WriteBatches to a sink and keeps count. Bad lines are reported as
// `source:line: reason` and do not stop the good ones. Numbers are read and written independently of the locale.
//
// Thread safety: none; one thread per object. Distinct objects are independent.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tsdb/query.h"
#include "tsdb/result.h"
#include "tsdb/write_batch.h"

namespace tsdb {

enum class TextFormat : std::uint8_t { kAuto, kInflux, kPrometheus, kOpenMetrics, kCsv, kJsonLines };
std::string_view TextFormatName(TextFormat format);
Result<TextFormat> ParseTextFormat(std::string_view text);

/// How CSV columns become samples.
struct CsvOptions {
  std::string time_column;                  // name, or 1-based number with no_header
  std::vector<std::string> value_columns;   // several: one metric each
  std::vector<std::string> label_columns;
  bool no_header = false;
};

struct ImportOptions {
  TextFormat format = TextFormat::kAuto;
  /// Unit of times in the text; ignored by formats that fix it (Prometheus text: ms, OpenMetrics: seconds).
  TimeUnit unit = TimeUnit::kNanoseconds;
  /// False: the format's own default (Influx: ns, CSV and JSON lines: the database's unit).
  bool has_unit = false;
  TimeUnit database_unit = TimeUnit::kMilliseconds;
  /// Added to every series.
  std::vector<Label> extra_labels;
  /// Metric name for CSV and JSON lines without one.
  std::string metric;
  CsvOptions csv;
  /// Samples per batch.
  std::size_t batch_samples = 10'000;
  /// Stop at the first bad line or refused sample instead of skipping it.
  bool stop_on_error = false;
  /// Time of samples without one, in the database's unit; the importer asks once per line.
  std::function<Timestamp()> now;
  /// Shown in messages: file name or "-".
  std::string source = "-";
};

struct ImportSummary {
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
  // After Finish: read = stored + replaced + ignored + rejected.
  std::uint64_t read = 0;      // samples found in the text; a line that cannot be read counts as one
  std::uint64_t stored = 0;    // samples that are new
  std::uint64_t replaced = 0;  // samples that took the place of an older one (0 when the sink does not count them)
  std::uint64_t ignored = 0;   // accepted without effect: by policy, exemplars, created lines
  std::uint64_t rejected = 0;  // bad lines and refused samples
  std::uint64_t rounded = 0;   // integers beyond 2^53
  std::uint64_t new_series = 0;
  /// The first 20, as `source:line: reason`.
  std::vector<std::string> errors;
};

/// Where batches go; in a program: `[&](const WriteBatch& b) { return db->Append(b, write_options); }`.
using BatchSink = std::function<Result<AppendResult>(const WriteBatch& batch)>;

class Importer {
 public:
  /// kInvalidArgument: options that do not go together (CSV without columns …).
  static Result<std::unique_ptr<Importer>> Create(const ImportOptions& options, BatchSink sink);
  virtual ~Importer() = default;
  /// Takes the next bytes. An error ends the import: the sink failed, or stop_on_error met a bad line.
  virtual Status Feed(std::string_view bytes) = 0;
  /// Sends the samples gathered so far without waiting for a full batch; for live streams.
  virtual Status Flush() = 0;
  /// Takes the last line (which needs no newline) and sends the last batch.
  virtual Status Finish() = 0;
  virtual const ImportSummary& summary() const = 0;
};

/// Reads a file ("-": standard input) piece by piece, unpacking gzip and zstd by their first bytes.
class InputStream {
 public:
  static Result<std::unique_ptr<InputStream>> Open(const std::string& path);
  virtual ~InputStream() = default;
  /// Next bytes; empty at the end. kCorruption: a damaged or cut-off compressed file.
  virtual Result<std::string_view> Next() = 0;
  /// Bytes of the file consumed so far and in all (0 when unknown), for a progress bar.
  virtual std::uint64_t consumed() const = 0;
  virtual std::uint64_t total() const = 0;
};

/// What an Exporter wrote, and what the format could not carry.
struct ExportSummary {
  std::uint64_t series = 0;
  std::uint64_t samples = 0;
  std::uint64_t skipped_series = 0;
  std::uint64_t skipped_samples = 0;  // of series that were begun
  /// The first 20, as `series: reason`.
  std::vector<std::string> errors;
};

/// Writes samples as text that Importer reads back bit for bit.
class Exporter {
 public:
  /// Formats: influx, openmetrics, csv, json lines. `unit` is the database's.
  static Result<std::unique_ptr<Exporter>> Create(TextFormat format, TimeUnit unit);
  virtual ~Exporter() = default;
  /// Text before the first series.
  virtual void Begin(std::string* out) = 0;
  /// Begins a series. kInvalidArgument: the format cannot carry its labels (the message says which and why); its
  /// samples are then to be skipped.
  virtual Status BeginSeries(const SeriesInfo& series, std::string* out) = 0;
  virtual void Samples(std::span<const Timestamp> times, std::span<const double> values, std::string* out) = 0;
  virtual void EndSeries(std::string* out) = 0;
  virtual void End(std::string* out) = 0;
  virtual const ExportSummary& summary() const = 0;
};

/// Shortest decimal text that reads back to the same double; NaN, +Inf, -Inf for the others. Independent of the locale.
void AppendDouble(double value, std::string* out);

}  // namespace tsdb
