#include "compaction/job_control.h"

#include <chrono>
#include <thread>

namespace tsdb::compaction {

Status CheckIn(const JobControl& control, std::uint64_t bytes_written, std::int64_t start_nanos) {
  for (;;) {
    if (control.cancelled.load() || (control.keep_going && !control.keep_going())) {
      return Status::Cancelled("the job was cancelled; what it was made of is as before");
    }
    const std::uint64_t rate = control.bytes_per_second.load(std::memory_order_relaxed);
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const double seconds =
        static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() - start_nanos) * 1e-9;
    const bool ahead = rate != 0 && static_cast<double>(bytes_written) > seconds * static_cast<double>(rate);
    if (!ahead) {
      return {};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace tsdb::compaction
