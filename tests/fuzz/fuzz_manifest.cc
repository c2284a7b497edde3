// The manifest over any bytes: as a file, as a file with its checksums put right, as one record, and as CURRENT. A
// record that decodes encodes to bytes that decode to the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/memory_file_system.h"
#include "chunk/file_dump.h"
#include "chunk/manifest.h"
#include "chunk/manifest_codec.h"
#include "chunk/manifest_log.h"
#include "chunk/place_seed.h"

namespace {

using namespace tsdb;
using namespace tsdb::chunk;

void Require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void CheckFile(const std::string& file) {
  MemoryFileSystem fs;
  const std::uint64_t number = file.size() < 24 ? 1 : LoadFixed<std::uint64_t>(file.data() + 16);
  const std::string path = "db/" + ManifestFileName(number);
  fs.WriteWhole(path, file);
  fs.WriteWhole("db/CURRENT", EncodeCurrent(number));
  static_cast<void>(DumpManifestTo(fs, path, [](std::string_view) {}));
  const auto loaded = Manifest::Load(fs, "db");
  auto opened = Manifest::Open(fs, "db", nullptr);
  Require(loaded.ok() == opened.ok() || number >= UINT64_MAX - 1);
  if (!loaded.ok() || !opened.ok()) {
    return;
  }
  Require(EncodeState(*loaded) == EncodeState((*opened)->state()));
  ManifestEdit edit;
  edit.last_segment = 3;
  Require((*opened)->Append(edit).ok());
  const auto again = Manifest::Load(fs, "db");
  Require(again.ok() && EncodeState(*again) == EncodeState((*opened)->state()));
}

/// Puts right the checksums of header and frames, frame lengths taken as they are.
std::string Reseal(std::string file) {
  if (file.size() < kManifestHeaderBytes) {
    return file;
  }
  const auto number = LoadFixed<std::uint64_t>(file.data() + 16);
  const std::string_view bytes(file);
  StoreFixed(file.data() + kManifestHeaderBytes - 4,
             Checksum32(bytes.substr(0, kManifestHeaderBytes - 4), PlaceSeed(number, 0)));
  std::size_t offset = kManifestHeaderBytes;
  while (file.size() - offset >= kFrameHeaderBytes) {
    const auto length = LoadFixed<std::uint32_t>(file.data() + offset + 4);
    if (length > file.size() - offset - kFrameHeaderBytes) {
      break;
    }
    StoreFixed(file.data() + offset,
               Checksum32(bytes.substr(offset + 4, length + std::size_t{4}), PlaceSeed(number, offset)));
    offset += kFrameHeaderBytes + length;
  }
  return file;
}

void CheckRecord(std::string_view data) {
  ManifestRecord record;
  if (!DecodeRecord(data, &record).ok()) {
    return;
  }
  const std::string encoded = EncodeEdit(record.edit);
  ManifestRecord again;
  Require(DecodeRecord(encoded, &again).ok() && EncodeEdit(again.edit) == encoded);
  ManifestState state;
  static_cast<void>(ApplyRecord(record, &state));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file(reinterpret_cast<const char*>(data), size);
  CheckFile(file);
  CheckFile(Reseal(file));
  CheckRecord(file);
  const auto number = DecodeCurrent(file);
  Require(!number.ok() || EncodeCurrent(*number) == file);
  return 0;
}
