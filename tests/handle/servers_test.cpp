// The handle over filters in the strings of Redis servers: one, shards, generations, PHP buckets.
#include <sys/stat.h>
#include <bloomery/any_filter.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "handle/any_kind.hpp"
#include "handle/any_on_server.hpp"
#include "handle/places.hpp"
#include "redis/moved_clock.hpp"
#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

TEST_F(AnyOnServer, AStringIsAFile) {
  AnyFilter there = AnyFilter::open_or_create(string_at("k"), spec_);
  EXPECT_GE(there.insert_many(keys()), kKeys - 30);
  EXPECT_EQ(there.acknowledged(), kKeys);
  expect_error(ErrorCode::wrong_kind, {}, [&] { (void)there.require_removal(); });
  expect_error(ErrorCode::wrong_kind, {}, [&] { (void)there.remove("a"); });
  EXPECT_EQ(there.acknowledged(), 0U);  // not that of the call before
  EXPECT_EQ(AnyFilter::open(string_at("k")).may_contain_many(keys()), kKeys);
  expect_error(ErrorCode::exists, {}, [&] { (void)AnyFilter::create(string_at("k"), spec_); });
  expect_error(ErrorCode::mismatch, {},
               [&] { (void)AnyFilter::open_or_create(string_at("k"), {.capacity = 5}); });
  for (const Kind kind : {Kind::counting, Kind::window}) {
    const std::string text =
        error_of([&] { (void)AnyFilter::create(string_at("c"), spec_of_kind(kind)); },
                 ErrorCode::wrong_kind);
    EXPECT_NE(text.find("is plain, not " + std::string(to_string(kind))), std::string::npos)
        << text;
    EXPECT_EQ(text.find("make it rotating") != std::string::npos, kind == Kind::window) << text;
  }
  expect_error(ErrorCode::missing, {}, [&] { (void)AnyFilter::open(string_at("none")); });
  expect_error(ErrorCode::missing, {"none"},
               [&] { AnyFilter::convert(string_at("none"), scratch_ / "f"); });
  EXPECT_FALSE(AnyFilter::verify(string_at("k")).detail.empty());

  AnyFilter::convert(string_at("k"), scratch_ / "f");
  AnyFilter file = AnyFilter::open(scratch_ / "f");
  EXPECT_EQ(file.may_contain_many(keys()), kKeys);
  EXPECT_EQ(file.stats().estimated_items, there.stats().estimated_items);
  AnyFilter::convert(scratch_ / "f", string_at("again"));
  AnyFilter::create(string_at("other"), spec_).insert("x");
  const Keys sources = {string_at("other"), scratch_ / "f"};
  const auto merged = AnyFilter::merge(sources, string_at("all"));
  ASSERT_TRUE(merged.stats);
  EXPECT_EQ(merged.stats->estimated_items,
            AnyFilter::open(string_at("all")).stats().estimated_items);
  EXPECT_TRUE(AnyFilter::open(string_at("all")).may_contain("x"));
  EXPECT_EQ(AnyFilter::open(string_at("all")).may_contain_many(keys()), kKeys);
}

TEST_F(AnyOnServer, MergesStringsInShards) {
  const auto shards = [](const std::string& key) { return at("redis+cluster", key); };
  AnyFilter::create(shards("a&shards=2"), spec_).insert_many(keys());
  AnyFilter::create(shards("b&shards=2"), spec_).insert("x");
  const Keys sources = {shards("a"), shards("b")};
  const auto merged = AnyFilter::merge(sources, shards("all&shards=2"));
  ASSERT_TRUE(merged.stats);
  EXPECT_NEAR(merged.stats->estimated_items, kKeys + 1.0, 60);
  AnyFilter all = AnyFilter::open(shards("all"));
  EXPECT_TRUE(all.may_contain("x"));
  EXPECT_EQ(all.may_contain_many(keys()), kKeys);

  AnyFilter::create(shards("b&shards=2"), spec_, {.seed = Seed{.low = 7}, .replace = true});
  expect_error(ErrorCode::mismatch, {"seed"},
               [&] { AnyFilter::merge(sources, shards("none&shards=2")); });
  expect_error(ErrorCode::missing, {}, [&] { (void)AnyFilter::open(shards("none")); });
}

