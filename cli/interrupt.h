// Interrupt: Ctrl-C and SIGTERM ask a long command to finish what it has in hand; a second one kills.
//
// Thread safety: any thread may ask; the handler itself only sets a flag and writes one byte to a pipe.
#pragma once

namespace tsdb::cli {

/// From now on the first SIGINT or SIGTERM is only noted.
void CatchInterrupts();
/// The signal that came, 0 when none did.
int InterruptSignal();

enum class Wait { kReadable, kTimeout, kInterrupted };
/// Waits at most `timeout_ms` (negative: for ever) until `fd` can be read or is at its end, or a signal came.
Wait WaitReadable(int fd, int timeout_ms);

}  // namespace tsdb::cli
