// analyze: where the bytes of the chunk files go: by series, or by the values of a label.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "cli/command.h"
#include "cli/open_database.h"
#include "cli/series_options.h"
#include "cli/text/arguments.h"
#include "cli/text/escape.h"
#include "cli/text/numbers.h"
#include "cli/text/row_writer.h"
#include "cli/text/table.h"

namespace tsdb::cli {
namespace {

struct AnalyzeOptions {
  SeriesArguments series;
  std::string by;
  std::uint64_t limit = 20;
  std::string output;
};

/// A line of the answer: one series, or all that share a value.
struct UsageRow {
  std::string name;
  std::uint64_t series = 0;
  std::uint64_t samples = 0;
  std::uint64_t chunks = 0;
  std::uint64_t time_bytes = 0;
  std::uint64_t value_bytes = 0;
  std::uint64_t directory_bytes = 0;
  std::map<std::string, std::uint64_t> encodings;  // samples by encoding
  std::uint64_t bytes() const { return time_bytes + value_bytes + directory_bytes; }
};

void Add(const SeriesUsage& usage, UsageRow* row) {
  ++row->series;
  row->samples += usage.samples;
  row->chunks += usage.chunks;
  row->time_bytes += usage.time_bytes;
  row->value_bytes += usage.value_bytes;
  row->directory_bytes += usage.directory_bytes;
  for (const EncodingUsage& encoding : usage.encodings) {
    row->encodings[encoding.name] += encoding.samples;
  }
}

std::string GroupOf(const SeriesInfo& series, const std::string& label) {
  return label.empty() ? series.key : std::string(series.labels.Get(label));
}

/// Most bytes first; `total` gets the sum of all.
std::vector<UsageRow> Group(const std::vector<SeriesUsage>& usage, const std::string& label, UsageRow* total) {
  std::map<std::string, UsageRow> groups;
  for (const SeriesUsage& series : usage) {
    UsageRow& row = groups[GroupOf(series.series, label)];
    Add(series, &row);
    Add(series, total);
  }
  std::vector<UsageRow> rows;
  for (auto& [name, row] : groups) {
    row.name = name;
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::greater(), &UsageRow::bytes);
  return rows;
}

double BytesPerSample(const UsageRow& row) {
  return row.samples == 0 ? 0 : static_cast<double>(row.bytes()) / static_cast<double>(row.samples);
}

/// "decimal 98 %, bits 2 %": by samples, most first.
std::string EncodingText(const UsageRow& row) {
  std::vector<std::pair<std::uint64_t, std::string>> encodings;
  for (const auto& [name, samples] : row.encodings) {
    encodings.emplace_back(samples, name);
  }
  std::ranges::sort(encodings, std::greater());
  std::string text;
  for (const auto& [samples, name] : encodings) {
    const double share = static_cast<double>(samples) / static_cast<double>(std::max<std::uint64_t>(1, row.samples));
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name, 100 * share);
  }
  return text;
}

void WriteTable(const std::vector<UsageRow>& rows, const UsageRow& total, const AnalyzeOptions& options, bool color,
                std::string* out) {
  Table table({options.by.empty() ? "series" : Printable(options.by), "series", "samples", "bytes", "share", "B/sample",
               "chunks", "values"},
              {false, true, true, true, true, true, true, false});
  const auto add = [&](const UsageRow& row) {
    const double share = total.bytes() == 0 ? 0 : 100 * static_cast<double>(row.bytes()) /
                                                      static_cast<double>(total.bytes());
    table.AddRow({Printable(row.name), FormatCount(row.series), FormatCount(row.samples), FormatBytes(row.bytes()),
                  fmt::format("{:.1f} %", share), fmt::format("{:.3f}", BytesPerSample(row)), FormatCount(row.chunks),
                  EncodingText(row)});
  };
  const std::size_t shown = options.limit == 0 ? rows.size() : std::min<std::size_t>(rows.size(), options.limit);
  std::for_each(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown), add);
  UsageRow sum = total;
  sum.name = shown == rows.size() ? "all" : fmt::format("all {}", FormatCount(rows.size()));
  add(sum);
  table.AppendTo(out, color);
}

void AppendJsonRow(const UsageRow& row, std::string* out) {
  *out += "{\"name\":";
  AppendJsonString(row.name, out);
  *out += fmt::format(",\"series\":{},\"samples\":{},\"chunks\":{},\"bytes\":{},\"time_bytes\":{},\"value_bytes\":{},"
                      "\"directory_bytes\":{},\"bytes_per_sample\":",
                      row.series, row.samples, row.chunks, row.bytes(), row.time_bytes, row.value_bytes,
                      row.directory_bytes);
  AppendJsonNumber(BytesPerSample(row), out);
  *out += ",\"samples_by_encoding\":{";
  bool first = true;
  for (const auto& [name, samples] : row.encodings) {
    *out += first ? "" : ",";
    AppendJsonString(name, out);
    *out += fmt::format(":{}", samples);
    first = false;
  }
  *out += "}}";
}

void WriteJson(const std::vector<UsageRow>& rows, const UsageRow& total, std::uint64_t limit, Output* output) {
  std::string* out = output->buffer();
  *out += "{\"total\":";
  AppendJsonRow(total, out);
  *out += ",\"rows\":[";
  for (std::size_t i = 0; i < rows.size() && (limit == 0 || i < limit); ++i) {
    *out += i == 0 ? "\n" : ",\n";
    AppendJsonRow(rows[i], out);
    if (!output->Drain()) {
      return;
    }
  }
  *out += "\n]}\n";
}

Outcome RunAnalyze(const AnalyzeOptions& options, Program& program) {
  const Result<Selector> selector = ParseSeries(options.series, true);
  if (!selector.ok()) {
    return Outcome::Usage(std::string(selector.status().message()));
  }
  Result<std::unique_ptr<Database>> db = OpenForReading(program, Reads::kAll);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  const Result<std::vector<SeriesUsage>> usage = (*db)->MeasureUsage(*selector);
  if (!usage.ok()) {
    return Outcome::Failed(usage.status());
  }
  UsageRow total;
  total.name = "all";
  const std::vector<UsageRow> rows = Group(*usage, options.by, &total);
  if (options.output == "json") {
    WriteJson(rows, total, options.limit, &program.out);
  } else {
    WriteTable(rows, total, options, program.color, program.out.buffer());
  }
  const std::uint64_t waiting = (*db)->GetStats().samples_in_head;
  if (waiting != 0) {
    program.messages.Note(fmt::format("{} samples are not yet in files and not counted: see 'tsdb-cli flush'",
                                      FormatCount(waiting)));
  }
  return Outcome::Done();
}

}  // namespace

void AddAnalyze(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "analyze", "Show which series, metrics or label values cost the bytes",
                               {"tsdb-cli analyze", "tsdb-cli analyze --by __name__ --limit 0",
                                "tsdb-cli analyze --by host 'cpu_usage{region=\"eu\"}' --output json"});
  auto options = std::make_shared<AnalyzeOptions>();
  AddSeriesOptions(command, &options->series);
  command->add_option("--by", options->by, "Sum up by the values of this label; __name__ is the metric")
      ->type_name("LABEL");
  command->add_option("--limit,-n", options->limit, "At most so many rows; 0 for all")
      ->type_name("N")
      ->check(WholeNumber(0))
      ->default_str("20");
  AddOutputOption(command, &options->output, {"table", "json"});
  set->SetRun(command, [options](Program& program) { return RunAnalyze(*options, program); });
}

}  // namespace tsdb::cli
