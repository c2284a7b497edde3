// A program that embeds the installed library: opens a database, appends a sample per run, queries them all.
//
//   consumer DIRECTORY RUN      RUN-th run (1-based): RUN samples must be found at the end
#include <tsdb/database.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

int Fail(const tsdb::Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: consumer DIRECTORY RUN\n");
    return 2;
  }
  const std::int64_t run = std::strtoll(argv[2], nullptr, 10);

  auto db = tsdb::Database::Open(argv[1]);
  if (!db.ok()) {
    return Fail(db.status());
  }
  auto ref = (*db)->CreateSeries({{"__name__", "visits"}, {"place", "garden"}});
  if (!ref.ok()) {
    return Fail(ref.status());
  }
  tsdb::WriteBatch batch;
  batch.Add(*ref, 1000 * run, 0.5 * static_cast<double>(run));
  auto appended = (*db)->Append(batch);
  if (!appended.ok()) {
    return Fail(appended.status());
  }
  if (appended->stored != 1) {
    std::fprintf(stderr, "stored %llu samples, not 1\n", static_cast<unsigned long long>(appended->stored));
    return 1;
  }

  auto selector = tsdb::Selector::Parse("visits{place=~\"gard.*\"}");
  if (!selector.ok()) {
    return Fail(selector.status());
  }
  tsdb::QuerySpec spec;
  spec.selector = *selector;
  auto result = (*db)->Query(spec);
  if (!result.ok()) {
    return Fail(result.status());
  }
  std::int64_t samples = 0;
  double sum = 0;
  tsdb::ColumnBatch rows;
  while ((*result)->NextSeries()) {
    while ((*result)->NextBatch(&rows)) {
      for (const double value : rows.columns[0]) {
        ++samples;
        sum += value;
      }
    }
  }
  if (!(*result)->status().ok()) {
    return Fail((*result)->status());
  }
  const double expected_sum = 0.25 * static_cast<double>(run * (run + 1));
  if (samples != run || sum != expected_sum) {
    std::fprintf(stderr, "found %lld samples of sum %g, not %lld of %g\n", static_cast<long long>(samples), sum,
                 static_cast<long long>(run), expected_sum);
    return 1;
  }
  const tsdb::Status closed = (*db)->Close();
  return closed.ok() ? 0 : Fail(closed);
}
