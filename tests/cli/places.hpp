// Filters on a Redis server that has the module, named as the tool's users name them.
#pragma once

#include "tool.hpp"

#include <nlohmann/json.hpp>

#include <string>

#include "redis/server.hpp"

namespace bloomery::test {

class Places : public ToolTest {
 protected:
  static const Server& server() {
    static const Server one(module_options());
    return one;
  }
  void SetUp() override { server().ask({"FLUSHALL"}); }
  [[nodiscard]] static std::string url(const std::string& key) {
    return "redis+unix://" + server().path() + "?key=" + key;
  }
  [[nodiscard]] static std::string module(const std::string& key) {
    return "redis+module+unix://" + server().path() + "?key=" + key;
  }
  [[nodiscard]] static nlohmann::json info(Arguments words) {
    words.insert(words.begin(), {"info", "--json"});
    return nlohmann::json::parse(run(words).out);
  }
  // How many of the lines a filter has not seen.
  [[nodiscard]] static std::string absent(Arguments words, const std::string& lines) {
    words.insert(words.begin(), {"check", "-q", "-c", "-v"});
    return run(words, lines).out;
  }
};

}  // namespace bloomery::test
