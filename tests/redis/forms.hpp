// The forms of a filter in Redis strings: one string, or shards. Tests of what holds for each of them.
#pragma once

#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "redis/server.hpp"
#include "redis/shards/shard_keys.hpp"

namespace bloomery::test {

inline Server& strings_server() {
  static Server one;
  return one;
}

// The number of shards; nullopt: one string.
using Form = std::optional<std::uint32_t>;

class OfEachForm : public testing::TestWithParam<Form> {
 protected:
  OfEachForm() { server().ask({"FLUSHALL"}); }
  static Server& server() { return strings_server(); }
  static bool in_shards() { return GetParam().has_value(); }
  static std::uint32_t strings() { return GetParam().value_or(1); }
  static RedisPlace at(const std::string& name, Form form = {}) {
    return {server().address(), name, form};
  }
  static RedisPlace place(const std::string& name = "f") { return at(name, GetParam()); }
  // For a client that does not know the number of shards.
  static RedisPlace place_to_open(const std::string& name = "f") {
    return at(name, in_shards() ? Form(0) : std::nullopt);
  }
  static std::vector<std::string> keys(const std::string& name = "f") {
    return in_shards() ? detail::shard_keys(name, strings()) : std::vector{name};
  }
  static long long keys_there() { return server().ask({"DBSIZE"})->integer; }
};

inline auto every_form() { return testing::Values(Form(), Form(1), Form(7)); }

inline std::string name_of_form(const testing::TestParamInfo<Form>& info) {
  return info.param ? "Shards" + std::to_string(*info.param) : "OneString";
}

}  // namespace bloomery::test
