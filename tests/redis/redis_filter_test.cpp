// A filter in Redis strings, one or many, has the bits and the answers of one in memory, for every client, and
// none of its strings can go missing unseen.
#include <bloomery/filter.hpp>
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/forms.hpp"
#include "redis/scripted.hpp"
#include "support/effort.hpp"
#include "support/in_child.hpp"
#include "support/random.hpp"
#include "support/read_once.hpp"

namespace bloomery::test {
namespace {

class RedisStrings : public OfEachForm {
 protected:
  static RedisFilter create(const Plan& plan, const Hasher& hasher = Hasher(),
                            bool replace = false) {
    return RedisFilter::create(place(), plan, hasher, replace);
  }
  static RedisFilter open() { return RedisFilter::open(place_to_open()); }
};

INSTANTIATE_TEST_SUITE_P(In, RedisStrings, every_form(), name_of_form);

// Over one connection each process would get replies to questions of the other.
TEST_P(RedisStrings, AreUsedByAForkOverAConnectionOfItsOwn) {
  auto filter = create(plan(5'000, 0.01));
  const auto present = keys_from(1, 300), absent = keys_from(10'000, 300);
  filter.insert_many(present);
  std::vector<bool> answers;
  for (const std::uint64_t key : absent) answers.push_back(filter.may_contain(key));
  const pid_t child = start_child([&] {
    return std::ranges::all_of(present, [&](auto key) { return filter.may_contain(key); });
  });
  for (std::size_t i = 0; i < absent.size(); ++i)
    EXPECT_EQ(filter.may_contain(absent[i]), answers[i]) << absent[i];
  EXPECT_TRUE(ended_well(child));
  EXPECT_EQ(filter.may_contain_many(present), present.size());
}

TEST_P(RedisStrings, HaveTheBitsAndAnswersOfAFilterInMemory) {
  std::vector<Layout> layouts = {Layout::blocked, Layout::blocked128, Layout::blocked64};
  // In the other layouts each shard is a filter of its own (redis_shards_test.cpp).
  if (strings() == 1)
    layouts.insert(layouts.end(),
                   {Layout::blocked2, Layout::standard, Layout::blocked2x128, Layout::blocked2x64});
  const Hasher hasher(HashFamily::siphash, {.low = 5, .high = 6});
  for (const Layout layout : layouts) {
    SCOPED_TRACE(to_string(layout));
    server().ask({"FLUSHALL"});
    const Plan asked = plan(5'000, 0.01, layout);
    auto filter = create(asked, hasher);
    if (!in_shards()) {
      EXPECT_EQ(filter.plan(), asked);
    }
    Filter reference(filter.plan(), hasher);
    const auto keys = keys_from(1, 5'000);
    const auto answers = std::make_unique<bool[]>(keys.size());
    const auto expected = std::make_unique<bool[]>(keys.size());
    const std::span<bool> fresh(answers.get(), keys.size());
    EXPECT_EQ(filter.insert_many(keys, fresh),
              reference.insert_many(keys, std::span<bool>(expected.get(), keys.size())));
    EXPECT_EQ(filter.acknowledged(), keys.size());
    EXPECT_TRUE(std::equal(fresh.begin(), fresh.end(), expected.get()));

    std::string bits;
    ASSERT_EQ(filter.keys(), OfEachForm::keys());
    const std::size_t end = in_shards() ? 8 : 0;
    for (const std::string& key : filter.keys()) {
      const std::string string = server().get(key);
      ASSERT_GT(string.size(), 128 + end);
      bits += string.substr(128, string.size() - 128 - end);
      EXPECT_EQ(string.substr(string.size() - end), string.substr(64, end));
    }
    ASSERT_EQ(bits.size(), reference.plan().bytes());
    EXPECT_EQ(std::memcmp(bits.data(), reference.bytes().data(), bits.size()), 0);
    const Stats stats = filter.stats();
    EXPECT_DOUBLE_EQ(stats.fill, reference.fill());
    EXPECT_DOUBLE_EQ(stats.estimated_items, reference.estimated_items());
    EXPECT_EQ(stats.fill_error, 0);
    EXPECT_FALSE(stats.sampled);
    EXPECT_FALSE(stats.over_capacity);

    auto other = open();
    EXPECT_EQ(other.plan(), reference.plan());
    EXPECT_EQ(other.hasher().seed(), hasher.seed());
    EXPECT_EQ(other.hasher().family(), hasher.family());
    EXPECT_EQ(other.shards(), GetParam());
    EXPECT_EQ(other.may_contain_many(keys), keys.size());
    const auto absent = keys_from(1'000'000, 5'000);
    EXPECT_EQ(other.may_contain_many(absent, fresh),
              reference.may_contain_many(absent, std::span<bool>(expected.get(), absent.size())));
    EXPECT_TRUE(std::equal(fresh.begin(), fresh.end(), expected.get()));
  }
}

TEST_P(RedisStrings, StayWhereTheServerDoesNotMakeOthers) {
  auto filter = create(plan(1'000, 0.001));
  filter.insert("a key");
  server().ask({"CONFIG", "SET", "proto-max-bulk-len", "1mb"});
  error_of([] { create(plan(30'000'000, 0.01), Hasher(), true); }, ErrorCode::io);
  error_of([] { RedisFilter::create(place("long"), plan(30'000'000, 0.01)); }, ErrorCode::io);
  server().ask({"CONFIG", "SET", "proto-max-bulk-len", "512mb"});
  EXPECT_TRUE(filter.may_contain("a key"));
  EXPECT_EQ(keys_there(), strings()) << "something was left behind";
  create(plan(1'000, 0.001), Hasher(), true);
  error_of([&] { (void)filter.may_contain("a key"); }, ErrorCode::mismatch);
  EXPECT_EQ(keys_there(), strings()) << "something was left behind";
}

TEST_P(RedisStrings, TakeOneKeyOfAnyKind) {
  auto filter = create(plan(1'000, 0.001));
  EXPECT_EQ(filter.acknowledged(), 0U) << "before the first call";
  EXPECT_FALSE(filter.may_contain("a key"));
  EXPECT_TRUE(filter.insert("a key"));
  EXPECT_FALSE(filter.insert("a key"));
  EXPECT_TRUE(filter.may_contain(std::string("a key")));
  EXPECT_TRUE(filter.insert(97));
  EXPECT_TRUE(filter.may_contain(std::uint64_t{97}));
  EXPECT_EQ(filter.insert_many(std::vector<std::uint64_t>{}), 0U);
  EXPECT_EQ(filter.acknowledged(), 0U);
  EXPECT_EQ(filter.nodes(), 1U);
}

TEST_P(RedisStrings, AcknowledgeNothingOfARefusedCall) {
  auto filter = create(plan(1'000, 0.001));
  const std::vector<std::uint64_t> keys{1, 2, 3};
  const auto refused = [&](auto call) {
    EXPECT_EQ(filter.insert_many(keys), 0U);
    EXPECT_EQ(filter.acknowledged(), keys.size());
    error_of(call, ErrorCode::invalid_argument);
    EXPECT_EQ(filter.acknowledged(), 0U);
  };
  std::array<bool, 2> room;
  std::vector<bool> bits(2);
  EXPECT_EQ(filter.insert_many(keys), keys.size());
  refused([&] { filter.insert_many(keys, std::span(room)); });
  refused([&] { filter.insert_many(keys, bits); });
  refused([&] { filter.insert_many(ReadOnce<std::uint64_t>(keys), bits); });
  refused([&] { (void)filter.may_contain_many(keys, bits); });
  refused([&] { filter.insert_hashes(std::vector<Hash128>(3), bits); });
}

TEST_P(RedisStrings, SampleTheFillOfALargeFilter) {
  auto filter = create(plan(15'000'000, 0.01));
  const std::string key = filter.keys().back();
  server().ask({"SETRANGE", key, "128", std::string(1 << 20, '\xFF')});
  const Stats stats = filter.stats();
  // 4 MiB of 18 are counted: at least 1,024 ranges of 4 KiB, each at a random place of its 18 KiB. Only the one
  // where the ones end can be wrong, by less than its share; and the last few hundred bytes of a string have none.
  EXPECT_NEAR(stats.fill, double{1 << 23} / static_cast<double>(filter.plan().bits), 0.0012);
  EXPECT_GT(stats.fill_error, 0);
  EXPECT_FALSE(stats.over_capacity);
}

// These plans have more than half of their bits set at the capacity. The keys and their bits are always the same.
TEST_P(RedisStrings, AreNotOverCapacityBeforeTheyAre) {
  for (const auto& [fpr, layout] :
       {std::pair{0.01, Layout::standard}, {0.3, Layout::blocked}, {0.5, Layout::blocked2}}) {
    SCOPED_TRACE(to_string(layout));
    const Plan asked = plan(20'000, fpr, layout);
    server().ask({"FLUSHALL"});
    auto filter = create(asked);
    auto writer = RedisFilterWriter::of_keys(place("new"), asked, Hasher());
    for (const bool over : {false, true}) {
      const auto keys = keys_from(1, over ? 26'000 : 20'000);
      filter.insert_many(keys);
      const Stats stats = filter.stats();
      EXPECT_GT(stats.fill, 0.5);
      EXPECT_EQ(stats.over_capacity, over);
      std::vector<Hash128> hashes;
      for (const std::uint64_t key : keys) hashes.push_back(Hasher()(key));
      writer.insert_hashes(hashes);
      EXPECT_EQ(writer.stats().over_capacity, over);
    }
  }
}

TEST_P(RedisStrings, KeepNothingOfALookUp) {
  // What its places take, at 8 bytes a bit, would stay until the next one.
  if (kSanitized) GTEST_SKIP() << "a sanitizer's allocator counts nothing for mallinfo2";
  auto filter = create(plan(50'000, 0.001));
  const auto keys = keys_from(1, 50'000);
  const auto allocated = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  (void)filter.may_contain_many(keys);
  (void)filter.may_contain(keys[0]);
  const std::size_t before = allocated();
  (void)filter.may_contain_many(keys);
  EXPECT_LT(allocated(), before + keys.size() * 8);
}

TEST_P(RedisStrings, TellNewToOneClientAtLeast) {
  const Plan plan = create(bloomery::plan(20'000, 0.001)).plan();
  const auto keys = keys_from(50, 20'000);
  std::atomic<std::size_t> fresh = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i) clients.emplace_back([&] { fresh += open().insert_many(keys); });
  for (std::thread& client : clients) client.join();
  Filter alone(plan);
  // One command a key: which client comes first differs, not how often a bit is new.
  EXPECT_GE(fresh.load(), alone.insert_many(keys));
  EXPECT_LE(fresh.load(), keys.size());
  EXPECT_EQ(open().may_contain_many(keys), keys.size());
}

TEST_P(RedisStrings, AreMadeOnce) {
  const auto make = [] { create(plan(100, 0.01)); };
  make();
  expect_error(ErrorCode::exists, {"'" + keys()[0] + "' exists already"}, make);
  error_of([] { RedisFilter::open(place_to_open("never")); }, ErrorCode::missing);
  const std::uint64_t most = strings() * kMaxRedisBits;
  expect_error(ErrorCode::too_large, {}, [&] {
    create({Layout::blocked, most + kBlockBits, 7, 1'000, 0.01});
  });
  for (const std::string& text : {std::string(1'000, 'x'), std::string("x")}) {
    server().ask({"SET", keys()[0], text});
    error_of([] { open(); }, ErrorCode::not_a_filter);
  }
  server().ask({"DEL", keys()[0]});
  server().ask({"RPUSH", keys()[0], "1"});
  error_of([] { open(); }, ErrorCode::not_a_filter);
}

TEST_P(RedisStrings, CannotGoMissingUnseen) {
  auto filter = create(plan(1'000, 0.01));
  const auto items = keys_from(1, 200);
  filter.insert_many(items);
  const auto refused = [&](ErrorCode code) {
    SCOPED_TRACE(static_cast<int>(code));
    error_of([&] { (void)filter.may_contain_many(items); }, code);
    EXPECT_LT(filter.acknowledged(), items.size());
    error_of([&] { filter.insert_many(items); }, code);
    expect_error(code, {}, [&] {
      for (const std::uint64_t item : items) (void)filter.may_contain(item);
    });
    EXPECT_EQ(filter.acknowledged(), 0U);
    return error_of(
        [&] {
          for (const std::uint64_t item : items) filter.insert(item);
        },
        code);
  };
  const auto opens_as = [](ErrorCode code) { error_of([] { open(); }, code); };
  for (std::size_t i = 0; i < strings(); ++i) {
    SCOPED_TRACE(i);
    const std::string& key = filter.keys()[i];
    const std::string whole = server().get(key);
    server().ask({"DEL", key});
    EXPECT_NE(refused(ErrorCode::missing).find("evicted"), std::string::npos);
    error_of([&] { (void)filter.stats(); }, ErrorCode::missing);
    opens_as(ErrorCode::missing);
    EXPECT_EQ(server().ask({"EXISTS", key})->integer, 0) << "an insert left something behind";

    server().ask({"SET", key, whole.substr(0, whole.size() - 1)});
    refused(ErrorCode::corrupt);
    opens_as(ErrorCode::corrupt);
    server().ask({"SET", key, whole + "x"});
    // A shard has its proof where it was, and its bits too.
    if (!in_shards()) refused(ErrorCode::mismatch);
    open();
    EXPECT_EQ(server().get(key).size(), whole.size());
    if (strings() > 1) {
      // Another shard of the same filter.
      server().ask({"SET", key, server().get(filter.keys()[(i + 1) % strings()])});
      refused(ErrorCode::mismatch);
      opens_as(ErrorCode::mismatch);
    }
    server().ask({"DEL", key});
    server().ask({"RPUSH", key, "x"});
    refused(ErrorCode::not_a_filter);
    opens_as(ErrorCode::not_a_filter);
    server().ask({"DEL", key});
    server().ask({"SET", key, whole});
    EXPECT_EQ(filter.may_contain_many(items), items.size());
  }
  // Another filter with the same parameters.
  for (const std::string& key : filter.keys()) server().ask({"DEL", key});
  auto another = create(plan(1'000, 0.01));
  refused(ErrorCode::mismatch);
  EXPECT_FALSE(another.may_contain("a key"));
}

// Bits are set only in a string that was seen whole: to set one makes a string long again, with
// zeros where there were keys.
TEST_P(RedisStrings, AreNotHealedByAnInsertWhereOneIsCut) {
  auto filter = create(plan(1'000, 0.01));
  const auto items = keys_from(1, 1'000), more = keys_from(5'000, 1'001);
  filter.insert_many(items);
  const std::string key = filter.keys().back();
  const std::string cut = server().get(key).substr(0, 201);
  server().ask({"SET", key, cut});
  error_of([&] { filter.insert_many(more); }, ErrorCode::corrupt);
  if (!in_shards()) {
    EXPECT_EQ(filter.acknowledged(), 0U);
    EXPECT_EQ(server().get(key), cut);
  }
  error_of([&] { (void)filter.may_contain_many(items); }, ErrorCode::corrupt);
  error_of([] { open(); }, ErrorCode::corrupt);
}

// In two blocks a key the bits of the shards are not those of one filter: in one it would miss keys.
TEST(RedisFilter, IsLoadedWhereItsShardsAreOnePiece) {
  const Server& server = strings_server();
  server.ask({"FLUSHALL"});
  const auto items = keys_from(1, 1'000);
  for (const Layout layout : {Layout::blocked, Layout::blocked2, Layout::standard})
    for (const std::uint32_t shards : {1U, 3U}) {
      const std::string name = std::string(to_string(layout)) + std::to_string(shards);
      auto filter =
          RedisFilter::create({server.address(), name, shards}, plan(1'000, 0.01, layout));
      filter.insert_many(items);
      if (layout == Layout::blocked || shards == 1) {
        EXPECT_EQ(filter.load().may_contain_many(items), items.size()) << name;
      } else {
        error_of([&] { (void)filter.load(); }, ErrorCode::wrong_kind);
      }
    }
}

TEST(RedisFilter, ReadsNothingBehindItsBits) {
  auto filter = RedisFilter::create({strings_server().address(), "bounds"}, plan(1'000, 0.01));
  const std::uint64_t end = filter.plan().bytes();
  std::vector<std::byte> bytes(2);
  filter.read(end - 2, bytes);
  filter.read(end, {});
  for (const std::uint64_t from : {end - 1, end, end + 1, UINT64_MAX})
    error_of([&] { filter.read(from, bytes); }, ErrorCode::invalid_argument);
  error_of([&] { filter.read(end + 1, {}); }, ErrorCode::invalid_argument);
}

TEST(RedisFilter, IsNamedWholeInAMessageWhereItsKeyHasAZeroByte) {
  const std::string key("a\0b", 3);
  expect_error(ErrorCode::missing, {" 'a\\x00b' is not there; create it, or check the key"}, [&] {
    RedisFilter::open({strings_server().address(), key});
  });
}

TEST(RedisFilter, IsBelievedByNobodyWhereItsStringIsCutWhileKeysAreInserted) {
  const auto keys = keys_from(1, 1'000), more = keys_from(5'000, 3'000);
  Scripted between(strings_server().path());
  for (int cut_before = 2; cut_before <= 4; ++cut_before) {
    // Always the same bits, and the last byte's among them.
    auto filter = RedisFilter::create({strings_server().address(), "torn"}, plan(1'000, 0.01),
                                      Hasher(HashFamily::siphash, {.low = 5, .high = 6}), true);
    filter.insert_many(keys);
    const std::string whole = strings_server().get("torn");
    const std::string cut = whole.substr(0, 201);
    auto inserting = RedisFilter::open({{.port = between.port()}, "torn"});
    int lengths = 0;
    between.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] == "STRLEN" && ++lengths == cut_before)
        strings_server().ask({"SET", "torn", cut});
      return std::nullopt;
    });
    error_of([&] { inserting.insert_many(more); }, ErrorCode::corrupt);
    between.say(nullptr);
    EXPECT_LT(strings_server().get("torn").size(), whole.size()) << "it was made long again";
    error_of([&] { (void)filter.may_contain_many(keys); }, ErrorCode::corrupt);
    error_of([&] { (void)filter.may_contain(keys[0]); }, ErrorCode::corrupt);
    error_of([&] { inserting.insert_many(more); }, ErrorCode::corrupt);
    error_of([] { RedisFilter::open({strings_server().address(), "torn"}); }, ErrorCode::corrupt);
  }
}

}  // namespace
}  // namespace bloomery::test
