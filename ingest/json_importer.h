// Importer of JSON lines: one object a line, many samples of one series or a single one.
//   {"metric":{"__name__":"m","k":"v"},"timestamps":[1,2],"values":[1.5,"NaN"]}
//   {"labels":{"__name__":"m","k":"v"},"t":1,"v":1.5}
//   {"labels":{...},"samples":[[1,1.5],[2,2.5]]}
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "ingest/line_importer.h"

namespace tsdb::ingest {

class JsonImporter final : public LineImporter {
 public:
  JsonImporter(const ImportOptions& options, BatchSink sink);

 protected:
  std::size_t TakeRecord(std::string_view text, bool at_end) override;
  Result<Labels> BuildLabels(std::string_view prefix, std::string_view field) override;

 private:
  using Value = simdjson::ondemand::value;

  /// Members seen on a line.
  enum Member : unsigned { kLabels = 1, kTimes = 2, kValues = 4, kTime = 8, kValue = 16, kSamples = 32 };

  /// Null, or why the line is refused; fail_text_ is what was wrong.
  const char* TakeLine(std::string_view text);
  const char* TakeObject(std::string_view text);
  const char* TakeMember(Member member, Value value);
  const char* TakeTimes(Value value);
  const char* TakeValues(Value value);
  const char* TakeSamples(Value value);
  const char* AddTime(Value value);
  const char* AddValue(Value value);
  const char* Fail(const char* reason, std::string_view text) {
    fail_text_ = text;
    return reason;
  }

  TimeUnit unit_;
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::parser label_parser_;
  std::string padded_;  // the line, with room for simdjson to read behind it
  std::string label_padded_;
  std::string_view labels_json_;
  std::vector<Timestamp> times_;
  std::vector<double> values_;
  std::uint64_t rounded_ = 0;
  unsigned members_ = 0;
  std::string_view fail_text_;
};

}  // namespace tsdb::ingest
