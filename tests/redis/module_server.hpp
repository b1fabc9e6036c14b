// A server with the module for those who use filters of it, and texts as keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "redis/server.hpp"

namespace bloomery::test {

inline Server& module_server() {
  static Server one(module_options());
  return one;
}

struct NumberedKeys {
  NumberedKeys(const std::string& prefix, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) texts.push_back(prefix + std::to_string(i));
    views.assign(texts.begin(), texts.end());
  }
  std::vector<std::string> texts;
  std::vector<std::string_view> views;
};

}  // namespace bloomery::test
