#include "index/series_index.h"

namespace tsdb::index {

Result<std::vector<SeriesInfoPtr>> SeriesIndex::InfosByIds(std::span<const SeriesId> ids) {
  TSDB_ASSIGN_OR_RETURN(const auto definitions, FindByIds(ids));
  std::vector<SeriesInfoPtr> infos(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (definitions[i]) {
      infos[i] = std::make_shared<const SeriesInfo>(definitions[i]->ToInfo());
    }
  }
  return infos;
}

}  // namespace tsdb::index
