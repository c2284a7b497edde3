// A whole database with one file damaged: the answers are right, or what is missing is reported with its place. Never
// other values, never silence.
#include "tests/crash/oracle.h"
#include "tests/crash/seeds.h"
#include "tests/crash/walk.h"

namespace tsdb::engine {
namespace {

struct Whole {
  MemoryFileSystem fs;
  FakeClock clock;
  Contents contents;
  std::vector<std::string> files;  // of ours, but LOCK

  Whole() {
    auto db = OpenDatabase("/db", QuietOptions(), MemoryEnvironment(&fs, &clock));
    EXPECT_TRUE(db.ok());
    // No time twice: a sample that is lost never lets an older value show.
    std::mt19937_64 random(3);
    for (int i = 0; i < 60; ++i) {
      WriteBatch batch;
      for (int k = 0; k < 12; ++k) {
        const auto time = static_cast<Timestamp>((random() % 1000) * 1000 + static_cast<std::uint64_t>(i * 12 + k));
        batch.Add(Labels{{"__name__", "m"}, {"i", std::to_string(random() % 9)}}, time,
                  static_cast<double>(random() % 100'000) / 64);
      }
      EXPECT_TRUE((*db)->Append(batch, WriteOptions::With(Durability::kAlways)).ok());
      if (i % 17 == 16) {
        EXPECT_TRUE((*db)->Flush().ok());
      }
    }
    contents = ReadAll(**db);
    db->reset();
    files.push_back("/db/CURRENT");
    for (const char* folder : {"manifest", "wal", "chunks", "catalogue"}) {
      const auto entries = fs.List(JoinPath("/db", folder));
      for (const DirectoryEntry& entry : *entries) {
        files.push_back(JoinPath(JoinPath("/db", folder), entry.name));
      }
    }
  }
};

const Whole& Shared() {
  static const Whole whole;
  return whole;
}

/// Damages one file; says what was done.
std::string Damage(MemoryFileSystem* fs, std::mt19937_64* random, std::string* path) {
  const auto below = [random](std::uint64_t n) { return n == 0 ? 0 : (*random)() % n; };
  *path = Shared().files[below(Shared().files.size())];
  std::string bytes = *fs->ReadWhole(*path);
  const std::size_t at = below(bytes.size());
  std::string what;
  switch (below(8)) {
    case 0:
      EXPECT_TRUE(fs->RemoveFile(*path).ok());
      return "removed " + *path;
    case 1:
      bytes.resize(at);
      what = "cut off at ";
      break;
    case 2: {
      const std::size_t begin = at - at % 512;
      const std::size_t n = std::min<std::size_t>(512, bytes.size() - begin);
      bytes.replace(begin, n, n, '\0');
      what = "zero sector at ";
      break;
    }
    case 3:
      for (std::size_t i = at; i < std::min(at + 16, bytes.size()); ++i) {
        bytes[i] = static_cast<char>((*random)());
      }
      what = "garbage at ";
      break;
    case 4:
      bytes.insert(at, 1 + below(20), static_cast<char>((*random)()));
      what = "bytes put in at ";
      break;
    default:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
      what = "flip at ";
  }
  fs->WriteWhole(*path, bytes);
  return what + std::to_string(at) + " of " + *path;
}

/// True when every sample found is one that was written.
bool IsPartOf(const Contents& found, const Contents& whole) {
  for (const auto& [key, samples] : found) {
    const auto other = whole.find(key);
    for (const auto& [time, bits] : samples) {
      if (other == whole.end() || !other->second.contains(time) || other->second.at(time) != bits) {
        return false;
      }
    }
  }
  return true;
}

std::string Check(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto fs = Shared().fs.Clone();
  std::string path;
  const std::string what = Damage(fs.get(), &random, &path);
  const std::string name = path.substr(path.rfind('/') + 1);
  FakeClock clock;
  auto db = OpenDatabase("/db", QuietOptions(), MemoryEnvironment(fs.get(), &clock));
  if (!db.ok()) {
    const bool named = db.status().message().find(name) != std::string_view::npos;
    return named ? "" : what + ": the open fails without naming the file: " + db.status().ToString();
  }
  std::string report;
  for (const std::string& note : (*db)->recovery_report().notes) {
    report += note + "\n";
  }
  const auto found = TryReadAll(**db);
  if (!found.ok()) {
    const bool named = found.status().message().find(name) != std::string_view::npos;
    return named ? "" : what + ": a query fails without naming the file: " + found.status().ToString();
  }
  if (!IsPartOf(*found, Shared().contents)) {
    return what + ": samples that were never written:\n" + Difference(*found, Shared().contents);
  }
  // Nothing behind the end of the log tells where it was.
  const std::string* newest_segment = nullptr;
  for (const std::string& file : Shared().files) {
    newest_segment = file.starts_with("/db/wal/") ? &file : newest_segment;
  }
  if (path == *newest_segment && (what.starts_with("removed") || what.starts_with("cut off"))) {
    return "";
  }
  // A manifest that lost its end is seen by the log that begins too late.
  const bool named = report.find(name) != std::string::npos || report.find(" lost") != std::string::npos;
  if (*found != Shared().contents && !named) {
    return what + ": samples are missing and the report does not name a place:\n" + report;
  }
  return "";
}

TEST(DatabaseDamage, GivesTheRightAnswersOrNamesThePlace) {
  ASSERT_GE(Shared().files.size(), 8u);
  ForEachSeed(1500, 2, [](std::uint64_t seed) { EXPECT_EQ(Check(seed), ""); });
}

}  // namespace
}  // namespace tsdb::engine
