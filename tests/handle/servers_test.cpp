// The handle over filters on Redis servers: strings, shards, generations, PHP buckets and modules.
#include <bloomery/any_filter.hpp>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "redis/scripted.hpp"
#include "redis/server.hpp"
#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

using Keys = std::vector<std::string>;

class AnyOnServer : public testing::Test {
 protected:
  static Server& server() {
#ifdef BLOOMERY_MODULE
    static Server one({"--loadmodule", module_file()});
#else
    static Server one;
#endif
    return one;
  }
  void SetUp() override { server().ask({"FLUSHALL"}); }
  [[nodiscard]] static std::string at(const std::string& scheme, const std::string& rest) {
    return scheme + "+unix://" + server().path() + "?key=" + rest;
  }
  [[nodiscard]] static std::string string_at(const std::string& key) { return at("redis", key); }
  static constexpr std::size_t kKeys = 3'000;
  static Keys keys() { return text_keys("key", kKeys); }
  const FilterSpec spec_{.capacity = 10'000, .fpr = 0.001};
  Scratch scratch_;
};

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
  expect_error(ErrorCode::wrong_kind, {}, [&] {
    (void)AnyFilter::create(string_at("c"), {.kind = Kind::counting, .capacity = 1});
  });
  expect_error(ErrorCode::missing, {}, [&] { (void)AnyFilter::open(string_at("none")); });
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
  AnyFilter::merge(sources, shards("all&shards=2"));
  AnyFilter all = AnyFilter::open(shards("all"));
  EXPECT_TRUE(all.may_contain("x"));
  EXPECT_EQ(all.may_contain_many(keys()), kKeys);

