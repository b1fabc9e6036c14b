// redis-servers on free loopback ports for the benches, alone or as a cluster.
#pragma once

#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <bloomery/error.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "redis/wire/connection.hpp"

extern char** environ;

namespace bloomery::bench {

class Server {
 public:
  explicit Server(const std::vector<std::string>& options = {})
      : port_(free_port()),
        directory_(std::filesystem::temp_directory_path() /
                   ("bloomery-bench-" + std::to_string(port_))) {
    std::filesystem::create_directories(directory_);
    std::vector<std::string> words = {"redis-server",
                                      "--port",
                                      std::to_string(port_),
                                      "--bind",
                                      "127.0.0.1",
                                      "--save",
                                      "",
                                      "--dir",
                                      directory_.string(),
                                      "--logfile",
                                      "/dev/null"};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (posix_spawnp(&process_, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0)
      throw std::runtime_error("redis-server cannot be started; is it installed?");
    for (int i = 0;; ++i) {
      try {
        ask({"PING"});
        return;
      } catch (const Error&) {
        if (i == 500) throw;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
  }
  ~Server() {
    kill(process_, SIGTERM);
    waitpid(process_, nullptr, 0);
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] RedisAddress address() const { return {.port = port_}; }
  detail::Reply ask(std::initializer_list<std::string_view> words) const {
    return detail::Connection(address()).ask(words);
  }
  // The processor time of the server's main thread since its start.
  [[nodiscard]] double processor_seconds() const {
    double nanoseconds = 0;
    std::ifstream("/proc/" + std::to_string(process_) + "/schedstat") >> nanoseconds;
    return nanoseconds / 1e9;
  }

 private:
  static std::uint16_t free_port() {
    const int probe = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    bind(probe, reinterpret_cast<const sockaddr*>(&name), size);
    getsockname(probe, reinterpret_cast<sockaddr*>(&name), &size);
    close(probe);
    const std::uint16_t port = ntohs(name.sin_port);
    // The cluster bus uses the port number plus 10,000.
    return port < 50'000 ? port : static_cast<std::uint16_t>(port - 20'000);
  }

  std::uint16_t port_;
  std::filesystem::path directory_;
  pid_t process_ = 0;
};

class Servers {
 public:
  Servers(std::size_t count, std::vector<std::string> options) {
    for (const char* word : {"--cluster-enabled", "yes"}) options.emplace_back(word);
    for (std::size_t i = 0; i < count; ++i) all_.push_back(std::make_unique<Server>(options));
    for (std::size_t i = 0; i < count; ++i) {
      const std::string first = std::to_string(i * 16'384 / count);
      const std::string last = std::to_string((i + 1) * 16'384 / count - 1);
      all_[i]->ask({"CLUSTER", "ADDSLOTSRANGE", first, last});
      all_[0]->ask({"CLUSTER", "MEET", "127.0.0.1", std::to_string(all_[i]->address().port)});
    }
    for (const auto& server : all_)
      for (int i = 0; i < 1'000 && !knows_all(*server); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

  [[nodiscard]] RedisAddress address() const { return all_[0]->address(); }
  // The values for each node.
  [[nodiscard]] std::vector<double> processor_seconds() const {
    std::vector<double> seconds;
    for (const auto& server : all_) seconds.push_back(server->processor_seconds());
    return seconds;
  }

 private:
  [[nodiscard]] bool knows_all(const Server& server) const {
    const detail::Reply reply = server.ask({"CLUSTER", "INFO"});
    const std::string_view info(reply->str, reply->len);
    return info.find("cluster_state:ok") != std::string_view::npos &&
           info.find("cluster_known_nodes:" + std::to_string(all_.size()) + "\r") !=
               std::string_view::npos;
  }

  std::vector<std::unique_ptr<Server>> all_;
};

}  // namespace bloomery::bench
