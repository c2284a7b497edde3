// The importer of CSV over any bytes: with the header of our own export, with named columns, and without a header.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/ingest_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tsdb;
  using namespace tsdb::ingest_test;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckImport(FuzzOptions(TextFormat::kCsv), text);
  ImportOptions named = FuzzOptions(TextFormat::kCsv);
  named.csv.time_column = "time";
  named.csv.value_columns = {"value", "other"};
  named.csv.label_columns = {"name"};
  CheckImport(named, text);
  ImportOptions numbered = FuzzOptions(TextFormat::kCsv);
  numbered.metric = "m";
  numbered.csv.no_header = true;
  numbered.csv.time_column = "1";
  numbered.csv.value_columns = {"3"};
  numbered.csv.label_columns = {"2"};
  CheckImport(numbered, text);
  return 0;
}
