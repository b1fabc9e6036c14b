// Filter files in a directory of a test's own, made by the tool.
#pragma once

#include "tool.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

namespace bloomery::test {

class Files : public ToolTest {
 protected:
  // A filter for 100,000 keys at 1e-6 with the lines of `text`.
  [[nodiscard]] std::string made(const std::string& name, const std::string& text) const {
    EXPECT_EQ(run({"create", path(name), "-n", "100K", "-p", "1e-6"}).code, 0);
    EXPECT_EQ(run({"add", "-q", path(name)}, text).code, 0);
    return path(name);
  }
  static void put(const std::string& file, std::initializer_list<int> places, char byte) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    for (const int place : places) bytes.seekp(place).put(byte);
  }
  // The names of all files there.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path("")))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  // A line is there within a second of its being read by a writer.
  static void await(const std::string& filter, const std::string& line) {
    for (int i = 0; i < 200 && run({"check", "-q", filter}, line).code != 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  [[nodiscard]] static nlohmann::json info(const std::string& filter) {
    return nlohmann::json::parse(run({"info", "--json", filter}).out);
  }
};

}  // namespace bloomery::test
