#include "cli/commands/explain.h"

#include <fmt/format.h>

#include "cli/text/numbers.h"

namespace tsdb::cli {

void Explain(const QueryStatistics& statistics, const Messages& messages) {
  const QueryStatistics& s = statistics;
  const auto line = [&messages](const char* what, const std::string& text) {
    messages.Detail(fmt::format("{:<9}{}", what, text));
  };
  line("series", fmt::format("{} looked at, {} rows", FormatCount(s.series), FormatCount(s.rows)));
  line("files", fmt::format("{} look-ups of a series in a file", FormatCount(s.files)));
  line("chunks", fmt::format("{} overlap: {} answered by their statistics, {} passed over by the value filter, {} "
                             "decoded in part or whole",
                             FormatCount(s.chunks), FormatCount(s.chunks_answered), FormatCount(s.chunks_passed_over),
                             FormatCount(s.chunks - s.chunks_answered - s.chunks_passed_over)));
  line("pages", fmt::format("of these chunks {} answered, {} passed over", FormatCount(s.pages_answered),
                            FormatCount(s.pages_passed_over)));
  line("samples", fmt::format("{} answered undecoded, {} decoded, {} in memory", FormatCount(s.samples_answered),
                              FormatCount(s.samples_decoded), FormatCount(s.samples_in_memory)));
  line("time", fmt::format("{}: select {}, find {}, read and aggregate {} on {} thread{}",
                           FormatSeconds(s.total_seconds), FormatSeconds(s.select_seconds),
                           FormatSeconds(s.find_seconds), FormatSeconds(s.aggregate_seconds), s.threads,
                           s.threads == 1 ? "" : "s"));
}

}  // namespace tsdb::cli
