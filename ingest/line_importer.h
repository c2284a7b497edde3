// LineImporter: cuts what is fed into records (mostly lines) without copying those that lie whole in one piece, and
// hands them to the parser of a format. The result does not depend on where the pieces are cut.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/sample_writer.h"
#include "tsdb/ingest.h"

namespace tsdb::ingest {

class LineImporter : public Importer {
 public:
  Status Feed(std::string_view bytes) final;
  Status Flush() final;
  Status Finish() final;
  const ImportSummary& summary() const final { return writer_.summary(); }

 protected:
  /// A record longer than this is refused; what is kept between two calls of Feed stays below it.
  static constexpr std::size_t kLineBytesMax = 16u << 20;

  LineImporter(const ImportOptions& options, BatchSink sink, std::size_t line_bytes_max = kLineBytesMax);

  /// Takes the first record of `text`, which starts at a record border, and returns how many bytes it took: whole lines
  /// with their ends, at least one when `at_end`. 0 asks for more text. Called only when `text` holds a newline or
  /// `at_end` is set. line() is the number of the first line.
  virtual std::size_t TakeRecord(std::string_view text, bool at_end) = 0;
  /// Labels of the series that prefix and field name; see LabelBuilder.
  virtual Result<Labels> BuildLabels(std::string_view prefix, std::string_view field) = 0;
  /// After the last record.
  virtual void AtEnd() {}

  SampleWriter& writer() { return writer_; }
  const ImportOptions& options() const { return options_; }
  /// Number of the line at the start of the text, from 1.
  std::uint64_t line() const { return line_; }

 private:
  std::size_t SkipByteOrderMark(std::string_view bytes);
  /// Takes records off `text` until none is whole; returns what is left.
  std::string_view TakeRecords(std::string_view text, bool at_end);
  std::string_view RefuseLongLine(std::string_view text);

  ImportOptions options_;
  SampleWriter writer_;
  std::size_t line_bytes_max_;
  std::string carry_;              // start of a record that is not whole yet
  std::size_t retry_bytes_ = 0;    // of carry_ before its record is tried again
  std::size_t mark_bytes_ = 0;     // of the byte order mark, seen so far
  bool mark_done_ = false;
  bool skipping_ = false;          // the rest of a line that is too long
  bool finished_ = false;
  std::uint64_t line_ = 1;
};

/// `labels` with the extra ones added where the name is not taken.
Result<Labels> WithExtraLabels(std::vector<Label> labels, const std::vector<Label>& extra);

}  // namespace tsdb::ingest
