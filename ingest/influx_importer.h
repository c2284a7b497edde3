// Importer of InfluxDB line protocol: `measurement,tag=v field=1,other=2i 1700000000000000000`.
//
// See docs/formats.md for what is read and what is refused.
//
// Thread safety: none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/line_importer.h"
#include "ingest/time_scale.h"

namespace tsdb::ingest {

class InfluxImporter final : public LineImporter {
 public:
  InfluxImporter(const ImportOptions& options, BatchSink sink);

 protected:
  std::size_t TakeRecord(std::string_view text, bool at_end) override;
  Result<Labels> BuildLabels(std::string_view prefix, std::string_view field) override;

 private:
  enum class Outcome {
    kTaken,       // stored, or nothing to store
    kFailed,      // fail_reason_ and fail_text_ say why; nothing was stored
    kOpenString,  // a string is open at the end: the line may go on behind the newline
  };

  /// A line without its end.
  Outcome TakeLine(std::string_view line);
  Outcome TakeFields(const char** position, const char* end, std::uint32_t prefix);
  /// The value of a field, which ends at `,`, blank or the end.
  Outcome TakeValue(const char** position, const char* end, std::uint32_t slot, std::string_view key);
  Outcome TakeToken(const char** position, const char* end, std::uint32_t slot);
  Outcome TakeString(const char** position, const char* end, std::string_view key);
  Outcome TakeTime(std::string_view text, Timestamp* time);
  Outcome Fail(std::string_view reason, std::string_view text = {});
  /// A record whose first line leaves a string open.
  std::size_t TakeOpenString(std::string_view text, bool at_end);

  TimeScale scale_;
  std::vector<SlotValue> row_;
  std::vector<std::string_view> string_keys_;  // of this line
  std::uint64_t rounded_ = 0;                  // of this line

  std::string_view fail_reason_;
  std::string_view fail_text_;
  const char* open_string_ = nullptr;  // behind the opening quote
};

}  // namespace tsdb::ingest
