// Status: the outcome of an operation as a value. Null pointer = OK, so a Status that is fine costs one word.
//
// No function of the library throws; each returns a Status or a Result<T> (result.h). A message says what failed,
// which object, where (file@offset, series, line) and, where the user can do something, what.
//
// Thread safety: values; distinct objects may be used from distinct threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace tsdb {

enum class StatusCode : unsigned char {
  kOk = 0,
  kInvalidArgument,    // the caller's input is wrong; asking again the same way fails again
  kNotFound,           // no such series, file or database
  kAlreadyExists,      // the key, database or file is there already
  kDuplicate,          // a sample at this time exists and the policy is `block`
  kOutOfRange,         // a time the database does not accept (too far ahead, below a retention floor)
  kDropped,            // the series of a SeriesRef was dropped meanwhile: resolve again
  kCorruption,         // bytes on disk are damaged
  kIoError,            // the operating system reported an error
  kNoSpace,            // the disk (or the byte limit of the database) is full; nothing was written
  kTooManyOpenFiles,   // the process or system is out of file handles: not a sign of damage
  kOutOfMemory,        // memory budget or allocation failed: not a sign of damage
  kResourceExhausted,  // a configured limit was reached
  kBusy,               // another process or thread holds it
  kNotSupported,       // unknown format version, or an option this version does not implement
  kReadOnly,           // the database was opened read-only
  kClosed,             // the database was closed
  kCancelled,          // the caller cancelled, or a time limit passed
  kInternal,           // an invariant of ours does not hold: please report
};

/// Short name of a code as it appears at the start of a message: "corruption", "no space", ...
std::string_view StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  Status(StatusCode code, std::string message);
  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;

  static Status Ok() { return {}; }
  static Status InvalidArgument(std::string m) { return {StatusCode::kInvalidArgument, std::move(m)}; }
  static Status NotFound(std::string m) { return {StatusCode::kNotFound, std::move(m)}; }
  static Status AlreadyExists(std::string m) { return {StatusCode::kAlreadyExists, std::move(m)}; }
  static Status Duplicate(std::string m) { return {StatusCode::kDuplicate, std::move(m)}; }
  static Status OutOfRange(std::string m) { return {StatusCode::kOutOfRange, std::move(m)}; }
  static Status Dropped(std::string m) { return {StatusCode::kDropped, std::move(m)}; }
  static Status Corruption(std::string m) { return {StatusCode::kCorruption, std::move(m)}; }
  static Status IoError(std::string m) { return {StatusCode::kIoError, std::move(m)}; }
  static Status NoSpace(std::string m) { return {StatusCode::kNoSpace, std::move(m)}; }
  static Status TooManyOpenFiles(std::string m) { return {StatusCode::kTooManyOpenFiles, std::move(m)}; }
  static Status OutOfMemory(std::string m) { return {StatusCode::kOutOfMemory, std::move(m)}; }
  static Status ResourceExhausted(std::string m) { return {StatusCode::kResourceExhausted, std::move(m)}; }
  static Status Busy(std::string m) { return {StatusCode::kBusy, std::move(m)}; }
  static Status NotSupported(std::string m) { return {StatusCode::kNotSupported, std::move(m)}; }
  static Status ReadOnly(std::string m) { return {StatusCode::kReadOnly, std::move(m)}; }
  static Status Closed(std::string m) { return {StatusCode::kClosed, std::move(m)}; }
  static Status Cancelled(std::string m) { return {StatusCode::kCancelled, std::move(m)}; }
  static Status Internal(std::string m) { return {StatusCode::kInternal, std::move(m)}; }

  bool ok() const noexcept { return rep_ == nullptr; }
  StatusCode code() const noexcept { return rep_ ? rep_->code : StatusCode::kOk; }
  /// The message without the code's name; empty when ok().
  std::string_view message() const noexcept { return rep_ ? std::string_view(rep_->message) : std::string_view(); }
  /// "ok", or "<code name>: <message>".
  std::string ToString() const;
  /// The same code with `context` and ": " put before the message. No effect on an OK status.
  Status WithContext(std::string_view context) const;

 private:
  struct Rep {
    StatusCode code;
    std::string message;
  };
  std::unique_ptr<Rep> rep_;
};

}  // namespace tsdb

/// Returns the Status of `expr` from the enclosing function when it is not OK.
#define TSDB_RETURN_IF_ERROR(expr)                        \
  do {                                                    \
    if (::tsdb::Status tsdb_status_ = (expr); !tsdb_status_.ok()) { \
      return tsdb_status_;                                \
    }                                                     \
  } while (false)
