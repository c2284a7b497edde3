// Fuzz target of the log's decoders. The first byte chooses what the rest is taken for:
//   even            a segment file, as it is
//   odd             the payload of a group of a segment that verifies otherwise, and a record
// Any outcome but a crash, an over-read or unbounded memory is fine; what replay gives must be the same twice.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/coding.h"
#include "base/memory_file_system.h"
#include "wal/dump.h"
#include "wal/record.h"
#include "wal/replay.h"
#include "wal/segment.h"

namespace tsdb::wal {
namespace {

constexpr StoreId kStore{1, 2};

class Counter final : public ReplayVisitor {
 public:
  Status OnCommit(CommitNumber commit, std::int64_t) override {
    if (commit <= last_) {
      std::abort();  // out of order
    }
    last_ = commit;
    ++commits;
    return {};
  }
  Status OnPuts(std::span<const Put> run) override {
    puts += run.size();
    return {};
  }
  Status OnDefinition(const SeriesDefinition&) override {
    ++definitions;
    return {};
  }
  std::uint64_t commits = 0;
  std::uint64_t puts = 0;
  std::uint64_t definitions = 0;

 private:
  CommitNumber last_;
};

/// A segment whose header and frame verify around `payload`.
std::string SegmentAround(std::string_view payload) {
  SegmentHeader header;
  header.store_id = kStore;
  header.number = 1;
  std::string bytes(kSegmentHeaderBytes + kFrameHeaderBytes, '\0');
  EncodeSegmentHeader(header, bytes.data());
  bytes.append(payload);
  FrameHeader frame;
  frame.payload_bytes = static_cast<std::uint32_t>(payload.size());
  ByteReader records(payload);
  for (std::string_view record; !records.empty() && records.ReadLengthPrefixed(&record);) {
    ++frame.records;
  }
  frame.records += records.ok() ? 0 : 1;  // one more than can be read
  frame.first = {1};
  SealFrame(bytes.data() + kSegmentHeaderBytes, frame, FrameSeed(kStore, 1, kSegmentHeaderBytes));
  return bytes;
}

void ReplayTwice(std::string segment) {
  MemoryFileSystem fs;
  if (!fs.CreateDirectories("wal").ok()) {
    std::abort();
  }
  fs.WriteWhole("wal/000001.log", std::move(segment));
  Counter first;
  Counter second;
  const auto report = Replay(fs, "wal", {kStore, {}, {}}, first);
  const auto again = Replay(fs, "wal", {kStore, {}, {}}, second);
  if (report.ok() != again.ok() || first.commits != second.commits || first.puts != second.puts) {
    std::abort();
  }
  (void)DumpSegment(fs, "wal/000001.log", [](std::string_view) {});
}

}  // namespace
}  // namespace tsdb::wal

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tsdb::wal;
  if (size == 0) {
    return 0;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    ReplayTwice(std::string(bytes));
    return 0;
  }
  ReplayTwice(SegmentAround(bytes));
  Counter counter;
  (void)VisitRecord(bytes, {1}, counter);
  return 0;
}
