// A writer_process that a test starts, listens to, and kills.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <bloomery/filter_file.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace bloomery::test {

class Writer {
 public:
  // keys_of_a_load: 0: it makes no loads.
  Writer(const std::string& path, const std::string& what, std::uint64_t first_key,
         std::uint64_t keys_of_a_load = 0)
      : acknowledged_(first_key) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    // The program comes last of these: of another CPU it runs in an emulator, as this test does.
    std::vector<std::string> words = {BLOOMERY_WRITER_PROCESS};
    words.insert(words.end(), {path, what, std::to_string(first_key)});
    if (keys_of_a_load != 0) words.push_back(std::to_string(keys_of_a_load));
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    EXPECT_EQ(::posix_spawnp(&process_, arguments[0], &actions, nullptr, arguments.data(), environ),
              0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    said_ = ends[0];
  }
  ~Writer() {
    kill();
    ::close(said_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Takes what it says for so long, or until it has acknowledged something.
  void listen(std::chrono::microseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) take(1);
  }
  bool wait_for_a_key() {
    const std::uint64_t before = acknowledged_;
    while (acknowledged_ == before && take(10'000)) continue;
    return acknowledged_ != before;
  }
  // Kills it and takes what it had said. A record of 8 bytes is in a pipe whole or not at all.
  void kill() {
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    int status = 0;
    ::waitpid(process_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself";
    process_ = 0;
    while (take(0)) continue;
  }
  [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }

 private:
  // False: nothing came, or nothing will.
  bool take(int milliseconds) {
    pollfd wait{said_, POLLIN, 0};
    if (::poll(&wait, 1, milliseconds) <= 0) return false;
    std::uint64_t next = 0;
    if (::read(said_, &next, sizeof next) != sizeof next) return false;
    acknowledged_ = next;
    return true;
  }
  pid_t process_ = 0;
  int said_ = -1;
  std::uint64_t acknowledged_;
};

// Of a file whose writers were killed.
inline void expect_recoverable(const std::string& path) {
  const VerifyReport report = verify(path);
  EXPECT_NE(report.state, VerifyReport::State::unclean) << report.detail;
  EXPECT_TRUE(report.damaged_chunks.empty()) << report.detail;
}

}  // namespace bloomery::test
