// DetectingImporter: finds out the format of a text from its first lines, then hands all of it to that format's
// importer. The rules stand in docs/formats.md. It never guesses between formats that would give other samples: then it
// ends with an error that says which format to name.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "tsdb/ingest.h"

namespace tsdb::ingest {

/// The format of the text that starts with `head` (without a byte order mark); kAuto when more text is needed to tell.
/// `complete`: there is no more text. kInvalidArgument: it cannot be told.
Result<TextFormat> DetectFormat(std::string_view head, bool complete, const ImportOptions& options);

class DetectingImporter final : public Importer {
 public:
  DetectingImporter(const ImportOptions& options, BatchSink sink);
  Status Feed(std::string_view bytes) override;
  Status Flush() override;
  Status Finish() override;
  const ImportSummary& summary() const override;

 private:
  Status Detect(bool complete);

  ImportOptions options_;
  BatchSink sink_;
  std::string head_;
  std::size_t next_try_bytes_ = 0;
  std::unique_ptr<Importer> importer_;  // once the format is known
  ImportSummary empty_;
  Status status_;
};

}  // namespace tsdb::ingest
