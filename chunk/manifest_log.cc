#include "chunk/manifest_log.h"

#include <fmt/format.h>

#include <charconv>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/safeguard.h"
#include "chunk/manifest.h"
#include "chunk/place_seed.h"

namespace tsdb::chunk {

namespace {

constexpr std::string_view kCurrentPrefix = "manifest/";

/// True when a whole valid frame stands at `offset`.
bool FrameAt(std::string_view file, std::uint64_t number, std::size_t offset, ManifestFrame* frame) {
  if (file.size() - offset < kFrameHeaderBytes) {
    return false;
  }
  const auto checksum = LoadFixed<std::uint32_t>(file.data() + offset);
  const auto length = LoadFixed<std::uint32_t>(file.data() + offset + 4);
  if (length > file.size() - offset - kFrameHeaderBytes) {
    return false;
  }
  if (TSDB_MISMATCH("manifest/frame", Checksum32(file.substr(offset + 4, length + std::size_t{4}),
                                                PlaceSeed(number, offset)) != checksum)) {
    return false;
  }
  frame->offset = offset;
  frame->record = file.substr(offset + kFrameHeaderBytes, length);
  return true;
}

/// Offset of the first valid frame behind `offset`; the end of the file when there is none. A checksum knows its place,
/// so that leftovers of another frame do not pass.
std::size_t NextFrame(std::string_view file, std::uint64_t number, std::size_t offset) {
  ManifestFrame frame;
  for (++offset; offset < file.size(); ++offset) {
    if (FrameAt(file, number, offset, &frame)) {
      return offset;
    }
  }
  return file.size();
}

}  // namespace

std::string EncodeManifestHeader(std::uint64_t number) {
  std::string out(kManifestMagic);
  PutFixed32(&out, kManifestVersion);
  PutFixed32(&out, 0);
  PutFixed64(&out, number);
  PutFixed32(&out, 0);
  PutFixed32(&out, Checksum32(out, PlaceSeed(number, 0)));
  return out;
}

Result<std::uint64_t> DecodeManifestHeader(std::string_view file) {
  ByteReader reader(file.substr(0, kManifestHeaderBytes));
  std::string_view magic;
  std::uint32_t version = 0;
  std::uint32_t reserved[2] = {};
  std::uint64_t number = 0;
  std::uint32_t checksum = 0;
  reader.ReadBytes(kManifestMagic.size(), &magic);
  reader.ReadFixed(&version);
  reader.ReadFixed(&reserved[0]);
  reader.ReadFixed(&number);
  reader.ReadFixed(&reserved[1]);
  if (!reader.ReadFixed(&checksum)) {
    return Status::Corruption("@0: the file is too short for a header");
  }
  if (magic != kManifestMagic) {
    return Status::Corruption("@0: not a manifest (wrong magic)");
  }
  if (TSDB_MISMATCH("manifest/header",
                    checksum != Checksum32(file.substr(0, kManifestHeaderBytes - 4), PlaceSeed(number, 0)))) {
    return Status::Corruption("@0: header checksum mismatch");
  }
  if (version != kManifestVersion) {
    return Status::NotSupported(fmt::format("@8: format version {}; this program reads version {}: use a newer one",
                                            version, kManifestVersion));
  }
  if (reserved[0] != 0 || reserved[1] != 0) {
    return Status::Corruption("@0: reserved bytes of the header are not zero");
  }
  return number;
}

void AppendFrame(std::string_view record, std::uint64_t number, std::uint64_t offset, std::string* out) {
  std::string frame;
  PutFixed32(&frame, static_cast<std::uint32_t>(record.size()));
  frame.append(record);
  PutFixed32(out, Checksum32(frame, PlaceSeed(number, offset)));
  out->append(frame);
}

Result<ManifestScan> ScanManifest(std::string_view file, std::uint64_t number,
                                  const std::function<Status(const ManifestFrame&)>& visit) {
  ManifestScan scan;
  std::size_t offset = kManifestHeaderBytes;
  while (offset < file.size()) {
    ManifestFrame frame;
    if (!FrameAt(file, number, offset, &frame)) {
      const std::size_t next = NextFrame(file, number, offset);
      if (next == offset + kFrameHeaderBytes && !scan.sealed && offset > kManifestHeaderBytes) {
        scan.lost_seal = offset;  // only a seal is that short, and it stands behind an edit
        scan.sealed = true;
        offset = next;
        continue;
      }
      if (next < file.size()) {
        return Status::Corruption(
            fmt::format("@{}: damaged edit (a valid one follows at {}): restore a backup", offset, next));
      }
      scan.torn = fmt::format("@{}: {} bytes of an edit that was not finished", offset, file.size() - offset);
      scan.sealed = false;
      break;
    }
    scan.sealed = frame.record.empty();
    TSDB_RETURN_IF_ERROR(visit(frame));
    offset += kFrameHeaderBytes + frame.record.size();
  }
  scan.valid_bytes = offset;
  return scan;
}

std::string EncodeCurrent(std::uint64_t number) {
  const std::string name = fmt::format("{}{:06}", kCurrentPrefix, number);
  return fmt::format("{} {:08x}\n", name, Checksum32(name, number));
}

Result<std::uint64_t> DecodeCurrent(std::string_view content) {
  std::uint64_t number = 0;
  if (content.starts_with(kCurrentPrefix)) {
    const char* begin = content.data() + kCurrentPrefix.size();
    const auto parsed = std::from_chars(begin, content.data() + content.size(), number);
    if (parsed.ec == std::errc() && !TSDB_MISMATCH("current/line", content != EncodeCurrent(number))) {
      return number;
    }
  }
  return Status::Corruption("@0: does not name a manifest (damaged)");
}

}  // namespace tsdb::chunk
