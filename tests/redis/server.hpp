// A real redis-server in a directory of its own, on a unix socket: the one that was there when the
// tests were configured, or the program that BLOOMERY_REDIS_SERVER names in the environment. In the
// same way BLOOMERY_MODULE names another module with BF commands.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <bloomery/module_filter.hpp>
#include <bloomery/redis_filter.hpp>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "redis/wire/connection.hpp"
#include "store/scratch.hpp"
#include "support/expect_error.hpp"

extern char** environ;

namespace bloomery::test {

inline std::string named_or(const char* variable, const char* usual) {
  const char* named = std::getenv(variable);
  return named != nullptr ? named : usual;
}
#ifdef BLOOMERY_MODULE
inline std::string module_file() { return named_or("BLOOMERY_MODULE", BLOOMERY_MODULE); }
inline std::vector<std::string> module_options() { return {"--loadmodule", module_file()}; }
#else
inline std::vector<std::string> module_options() { return {}; }  // there is no module
#endif

class Server {
 public:
  // `file`: the configuration, which a sentinel writes to.
  explicit Server(std::vector<std::string> options = {}, std::string file = {})
      : options_(std::move(options)), file_(std::move(file)) {
    start();
  }
  ~Server() { stop(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void start() {
    // A test that crashes leaves no server behind, for which ctest would wait.
    std::vector<std::string> words = {"/usr/bin/setpriv", "--pdeathsig", "KILL", "--",
                                      named_or("BLOOMERY_REDIS_SERVER", BLOOMERY_REDIS_SERVER)};
    if (!file_.empty()) words.push_back(file_);
    const std::vector<std::string> usual = {
        "--port",      "0", "--unixsocket", path(), "--dir",     scratch_ / ".",
        "--save",      "",  "--appendonly", "no",   "--logfile", scratch_ / "log",
        "--daemonize", "no"};
    words.insert(words.end(), usual.begin(), usual.end());
    words.insert(words.end(), options_.begin(), options_.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ASSERT_EQ(posix_spawn(&process_, arguments[0], nullptr, nullptr, arguments.data(), environ), 0);
    for (int i = 0; i < 3'000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      try {
        detail::Connection(address()).ask({"PING"});
        return;
      } catch (const Error& error) {
        if (error.code() == ErrorCode::denied) return;
      }
      if (waitpid(process_, nullptr, WNOHANG) == process_) {
        process_ = 0;
        break;
      }
    }
    std::ifstream log(scratch_ / "log");
    FAIL() << "redis-server does not start: " << log.rdbuf();
  }
  void stop() {
    if (process_ == 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  void signal(int number) const { kill(process_, number); }

  // There is no server at that address, so no data is lost.
  void become_replica_and_master_again() const {
    ask({"REPLICAOF", "127.0.0.1", "1"});
    ask({"REPLICAOF", "NO", "ONE"});
  }

  // As redis-cli --rdb, or a first replica, which leaves again.
  void send_a_copy() const {
    detail::Connection copy(address());
    detail::Commands sync;
    sync.begin(1).word("SYNC");
    copy.send(sync);
    wait_for("replication", "connected_slaves:1");
  }

  [[nodiscard]] std::string path() const { return scratch_ / "socket"; }
  [[nodiscard]] const Scratch& scratch() const { return scratch_; }
  // On a busy machine a server takes seconds to make a string of 512 MB.
  [[nodiscard]] RedisAddress address() const {
    return {.socket = path(), .timeout = std::chrono::seconds(60)};
  }
  // That of a user with these rights alone.
  [[nodiscard]] RedisAddress as_user(std::initializer_list<std::string_view> rights) const {
    ask({"ACL", "SETUSER", "bob", "reset", "on", ">word"});
    for (const std::string_view right : rights) ask({"ACL", "SETUSER", "bob", right});
    RedisAddress bob = address();
    bob.user = "bob";
    bob.password = "word";
    return bob;
  }
  detail::Reply ask(std::initializer_list<std::string_view> words) const {
    return detail::Connection(address()).ask(words);
  }
  [[nodiscard]] std::string get_info(std::string_view section) const {
    const detail::Reply reply = ask({"INFO", section});
    return {reply->str, reply->len};
  }
  // Until this is in what INFO says of the section.
  void wait_for(std::string_view section, std::string_view words) const {
    for (int i = 0; i < 12'000; ++i) {
      if (get_info(section).find(words) != std::string::npos) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << "not within two minutes: " << words;
  }
  // None of its keys expires.
  template <class Filter>
  void expect_to_keep(const Filter& filter) const {
    for (const std::string& key : filter.keys())
      EXPECT_EQ(ask({"PTTL", key})->integer, -1) << key << " would expire";
  }
  [[nodiscard]] std::string get(std::string_view key) const {
    const detail::Reply reply = ask({"GET", key});
    return reply->type == REDIS_REPLY_STRING ? std::string(reply->str, reply->len) : "";
  }

 private:
  Scratch scratch_;
  std::vector<std::string> options_;
  std::string file_;
  pid_t process_ = 0;
};

// The dump of a filter, one chunk after the other.
class Dumper {
 public:
  explicit Dumper(const RedisPlace& place) : filter_(ModuleFilter::open(place)) {}
  [[nodiscard]] ModuleChunk next() {
    ModuleChunk chunk = filter_.dump(iterator_);
    iterator_ = chunk.iterator;
    return chunk;
  }

 private:
  ModuleFilter filter_;
  std::uint64_t iterator_ = 0;
};

}  // namespace bloomery::test
