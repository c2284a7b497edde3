// Names of the formats and the choice of a parser.
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "ingest/csv_importer.h"
#include "ingest/detecting_importer.h"
#include "ingest/exposition_importer.h"
#include "ingest/influx_importer.h"
#include "ingest/json_importer.h"
#include "ingest/text_util.h"
#include "tsdb/ingest.h"

namespace tsdb {
namespace {

struct NamedFormat {
  std::string_view name;
  TextFormat format;
};

constexpr std::array kFormats = {
    NamedFormat{"auto", TextFormat::kAuto},
    NamedFormat{"influx", TextFormat::kInflux},
    NamedFormat{"prometheus", TextFormat::kPrometheus},
    NamedFormat{"openmetrics", TextFormat::kOpenMetrics},
    NamedFormat{"csv", TextFormat::kCsv},
    NamedFormat{"jsonl", TextFormat::kJsonLines},
};

}  // namespace

std::string_view TextFormatName(TextFormat format) {
  for (const NamedFormat& named : kFormats) {
    if (named.format == format) {
      return named.name;
    }
  }
  return "unknown";
}

Result<TextFormat> ParseTextFormat(std::string_view text) {
  for (const NamedFormat& named : kFormats) {
    if (named.name == text) {
      return named.format;
    }
  }
  return Status::InvalidArgument("unknown format " + ingest::QuoteForMessage(text) +
                                 ": use auto, influx, prometheus, openmetrics, csv or jsonl");
}

Result<std::unique_ptr<Importer>> Importer::Create(const ImportOptions& options, BatchSink sink) {
  if (!sink) {
    return Status::InvalidArgument("import without a sink for its batches");
  }
  switch (options.format) {
    case TextFormat::kAuto:
      return std::unique_ptr<Importer>(std::make_unique<ingest::DetectingImporter>(options, std::move(sink)));
    case TextFormat::kInflux:
      return std::unique_ptr<Importer>(std::make_unique<ingest::InfluxImporter>(options, std::move(sink)));
    case TextFormat::kPrometheus:
    case TextFormat::kOpenMetrics:
      return std::unique_ptr<Importer>(std::make_unique<ingest::ExpositionImporter>(options, std::move(sink)));
    case TextFormat::kCsv:
      TSDB_RETURN_IF_ERROR(ingest::CsvImporter::Check(options));
      return std::unique_ptr<Importer>(std::make_unique<ingest::CsvImporter>(options, std::move(sink)));
    case TextFormat::kJsonLines:
      return std::unique_ptr<Importer>(std::make_unique<ingest::JsonImporter>(options, std::move(sink)));
  }
  return Status::InvalidArgument("unknown format number " + std::to_string(static_cast<int>(options.format)));
}

}  // namespace tsdb
