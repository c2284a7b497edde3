// The importer of line protocol over any bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/ingest_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tsdb;
  using namespace tsdb::ingest_test;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckImport(FuzzOptions(TextFormat::kInflux), text);
  return 0;
}
