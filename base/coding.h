// Fixed-width little-endian integers, varints and length-prefixed strings, written to a std::string and read back from
// untrusted bytes.
//
// Varint: 7 bits a byte, least significant first, at most 10 bytes. Signed numbers are zig-zag coded first.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tsdb {

static_assert(std::endian::native == std::endian::little, "files are little-endian: no big-endian hosts");

template <typename T>
inline T LoadFixed(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  return v;
}
template <typename T>
inline void StoreFixed(char* p, T v) {
  std::memcpy(p, &v, sizeof(T));
}

inline void PutFixed32(std::string* out, std::uint32_t v) { out->append(reinterpret_cast<const char*>(&v), 4); }
inline void PutFixed64(std::string* out, std::uint64_t v) { out->append(reinterpret_cast<const char*>(&v), 8); }

inline std::uint64_t ZigZag(std::int64_t v) {
  return (static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63);
}
inline std::int64_t UnZigZag(std::uint64_t u) {
  return static_cast<std::int64_t>(u >> 1) ^ -static_cast<std::int64_t>(u & 1);
}

/// Most bytes a varint takes.
inline constexpr std::size_t kVarintBytesMax = 10;

/// Writes at `p` (room for kVarintBytesMax) and returns the end.
inline char* EncodeVarint(char* p, std::uint64_t v) {
  while (v >= 128) {
    *p++ = static_cast<char>(v | 128);
    v >>= 7;
  }
  *p++ = static_cast<char>(v);
  return p;
}
inline void PutVarint(std::string* out, std::uint64_t v) {
  char buffer[kVarintBytesMax];
  out->append(buffer, static_cast<std::size_t>(EncodeVarint(buffer, v) - buffer));
}
inline void PutVarintSigned(std::string* out, std::int64_t v) { PutVarint(out, ZigZag(v)); }
inline void PutLengthPrefixed(std::string* out, std::string_view s) {
  PutVarint(out, s.size());
  out->append(s);
}

/// Reads forward through untrusted bytes. Every Read returns false, and leaves `ok()` false for good, when the bytes do
/// not hold what was asked for.
class ByteReader {
 public:
  explicit ByteReader(std::string_view data) : p_(data.data()), end_(data.data() + data.size()), begin_(p_) {}

  bool ok() const { return ok_; }
  bool empty() const { return p_ == end_; }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - p_); }
  std::size_t offset() const { return static_cast<std::size_t>(p_ - begin_); }

  /// For decoders: the bytes were there but make no sense. Skips to the end and leaves ok() false; returns false.
  bool Fail() {
    ok_ = false;
    p_ = end_;
    return false;
  }

  bool ReadVarint(std::uint64_t* v) {
    std::uint64_t result = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (p_ == end_) {
        return Fail();
      }
      const auto byte = static_cast<unsigned char>(*p_++);
      if (shift == 63 && byte > 1) {
        return Fail();
      }
      result |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) {
        *v = result;
        return ok_;
      }
    }
    return Fail();
  }
  bool ReadVarintSigned(std::int64_t* v) {
    std::uint64_t u = 0;
    if (!ReadVarint(&u)) {
      return false;
    }
    *v = UnZigZag(u);
    return true;
  }
  template <typename T>
  bool ReadFixed(T* v) {
    if (remaining() < sizeof(T)) {
      return Fail();
    }
    *v = LoadFixed<T>(p_);
    p_ += sizeof(T);
    return ok_;
  }
  bool ReadBytes(std::size_t n, std::string_view* s) {
    if (remaining() < n) {
      return Fail();
    }
    *s = std::string_view(p_, n);
    p_ += n;
    return ok_;
  }
  bool ReadLengthPrefixed(std::string_view* s) {
    std::uint64_t n = 0;
    return ReadVarint(&n) && (n <= remaining() ? ReadBytes(static_cast<std::size_t>(n), s) : Fail());
  }

 private:
  const char* p_;
  const char* end_;
  const char* begin_;
  bool ok_ = true;
};

}  // namespace tsdb
