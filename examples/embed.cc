// The smallest program that embeds tsdb: opens a database, stores a sample, reads it back. The lines between the marks
// stand in the README, which a test compares with them.
#include <tsdb/database.h>

#include <cstdio>

namespace {

int Fail(const tsdb::Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

int Run() {
  // README begin
  auto db = tsdb::Database::Open("climate-data");  // created when it is not there
  if (!db.ok()) return Fail(db.status());
  tsdb::WriteBatch batch;
  batch.Add(tsdb::Labels{{"__name__", "temperature"}, {"room", "hall"}}, 1'700'000'000'000, 21.5);
  auto done = (*db)->Append(batch, tsdb::WriteOptions::With(tsdb::Durability::kAlways));
  if (!done.ok()) return Fail(done.status());
  tsdb::QuerySpec spec;  // all times, raw samples
  spec.selector = *tsdb::Selector::Parse("temperature{room=~\"h.*\"}");
  auto rows = (*db)->Query(spec);
  if (!rows.ok()) return Fail(rows.status());
  for (tsdb::ColumnBatch b; (*rows)->NextSeries();)
    while ((*rows)->NextBatch(&b)) std::printf("%s %g\n", (*rows)->series().key.c_str(), b.columns[0].back());
  // README end
  return (*rows)->status().ok() ? 0 : Fail((*rows)->status());
}

}  // namespace

int main() { return Run(); }
