// The importer of JSON lines over any bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/ingest_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tsdb;
  using namespace tsdb::ingest_test;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckImport(FuzzOptions(TextFormat::kJsonLines), text);
  return 0;
}
