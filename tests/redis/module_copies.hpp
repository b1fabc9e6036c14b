// Two filters of a module in shards, and copies of them.
#pragma once

#include <bloomery/module_filter.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/module_server.hpp"
#include "redis/scripted.hpp"

namespace bloomery::test {

class ModuleCopies : public testing::Test {
 protected:
  ModuleCopies() : old_("old:", 3'000), next_("next:", 3'000) {
    module_server().ask({"FLUSHALL"});
    make("a", old_.views);
    make("b", next_.views);
  }
  static ModuleFilter make(const char* name, std::span<const std::string_view> keys) {
    auto filter = ModuleFilter::create({module_server().address(), name, 3},
                                       {.capacity = 3'000, .fpr = 0.001});
    filter.insert_many(keys);
    return filter;
  }
  static ModuleFilter open(const char* name) {
    return ModuleFilter::open({module_server().address(), name, 0});
  }
  static void store(const char* name, const std::vector<const char*>& from, bool replace = false,
                    const RedisAddress& through = module_server().address()) {
    std::vector<ModuleFilter> sources;
    std::vector<ModuleFilter*> each;
    for (const char* source : from) sources.push_back(open(source));
    for (ModuleFilter& source : sources) each.push_back(&source);
    ModuleFilter::store({through, name, 0}, each, replace);
  }
  // As a program that is killed when it has put two of the shards into their places.
  static void store_half(const char* name, const std::vector<const char*>& from, bool replace) {
    Scripted node(module_server().path());
    int placed = 0;
    node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      if (placed == 2) return "";
      if (words[0] == "EVAL" && words[2] == "3") ++placed;
      return std::nullopt;
    });
    error_of([&] { store(name, from, replace, {.port = node.port()}); }, ErrorCode::unavailable);
  }
  static void drop(const char* name) {
    if (module_server().get(std::string(name) + ":{0}:shards").empty()) return;
    const auto filter = open(name);
    module_server().ask({"DEL", filter.record_key()});
    for (const std::string& key : filter.keys()) module_server().ask({"DEL", key});
  }
  static long long keys_there() { return module_server().ask({"DBSIZE"})->integer; }

  NumberedKeys old_, next_;
};

}  // namespace bloomery::test
