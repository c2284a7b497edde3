#include "tsdb/status.h"

#include <array>
#include <atomic>
#include <new>

namespace tsdb {
namespace {

/// As Status::Rep.
struct Block {
  StatusCode code;
  std::string message;
};

/// Memory put aside for the statuses that say that there is none. A block taken is replaced when a later status finds
/// memory again.
class Reserve {
 public:
  Reserve() { Refill(); }
  ~Reserve() {
    for (auto& block : blocks_) {
      ::operator delete(block.exchange(nullptr));
    }
  }
  /// For one Block, as from operator new; throws when the reserve is used up as well.
  void* Take() {
    for (auto& block : blocks_) {
      if (void* const memory = block.exchange(nullptr, std::memory_order_acquire)) {
        short_.store(true, std::memory_order_relaxed);
        return memory;
      }
    }
    throw std::bad_alloc();
  }
  void RefillIfShort() {
    if (short_.load(std::memory_order_relaxed)) [[unlikely]] {
      short_.store(false, std::memory_order_relaxed);
      Refill();
    }
  }

 private:
  void Refill() {
    for (auto& block : blocks_) {
      void* const memory =
          block.load(std::memory_order_relaxed) == nullptr ? ::operator new(sizeof(Block), std::nothrow) : nullptr;
      void* empty = nullptr;
      if (memory != nullptr && !block.compare_exchange_strong(empty, memory, std::memory_order_release)) {
        ::operator delete(memory);
      }
    }
  }

  std::array<std::atomic<void*>, 1024> blocks_{};  // 40 KiB
  std::atomic<bool> short_{false};
};

Reserve reserve;

}  // namespace

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return "ok";
    case StatusCode::kInvalidArgument: return "invalid argument";
    case StatusCode::kNotFound: return "not found";
    case StatusCode::kAlreadyExists: return "already exists";
    case StatusCode::kDuplicate: return "duplicate";
    case StatusCode::kOutOfRange: return "out of range";
    case StatusCode::kDropped: return "dropped";
    case StatusCode::kCorruption: return "corruption";
    case StatusCode::kIoError: return "I/O error";
    case StatusCode::kNoSpace: return "no space";
    case StatusCode::kTooManyOpenFiles: return "too many open files";
    case StatusCode::kOutOfMemory: return "out of memory";
    case StatusCode::kResourceExhausted: return "resource exhausted";
    case StatusCode::kBusy: return "busy";
    case StatusCode::kNotSupported: return "not supported";
    case StatusCode::kReadOnly: return "read-only";
    case StatusCode::kClosed: return "closed";
    case StatusCode::kCancelled: return "cancelled";
    case StatusCode::kInternal: return "internal error";
  }
  return "unknown";
}

// Without memory for the message a status still says that there is none.
Status::Status(StatusCode code, std::string message) {
  static_assert(sizeof(Rep) == sizeof(Block));
  if (code == StatusCode::kOk) {
    return;
  }
  try {
    rep_ = std::make_unique<Rep>(Rep{code, std::move(message)});
    reserve.RefillIfShort();
  } catch (const std::bad_alloc&) {
    rep_.reset(new (reserve.Take()) Rep{StatusCode::kOutOfMemory, "no memory"});  // short: lies in the string itself
  }
}

Status::Status(const Status& other) { *this = other; }

Status& Status::operator=(const Status& other) {
  if (this == &other) {
    return *this;
  }
  if (other.ok()) {
    rep_ = nullptr;
    return *this;
  }
  std::string message;
  try {
    message = other.rep_->message;
  } catch (const std::bad_alloc&) {
    message = "no memory";
  }
  return *this = Status(other.code(), std::move(message));
}

std::string Status::ToString() const {
  std::string text(StatusCodeName(code()));
  if (!ok()) {
    text.append(": ").append(message());
  }
  return text;
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) {
    return {};
  }
  std::string text(context);
  text.append(": ").append(message());
  return {code(), std::move(text)};
}

}  // namespace tsdb
