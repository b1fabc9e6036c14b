// Filter files in a directory of a test's own, made by the tool.
#pragma once

#include "tool.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace bloomery::test {

class Files : public ToolTest {
 protected:
  // A filter for 100,000 keys at 1e-6 with the lines of `text`.
  [[nodiscard]] std::string made(const std::string& name, const std::string& text) const {
    EXPECT_EQ(run({"create", path(name), "-n", "100K", "-p", "1e-6"}).code, 0);
    EXPECT_EQ(run({"add", "-q", path(name)}, text).code, 0);
    return path(name);
  }
  [[nodiscard]] static nlohmann::json info(const std::string& filter) {
    return nlohmann::json::parse(run({"info", "--json", filter}).out);
  }
};

}  // namespace bloomery::test