// In each number of shards a layout of two blocks has other bits. A destination that names no number gets that of the
// source.
TEST_F(AnyOnServer, CopiesShardsOfTwoBlocksIntoAsMany) {
  const auto shards = [](const std::string& key) { return at("redis+cluster", key); };
  FilterSpec spec = spec_;
  spec.layout = Layout::blocked2;
  AnyFilter::create(shards("a&shards=3"), spec).insert_many(keys());
  for (const char* key : {"b", "c&shards=3"}) {
    AnyFilter::convert(shards("a"), shards(key));
    AnyFilter copy = AnyFilter::open(shards(key));
    EXPECT_EQ(copy.may_contain_many(keys()), kKeys);
    EXPECT_EQ(copy.stats().shards->count, 3U);
  }
  expect_error(ErrorCode::mismatch, {"in 3 and 2"},
               [&] { AnyFilter::convert(shards("a"), shards("d&shards=2")); });
  for (const std::string& out : {scratch_ / "f", string_at("s")})
    expect_error(ErrorCode::wrong_kind, {"in 3 shards the layout blocked2"},
                 [&] { AnyFilter::convert(shards("a"), out); });
}

// The plan of a filter in shards is rounded up to whole shards, and so is that of a request.
TEST_F(AnyOnServer, ComparesShardsWithWhatWasAskedFor) {
  const std::string three = at("redis+cluster", "s&shards=3");
  for (const FilterSpec& asked :
       {spec_, FilterSpec{.fpr = 0.01, .bits = 10'000},
        FilterSpec{.capacity = 1'000, .fpr = 0.001, .layout = Layout::standard},
        FilterSpec{.bits = 10'000, .hashes = 5}}) {
    server().ask({"FLUSHALL"});
    for (const char* key : {"a", "b"})
      EXPECT_EQ(AnyFilter::open_or_create(three, asked).insert(key), true);
    EXPECT_TRUE(AnyFilter::open_or_create(three, {}).may_contain("a"));
    FilterSpec other = asked;
    (other.bits ? other.bits : other.capacity) = 20'000;
    expect_error(ErrorCode::mismatch, {}, [&] { (void)AnyFilter::open_or_create(three, other); });
  }
  expect_error(ErrorCode::mismatch, {"bits"},
               [&] { (void)AnyFilter::open_or_create(three, {.bits = 99'000}); });
}

// Filters with data in some of their pieces are merged with one that has keys in every piece.
TEST_F(AnyOnServer, MergesSparseFiles) {
  constexpr std::uint64_t kBytes = std::uint64_t{16} << 20;
  const FilterPlan sparse = Plan{Layout::blocked, kBytes * 8, 6, kBytes, 0.01};
  const Keys few = text_keys("few", 3), more = text_keys("more", 30);
  const auto make = [&](const std::string& name, const Keys& keys) {
    AnyFilter filter = AnyFilter::rebuild(scratch_ / name, sparse);
    filter.insert_many(keys);
    filter.close();
    const std::string holes = scratch_ / (name + " of holes");
    EXPECT_EQ(std::system(("cp --sparse=always '" + scratch_ / name + "' '" + holes + "'").c_str()),
              0);
    return holes;
  };
  const Keys sources = {make("a", few), make("b", {}), make("c", more)};
  AnyFilter::merge(sources, string_at("all"));
  AnyFilter all = AnyFilter::open(string_at("all"));
  EXPECT_EQ(all.may_contain_many(few), few.size());
  EXPECT_EQ(all.may_contain_many(more), more.size());
  // A string may have keys everywhere, so a file gets all of its room.
  AnyFilter::merge(Keys{sources[0], string_at("all")}, scratch_ / "file");
  struct stat file {};
  ASSERT_EQ(::stat((scratch_ / "file").c_str(), &file), 0);
  EXPECT_GE(static_cast<std::uint64_t>(file.st_blocks) * 512, kBytes);
}

TEST_F(AnyOnServer, IsNotWhatAnotherKindOfAddressNames) {
  const AnyOptions php{.scheme = PhpScheme::string_hashes("FNV")};
  const AnyOptions rotating{.rotating = true};
  AnyFilter::create(string_at("k"), spec_);
  AnyFilter::create(at("redis+cluster", "s&shards=2"), spec_);
  expect_error(ErrorCode::wrong_kind, {},
               [&] { (void)AnyFilter::open_or_create(string_at("k"), spec_, rotating); });
  for (FilterSpec spec : {FilterSpec{.bits = 8'192}, FilterSpec{.hashes = 3}, FilterSpec{}}) {
    if (spec != FilterSpec{}) spec.capacity = 1'000;
    spec.fpr = 0.01;
    expect_error(ErrorCode::invalid_argument, {"two generations take"},
                 [&] { (void)AnyFilter::create(string_at("r"), spec, rotating); });
  }
  expect_error(ErrorCode::invalid_argument, {"schemes are for filters under one key"},
               [&] { (void)AnyFilter::create(at("redis+cluster", "b&shards=2"), {}, php); });
  expect_error(ErrorCode::invalid_argument, {"a scheme is about bits in plain strings"},
               [&] { (void)AnyFilter::create(at("redis+module", "b"), {}, php); });
  for (const auto& call : std::initializer_list<std::function<void()>>{
           [&] { (void)AnyFilter::rotate(at("redis+cluster", "b"), php); },
           [&] { AnyFilter::convert(at("redis+cluster", "b"), scratch_ / "bits", php); }})
    expect_error(ErrorCode::wrong_kind, {"under one key; name it with redis://"}, call);
  // A shard alone is no filter, and does not rotate.
  const std::string text = error_of([&] { AnyFilter::convert(string_at("s:{0}"), scratch_ / "f"); },
                                    ErrorCode::wrong_kind);
  EXPECT_EQ(text.find("rotates"), std::string::npos) << text;
  AnyFilter::create(string_at("two"), spec_, rotating);
  expect_error(ErrorCode::wrong_kind, {"a filter that rotates is not converted"},
               [&] { AnyFilter::convert(string_at("two"), scratch_ / "f"); });
}

TEST_F(AnyOnServer, SaysInHowManyShardsItIs) {
  std::vector<AnyFilter> filters;
  filters.push_back(AnyFilter::create(at("redis+cluster", "p&shards=3"), spec_));
  filters.push_back(
      AnyFilter::create(at("redis+cluster", "r&shards=3"), spec_, {.rotating = true}));
#ifdef BLOOMERY_MODULE
  filters.push_back(AnyFilter::create(at("redis+module+cluster", "m&shards=3"), spec_));
  EXPECT_FALSE(AnyFilter::create(at("redis+module", "one"), spec_).stats().shards);
#endif
  for (AnyFilter& filter : filters) {
    SCOPED_TRACE(filter.name());
    const auto shards = filter.stats().shards;
    ASSERT_TRUE(shards);
    EXPECT_EQ(shards->count, 3U);
    EXPECT_EQ(shards->nodes, 1U);
    const std::string said = filter.verify().detail;
    EXPECT_NE(said.find(filter.plan() || filter.hasher() == nullptr ? "3 shards" : "generations"),
              std::string::npos)
        << said;
  }
  EXPECT_FALSE(AnyFilter::create(string_at("alone"), spec_).stats().shards);
}

// A request agrees with the filter that it has made, whatever its plan makes of it. A request for another kind has
// another plan.
TEST_F(AnyOnServer, ComparesStringsWithWhatWasAskedFor) {
  for (const FilterSpec& asked :
       {spec_, FilterSpec{.capacity = 1'000, .fpr = 0.5}, FilterSpec{.fpr = 0.01, .bits = 10'000},
        FilterSpec{.fpr = 1e-6, .bits = 10'000, .hashes = 20},
        FilterSpec{.bits = 100, .hashes = 5}}) {
    server().ask({"FLUSHALL"});
    for (const char* key : {"a", "b"})
      EXPECT_TRUE(AnyFilter::open_or_create(string_at("k"), asked).insert(key));
  }
  AnyFilter::create(at("redis+cluster", "s&shards=3"), spec_);
  for (const std::string& place : {string_at("k"), at("redis+cluster", "s")})
    for (const Kind kind : {Kind::counting, Kind::scalable, Kind::window, Kind::frozen})
      expect_error(ErrorCode::mismatch, {"is a plain filter", std::string(to_string(kind))},
                   [&] { (void)AnyFilter::open_or_create(place, spec_of_kind(kind)); });
}

TEST_F(AnyOnServer, RebuildsAString) {
  AnyFilter::create(string_at("k"), spec_).insert("old");
  AnyFilter rebuilt = AnyFilter::rebuild(string_at("k"), plan(spec_));
  rebuilt.insert("new");
  EXPECT_TRUE(AnyFilter::open(string_at("k")).may_contain("old"));
  rebuilt.close();
  rebuilt.close();
  EXPECT_TRUE(AnyFilter::open(string_at("k")).may_contain("new"));
  EXPECT_FALSE(AnyFilter::open(string_at("k")).may_contain("old"));
  expect_error(ErrorCode::wrong_kind, {},
               [&] { (void)AnyFilter::rebuild(string_at("k"), CountingPlan{plan(10, 0.1)}); });

  // What is there meanwhile is asked by its address, and not here.
  AnyFilter only_keys = AnyFilter::rebuild(string_at("k"), plan(spec_));
  only_keys.insert("newest");
  for (const auto& call : std::initializer_list<std::function<void()>>{
           [&] { (void)only_keys.may_contain("newest"); },
           [&] { (void)only_keys.may_contain_many(keys()); },
           [&] { (void)only_keys.remove("newest"); }})
    expect_error(ErrorCode::wrong_kind, {only_keys.name(), "only takes keys"}, call);
  EXPECT_EQ(only_keys.plan(), FilterPlan(plan(spec_)));
  EXPECT_EQ(only_keys.spec().capacity, spec_.capacity);
  EXPECT_EQ(only_keys.spec().fpr, spec_.fpr);
  EXPECT_NEAR(only_keys.stats().estimated_items, 1, 0.1);
  EXPECT_EQ(only_keys.verify().detail, "it is being rebuilt");
  only_keys.close();
  EXPECT_TRUE(AnyFilter::open(string_at("k")).may_contain("newest"));

  AnyFilter blocked = AnyFilter::rebuild(string_at("k"), plan(spec_));
  blocked.insert("newer");
  server().ask({"SET", "k", "text"});
  expect_error(ErrorCode::exists, {}, [&] { blocked.close(); });
  server().ask({"DEL", "k"});
  blocked.close();
  EXPECT_TRUE(AnyFilter::open(string_at("k")).may_contain("newer"));
}

// Whose lines come slowly: what is not finished would expire.
TEST_F(AnyOnServer, ARebuildLivesAsLongAsItIsKeptAlive) {
  MovedClock clock;
  AnyFilter rebuilt = AnyFilter::rebuild(string_at("k"), plan(spec_));
  rebuilt.insert_many(keys());
  const detail::Reply names = server().ask({"KEYS", "*"});
  ASSERT_GT(names->elements, 0U);
  for (std::size_t i = 0; i < names->elements; ++i)
    server().ask({"EXPIRE", names->element[i]->str, "99"});
  clock.move(std::chrono::seconds(60));
  rebuilt.keep_alive();
  for (std::size_t i = 0; i < names->elements; ++i)
    EXPECT_GT(server().ask({"TTL", names->element[i]->str})->integer, 500);
}

TEST_F(AnyOnServer, RotatesTwoGenerations) {
  AnyFilter filter = AnyFilter::create(string_at("k"), spec_, {.rotating = true});
  filter.insert("a");
  EXPECT_EQ(filter.stats().fpr, 0.001);
  EXPECT_EQ(filter.spec().fpr, 0.001);
  ASSERT_TRUE(filter.stats().generations);
  const auto rotation = AnyFilter::rotate(string_at("k"));
  EXPECT_TRUE(rotation.done);
  EXPECT_EQ(rotation.generation, 3U);
  AnyFilter same = AnyFilter::open(string_at("k"));
  EXPECT_TRUE(same.may_contain("a"));
  EXPECT_NEAR(same.stats().generations->older.estimated_items, 1, 0.1);
  EXPECT_EQ(same.stats().estimated_items, 0);
  AnyFilter::open(string_at("k"), Access::write).insert_many(keys());
  AnyFilter::rotate(string_at("k"));
  EXPECT_EQ(same.stats().fill, 0);
  EXPECT_GT(same.stats().current_fpr, 0) << "the older one has keys";
  EXPECT_FALSE(AnyFilter::open(string_at("k")).may_contain("a"));
  EXPECT_FALSE(AnyFilter::open(string_at("k")).plan());
  EXPECT_NE(same.verify().detail.find("both generations"), std::string::npos);
  server().ask({"APPEND", "{k}:older", "x"});
  expect_error(ErrorCode::corrupt, {"k"}, [&] { (void)same.verify(); });
  expect_error(ErrorCode::invalid_argument, {"two generations take"}, [&] {
    (void)AnyFilter::create(string_at("b"), {.capacity = 5}, {.rotating = true});
  });
}

TEST_F(AnyOnServer, OpensABucketOrCreatesIt) {
  const AnyOptions php{.scheme = PhpScheme::string_hashes("FNV")};
  for (const bool there : {false, true}) {
    AnyFilter bucket = AnyFilter::open_or_create(string_at("b"), {}, php);
    EXPECT_EQ(bucket.may_contain("old"), there);
    bucket.insert("old");
  }
}

TEST_F(AnyOnServer, KnowsTheBucketOfAPhpClass) {
  const AnyOptions php{.scheme = PhpScheme::string_hashes("FNV")};
  expect_error(ErrorCode::missing, {},
               [&] { (void)AnyFilter::open(string_at("b"), Access::write, php); });
  AnyFilter bucket = AnyFilter::create(string_at("b"), {}, php);
  EXPECT_TRUE(bucket.insert("a"));
  EXPECT_FALSE(bucket.insert("a"));
  expect_error(ErrorCode::wrong_kind, {}, [&] { (void)bucket.insert(1); });
  EXPECT_EQ(bucket.stats().scheme, php.scheme);
  EXPECT_EQ(bucket.verify().detail, detail::kPhpVerified);
  EXPECT_EQ(AnyFilter::verify(string_at("b"), php).detail, detail::kPhpVerified);
  expect_error(ErrorCode::wrong_kind, {"no numbers"},
               [&] { bucket.require_match({.capacity = 100}); });
  EXPECT_TRUE(AnyFilter::rotate(string_at("b"), php).done);
  EXPECT_FALSE(AnyFilter::rotate(string_at("b"), php).done);  // nothing has come since
}

TEST_F(AnyOnServer, CopiesTheBitsOfAPhpClass) {
  const AnyOptions php{.scheme = PhpScheme::crc32_mt(8'000, 100)};
  const std::string file = scratch_ / "bits";
  AnyFilter::create(string_at("b"), {}, php).insert("a");
  AnyFilter::convert(string_at("b"), file, php);
  AnyFilter::open(file, Access::write, php).insert("b");
  AnyFilter::convert(file, string_at("c"), php);
  AnyFilter::convert(string_at("c"), string_at("d"), php);
  for (const std::string& place : {file, string_at("c"), string_at("d")}) {
    AnyFilter copy = AnyFilter::open(place, Access::read, php);
    EXPECT_TRUE(copy.may_contain("a") && copy.may_contain("b")) << place;
    EXPECT_FALSE(copy.may_contain("c")) << place;
  }
  EXPECT_FALSE(AnyFilter::open(string_at("b"), Access::read, php).may_contain("b"));
  expect_error(ErrorCode::exists, {}, [&] { AnyFilter::convert(file, string_at("b"), php); });
  // A destination is refused before anything is read.
  for (const auto& way : {std::pair(at("redis+module", "m"), scratch_ / "new"),
                          {scratch_ / "none", at("redis+module", "m")}})
    expect_error(ErrorCode::wrong_kind, {"a filter of the module has bits of its own"},
                 [&] { AnyFilter::convert(way.first, way.second, php); });
  expect_error(ErrorCode::wrong_kind, {"under one key"},
               [&] { AnyFilter::convert(file, at("redis+cluster", "e"), php); });
}

// Both buckets are asked, also if the newer one is gone; where there was none at all, nothing is rotated.
TEST_F(AnyOnServer, RotatesTheBucketsOfAPhpClass) {
  const AnyOptions php{.scheme = PhpScheme::string_hashes("FNV")};
  AnyOptions both = php;
  both.rotating = true;
  const auto rotate = [&] { return AnyFilter::rotate(string_at("b"), php); };
  expect_error(ErrorCode::missing, {}, [&] { (void)rotate(); });
  AnyFilter::create(string_at("b"), {}, php).insert("old");
  const AnyFilter::Rotation rotation = rotate();
  EXPECT_TRUE(rotation.done);
  EXPECT_EQ(rotation.generation, 0U);
  EXPECT_EQ(server().ask({"EXISTS", rotation.older_key})->integer, 1) << rotation.older_key;
  for (const bool evicted : {false, true}) {
    if (evicted) server().ask({"DEL", "b"});
    EXPECT_FALSE(rotate().done) << "nothing has come since";
    EXPECT_TRUE(AnyFilter::open(string_at("b"), Access::read, both).may_contain("old"));
  }
  AnyFilter::open(string_at("b"), Access::write, both).insert("new");
  EXPECT_TRUE(rotate().done);
  AnyFilter after = AnyFilter::open(string_at("b"), Access::read, both);
  EXPECT_TRUE(after.may_contain("new"));
  EXPECT_FALSE(after.may_contain("old"));
}

TEST_F(AnyOnServer, NeverRepeatsAPassword) {
  EXPECT_EQ(AnyFilter::display_name("redis://u:secret@h:1/2?key=k").find("secret"),
            std::string::npos);
  try {
    (void)AnyFilter::open("redis://u:secret@127.0.0.1:1/2?key=k");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
    EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos);
  }
}

// The first line must end within 4 KiB. That it was taken shows in the error: there is no server.
TEST_F(AnyOnServer, TakesAPasswordFromTheFirstLineOfAFile) {
  const std::string file = scratch_ / "password", more(5'000, '#');
  ::setenv("BLOOMERY_REDIS_PASSWORD_FILE", file.c_str(), 1);
  for (const auto& [text, code] : {std::pair("secret\n" + more, ErrorCode::unavailable),
                                   {"secret", ErrorCode::unavailable},
                                   {"secret\r\n", ErrorCode::unavailable},
                                   {more.substr(0, 4'095), ErrorCode::unavailable},
                                   {more.substr(0, 4'095) + "\n", ErrorCode::unavailable},
                                   {more.substr(0, 4'096), ErrorCode::invalid_argument},
                                   {more, ErrorCode::invalid_argument},
                                   {"", ErrorCode::invalid_argument},
                                   {std::string("a\0b\n", 4), ErrorCode::invalid_argument},
                                   {"\r\n", ErrorCode::invalid_argument},
                                   {"\n" + more, ErrorCode::invalid_argument}}) {
    SCOPED_TRACE(std::to_string(text.size()) + " bytes");
    std::ofstream(file) << text;
    expect_error(code, {code == ErrorCode::unavailable ? "cannot be reached" : "is not a password"},
                 [] { (void)AnyFilter::open("redis://u@127.0.0.1:1?key=k"); });
  }
  // All of the line is the password, and nothing else. One of the address or of the environment goes before it.
  server().ask({"ACL", "SETUSER", "me", "reset", "on", ">secret", "~*", "+@all"});
  const auto opens = [](const std::string& user) {
    try {
      (void)AnyFilter::open_or_create(
          "redis+unix://" + user + "@" + server().path() + "?key=k&timeout=60",
          {.capacity = 100, .fpr = 0.01});
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::denied) << error.what();
      return false;
    }
  };
  for (const auto& [text, right] : {std::pair("secret\nmore", true),
                                    {"secret", true},
                                    {"secret\r\nmore", true},
                                    {"secret\r", true},
                                    {"secre\n", false},
                                    {"secret \n", false},
                                    {"secret\r\r\n", false}}) {
    std::ofstream(file) << text;
    EXPECT_EQ(opens("me"), right) << text;
    EXPECT_TRUE(opens("me:secret"));
    EXPECT_FALSE(opens("me:another"));
  }
  ::setenv("BLOOMERY_REDIS_PASSWORD", "secret", 1);
  EXPECT_TRUE(opens("me"));
  EXPECT_FALSE(opens("me:another"));
  ::unsetenv("BLOOMERY_REDIS_PASSWORD");
  std::filesystem::remove(file);
  expect_error(ErrorCode::invalid_argument, {"BLOOMERY_REDIS_PASSWORD_FILE", file},
               [] { (void)AnyFilter::open("redis://u@127.0.0.1:1?key=k"); });
  ::unsetenv("BLOOMERY_REDIS_PASSWORD_FILE");
  expect_error(ErrorCode::invalid_argument, {"names a user and no password"},
               [] { (void)AnyFilter::open("redis://u@127.0.0.1:1?key=k"); });
}

}  // namespace
}  // namespace bloomery::test
