// A server of its own for those who write filters in shards, and what they write.
#pragma once

#include <bloomery/filter.hpp>
#include <bloomery/sharded_redis_writer.hpp>

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

class ShardedWriters : public testing::Test {
 protected:
  ShardedWriters() { server().ask({"FLUSHALL"}); }
  static Server& server() {
    static Server one;
    return one;
  }
  static RedisAddress address() { return server().address(); }
  static long long keys_there() { return server().ask({"DBSIZE"})->integer; }
  static ShardedRedisFilter open(const std::string& name = "f") {
    return ShardedRedisFilter::open(address(), name);
  }
  static Filter filled(const Plan& plan, std::uint64_t first, std::size_t count = 2'000) {
    Filter filter(plan);
    filter.insert_many(keys_from(first, count));
    return filter;
  }
  static void put(const Filter& filter, const ShardedRedisWriterOptions& options,
                  const RedisAddress& at = address()) {
    auto writer = ShardedRedisWriter::of_bits(at, "f", filter.plan(), filter.hasher(), options);
    writer.write(0, filter.bytes());
    writer.publish();
  }
};

}  // namespace bloomery::test
