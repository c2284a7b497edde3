#include "engine/fork_view.h"

#include <new>
#include <set>
#include <vector>

#include "engine/masks.h"

namespace tsdb::engine {
namespace {

Status AllIds(const Version& version, std::set<SeriesId>* ids) {
  chunk::ChunkRows rows;
  for (const ChunkFilePtr& file : version.files) {
    for (std::size_t block = 0; block < file->blocks(); ++block) {
      TSDB_RETURN_IF_ERROR(file->ReadBlock(block, &rows));
      for (const chunk::ChunkEntry& entry : rows.entries) {
        ids->insert(entry.id);
      }
    }
  }
  const auto add = [ids](const Generation& generation) {
    for (const HeadSeries* series : generation.SortedSeries()) {
      ids->insert(series->id());
    }
  };
  for (const auto& generation : version.sealed) {
    add(*generation);
  }
  add(*version.mutable_generation);
  return Status::Ok();
}

// Oldest source first: at equal times the later one wins.
Status ReadSeries(const Version& version, SeriesId id, chunk::Columns* out) {
  std::vector<chunk::Columns> sources;
  chunk::ChunkRows rows;
  const std::vector<chunk::DeletedRange> masks = MasksOf(version, id, TimeRange{});
  for (const ChunkFilePtr& file : version.files) {
    TSDB_RETURN_IF_ERROR(file->Find(id, TimeRange{}, &rows));
    for (const chunk::ChunkEntry& entry : rows.entries) {
      TSDB_RETURN_IF_ERROR(file->Read(entry, &sources.emplace_back()));
      chunk::RemoveDeleted(masks, file->meta().last_commit, &sources.back());
    }
  }
  const auto add = [&](const Generation& generation) {
    const HeadSeries* series = generation.Find(id);
    return series == nullptr ? Status::Ok() : series->ReadAll(&sources.emplace_back());
  };
  for (const auto& generation : version.sealed) {
    const std::size_t before = sources.size();
    TSDB_RETURN_IF_ERROR(add(*generation));
    if (sources.size() != before) {
      chunk::RemoveDeleted(masks, generation->cut, &sources.back());
    }
  }
  TSDB_RETURN_IF_ERROR(add(*version.mutable_generation));
  std::vector<chunk::ColumnsView> views;
  for (const chunk::Columns& source : sources) {
    views.push_back({source.times, source.values});
  }
  chunk::MergeColumns(views, out);
  return Status::Ok();
}

}  // namespace

ForkHold::ForkHold(Core& core) : core_(core) {
  for (Stripe& stripe : core_.stripes) {
    stripe.mutex.Lock();
  }
}

ForkHold::~ForkHold() {
  for (Stripe& stripe : core_.stripes) {
    stripe.mutex.Unlock();
  }
}

Status ReadForked(const Core& core, const std::function<Status(SeriesId, const chunk::Columns&)>& visit) {
  const Version& version = *core.versions.raw();
  try {
    chunk::Columns columns;
    std::set<SeriesId> ids;
    TSDB_RETURN_IF_ERROR(AllIds(version, &ids));
    for (const SeriesId id : ids) {
      TSDB_RETURN_IF_ERROR(ReadSeries(version, id, &columns));
      if (!columns.empty()) {
        TSDB_RETURN_IF_ERROR(visit(id, columns));
      }
    }
    return Status::Ok();
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory("no memory");
  }
}

}  // namespace tsdb::engine
