#include "tests/index_calls/failing_calls.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstring>

namespace tsdb::failing_calls {
namespace {

constexpr int kDescriptorsMax = 4096;

std::atomic<bool> armed{false};
char watched[256];  // written while not armed
std::uint64_t first_failing;
int failing_error;
bool only_once;
std::atomic<std::uint64_t> calls{0};
std::atomic<std::uint64_t> failures{0};
std::array<std::atomic<bool>, kDescriptorsMax> is_watched{};

/// True when this call is to fail; errno is set then.
bool Fails() {
  const std::uint64_t number = calls.fetch_add(1) + 1;
  if (number < first_failing || (only_once && number != first_failing)) {
    return false;
  }
  failures.fetch_add(1);
  errno = failing_error;
  return true;
}

bool Fails(const char* path) { return armed.load() && std::strstr(path, watched) != nullptr && Fails(); }
bool Fails(int fd) { return armed.load() && fd >= 0 && fd < kDescriptorsMax && is_watched[fd].load() && Fails(); }

void Note(int fd, const char* path) {
  if (fd >= 0 && fd < kDescriptorsMax) {
    is_watched[fd].store(armed.load() && std::strstr(path, watched) != nullptr);
  }
}

/// The C library's own function.
template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

void Arm(const std::string& part, std::uint64_t first, int error, bool once) {
  armed.store(false);
  watched[part.copy(watched, sizeof(watched) - 1)] = 0;
  first_failing = first;
  failing_error = error;
  only_once = once;
  calls.store(0);
  failures.store(0);
  armed.store(true);
}

std::uint64_t Disarm() {
  armed.store(false);
  return calls.load();
}

std::uint64_t failed() { return failures.load(); }

}  // namespace tsdb::failing_calls

// The declarations of the C library's headers know attributes that definitions need not repeat.
#pragma GCC diagnostic ignored "-Wmissing-attributes"
#pragma GCC diagnostic ignored "-Wpedantic"

namespace calls = tsdb::failing_calls;

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (calls::Fails(path)) {
    return -1;
  }
  static auto* const next = calls::Next<int(const char*, int, ...)>("open");
  const int fd = next(path, flags, mode);
  calls::Note(fd, path);
  return fd;
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open(path, flags, mode);
}

#define TSDB_FAILING_CALL(result, name, parameters, arguments, file)     \
  result name parameters {                                               \
    static auto* const next = calls::Next<result parameters>(#name);     \
    return calls::Fails(file) ? static_cast<result>(-1) : next arguments; \
  }

TSDB_FAILING_CALL(ssize_t, pread, (int fd, void* out, size_t n, off_t at), (fd, out, n, at), fd)
TSDB_FAILING_CALL(ssize_t, pread64, (int fd, void* out, size_t n, off64_t at), (fd, out, n, at), fd)
TSDB_FAILING_CALL(ssize_t, write, (int fd, const void* data, size_t n), (fd, data, n), fd)
TSDB_FAILING_CALL(ssize_t, pwrite, (int fd, const void* data, size_t n, off_t at), (fd, data, n, at), fd)
TSDB_FAILING_CALL(ssize_t, pwrite64, (int fd, const void* data, size_t n, off64_t at), (fd, data, n, at), fd)
TSDB_FAILING_CALL(int, fsync, (int fd), (fd), fd)
TSDB_FAILING_CALL(int, fdatasync, (int fd), (fd), fd)
TSDB_FAILING_CALL(int, ftruncate, (int fd, off_t size), (fd, size), fd)
TSDB_FAILING_CALL(int, ftruncate64, (int fd, off64_t size), (fd, size), fd)
TSDB_FAILING_CALL(int, fallocate, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n), fd)
TSDB_FAILING_CALL(int, fallocate64, (int fd, int mode, off64_t at, off64_t n), (fd, mode, at, n), fd)
TSDB_FAILING_CALL(int, rename, (const char* from, const char* to), (from, to), from)
TSDB_FAILING_CALL(int, link, (const char* from, const char* to), (from, to), from)
TSDB_FAILING_CALL(int, unlink, (const char* path), (path), path)
TSDB_FAILING_CALL(int, mkdir, (const char* path, mode_t mode), (path, mode), path)

}  // extern "C"
