// A filter in shards that takes the place of another takes it whole, and nobody who asks meanwhile is
// told "absent".
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "redis/filter_writers.hpp"
#include "redis/scripted.hpp"
#include "redis/shards/shard_keys.hpp"
#include "redis/shards/staged_keys.hpp"

namespace bloomery::test {
namespace {

class Replacement : public FilterWriters {};

TEST_F(Replacement, ReplacesOnlyWhatItMay) {
  const auto refused = [&](const Put& options, std::uint64_t blocks, ErrorCode code,
                           const std::string& part) {
    expect_error(code, {part}, [&] { put(filled(of_blocks(blocks), 5), options); });
  };
  put(filled(of_blocks(120), 1), {.shards = 4});
  refused({.shards = 4}, 120, ErrorCode::exists, "exists already");
  refused({.shards = 5, .replace = true}, 120, ErrorCode::mismatch, "has 4 shards, and keeps");
  refused({.replace = true}, 116, ErrorCode::mismatch, "would become shorter");
  refused({.replace = true}, 121, ErrorCode::invalid_argument, "do not divide into 4 shards");
  EXPECT_EQ(open().may_contain_many(keys_from(1, 2'000)), 2'000U);
  EXPECT_EQ(keys_there(), 4);

  server().ask({"FLUSHALL"});
  RedisFilter::create({address(), "f:{0}"}, plan(100, 0.01));
  refused({.replace = true}, 120, ErrorCode::exists, "not a filter in shards");
  server().ask({"SET", "f:{0}", "text"});
  refused({.replace = true}, 120, ErrorCode::not_a_filter, "without a filter's header");
  server().ask({"DEL", "f:{0}"});
  server().ask({"RPUSH", "f:{0}", "text"});
  refused({.replace = true}, 120, ErrorCode::not_a_filter, "");
  EXPECT_EQ(keys_there(), 1);

  // Shards with bits of a filter whose shard 0 is lost, or that a writer has left half way.
  server().ask({"FLUSHALL"});
  put(filled(of_blocks(120), 1), {.shards = 4});
  server().ask({"DEL", "f:{0}"});
  refused({.shards = 4}, 120, ErrorCode::exists, "holds something");
  // Who still has the old filter open would write behind the end of shorter ones.
  refused({.shards = 4, .replace = true}, 116, ErrorCode::exists, "is longer than the new one");
  EXPECT_EQ(keys_there(), 3);
  put(filled(of_blocks(120), 70'000), {.shards = 4, .replace = true});
  EXPECT_EQ(open().may_contain_many(keys_from(70'000, 2'000)), 2'000U);
  EXPECT_EQ(keys_there(), 4);
}

TEST_F(Replacement, NoneBecomesShorterWhereAnotherWasFaster) {
  for (const std::uint32_t shards : {1U, 4U}) {
    server().ask({"FLUSHALL"});
    put(filled(of_blocks(120), 1), {.shards = shards});
    auto slow = RedisFilterWriter::of_bits({address(), "f", 0}, of_blocks(120), Hasher(), true);
    put(filled(of_blocks(240), 5'000), {.replace = true});
    EXPECT_THROW(slow.publish(), Error);
    EXPECT_EQ(open().may_contain_many(keys_from(5'000, 2'000)), 2'000U);
  }
}

// Between the two questions whether another has claimed the name, and what is there, the claim may go.
TEST_F(Replacement, TriesAgainWhereAnotherHasJustEnded) {
  put(filled(of_blocks(120), 1), {.shards = 4});
  Scripted between(server().path());
  for (const bool again : {false, true}) {
    server().ask({"SET", "f:{0}:replacing", "anything"});
    bool first = true;
    between.say([&](const Scripted::Words& words) {
      if (words[0] == "GETRANGE" && words[1] == "f:{0}:replacing" && (first || again)) {
        server().ask({"DEL", words[1]});
        first = false;
      } else if (again && words[0] == "SET" && words[1] == "f:{0}:replacing") {
        server().ask({"SET", words[1], "anything"});
      }
      return std::optional<std::string>();
    });
    const auto replace = [&] {
      put(filled(of_blocks(120), 5'000), {.replace = true}, {.port = between.port()});
    };
    if (again)
      error_of(replace, ErrorCode::exists);
    else
      replace();
    EXPECT_EQ(open().may_contain_many(keys_from(5'000, 2'000)), 2'000U);
    EXPECT_EQ(keys_there(), 4);
  }
}

TEST_F(Replacement, WhereOneShardIsRefusedAllComeBack) {
  for (const bool replace : {false, true}) {
    server().ask({"FLUSHALL"});
    const auto keys = keys_from(1, 2'000);
    std::optional<RedisFilter> before;
    if (replace) {
      put(filled(of_blocks(120), 1), {.shards = 4});
      before = open();
    }
    const std::string odd = detail::shard_keys("f", 4)[2];
    const std::string whole = server().get(odd);
    server().ask({"SET", odd, "something"});
    expect_error(ErrorCode::exists, {odd + "' holds something"},
                 [&] { put(filled(of_blocks(240), 5'000), {.shards = 4, .replace = replace}); });
    EXPECT_EQ(server().get(odd), "something");
    EXPECT_EQ(server().ask({"EXISTS", "f:{0}", detail::shard_keys("f", 4)[1]})->integer,
              replace ? 2 : 0);
    if (replace) {
      server().ask({"SET", odd, whole});
      EXPECT_EQ(before->may_contain_many(keys), keys.size());
      EXPECT_EQ(open().may_contain_many(keys), keys.size());
      server().expect_to_keep(*before);
    } else {
      server().ask({"DEL", odd});
    }
    put(filled(of_blocks(240), 5'000), {.shards = 4, .replace = replace});
    EXPECT_EQ(open().may_contain_many(keys_from(5'000, 2'000)), 2'000U);
    EXPECT_EQ(keys_there(), 4);
  }
}

TEST_F(Replacement, AShardComesBackWhereItsPlaceIsEmpty) {
  put(filled(of_blocks(120), 1), {.shards = 4});
  Scripted node(server().path());
  const std::string place = detail::shard_keys("f", 4)[2];
  bool gone = false;
  node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] != "EVAL" || words[2] != "4") return std::nullopt;
    gone = server().ask({"DEL", place})->integer == 1;  // evicted, as it might be
    return "-LOADING soon\r\n";
  });
  error_of([&] { put(filled(of_blocks(120), 9'000), {.replace = true}, {.port = node.port()}); },
           ErrorCode::unavailable);
  EXPECT_TRUE(gone);
  EXPECT_EQ(open().may_contain_many(keys_from(1, 2'000)), 2'000U);
  EXPECT_EQ(server().ask({"PTTL", place})->integer, -1) << "it would expire";
  EXPECT_EQ(keys_there(), 4);
}

TEST_F(Replacement, AStagedShardThatIsGoneIsAnError) {
  put(filled(of_blocks(120), 1), {.shards = 4});
  for (const std::size_t shard : {0U, 3U}) {
    auto writer = RedisFilterWriter::of_bits({address(), "f", 0}, of_blocks(120), Hasher(), true);
    const std::string place = detail::shard_keys("f", 4)[shard];
    const detail::Reply staged = server().ask({"KEYS", place + ":new-*"});
    ASSERT_EQ(staged->elements, 1U);
    server().ask({"DEL", staged->element[0]->str});
    error_of([&] { writer.publish(); }, ErrorCode::no_space);
    const Filter bits = filled(of_blocks(120), 9);
    error_of([&] { writer.write(0, bits.bytes()); }, ErrorCode::no_space);
  }
  EXPECT_EQ(open().may_contain_many(keys_from(1, 2'000)), 2'000U);
  EXPECT_EQ(keys_there(), 4);
}

TEST_F(Replacement, NobodyIsToldAbsentWhileShardsChangePlaces) {
  const auto common = keys_from(1, 1'000);  // in the old filter and in the new
  for (const std::uint64_t blocks : {120, 240}) {
    server().ask({"FLUSHALL"});
    put(filled(of_blocks(120), 1, 1'000), {.shards = 6});
    auto before = open();
    Filter next = filled(of_blocks(blocks), 500'000, 1'000);
    next.insert_many(common);

    Scripted node(server().path());
    int swaps = 0;
    int told = 0;
    const auto found_or_told = [&](auto&& filter_of) {
      try {
        decltype(auto) filter = filter_of();
        EXPECT_EQ(filter.may_contain_many(common), common.size());
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::mismatch) << error.what();
        ++told;
      }
      for (std::size_t i = 0; i < common.size(); i += 97) try {
          decltype(auto) filter = filter_of();
          EXPECT_TRUE(filter.may_contain(common[i]));
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::mismatch) << error.what();
        }
    };
    node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] != "EVAL" || (words[2] != "3" && words[2] != "4")) return std::nullopt;
      ++swaps;
      found_or_told([&]() -> RedisFilter& { return before; });
      found_or_told([&] { return open(); });
      return std::nullopt;
    });
    put(next, {.replace = true}, {.port = node.port()});
    node.say(nullptr);
    EXPECT_EQ(swaps, 6);
    EXPECT_GT(told, 0) << "nothing was seen half way";
    EXPECT_EQ(open().may_contain_many(common), common.size());
    expect_error(ErrorCode::mismatch, {"was replaced by another filter"},
                 [&] { (void)before.may_contain_many(common); });
    // An insert into what it takes for the old filter does no harm to the new one.
    error_of([&] { before.insert_many(common); }, ErrorCode::mismatch);
    EXPECT_EQ(open().may_contain_many(common), common.size());
    EXPECT_EQ(keys_there(), 6);
  }
}

// A writer that fails puts back what it has replaced: between two pieces of a shard that is read there
// may have been another, and before and after them the right one.
TEST_F(Replacement, APieceOfWhatWasPutBackIsNotRead) {
  const Plan plan = of_blocks(2 * 49'152, Layout::blocked, 5'000'000);  // 3 MiB each
  const Filter bits = filled(plan, 1, 50'000);
  put(bits, {.shards = 2});
  {
    auto other = RedisFilterWriter::of_bits({address(), "other", 2}, plan, Hasher());
    other.publish();
  }
  const std::string key = detail::shard_keys("f", 2)[0];
  Scripted node(server().path());
  auto filter = RedisFilter::open({{.port = node.port()}, "f", 0});
  int reads = 0;
  node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] != "EXEC") return std::nullopt;
    ++reads;
    if (reads == 2) {
      server().ask({"RENAME", key, "aside"});
      server().ask({"COPY", detail::shard_keys("other", 2)[0], key});
    } else if (reads == 3) {
      server().ask({"RENAME", "aside", key});
    }
    return std::nullopt;
  });
  std::vector<std::byte> all(bits.bytes().size());
  error_of([&] { filter.read(0, all); }, ErrorCode::mismatch);
  EXPECT_GE(reads, 3);
  node.say(nullptr);
  filter.read(0, all);
  EXPECT_EQ(std::memcmp(all.data(), bits.bytes().data(), all.size()), 0);
}

// However much is read, four pieces are on the way at once: after an error nothing else is asked for.
TEST_F(Replacement, AReadIsBoundedOnTheWay) {
  const Filter bits = filled(of_blocks(12 * 16'384, Layout::blocked, 5'000'000), 1);
  put(bits, {.shards = 12});  // of a MiB each
  Scripted node(server().path());
  auto filter = RedisFilter::open({{.port = node.port()}, "f", 0});
  int pieces = 0;
  node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] != "EXEC") return std::nullopt;
    return ++pieces == 1 ? std::optional<std::string>("-LOADING soon\r\n") : std::nullopt;
  });
  std::vector<std::byte> all(bits.bytes().size());
  error_of([&] { filter.read(0, all); }, ErrorCode::unavailable);
  EXPECT_EQ(pieces, 4);
}

TEST_F(Replacement, ALostAnswerToTheLastStepHasPutItThere) {
  for (const bool arrives : {false, true}) {
    server().ask({"FLUSHALL"});
    put(filled(of_blocks(120), 1), {.shards = 3});
    Scripted node(server().path());
    bool hung_up = false;
    node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      if (hung_up || words[0] != "EVAL" || words[2] != "4") return std::nullopt;
      hung_up = true;
      if (arrives) {
        EXPECT_EQ(server()
                      .ask({words[0], words[1], words[2], words[3], words[4], words[5], words[6],
                            words[7], words[8]})
                      ->integer,
                  1);
      }
      return "";
    });
    const auto try_it = [&] {
      put(filled(of_blocks(120), 9'000), {.replace = true}, {.port = node.port()});
    };
    if (arrives)
      try_it();
    else
      error_of(try_it, ErrorCode::unavailable);
    node.say(nullptr);
    EXPECT_TRUE(hung_up);
    EXPECT_EQ(open().may_contain_many(keys_from(arrives ? 9'000 : 1, 2'000)), 2'000U);
    EXPECT_EQ(keys_there(), 3);
  }
}

// The connection breaks, and the command that puts a shard in its place comes after all, when the
// others were put back.
TEST_F(Replacement, AStepThatComesLateTakesNoPlace) {
  put(filled(of_blocks(120), 1), {.shards = 3});
  Scripted node(server().path());
  Scripted::Words late;
  bool came = false;
  node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    if (late.empty() && words[0] == "EVAL" && words[2] == "3") {
      late = words;
      return "";
    }
    if (!late.empty() && !came && words[0] == "UNLINK") {
      came = true;
      detail::Connection connection(address());
      detail::Commands commands;
      commands.begin(late.size());
      for (const std::string& word : late) commands.word(word);
      connection.send(commands);
      EXPECT_EQ(connection.receive()->integer, -1);
    }
    return std::nullopt;
  });
  error_of([&] { put(filled(of_blocks(120), 9'000), {.replace = true}, {.port = node.port()}); },
           ErrorCode::unavailable);
  EXPECT_TRUE(came);
  EXPECT_EQ(open().may_contain_many(keys_from(1, 2'000)), 2'000U);
  EXPECT_EQ(keys_there(), 3);
}

TEST(StagedKeys, AreKeptAliveWhileTheyAreWritten) {
  const Server server;
  detail::Cluster cluster(server.address());
  using namespace std::chrono_literals;
  detail::StagedKeys always({"a:{0}", "a:{3}"}, {}, 0s);
  detail::StagedKeys rarely({"b:{0}"}, {});
  for (const auto* staged : {&always, &rarely})
    for (const std::string& name : staged->names()) server.ask({"SET", name, "x", "EX", "9"});
  always.keep_alive(cluster, 2);
  rarely.keep_alive(cluster, 1);
  for (const std::string& name : always.names())
    EXPECT_GT(server.ask({"TTL", name})->integer, 500) << name;
  EXPECT_LT(server.ask({"TTL", rarely.names()[0]})->integer, 10);
  server.ask({"DEL", always.names()[1]});
  always.keep_alive(cluster, 1);
  expect_error(ErrorCode::no_space, {"'a:{3}': the server dropped the new key"},
               [&] { always.keep_alive(cluster, 2); });
}

TEST_F(Replacement, OneAtATimePutsItsShardsThere) {
  put(filled(of_blocks(120), 1), {.shards = 3});
  auto one = RedisFilterWriter::of_bits({address(), "f", 0}, of_blocks(120), Hasher(), true);
  auto other = RedisFilterWriter::of_bits({address(), "f", 0}, of_blocks(120), Hasher(), true);
  server().ask({"SET", "f:{0}:replacing",
                "\x89"
                "BLC\r\n\x1A\n12345678",
                "PX", "60000"});
  error_of([&] { one.publish(); }, ErrorCode::locked);
  server().ask({"DEL", "f:{0}:replacing"});
  one.publish();
  other.publish();
  EXPECT_EQ(keys_there(), 3);
}

}  // namespace
}  // namespace bloomery::test
