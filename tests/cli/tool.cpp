// The harness: posix_spawn, pipes and poll.
#include "tool.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

extern char** environ;

namespace bloomery::test {

namespace {

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return ends;
}

void close_end(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

std::string read_for(int fd, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::size_t have = 0;
  while (have < bytes) {
    const ssize_t got = ::read(fd, text.data() + have, bytes - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

}  // namespace

Running::Running(const Arguments& arguments, const Redirect& redirect) {
  std::signal(SIGPIPE, SIG_IGN);
  auto in = make_pipe(), out = make_pipe(), err = make_pipe();
  if (redirect.close_err_reader) close_end(err[0]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  const auto connect = [&](int fd, int end, const std::string& file, int flags, bool closed) {
    if (closed) {
      ::posix_spawn_file_actions_addclose(&actions, fd);
    } else if (!file.empty()) {
      ::posix_spawn_file_actions_addopen(&actions, fd, file.c_str(), flags, 0644);
    } else {
      ::posix_spawn_file_actions_adddup2(&actions, end, fd);
    }
  };
  connect(STDIN_FILENO, in[0], redirect.in, O_RDONLY, redirect.close_in);
  connect(STDOUT_FILENO, out[1], redirect.out, O_WRONLY | O_CREAT | O_APPEND, redirect.close_out);
  connect(STDERR_FILENO, err[1], redirect.err, O_WRONLY | O_NOCTTY, false);
  // Nothing that this program was started with, so that the tool opens as many files under a limit everywhere.
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);

  // The shell's defaults, whatever the test program ignores or blocks.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t all;
  ::sigfillset(&all);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);

  Arguments words{BLOOMERY_TOOL_FILE};
  const std::pair<const char*, std::size_t> limits[] = {
      {"-v ", redirect.memory / 1024}, {"-f ", redirect.file_blocks}, {"-n ", redirect.open_files}};
  for (const auto& [flag, limit] : limits)
    if (limit != 0)
      words = {"/bin/sh", "-c",
               std::string("ulimit ") + flag + std::to_string(limit) + "; exec \"$0\" \"$@\"",
               BLOOMERY_TOOL_FILE};
  if (redirect.nobody)
    words = {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
             BLOOMERY_TOOL_FILE};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int error = ::posix_spawn(&pid_, argv[0], &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  for (const int end : {in[0], out[1], err[1]}) ::close(end);
  in_ = in[1];
  out_ = out[0];
  err_ = err[0];
  if (error != 0) throw std::runtime_error("cannot start " BLOOMERY_TOOL_FILE);
}

Running::~Running() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (int* const end : {&in_, &out_, &err_}) close_end(*end);
}

void Running::write(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(in_, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;  // it reads no more: its output and code will tell
    at += static_cast<std::size_t>(written);
  }
}

void Running::wait_until_read() const {
  int unread = 1;
  for (int i = 0; i < 6000 && ::ioctl(in_, FIONREAD, &unread) == 0 && unread != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

void Running::close_input() { close_end(in_); }
void Running::close_output() { close_end(out_); }
std::string Running::read(std::size_t bytes) { return read_for(out_, bytes); }
void Running::signal(int number) { ::kill(pid_, number); }

Ran Running::finish(bool close_first) {
  if (close_first) close_input();
  Ran ran;
  std::array<std::pair<int*, std::string*>, 2> ends{{{&out_, &ran.out}, {&err_, &ran.err}}};
  std::string piece(1 << 16, '\0');
  while (out_ >= 0 || err_ >= 0) {
    std::array<pollfd, 2> waits{{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
    if (::poll(waits.data(), waits.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (waits[i].revents == 0) continue;
      const ssize_t got = ::read(*ends[i].first, piece.data(), piece.size());
      if (got > 0) {
        ends[i].second->append(piece, 0, static_cast<std::size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        close_end(*ends[i].first);
      }
    }
  }
  int status = 0;
  struct rusage used {};
  while (::wait4(pid_, &status, 0, &used) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  ran.most_memory = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  if (WIFEXITED(status)) ran.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ran.signal = WTERMSIG(status);
  return ran;
}

Ran run(const Arguments& arguments, const std::string& input, const Redirect& redirect) {
  Running tool(arguments, redirect);
  // A thread feeds it, so that neither side waits for the other.
  std::thread feeder([&] {
    tool.write(input);
    tool.close_input();
  });
  const Ran ran = tool.finish(false);
  feeder.join();
  return ran;
}

ToolTest::ToolTest() {
  std::string pattern = (std::filesystem::temp_directory_path() / "bloomery-cli-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
  directory_ = pattern;
}

ToolTest::~ToolTest() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::string ToolTest::file(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
  return path(name);
}

std::string ToolTest::text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

std::string ToolTest::packed(const std::string& program, const std::string& name,
                             const std::string& text) const {
  const std::string plain = file("plain", text);
  const std::string command = program + " -c <'" + plain + "' >'" + path(name) + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return path(name);
}

std::string ToolTest::unpacked(const std::string& program, const std::string& bytes) const {
  const std::string from = file("packed", bytes);
  const std::string command = program + " -dc <'" + from + "' >'" + path("text") + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return text_of(path("text"));
}

std::string numbers(int from, int to) {
  // Compiled without optimization, std::to_string takes three times as long as printf.
  std::string text;
  std::array<char, 16> line{};
  for (int i = from; i < to; ++i)
    text.append(line.data(),
                static_cast<std::size_t>(std::snprintf(line.data(), line.size(), "%d\n", i)));
  return text;
}

testing::AssertionResult is_error(const Ran& ran, const std::vector<std::string>& words) {
  const auto fail = [&](const std::string& why) {
    return testing::AssertionFailure()
           << why << "; code " << ran.code << ", signal " << ran.signal << ", stdout '" << ran.out
           << "', stderr '" << ran.err << "'";
  };
  if (ran.code != 2) return fail("the exit code is not 2");
  if (!ran.out.empty()) return fail("there is output");
  if (!ran.err.starts_with("bloomery: ")) return fail("stderr does not begin with the tool's name");
  if (std::count(ran.err.begin(), ran.err.end(), '\n') != 1 || ran.err.back() != '\n')
    return fail("stderr is not one line");
  for (const auto& word : words)
    if (ran.err.find(word) == std::string::npos) return fail("stderr does not say '" + word + "'");
  return testing::AssertionSuccess();
}

testing::AssertionResult says(const std::string& text, const std::string& words) {
  const bool it_does = text.find(words) != std::string::npos;
  return testing::AssertionResult(it_does)
         << "'" << words << (it_does ? "' is in '" : "' is not in '") << text << "'";
}

}  // namespace bloomery::test
