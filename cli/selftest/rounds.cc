#include "cli/selftest/rounds.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <system_error>
#include <vector>

#include "tsdb/database.h"

namespace tsdb::cli::selftest {
namespace {

namespace stdfs = std::filesystem;

constexpr std::uint64_t kBatch = 10;
constexpr std::uint64_t kParts = 3;

/// Memory shared with the children.
struct Board {
  std::atomic<std::uint64_t> acknowledged{0};
  std::atomic<std::uint64_t> found{0};
  std::atomic<bool> writing{false};
  std::atomic<bool> reported{false};
  std::array<char, 600> problem{};

  void Tell(const std::string& text) { problem[text.copy(problem.data(), problem.size() - 1)] = '\0'; }
};

class SharedBoard {
 public:
  SharedBoard() {
    void* const memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    board_ = memory == MAP_FAILED ? nullptr : new (memory) Board();
  }
  ~SharedBoard() {
    if (board_ != nullptr) {
      munmap(board_, sizeof(Board));
    }
  }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;
  Board* get() const { return board_; }

 private:
  Board* board_ = nullptr;
};

double ValueOf(std::uint64_t index) { return static_cast<double>(index * 2654435761u % 1'000'003u) / 8; }
Labels SeriesOf(std::uint64_t index) {
  return Labels{{"__name__", "selftest"}, {"part", std::to_string(index % kParts)}};
}

/// Forks; the child tells the board what went wrong.
pid_t Fork(Board* board, const std::function<std::string(Board*)>& work) {
  const pid_t pid = fork();
  if (pid == 0) {
    board->Tell(work(board));
    _exit(0);
  }
  return pid;
}

/// Waits for a child that ends by itself.
std::string Join(pid_t pid, const Board& board, std::string_view who) {
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) {
    return fmt::format("no process for the {}: {}", who, std::strerror(errno));
  }
  if (WIFSIGNALED(status)) {
    return fmt::format("the {} died of signal {}", who, WTERMSIG(status));
  }
  return std::string(board.problem.data());
}

/// What is there: times 0 to n - 1 over all series when nothing is missing.
struct Found {
  std::set<std::uint64_t> indexes;
  std::string problem;   // a value that was never written
  Status status;         // of the query
};

Found ReadBack(Database& db) {
  Found found;
  QuerySpec spec;
  auto result = db.Query(spec);
  if (!result.ok()) {
    found.status = result.status();
    return found;
  }
  ColumnBatch batch;
  while ((*result)->NextSeries()) {
    const std::string key = (*result)->series().key;
    while ((*result)->NextBatch(&batch)) {
      for (std::size_t i = 0; i < batch.times.size(); ++i) {
        const auto index = static_cast<std::uint64_t>(batch.times[i]);
        if (batch.times[i] < 0 || SeriesOf(index).CanonicalKey() != key || batch.columns[0][i] != ValueOf(index)) {
          found.problem = fmt::format("{} holds {} at {}, which was never written", key, batch.columns[0][i],
                                      batch.times[i]);
        }
        found.indexes.insert(index);
      }
    }
  }
  found.status = (*result)->status();
  return found;
}

bool IsWhole(const Found& found) {
  return found.indexes.empty() || *found.indexes.rbegin() + 1 == found.indexes.size();
}

// Runs until it is killed.
std::string WriteOn(const std::string& path, Board* board) {
  auto db = Database::Open(path);
  if (!db.ok()) {
    return db.status().ToString();
  }
  const Found found = ReadBack(**db);
  if (!found.status.ok() || !found.problem.empty()) {
    return found.status.ok() ? found.problem : found.status.ToString();
  }
  board->writing.store(true);
  std::uint64_t next = found.indexes.size();
  for (std::uint64_t n = 1;; ++n) {
    WriteBatch batch;
    for (std::uint64_t i = 0; i < kBatch; ++i, ++next) {
      batch.Add(SeriesOf(next), static_cast<Timestamp>(next), ValueOf(next));
    }
    const auto result = (*db)->Append(batch, WriteOptions::With(Durability::kAlways));
    if (!result.ok()) {
      return result.status().ToString();
    }
    board->acknowledged.store(next);
    if (n % 64 == 0) {
      if (Status status = (*db)->Flush(); !status.ok()) {
        return status.ToString();
      }
    }
  }
}

std::string CheckAfterKill(const std::string& path, Board* board) {
  auto db = Database::Open(path);
  if (!db.ok()) {
    return "the open after a kill fails: " + db.status().ToString();
  }
  const Found found = ReadBack(**db);
  board->found.store(found.indexes.size());
  if (!found.status.ok()) {
    return found.status.ToString();
  }
  if (!found.problem.empty()) {
    return found.problem;
  }
  if (!IsWhole(found)) {
    return "samples are missing in the middle";
  }
  if (found.indexes.size() % kBatch != 0) {
    return "half a batch is there";
  }
  const std::uint64_t acknowledged = board->acknowledged.load();
  return found.indexes.size() >= acknowledged
             ? ""
             : fmt::format("{} samples were acknowledged and {} are there", acknowledged, found.indexes.size());
}

std::string CheckDamaged(const std::string& path, std::uint64_t expected, Board* board) {
  auto db = Database::Open(path);
  if (!db.ok()) {
    board->reported.store(true);
    return "";
  }
  const Found found = ReadBack(**db);
  const bool reported = !found.status.ok() || !(*db)->recovery_report().notes.empty();
  board->reported.store(reported);
  if (!found.problem.empty()) {
    return found.problem;
  }
  return reported || found.indexes.size() == expected
             ? ""
             : fmt::format("{} of {} samples are missing and nothing is reported", expected - found.indexes.size(),
                           expected);
}

std::vector<stdfs::path> FilesOf(const stdfs::path& database) {
  std::vector<stdfs::path> files;
  for (const char* folder : {"wal", "chunks", "catalogue", "manifest"}) {
    if (stdfs::exists(database / folder)) {
      for (const auto& entry : stdfs::directory_iterator(database / folder)) {
        files.push_back(entry.path());
      }
    }
  }
  files.push_back(database / "CURRENT");
  std::sort(files.begin(), files.end());
  return files;
}

/// Flips a bit, or cuts the file off.
std::string DamageFile(const stdfs::path& file, std::mt19937_64* random) {
  const std::uint64_t size = stdfs::file_size(file);
  const std::uint64_t at = size == 0 ? 0 : (*random)() % size;
  if (size == 0 || (*random)() % 4 == 0) {
    stdfs::resize_file(file, at);
    return fmt::format("{} cut off at {}", file.string(), at);
  }
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(at));
  const int byte = stream.get();
  stream.seekp(static_cast<std::streamoff>(at));
  stream.put(static_cast<char>(byte ^ (1 << ((*random)() % 8))));
  return fmt::format("byte {} of {} changed", at, file.string());
}

}  // namespace