  AnyFilter::create(shards("b&shards=2"), spec_, {.seed = Seed{.low = 7}, .replace = true});
  expect_error(ErrorCode::mismatch, {"seed"},
               [&] { AnyFilter::merge(sources, shards("none&shards=2")); });
  expect_error(ErrorCode::missing, {}, [&] { (void)AnyFilter::open(shards("none")); });
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

TEST_F(AnyOnServer, RotatesTwoGenerations) {
  AnyFilter filter = AnyFilter::create(string_at("k"), spec_, {.rotating = true});
  filter.insert("a");
  EXPECT_EQ(filter.stats().fpr, 0.001);
  ASSERT_TRUE(filter.stats().generations);
  const auto rotation = AnyFilter::rotate(string_at("k"));
  EXPECT_TRUE(rotation.done);
  EXPECT_EQ(rotation.generation, 3U);
  AnyFilter same = AnyFilter::open(string_at("k"));
  EXPECT_TRUE(same.may_contain("a"));
  EXPECT_NEAR(same.stats().generations->older.estimated_items, 1, 0.1);
  EXPECT_EQ(same.stats().estimated_items, 0);
  AnyFilter::rotate(string_at("k"));
  EXPECT_FALSE(AnyFilter::open(string_at("k")).may_contain("a"));
  EXPECT_FALSE(AnyFilter::open(string_at("k")).plan());
  EXPECT_NE(same.verify().detail.find("both generations"), std::string::npos);
  server().ask({"APPEND", "{k}:older", "x"});
  expect_error(ErrorCode::corrupt, {"k"}, [&] { (void)same.verify(); });
  expect_error(ErrorCode::invalid_argument, {}, [&] {
    (void)AnyFilter::create(string_at("b"), {.capacity = 5}, {.rotating = true});
  });
}

// The server would take the keys; the caller has said that there are none to add.
TEST_F(AnyOnServer, RefusesChangesOfAReader) {
  const AnyOptions php{.scheme = PhpScheme::string_hashes("FNV")};
  AnyFilter::create(string_at("k"), spec_).insert("old");
  AnyFilter::create(string_at("r"), spec_, {.rotating = true}).insert("old");
  AnyFilter::create(string_at("b"), {}, php).insert("old");
  for (AnyFilter& reader :
       std::array{AnyFilter::open(string_at("k")), AnyFilter::open(string_at("r")),
                  AnyFilter::open(string_at("b"), Access::read, php)}) {
    const auto refused = [&](const std::function<void()>& change) {
      expect_error(ErrorCode::read_only, {reader.name(), "open it for writing"}, change);
      EXPECT_EQ(reader.acknowledged(), 0U);
    };
    refused([&] { reader.insert("new"); });
    refused([&] { reader.insert_many(keys()); });
    refused([&] { reader.remove("old"); });
    EXPECT_TRUE(reader.may_contain("old"));
    EXPECT_FALSE(reader.may_contain("new"));
  }
  AnyFilter bucket = AnyFilter::open(string_at("b"), Access::read, php);
  std::array<bool, 64> before{};
  expect_error(ErrorCode::read_only, {}, [&] { bucket.insert_bits("new", before); });
  EXPECT_EQ(bucket.acknowledged(), 0U);
  AnyFilter writer = AnyFilter::open(string_at("b"), Access::write, php);
  EXPECT_EQ(writer.insert_bits("new", before), 1U);
  EXPECT_EQ(writer.acknowledged(), 1U);
}

// What needs the whole filter in this process.
TEST_F(AnyOnServer, SaysWhatAServerCannot) {
  const AnyOptions php{.scheme = PhpScheme::string_hashes("FNV")};
  std::vector<AnyFilter> filters;
  filters.push_back(AnyFilter::create(string_at("k"), spec_));
  filters.push_back(AnyFilter::create(string_at("r"), spec_, {.rotating = true}));
  filters.push_back(AnyFilter::create(at("redis+cluster", "s&shards=2"), spec_));
  filters.push_back(AnyFilter::create(string_at("b"), {}, php));
  filters.push_back(AnyFilter::rebuild(string_at("n"), plan(spec_)));
#ifdef BLOOMERY_MODULE
  filters.push_back(AnyFilter::create(at("redis+module", "m"), spec_));
#endif
  AnyFilter memory(plan(spec_)), counting(CountingPlan{plan(100, 0.01, Layout::blocked64)});
  memory.insert("kept");
  for (AnyFilter& filter : filters) {
    EXPECT_TRUE(filter.insert("old")) << filter.name();
    EXPECT_FALSE(filter.in_memory());
    EXPECT_FALSE(filter.needs_time());
    EXPECT_FALSE(filter.begin_load());
    EXPECT_EQ(filter.file(), nullptr);
    const std::pair<const char*, std::function<void()>> calls[] = {
        {"bloomery convert", [&] { (void)filter.encode(); }},
        {"bloomery convert", [&] { (void)filter.encoded_size(); }},
        {"bloomery convert", [&] { (void)filter.copy(); }},
        {"bloomery convert", [&] { filter.save(scratch_ / "saved"); }},
        {"merge by location", [&] { filter.merge(memory); }},
        {"merge by location", [&] { filter.merge(counting); }},
        {"are merged", [&] { memory.merge(filter); }},
        {"are intersected", [&] { memory.intersect(filter); }},
        {"take a copy of it", [&] { filter.intersect(memory); }},
        {"create a new one", [&] { filter.clear(); }},
        {"are never behind", [&] { (void)filter.reload(); }},
        {"repeat all", [&] { (void)filter.begin_batch("batch"); }}};
    for (const auto& [why, call] : calls)
      expect_error(ErrorCode::wrong_kind, {filter.name(), why}, call);
    if (filter.hasher() == nullptr) continue;
    const Hash128 hash = (*filter.hasher())(std::string_view("absent"));
    expect_error(ErrorCode::wrong_kind, {filter.name()}, [&] {
      (void)filter.apply(AnyFilter::Operation::insert_absent, {&hash, 1});
    });
  }
  EXPECT_TRUE(memory.may_contain("kept"));
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "saved"));
  EXPECT_TRUE(AnyFilter::open(string_at("k")).may_contain("old"));
}

