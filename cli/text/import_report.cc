#include "cli/text/import_report.h"

#include <fmt/format.h>

#include "cli/text/escape.h"
#include "cli/text/numbers.h"

namespace tsdb::cli {

void ImportReport::Add(const ImportSummary& summary) {
  sum.bytes += summary.bytes;
  sum.lines += summary.lines;
  sum.read += summary.read;
  sum.stored += summary.stored;
  sum.replaced += summary.replaced;
  sum.ignored += summary.ignored;
  sum.rejected += summary.rejected;
  sum.rounded += summary.rounded;
  sum.new_series += summary.new_series;
  for (const std::string& error : summary.errors) {
    if (sum.errors.size() == kErrorsMax) {
      break;
    }
    sum.errors.push_back(error);
  }
}

std::string ImportReport::ForPeople() const {
  std::string text = fmt::format("{} samples read: {} stored, {} replaced, {} rejected", FormatCount(sum.read),
                                 FormatCount(sum.stored), FormatCount(sum.replaced), FormatCount(sum.rejected));
  if (sum.ignored != 0) {
    text += fmt::format(", {} without effect", FormatCount(sum.ignored));
  }
  if (sum.rounded != 0) {
    text += fmt::format("; {} integers beyond 2^53 rounded", FormatCount(sum.rounded));
  }
  text += fmt::format("; {} series, {} new; {} ({}/s); {} on disk", FormatCount(series), FormatCount(sum.new_series),
                      FormatSeconds(seconds), FormatMagnitude(SamplesPerSecond()), FormatBytes(bytes_on_disk));
  return text;
}

void ImportReport::AppendJson(std::string* out) const {
  *out += fmt::format(
      "{{\"read\":{},\"stored\":{},\"replaced\":{},\"rejected\":{},\"rounded\":{},\"series\":{},\"new_series\":{}",
      sum.read, sum.stored, sum.replaced, sum.rejected, sum.rounded, series, sum.new_series);
  *out += ",\"seconds\":";
  AppendJsonNumber(seconds, out);
  *out += ",\"samples_per_second\":";
  AppendJsonNumber(SamplesPerSecond(), out);
  *out += fmt::format(",\"bytes_on_disk\":{},\"errors\":[", bytes_on_disk);
  for (std::size_t i = 0; i < sum.errors.size(); ++i) {
    *out += i == 0 ? "" : ",";
    AppendJsonString(sum.errors[i], out);
  }
  *out += "]}\n";
}

}  // namespace tsdb::cli
