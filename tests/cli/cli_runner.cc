#include "tests/cli/cli_runner.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tsdb::cli_test {
namespace {

constexpr char kProgram[] = TSDB_CLI_PATH;

struct Pipe {
  int read = -1;
  int write = -1;
};

Pipe MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    ADD_FAILURE() << "pipe2 failed: " << errno;
    std::abort();
  }
  return {ends[0], ends[1]};
}

/// Starts a program; `in`, `out` and `err` become its standard streams.
pid_t Start(const std::string& program, const std::vector<std::string>& args, const RunOptions& options, int in,
            int out, int err) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), args.begin(), args.end());
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    ::unsetenv("TSDB_DB");
    for (const auto& [name, value] : options.env) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  EXPECT_GT(pid, 0);
  return pid;
}

void CloseFd(int* fd) {
  if (*fd >= 0) {
    ::close(*fd);
    *fd = -1;
  }
}

/// Reads both streams to their ends.
void Collect(int out, int err, CliResult* result) {
  pollfd watched[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  std::string* texts[2] = {&result->out, &result->err};
  char buffer[65536];
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    ASSERT_GE(::poll(watched, 2, -1), 0);
    for (int i = 0; i < 2; ++i) {
      if (watched[i].fd < 0 || watched[i].revents == 0) {
        continue;
      }
      const ssize_t got = ::read(watched[i].fd, buffer, sizeof buffer);
      if (got <= 0) {
        watched[i].fd = -1;
      } else {
        texts[i]->append(buffer, static_cast<std::size_t>(got));
      }
    }
  }
}

int ExitCode(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

RunningCli::RunningCli(const std::vector<std::string>& args) {
  std::signal(SIGPIPE, SIG_IGN);
  const Pipe in = MakePipe();
  const Pipe out = MakePipe();
  const Pipe err = MakePipe();
  pid_ = Start(kProgram, args, {}, in.read, out.write, err.write);
  ::close(in.read);
  ::close(out.write);
  ::close(err.write);
  in_ = in.write;
  out_ = out.read;
  err_ = err.read;
}

RunningCli::~RunningCli() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ExitCode(pid_);
  }
  CloseFd(&in_);
  CloseFd(&out_);
  CloseFd(&err_);
}

void RunningCli::Write(const std::string& text) {
  ASSERT_EQ(::write(in_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

void RunningCli::Signal(int signal) { ASSERT_EQ(::kill(pid_, signal), 0); }

void RunningCli::CloseOutput() { CloseFd(&out_); }

CliResult RunningCli::Wait(bool keep_input) {
  if (!keep_input) {
    CloseFd(&in_);
  }
  CliResult result;
  Collect(out_, err_, &result);
  result.exit_code = ExitCode(pid_);
  pid_ = -1;
  return result;
}

CliResult RunProgram(const std::string& program, const std::vector<std::string>& args, const RunOptions& options) {
  // The input is a file, so that nobody waits for anybody.
  std::FILE* input = std::tmpfile();
  EXPECT_NE(input, nullptr);
  EXPECT_EQ(std::fwrite(options.input.data(), 1, options.input.size(), input), options.input.size());
  std::fflush(input);
  std::rewind(input);
  const Pipe out = MakePipe();
  const Pipe err = MakePipe();
  const pid_t pid = Start(program, args, options, ::fileno(input), out.write, err.write);
  ::close(out.write);
  ::close(err.write);
  CliResult result;
  Collect(out.read, err.read, &result);
  ::close(out.read);
  ::close(err.read);
  std::fclose(input);
  result.exit_code = ExitCode(pid);
  return result;
}

CliTest::CliTest() {
  std::string pattern = ::testing::TempDir() + "/tsdb-cli-test-XXXXXX";
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  dir_ = pattern;
}

CliTest::~CliTest() {
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

CliResult CliTest::Cli(std::vector<std::string> args, const RunOptions& options) const {
  args.insert(args.begin(), {"--db", Db()});
  return RunProgram(kProgram, args, options);
}

CliResult CliTest::CliOk(std::vector<std::string> args, const RunOptions& options) const {
  CliResult result = Cli(std::move(args), options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result;
}

std::string CliTest::File(const std::string& name, const std::string& content) const {
  std::ofstream(Path(name), std::ios::binary) << content;
  return Path(name);
}

std::string CliTest::Rows(const std::string& selector, std::vector<std::string> more) const {
  more.insert(more.begin(), {"query", selector, "--output", "csv"});
  const std::string text = CliOk(std::move(more)).out;
  return text.substr(text.find('\n') + 1);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace tsdb::cli_test
