// A server of its own for those who write filters in shards, and what they write.
#pragma once

#include <bloomery/filter.hpp>
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>

#include <string>

#include "redis/server.hpp"
#include "support/random.hpp"

namespace bloomery::test {

// A plan of so many blocks.
inline Plan of_blocks(std::uint64_t blocks, Layout layout = Layout::blocked,
                      std::uint64_t keys = 5'000) {
  Plan made = plan(keys, 0.01, layout);
  made.bits = blocks * kBlockBits;
  return made;
}

struct Put {
  std::uint32_t shards = 0;
  bool replace = false;
};

class FilterWriters : public testing::Test {
 protected:
  FilterWriters() { server().ask({"FLUSHALL"}); }
  static Server& server() {
    static Server one;
    return one;
  }
  static RedisAddress address() { return server().address(); }
  static long long keys_there() { return server().ask({"DBSIZE"})->integer; }
  static RedisFilter open(const std::string& name = "f") {
    return RedisFilter::open({address(), name, 0});
  }
  static Filter filled(const Plan& plan, std::uint64_t first, std::size_t count = 2'000) {
    Filter filter(plan);
    filter.insert_many(keys_from(first, count));
    return filter;
  }
  static void put(const Filter& filter, const Put& options, const RedisAddress& at = address()) {
    auto writer = RedisFilterWriter::of_bits({at, "f", options.shards}, filter.plan(),
                                             filter.hasher(), options.replace);
    writer.write(0, filter.bytes());
    writer.publish();
  }
};

}  // namespace bloomery::test
