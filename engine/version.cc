#include "engine/version.h"

#include <algorithm>

namespace tsdb::engine {

void SortFiles(Version* version) {
  std::stable_sort(version->files.begin(), version->files.end(), [](const ChunkFilePtr& a, const ChunkFilePtr& b) {
    return a->meta().last_commit < b->meta().last_commit;
  });
}

}  // namespace tsdb::engine