TEST_F(AnyOnServer, OpensABucketOrCreatesIt) {
  const AnyOptions php{.scheme = PhpScheme::string_hashes("FNV")};
  for (const bool there : {false, true}) {
    AnyFilter bucket = AnyFilter::open_or_create(string_at("b"), {}, php);
    EXPECT_EQ(bucket.may_contain("old"), there);
    bucket.insert("old");
  }
}

TEST_F(AnyOnServer, AClosedFilterRefusesEveryCall) {
  const AnyOptions php{.scheme = PhpScheme::string_hashes("FNV")};
  std::vector<AnyFilter> filters;
  filters.push_back(AnyFilter::create(string_at("k"), spec_));
  filters.push_back(AnyFilter::create(string_at("r"), spec_, {.rotating = true}));
  filters.push_back(AnyFilter::create(at("redis+cluster", "s&shards=2"), spec_));
  filters.push_back(AnyFilter::create(string_at("b"), {}, php));
  filters.push_back(AnyFilter::rebuild(string_at("n"), plan(spec_)));
#ifdef BLOOMERY_MODULE
  filters.push_back(AnyFilter::create(at("redis+module", "m"), spec_));
#endif
  for (AnyFilter& filter : filters) {
    filter.insert("old");
    const std::string name = filter.name();
    const bool hashes = filter.hasher() != nullptr;
    filter.close();
    filter.close();
    EXPECT_EQ(filter.name(), name);
    EXPECT_EQ(filter.hasher() != nullptr, hashes);
    std::array<bool, 64> before{};
    const std::vector<std::function<void()>> calls = {[&] { filter.insert("new"); },
                                                      [&] { filter.insert_many(keys()); },
                                                      [&] { filter.remove("old"); },
                                                      [&] { filter.insert_bits("new", before); },
                                                      [&] { (void)filter.may_contain("old"); },
                                                      [&] { filter.may_contain_many(keys()); },
                                                      [&] { filter.require_removal(); },
                                                      [&] { (void)filter.plan(); },
                                                      [&] { (void)filter.stats(); },
                                                      [&] { (void)filter.verify(); },
                                                      [&] { filter.sync(); },
                                                      [&] { filter.keep_alive(); }};
    for (const auto& call : calls) {
      expect_error(ErrorCode::read_only, {name, "is closed"}, call);
      EXPECT_EQ(filter.acknowledged(), 0U);
    }
  }
  EXPECT_TRUE(AnyFilter::open(string_at("n")).may_contain("old"));
  EXPECT_FALSE(AnyFilter::open(string_at("k")).may_contain("new"));
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
  EXPECT_TRUE(AnyFilter::rotate(string_at("b"), php).done);
  EXPECT_FALSE(AnyFilter::rotate(string_at("b"), php).done);  // nothing has come since
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

#ifdef BLOOMERY_MODULE
TEST_F(AnyOnServer, FiltersOfAModuleOfEveryKind) {
  const auto module = [&](const std::string& key) { return at("redis+module", key); };
  FilterSpec spec = spec_;
  AnyFilter scalable = AnyFilter::open_or_create(module("s"), spec);  // the module's own default
  EXPECT_GE(scalable.insert_many(keys()), kKeys - 30);
  EXPECT_EQ(scalable.may_contain_many(keys()), kKeys);
  EXPECT_EQ(scalable.stats().kind, Kind::scalable);
  EXPECT_GE(scalable.stats().inserted, kKeys - 30);
  EXPECT_EQ(scalable.hasher(), nullptr);
  expect_error(ErrorCode::wrong_kind, {}, [&] { (void)scalable.insert(7); });
  EXPECT_EQ(AnyFilter::open(module("s")).may_contain_many(keys()), kKeys);
  expect_error(ErrorCode::invalid_argument, {}, [&] {
    (void)AnyFilter::open_or_create(module("s"), {}, {.seed = Seed{5, 0}});
  });

  spec.kind = Kind::counting;
  AnyFilter counting = AnyFilter::create(module("c"), spec);
  counting.require_removal();
  counting.insert("a");
  EXPECT_TRUE(counting.remove("a"));
  EXPECT_FALSE(counting.may_contain("a"));

  spec.kind = Kind::plain;
  AnyFilter plain = AnyFilter::create(module("p"), spec);
  plain.insert_many(keys());
  AnyFilter::convert(module("p"), scratch_ / "p.bloom");
  const FilterStats stats = plain.stats();
  EXPECT_EQ(stats.kind, Kind::plain);
  const double counted = AnyFilter::open(scratch_ / "p.bloom").stats().current_fpr;
  EXPECT_NEAR(stats.current_fpr / counted, 1, 0.5) << "few keys: blocks differ by chance";
  EXPECT_EQ(AnyFilter::open(scratch_ / "p.bloom").may_contain_many(keys()), kKeys);
  AnyFilter::convert(scratch_ / "p.bloom", module("q"));
  EXPECT_EQ(AnyFilter::open(module("q")).may_contain_many(keys()), kKeys);
  AnyFilter::convert(module("s"), scratch_ / "dump");
  AnyFilter::convert(scratch_ / "dump", module("copy"));
  EXPECT_EQ(AnyFilter::open(module("copy")).may_contain_many(keys()), kKeys);
  expect_error(ErrorCode::wrong_kind, {},
               [&] { (void)AnyFilter::convert(module("c"), scratch_ / "c.bloom"); });
  expect_error(ErrorCode::wrong_kind, {},
               [&] { (void)AnyFilter::rebuild(module("p"), plan(spec)); });
  expect_error(ErrorCode::wrong_kind, {}, [&] { (void)AnyFilter::rotate(module("p")); });
  expect_error(ErrorCode::invalid_argument, {},
               [&] { (void)AnyFilter::create(module("x"), {.capacity = 5}); });
  // A number of another kind is refused, as in a file: a filter that ignored its window would never forget.
  const FilterSpec foreign[] = {{.window = Window{WindowUnit::seconds, 60}},
                                {.slices = 4},
                                {.counter_bits = 8},
                                {.delta = 5},
                                {.kind = Kind::counting, .growth = 2},
                                {.kind = Kind::plain, .growth = 2},
                                {.kind = Kind::counting, .layout = Layout::standard}};
  expect_error(ErrorCode::invalid_argument, {"window", "is missing"}, [&] {
    (void)AnyFilter::create(module("x"), {.kind = Kind::window, .capacity = 5, .fpr = 0.01});
  });
  // As large as no reply to DUMP, by one byte: it is not read.
  const std::string large = scratch_ / "large";
  std::ofstream(large) << "a reply of DUMP";
  std::filesystem::resize_file(large, (std::uintmax_t{512} << 20) + 1);
  expect_error(ErrorCode::too_large, {large}, [&] { AnyFilter::convert(large, module("x")); });
  for (FilterSpec other : foreign) {
    other.capacity = 1000;
    other.fpr = 0.01;
    expect_error(ErrorCode::invalid_argument, {},
                 [&] { (void)AnyFilter::create(module("x"), other); });
    expect_error(ErrorCode::invalid_argument, {},
                 [&] { (void)AnyFilter::open_or_create(module("x"), other); });
  }
}

// Each shard is a filter of its own, so they are neither one string nor one dump.
TEST_F(AnyOnServer, ShardsOfAModuleGoIntoShardsOfAModule) {
  const auto shards = [&](const std::string& key) {
    return at("redis+module+cluster", key + "&shards=2");
  };
  const std::string file = scratch_ / "f.bloom", dump = scratch_ / "dump";
  const std::string module = at("redis+module", "p");
  FilterSpec spec = spec_;
  spec.kind = Kind::plain;
  AnyFilter::create(shards("a"), spec).insert_many(keys());
  AnyFilter::create(shards("b"), spec).insert("x");
  for (const std::string& each : {file, string_at("s"), module})
    AnyFilter::create(each, spec).insert("y");
  AnyFilter::convert(module, dump);
  std::ofstream(scratch_ / "text") << "perhaps a reply of DUMP";
  const auto refused = [&](const std::function<void()>& call) {
    expect_error(ErrorCode::wrong_kind, {"each shard is a filter of the module"}, call);
  };
  for (const std::string& out : {scratch_ / "new.bloom", scratch_ / "new", string_at("new"),
                                 at("redis+cluster", "new&shards=2"), at("redis+module", "new")})
    refused([&] { AnyFilter::convert(shards("a"), out); });
  for (const std::string& source : {file, dump, scratch_ / "text", string_at("s"), module})
    refused([&] { AnyFilter::convert(source, shards("new")); });
  refused([&] { (void)AnyFilter::merge(Keys{shards("a"), shards("b")}, scratch_ / "new.bloom"); });
  refused([&] { (void)AnyFilter::merge(Keys{shards("a"), file}, shards("new")); });
  refused([&] { (void)AnyFilter::merge(Keys{file, file}, shards("new")); });
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "new"));
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "new.bloom"));
  expect_error(ErrorCode::missing, {}, [&] { (void)AnyFilter::open(shards("new")); });

  AnyFilter::convert(shards("a"), shards("copy"));
  EXPECT_EQ(AnyFilter::open(shards("copy")).may_contain_many(keys()), kKeys);
  const auto merged = AnyFilter::merge(Keys{shards("a"), shards("b")}, shards("all"));
  ASSERT_TRUE(merged.stats) << merged.why_not;
  EXPECT_NEAR(merged.stats->estimated_items, kKeys + 1.0, 60);
  AnyFilter all = AnyFilter::open(shards("all"));
  EXPECT_EQ(all.may_contain_many(keys()), kKeys);
  EXPECT_TRUE(all.may_contain("x"));
  EXPECT_FALSE(AnyFilter::open(shards("a")).may_contain("x"));
}

