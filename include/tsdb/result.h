// Result<T>: a value or the Status that says why there is none.
//
// Thread safety: as T.
#pragma once

#include <cassert>
#include <optional>
#include <utility>

#include "tsdb/status.h"

namespace tsdb {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor): reads as a return value
  /// `status` must not be OK.
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    assert(!status_.ok());
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  /// The value; calling these without ok() is a programming error.
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace tsdb

#define TSDB_CONCAT_INNER_(a, b) a##b
#define TSDB_CONCAT_(a, b) TSDB_CONCAT_INNER_(a, b)
/// TSDB_ASSIGN_OR_RETURN(auto x, F()): x is F()'s value, or the enclosing function returns F()'s Status.
#define TSDB_ASSIGN_OR_RETURN(lhs, expr) TSDB_ASSIGN_OR_RETURN_IMPL_(TSDB_CONCAT_(tsdb_result_, __LINE__), lhs, expr)
#define TSDB_ASSIGN_OR_RETURN_IMPL_(result, lhs, expr) \
  auto result = (expr);                                \
  if (!result.ok()) {                                  \
    return result.status();                            \
  }                                                    \
  lhs = std::move(result).value()
