// Walks a file through every kind of damage the tests look at: each byte flipped, each length cut.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/memory_file_system.h"

namespace tsdb {

/// Calls `check(fs, what)` for each byte of `path` with one of its bits flipped (several bits in turn), then restores
/// it.
inline void ForEachFlippedByte(MemoryFileSystem& fs, const std::string& path,
                               const std::function<void(const std::string& what)>& check) {
  const std::string original = *fs.ReadWhole(path);
  for (std::size_t i = 0; i < original.size(); ++i) {
    for (const unsigned mask : {1u << (i % 8), 0xffu}) {
      std::string damaged = original;
      damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ mask);
      fs.WriteWhole(path, damaged);
      check(path + ": byte " + std::to_string(i) + " ^ " + std::to_string(mask));
    }
  }
  fs.WriteWhole(path, original);
}

/// Calls `check` for the file cut to each length shorter than it is, then restores it.
inline void ForEachTruncation(MemoryFileSystem& fs, const std::string& path,
                              const std::function<void(std::size_t length)>& check) {
  const std::string original = *fs.ReadWhole(path);
  for (std::size_t length = 0; length < original.size(); ++length) {
    fs.WriteWhole(path, original.substr(0, length));
    check(length);
  }
  fs.WriteWhole(path, original);
}

}  // namespace tsdb