// What is asked for is compared with what is there, field by field, as in a file.
TEST_F(AnyOnServer, AFilterOfAModuleIsWhatWasAskedFor) {
  const auto module = [&](const std::string& key) { return at("redis+module", key); };
  constexpr Window kMinute{WindowUnit::seconds, 60};
  const FilterSpec made[] = {
      {.kind = Kind::plain, .capacity = 1000, .fpr = 0.003},
      {.kind = Kind::scalable, .capacity = 1000, .fpr = 0.003, .growth = 3},
      {.kind = Kind::scalable, .capacity = 1000, .fpr = 0.003, .layout = Layout::standard},
      {.kind = Kind::counting, .capacity = 1000, .fpr = 0.003, .counter_bits = 8},
      {.kind = Kind::window, .capacity = 1000, .fpr = 0.003, .window = kMinute, .slices = 7}};
  for (std::size_t i = 0; i < std::size(made); ++i) {
    const std::string key = module("k" + std::to_string(i));
    const auto refused = [&](auto change) {
      FilterSpec other = made[i];
      change(other);
      expect_error(ErrorCode::mismatch, {}, [&] { (void)AnyFilter::open_or_create(key, other); });
    };
    (void)AnyFilter::create(key, made[i]);
    AnyFilter again = AnyFilter::open_or_create(key, made[i]);
    EXPECT_EQ(again.stats().kind, *made[i].kind);
    EXPECT_EQ(again.stats().fpr, 0.003);
    // The capacity that has grown is not the one that was asked for.
    if (made[i].kind == Kind::scalable) again.insert_many(keys());
    (void)AnyFilter::open_or_create(key, made[i]);
    refused([](FilterSpec& spec) { spec.fpr = 0.0030001; });
    refused([](FilterSpec& spec) { spec.capacity = 1001; });
    refused([](FilterSpec& spec) {
      spec.kind = spec.kind == Kind::plain ? Kind::scalable : Kind::plain;
    });
    if (made[i].growth) refused([](FilterSpec& spec) { spec.growth = 7; });
    if (made[i].layout) refused([](FilterSpec& spec) { spec.layout = Layout::blocked; });
    if (made[i].counter_bits) refused([](FilterSpec& spec) { spec.counter_bits = 4; });
    if (made[i].window) {
      refused([](FilterSpec& spec) { spec.window->unit = WindowUnit::insertions; });
      refused([](FilterSpec& spec) { spec.window->length = 600; });
      refused([](FilterSpec& spec) { spec.slices = 8; });
    }
  }
  // RedisBloom's layout has no higher rate than 1 in 4.
  const FilterSpec high{.capacity = 10, .fpr = 0.9, .layout = Layout::standard};
  (void)AnyFilter::create(module("high"), high);
  (void)AnyFilter::open_or_create(module("high"), high);
}
#endif

