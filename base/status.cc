#include "tsdb/status.h"

namespace tsdb {

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

Status::Status(StatusCode code, std::string message) {
  if (code != StatusCode::kOk) {
    rep_ = std::make_unique<Rep>(Rep{code, std::move(message)});
  }
}

Status::Status(const Status& other) : rep_(other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) {
    rep_ = other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr;
  }
  return *this;
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
