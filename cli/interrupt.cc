#include "cli/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

namespace tsdb::cli {
namespace {

std::atomic<int> g_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);
int g_wake_pipe[2] = {-1, -1};  // constant once the handler is installed

void OnSignal(int signal) {
  const int saved_errno = errno;
  g_signal.store(signal, std::memory_order_relaxed);
  if (g_wake_pipe[1] >= 0) {
    const char byte = 0;
    [[maybe_unused]] const ssize_t written = ::write(g_wake_pipe[1], &byte, 1);  // a full pipe wakes as well
  }
  errno = saved_errno;
}

}  // namespace

void CatchInterrupts() {
  if (::pipe2(g_wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
    g_wake_pipe[0] = g_wake_pipe[1] = -1;  // then a waiting read is only left when input comes
  }
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

int InterruptSignal() { return g_signal.load(std::memory_order_relaxed); }

Wait WaitReadable(int fd, int timeout_ms) {
  while (InterruptSignal() == 0) {
    pollfd watched[2] = {{fd, POLLIN, 0}, {g_wake_pipe[0], POLLIN, 0}};
    const int ready = ::poll(watched, g_wake_pipe[0] >= 0 ? 2 : 1, timeout_ms);
    if (ready == 0) {
      return Wait::kTimeout;
    }
    // A failure other than a signal is left to the read itself, which says what is wrong.
    if (ready > 0 ? watched[0].revents != 0 : errno != EINTR) {
      return InterruptSignal() == 0 ? Wait::kReadable : Wait::kInterrupted;
    }
  }
  return Wait::kInterrupted;
}

}  // namespace tsdb::cli
