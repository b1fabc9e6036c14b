// A filter that is written into shards as a whole is no filter with holes where a node takes over from another.
#include <bloomery/error.hpp>
#include <bloomery/filter.hpp>
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "redis/node_pair.hpp"
#include "store/scratch.hpp"

namespace bloomery {
namespace {

using test::error_of;
using Pair = test::NodePair;
using Words = Pair::Words;
using Said = Pair::Said;

// A new node that is a replica that took over may lack what the old one has acknowledged.
TEST(UnmovedSlots, AFilterWhoseSlotMovesWhileItIsWrittenIsAnError) {
  Pair pair;
  Filter whole(plan(10'000, 0.01));
  whole.insert_many(Pair::keys());
  int errors = 0;
  long long published = 0;
  // The slot moves after so many commands.
  for (int calls = 0, moved = 1; moved != 0; ++calls) {
    SCOPED_TRACE(calls);
    pair.everything_at_first();
    auto writer = RedisFilterWriter::of_bits({pair.address(), "copy-" + std::to_string(calls), 1},
                                             whole.plan(), whole.hasher());
    moved = 0;
    bool put_there = false;
    int left = calls;
    pair.first.say([&](const Words& words) -> Said {
      if (words[0] == "CLUSTER") return pair.slots();
      if (left-- > 0) return std::nullopt;
      ++moved;
      return pair.to_second("MOVED");
    });
    pair.second.say([&](const Words& words) -> Said {
      put_there = put_there || words[0] == "SETRANGE" ||
                  (words[0] == "EVAL" && words[1].find("RENAME") != std::string::npos);
      return std::nullopt;
    });
    try {
      writer.write(0, whole.bytes());
      writer.publish();
      EXPECT_FALSE(put_there) << "the new node got a part without a word";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unavailable);
      EXPECT_NE(std::string(error.what()).find("run it again"), std::string::npos) << error.what();
      ++errors;
      published += pair.real.ask({"EXISTS", "copy-" + std::to_string(calls) + ":{0}"})->integer;
    }
    pair.everything_at_first();
  }
  EXPECT_GT(errors, 3);
  EXPECT_EQ(published, 0);
}

// When the node is back it may be one that has taken over.
TEST(UnmovedSlots, AWriterThatHasLostANodeDoesNotGoOn) {
  Pair pair;
  auto writer =
      RedisFilterWriter::of_keys({pair.address(), "copy", 2}, plan(10'000, 0.01), Hasher());
  const auto hashes = test::hashes_of(Hasher(), 0, 100);
  writer.insert_hashes(hashes);
  pair.first.say([&](const Words& words) -> Said {
    return Pair::is_look_up(words) ? Said("") : std::nullopt;
  });
  error_of([&] { writer.insert_hashes(hashes); }, ErrorCode::unavailable);
  pair.everything_at_first();
  for (const bool inserts : {true, false}) {
    const std::string message = error_of(
        [&] {
          if (inserts) writer.insert_hashes(hashes);
          if (!inserts) writer.publish();
        },
        ErrorCode::unavailable);
    EXPECT_NE(message.find("run it again"), std::string::npos) << message;
  }
  EXPECT_EQ(pair.real.ask({"EXISTS", "copy:{0}"})->integer, 0);
}

}  // namespace
}  // namespace bloomery
