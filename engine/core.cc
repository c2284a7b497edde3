#include "engine/core.h"

namespace tsdb::engine {

Environment SystemEnvironment() {
  Environment environment;
  environment.fs = &PosixFileSystem();
  environment.clock = &SystemClock();
  environment.open_index = &index::OpenRocksIndex;
  return environment;
}

std::int64_t Core::HeadBytes() const {
  const VersionPtr version = versions.Pin();
  std::int64_t bytes = version->mutable_generation->memory_bytes();
  for (const auto& generation : version->sealed) {
    bytes += generation->memory_bytes();
  }
  return bytes;
}

bool Core::FlushIsDue() const {
  const VersionPtr version = versions.Pin();
  if (!version->sealed.empty() || wal_bytes_since_cut.load(std::memory_order_relaxed) >= options.wal_bytes_max ||
      version->mutable_generation->memory_bytes() >= static_cast<std::int64_t>(options.head_bytes_max)) {
    return true;
  }
  const std::int64_t age_nanos = clock->MonotonicNanos() - last_cut_nanos.load(std::memory_order_relaxed);
  const bool old = age_nanos / 1'000'000 >= static_cast<std::int64_t>(options.flush_interval_ms);
  return old &&
         (version->mutable_generation->samples() != 0 || wal_bytes_since_cut.load(std::memory_order_relaxed) != 0);
}

}  // namespace tsdb::engine
