// The program killed again and again on one directory while it ingests with --durability always: what it acknowledged
// is there, no batch is there half.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <random>
#include <set>
#include <string>

#include "tests/cli/cli_runner.h"

namespace tsdb::cli_test {
namespace {

constexpr std::uint64_t kBatch = 10;
constexpr std::uint64_t kTimesPerRun = 1'000'000;

/// tsdb-cli with pipes at both ends.
struct Child {
  pid_t pid = -1;
  int in = -1;
  int out = -1;

  explicit Child(const std::string& db) {
    int in_pipe[2];
    int out_pipe[2];
    EXPECT_EQ(pipe2(in_pipe, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out_pipe, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
      dup2(in_pipe[0], STDIN_FILENO);
      dup2(out_pipe[1], STDOUT_FILENO);
      const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
      dup2(null, STDERR_FILENO);
      const std::string batch = std::to_string(kBatch);
      execl(TSDB_CLI_PATH, TSDB_CLI_PATH, "--db", db.c_str(), "ingest", "--format", "influx", "--unit", "ms",
            "--durability", "always", "--batch", batch.c_str(), "--acks", "-", static_cast<char*>(nullptr));
      _exit(127);
    }
    close(in_pipe[0]);
    close(out_pipe[1]);
    in = in_pipe[1];
    out = out_pipe[0];
    fcntl(in, F_SETFL, O_NONBLOCK);
    fcntl(out, F_SETFL, O_NONBLOCK);
  }
  ~Child() {
    close(in);
    close(out);
  }
};

class KillLoop : public CliTest {
 protected:
  /// Feeds a run until `acknowledgements` lines came back, then kills. Returns how many samples were acknowledged.
  std::uint64_t RunAndKill(std::uint64_t run, std::uint64_t acknowledgements, unsigned delay_us) {
    Child child(Db());
    std::string pending;
    std::string answers;
    std::uint64_t next = 0;
    std::uint64_t acknowledged = 0;
    std::uint64_t lines = 0;
    while (lines < acknowledgements) {
      if (pending.empty()) {
        for (int i = 0; i < 25; ++i, ++next) {
          pending += "kill v=" + std::to_string(next) + " " + std::to_string(run * kTimesPerRun + next) + "\n";
        }
      }
      const ssize_t written = write(child.in, pending.data(), pending.size());
      if (written > 0) {
        pending.erase(0, static_cast<std::size_t>(written));
      }
      pollfd ready[] = {{child.out, POLLIN, 0}, {child.in, POLLOUT, 0}};
      if (poll(ready, written > 0 ? 1 : 2, written > 0 ? 0 : 1000) == 0 && written <= 0 &&
          waitpid(child.pid, nullptr, WNOHANG) != 0) {
        ADD_FAILURE() << "the program ended by itself";
        return acknowledged;
      }
      lines += Take(child.out, &answers, &acknowledged);
    }
    usleep(delay_us);
    kill(child.pid, SIGKILL);
    waitpid(child.pid, nullptr, 0);
    Take(child.out, &answers, &acknowledged);
    return acknowledged;
  }

  static std::uint64_t Take(int out, std::string* answers, std::uint64_t* acknowledged) {
    char buffer[4096];
    for (ssize_t n = 0; (n = read(out, buffer, sizeof(buffer))) > 0;) {
      answers->append(buffer, static_cast<std::size_t>(n));
    }
    std::uint64_t lines = 0;
    for (std::size_t end = 0; (end = answers->find('\n')) != std::string::npos; ++lines) {
      const std::string line = answers->substr(0, end);
      EXPECT_EQ(line.rfind("acknowledged ", 0), 0u) << line;
      *acknowledged = std::strtoull(line.c_str() + 13, nullptr, 10);
      answers->erase(0, end + 1);
    }
    return lines;
  }

  /// Samples of a run that are there: they must be 0..n-1 with their values.
  std::uint64_t Count(std::uint64_t run) {
    const CliResult result =
        Cli({"query", "kill_v", "--from", std::to_string(run * kTimesPerRun), "--to",
               std::to_string((run + 1) * kTimesPerRun - 1), "--aggregate", "count,min,max,last", "--output", "jsonl"});
    if (result.exit_code == 1 && result.err.find("no database") != std::string::npos) {
      return 0;  // killed before it was created
    }
    EXPECT_EQ(result.exit_code, 0) << result.err;
    if (result.out.empty()) {
      return 0;
    }
    // [t,count,min,max,last] stands last in the line.
    const std::size_t row = result.out.rfind("[[");
    EXPECT_NE(row, std::string::npos) << result.out;
    double values[5] = {};
    const char* p = result.out.c_str() + row + 2;
    for (double& value : values) {
      char* end = nullptr;
      value = std::strtod(p, &end);
      p = end + 1;
    }
    EXPECT_EQ(values[2], 0);
    EXPECT_EQ(values[3], values[1] - 1);
    EXPECT_EQ(values[4], values[1] - 1);
    return static_cast<std::uint64_t>(values[1]);
  }
};

TEST_F(KillLoop, NothingAcknowledgedIsLostAndNoBatchIsThereHalf) {
  const char* runs_text = std::getenv("TSDB_KILL_LOOP_RUNS");
  const std::uint64_t runs = runs_text == nullptr ? 100 : std::strtoull(runs_text, nullptr, 10);
  std::mt19937_64 random(17);
  std::vector<std::uint64_t> counts;
  for (std::uint64_t run = 0; run < runs; ++run) {
    const std::uint64_t acknowledged = RunAndKill(run, random() % 12, static_cast<unsigned>(random() % 3000));
    ASSERT_FALSE(HasFailure()) << "run " << run;
    const std::uint64_t count = Count(run);
    ASSERT_GE(count, acknowledged) << "run " << run;
    ASSERT_EQ(count % kBatch, 0u) << "run " << run;
    counts.push_back(count);
  }
  for (std::uint64_t run = 0; run < runs; run += 10) {
    ASSERT_EQ(Count(run), counts[run]) << "run " << run << " changed later";
  }
  CliOk({"verify"});
}

}  // namespace
}  // namespace tsdb::cli_test