std::string module_at(const Scripted& server) {
  return "redis+module://127.0.0.1:" + std::to_string(server.port()) + "?key=k";
}

// Of RedisBloom, BF.INFO says little.
TEST(AnyOnRedisBloom, WhatItSaysIsCompared) {
  const auto answering = [](const char* expansion) {
    return [expansion](const Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] != "BF.INFO") return "-ERR unknown command\r\n";
      if (words.size() == 3) return "-Invalid information value\r\n";
      return std::string("*4\r\n+Capacity\r\n:100\r\n+Expansion rate\r\n") + expansion;
    };
  };
  const auto expect_refused = [](const std::string& at, const FilterSpec& spec) {
    expect_error(ErrorCode::mismatch, {}, [&] { (void)AnyFilter::open_or_create(at, spec); });
  };
  const Server real;
  Scripted growing(real.path()), plain(real.path());
  growing.say(answering(":2\r\n"));
  plain.say(answering("$-1\r\n"));
  const std::string grows = module_at(growing), is_plain = module_at(plain);
  (void)AnyFilter::open_or_create(grows,
                                  {.kind = Kind::scalable, .capacity = 5, .fpr = 0.1, .growth = 2});
  (void)AnyFilter::open_or_create(is_plain, {.kind = Kind::plain, .capacity = 100, .fpr = 0.1});
  expect_refused(grows, {.kind = Kind::plain});
  expect_refused(grows, {.growth = 3});
  expect_refused(is_plain, {.kind = Kind::scalable});
  expect_refused(is_plain, {.kind = Kind::counting});
  expect_refused(is_plain, {.capacity = 101});
}

// Bytes of a server that is no friend.
TEST(AnyOnRedisBloom, AReplyThatMakesNoSenseIsAnError) {
  const Server real;
  Scripted server(real.path());
  for (const char* reply :
       {"*0\r\n", ":1\r\n", "*1\r\n:1\r\n", "*1\r\n*1\r\n$1\r\n1\r\n",
        "*1\r\n*2\r\n$1\r\nx\r\n$1\r\n1\r\n", "*1\r\n*3\r\n$1\r\n1\r\n$1\r\n1\r\n$3\r\nODD\r\n",
        "*1\r\n*3\r\n$1\r\n1\r\n$1\r\n1\r\n$9\r\nEXPANSION\r\n"}) {
    server.say([reply](const Scripted::Words& words) -> std::optional<std::string> {
      return words.size() == 3 ? reply : "*2\r\n+Capacity\r\n:100\r\n";
    });
    expect_error(ErrorCode::io, {}, [&] { (void)AnyFilter::open(module_at(server)); });
  }
}

}  // namespace
}  // namespace bloomery::test
