// A program that writes and asks for aggregates: series resolved once, one batch used again, a late sample, and the
// average and maximum of every five minutes.
#include <tsdb/database.h>
#include <tsdb/time_text.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr tsdb::Timestamp kStart = 1'700'000'100'000;  // 2023-11-14T22:15:00Z
constexpr int kSeconds = 600;

int Fail(const tsdb::Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

/// Ten minutes of three sensors, a sample a second each; a batch per second, as a program would send it.
tsdb::Status Write(tsdb::Database& db) {
  std::vector<tsdb::SeriesRef> sensors;
  for (const char* room : {"attic", "cellar", "hall"}) {
    auto sensor = db.CreateSeries({{"__name__", "temperature"}, {"room", room}});
    if (!sensor.ok()) return sensor.status();
    sensors.push_back(*sensor);
  }
  tsdb::WriteBatch batch;
  for (int second = 0; second < kSeconds; ++second) {
    batch.Clear();  // keeps its memory
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      batch.Add(sensors[i], kStart + second * 1000, 18.0 + static_cast<double>(i) + second / 100.0);
    }
    auto done = db.Append(batch);
    if (!done.ok()) return done.status();
  }
  // One that was on its way for long: it takes its place among the others, or replaces what stands there.
  batch.Clear();
  batch.Add(sensors[0], kStart + 1000, 99.0);
  auto late = db.Append(batch);
  if (!late.ok()) return late.status();
  return db.WaitDurable(late->commit);  // from here on a power cut costs nothing of it
}

tsdb::Status Report(tsdb::Database& db) {
  tsdb::QuerySpec spec;
  spec.selector = *tsdb::Selector::Parse("temperature{room!=\"cellar\"}");
  spec.range = {kStart, kStart + kSeconds * 1000 - 1};
  spec.aggregators = {tsdb::Aggregator::kAvg, tsdb::Aggregator::kMax};
  spec.bucket.width = 5 * 60 * 1000;
  auto result = db.Query(spec);
  if (!result.ok()) return result.status();
  tsdb::ColumnBatch rows;
  while ((*result)->NextSeries()) {
    std::printf("%s\n", (*result)->series().key.c_str());
    while ((*result)->NextBatch(&rows)) {
      for (std::size_t i = 0; i < rows.times.size(); ++i) {
        const std::string time = tsdb::FormatTime(rows.times[i], db.unit());
        std::printf("  %s  avg %.3f  max %.2f\n", time.c_str(), rows.columns[0][i], rows.columns[1][i]);
      }
    }
  }
  return (*result)->status();
}

}  // namespace

int main() {
  auto db = tsdb::Database::Open("sensor-data");
  if (!db.ok()) return Fail(db.status());
  if (tsdb::Status status = Write(**db); !status.ok()) return Fail(status);
  if (tsdb::Status status = Report(**db); !status.ok()) return Fail(status);
  const tsdb::Status closed = (*db)->Close();
  return closed.ok() ? 0 : Fail(closed);
}
