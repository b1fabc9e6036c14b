// A server with the module for tests of the handle, if there is a module, and the addresses of filters on it.
#pragma once

#include <bloomery/any_filter.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "redis/server.hpp"

namespace bloomery::test {

using Keys = std::vector<std::string>;

class AnyOnServer : public testing::Test {
 protected:
  static Server& server() {
    static Server one(module_options());
    return one;
  }
  void SetUp() override { server().ask({"FLUSHALL"}); }
  // On a busy machine a server takes seconds to make a string of 512 MB.
  [[nodiscard]] static std::string at(const std::string& scheme, const std::string& rest) {
    const bool has_timeout = rest.find("&timeout=") != std::string::npos;
    return scheme + "+unix://" + server().path() + "?key=" + rest +
           (has_timeout ? "" : "&timeout=60");
  }
  [[nodiscard]] static std::string string_at(const std::string& key) { return at("redis", key); }
  // New filters: in one string ("k"), in two generations, in shards, of a PHP class, in a string that is put in its
  // place when it is closed ("n"), and in a module, if there is one.
  [[nodiscard]] std::vector<AnyFilter> in_every_place() const {
    std::vector<AnyFilter> filters;
    filters.push_back(AnyFilter::create(string_at("k"), spec_));
    filters.push_back(AnyFilter::create(string_at("r"), spec_, {.rotating = true}));
    filters.push_back(AnyFilter::create(at("redis+cluster", "s&shards=2"), spec_));
    filters.push_back(
        AnyFilter::create(string_at("b"), {}, {.scheme = PhpScheme::string_hashes("FNV")}));
    filters.push_back(AnyFilter::rebuild(string_at("n"), plan(spec_)));
#ifdef BLOOMERY_MODULE
    filters.push_back(AnyFilter::create(at("redis+module", "m"), spec_));
#endif
    return filters;
  }
  static constexpr std::size_t kKeys = 3'000;
  static Keys keys() { return text_keys("key", kKeys); }
  const FilterSpec spec_{.capacity = 10'000, .fpr = 0.001};
  Scratch scratch_;
};

}  // namespace bloomery::test
