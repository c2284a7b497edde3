// Open files and locks of a MemoryFileSystem. They keep the disk and the file alive: a removed file can still be read.
//
// Thread safety: as the interfaces in base/file_system.h say.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/file_system.h"
#include "base/memory_disk.h"

namespace tsdb {

std::unique_ptr<WritableFile> NewMemoryWritableFile(std::shared_ptr<MemoryDisk> disk, std::shared_ptr<MemoryFile> file,
                                                    std::string path);
/// `size` is what the file has now.
std::unique_ptr<RandomReadFile> NewMemoryRandomReadFile(std::shared_ptr<MemoryDisk> disk,
                                                        std::shared_ptr<MemoryFile> file, std::string path,
                                                        std::uint64_t size);
/// Gives the lock up when destroyed; `disk->locked` has it already.
std::unique_ptr<FileLock> NewMemoryFileLock(std::shared_ptr<MemoryDisk> disk, std::shared_ptr<MemoryFile> file);

}  // namespace tsdb
