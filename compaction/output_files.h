// OutputFiles: the files a job has written so far. They are removed again unless the job says it succeeded.
//
// Thread safety: none; belongs to a job.
#pragma once

#include <string>
#include <vector>

#include "base/file_system.h"
#include "tsdb/result.h"

namespace tsdb::compaction {

class OutputFiles {
 public:
  explicit OutputFiles(FileSystem& fs) : fs_(fs) {}
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  /// Path of a file that is about to be created: `name` is relative to the database. Its folder is created when it is
  /// missing; a leftover of that name was never live and gives way.
  Result<std::string> NewFile(const std::string& database_path, const std::string& name);
  /// Makes the entries of the files' folders durable.
  Status SyncFolders();
  /// From here on the files stay.
  void Keep() { paths_.clear(); }

 private:
  FileSystem& fs_;
  std::vector<std::string> paths_;
};

/// Creates a folder of the database if it is missing, and makes its entry durable.
Status EnsureFolder(FileSystem& fs, const std::string& path);

}  // namespace tsdb::compaction