std::string KillRound(const std::string& path, std::mt19937_64* random, Figures* figures) {
  const SharedBoard shared;
  Board* const board = shared.get();
  if (board == nullptr) {
    return "no memory shared with a child process";
  }
  const pid_t writer = Fork(board, [&](Board* b) { return WriteOn(path, b); });
  if (writer < 0) {
    return fmt::format("no process for the writer: {}", std::strerror(errno));
  }
  // Some are killed while they open.
  const bool while_opening = (*random)() % 8 == 0;
  int status = 0;
  while (!while_opening && !board->writing.load()) {
    if (waitpid(writer, &status, WNOHANG) == writer) {
      return fmt::format("the writer ended by itself: {}", board->problem.data());
    }
    usleep(200);
  }
  usleep(static_cast<useconds_t>((*random)() % 30'000));
  kill(writer, SIGKILL);
  waitpid(writer, &status, 0);
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
    return fmt::format("the writer ended by itself: {}", board->problem.data());
  }
  ++figures->kills;
  const std::string problem =
      Join(Fork(board, [&](Board* b) { return CheckAfterKill(path, b); }), *board, "checker");
  figures->samples = board->found.load();
  figures->acknowledged = std::max(figures->acknowledged, board->acknowledged.load());
  return problem;
}

std::string DamageRound(const std::string& path, const std::string& scratch, std::mt19937_64* random,
                        Figures* figures) {
  const SharedBoard shared;
  Board* const board = shared.get();
  if (board == nullptr) {
    return "no memory shared with a child process";
  }
  std::string what;
  try {
    stdfs::remove_all(scratch);
    stdfs::copy(path, scratch, stdfs::copy_options::recursive);
    const std::vector<stdfs::path> files = FilesOf(scratch);
    what = DamageFile(files[(*random)() % files.size()], random);
  } catch (const stdfs::filesystem_error& error) {
    return error.what();
  }
  ++figures->damaged;
  const std::uint64_t expected = figures->samples;
  const std::string problem =
      Join(Fork(board, [&](Board* b) { return CheckDamaged(scratch, expected, b); }), *board, "checker");
  figures->reported += board->reported.load() ? 1 : 0;
  return problem.empty() ? "" : what + ": " + problem;
}

Result<double> MeasureSyncs(const std::string& path) {
  const SharedBoard shared;
  Board* const board = shared.get();
  if (board == nullptr) {
    return Status::ResourceExhausted("no memory shared with a child process");
  }
  const auto measure = [&](Board* b) -> std::string {
    auto db = Database::Open(path);
    if (!db.ok()) {
      return db.status().ToString();
    }
    std::vector<double> times;
    for (std::uint64_t i = 0; i < 200; ++i) {
      WriteBatch batch;
      batch.Add(SeriesOf(i), static_cast<Timestamp>(i), ValueOf(i));
      const auto start = std::chrono::steady_clock::now();
      const auto result = (*db)->Append(batch, WriteOptions::With(Durability::kAlways));
      if (!result.ok()) {
        return result.status().ToString();
      }
      times.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
    }
    std::nth_element(times.begin(), times.begin() + 100, times.end());
    b->found.store(static_cast<std::uint64_t>(times[100]));
    return "";
  };
  if (std::string problem = Join(Fork(board, measure), *board, "writer"); !problem.empty()) {
    return Status::IoError(problem);
  }
  return static_cast<double>(board->found.load()) / 1000;
}

}  // namespace tsdb::cli::selftest
