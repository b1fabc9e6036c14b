// The handle over filters of our module.
#include <bloomery/any_filter.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "handle/any_on_server.hpp"
#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

#ifdef BLOOMERY_MODULE
TEST_F(AnyOnServer, FiltersOfAModuleOfEveryKind) {
  const auto module = [&](const std::string& key) { return at("redis+module", key); };
  FilterSpec spec = spec_;
  AnyFilter scalable = AnyFilter::open_or_create(module("s"), spec);  // the module's own default
  EXPECT_GE(scalable.insert_many(keys()), kKeys - 30);
  EXPECT_EQ(scalable.may_contain_many(keys()), kKeys);
  EXPECT_EQ(scalable.stats().kind, Kind::scalable);
  EXPECT_EQ(scalable.stats().growth, 2U);
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
  const FilterStats counted = AnyFilter::open(scratch_ / "p.bloom").stats();
  EXPECT_NEAR(stats.current_fpr / counted.current_fpr, 1, 0.5)
      << "few keys: blocks differ by chance";
  EXPECT_NEAR(stats.fill / counted.fill, 1, 0.05);
  EXPECT_GE(stats.bytes, counted.bytes);
  EXPECT_EQ(stats.module_arrays, 1U);
  EXPECT_FALSE(stats.over_capacity);
  EXPECT_EQ(plain.verify().detail,
            "the module holds it; its bits are as whole as the server's data");
  EXPECT_EQ(AnyFilter::open(scratch_ / "p.bloom").may_contain_many(keys()), kKeys);
  AnyFilter::convert(scratch_ / "p.bloom", module("q"));
  EXPECT_EQ(AnyFilter::open(module("q")).may_contain_many(keys()), kKeys);
  EXPECT_NEAR(static_cast<double>(*AnyFilter::open(module("q")).stats().inserted), kKeys, 150)
      << "a file counts bits, not keys";
  AnyFilter::convert(scratch_ / "p.bloom", string_at("string"));
  AnyFilter::convert(string_at("string"), module("t"));
  EXPECT_EQ(AnyFilter::open(module("t")).may_contain_many(keys()), kKeys);
  EXPECT_EQ(AnyFilter::open(module("t")).stats().inserted,
            AnyFilter::open(module("q")).stats().inserted);
  // Above its capacity, which a filter that grows never is.
  AnyFilter::create(scratch_ / "few.bloom", {.capacity = 1'000, .fpr = 0.001}).insert_many(keys());
  AnyFilter::convert(scratch_ / "few.bloom", module("few"));
  const FilterStats few = AnyFilter::open(module("few")).stats();
  EXPECT_TRUE(few.over_capacity);
  EXPECT_NEAR(static_cast<double>(*few.inserted), kKeys, 200);
  AnyFilter grown = AnyFilter::create(module("grown"), {.capacity = 1'000, .fpr = 0.001});
  grown.insert_many(keys());
  EXPECT_FALSE(grown.stats().over_capacity);
  EXPECT_EQ(grown.stats().module_arrays, 2U);
  AnyFilter::convert(module("s"), scratch_ / "dump");
  AnyFilter::convert(scratch_ / "dump", module("copy"));
  EXPECT_EQ(AnyFilter::open(module("copy")).may_contain_many(keys()), kKeys);
  const auto payload = server().ask({"DUMP", "s"});
  std::ofstream(scratch_ / "payload")
      .write(payload->str, static_cast<std::streamsize>(payload->len));
  AnyFilter::convert(scratch_ / "payload", module("restored"));
  EXPECT_EQ(AnyFilter::open(module("restored")).may_contain_many(keys()), kKeys);
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

TEST_F(AnyOnServer, FiltersOfAModuleAreListedWithWhatTheyWereMadeFrom) {
  const FilterSpec made[] = {{.kind = Kind::plain, .capacity = 1'000, .fpr = 0.003},
                             {.kind = Kind::counting, .capacity = 2'000, .fpr = 0.004}};
  for (std::size_t i = 0; i < std::size(made); ++i)
    (void)AnyFilter::create(at("redis+module", std::to_string(i)), made[i]);
  std::size_t found = 0;
  AnyFilter::for_each("redis+module+unix://" + server().path() + "?match=*",
                      [&](const std::string& address, const FilterStats& stats) {
                        const FilterSpec& spec =
                            made[address.find("key=1") == std::string::npos ? 0 : 1];
                        EXPECT_EQ(stats.kind, spec.kind) << address;
                        EXPECT_EQ(stats.capacity, spec.capacity) << address;
                        EXPECT_EQ(stats.fpr, spec.fpr) << address;
                        ++found;
                      },
                      {});
  EXPECT_EQ(found, 2U);
}

// A module gets the bits in chunks of up to 16 MiB, and each chunk has its own part of them.
TEST_F(AnyOnServer, AFilterOfManyChunksGoesIntoAModuleAndBack) {
  constexpr std::uint64_t kBytes = std::uint64_t{40} << 20;
  const std::string file = scratch_ / "a.bloom", dump = scratch_ / "dump",
                    back = scratch_ / "b.bloom";
  const std::string module = at("redis+module", "m");
  AnyFilter filter = AnyFilter::rebuild(file, Plan{Layout::blocked, kBytes * 8, 6, kBytes, 0.01});
  filter.insert_many(keys());
  filter.close();
  AnyFilter::convert(file, module);
  EXPECT_EQ(AnyFilter::open(module).may_contain_many(keys()), kKeys);
  AnyFilter::convert(module, dump);
  EXPECT_GE(AnyFilter::verify(dump).chunks, 4U) << "a header and 40 MiB";
  EXPECT_EQ(AnyFilter::open(dump).may_contain_many(keys()), kKeys);
  AnyFilter::convert(dump, back);
  EXPECT_EQ(AnyFilter::open(back).may_contain_many(keys()), kKeys);
  EXPECT_EQ(AnyFilter::open(back).stats(Precision::exact).fill,
            AnyFilter::open(file).stats(Precision::exact).fill);
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
    expect_error(ErrorCode::wrong_kind, {"shards of a module have a hash each"}, call);
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

// What a request leaves open is the same on a server as in memory.
TEST_F(AnyOnServer, AFilterOfAModuleHasTheNumbersThatNobodyAskedFor) {
  const FilterSpec requests[] = {
      {.kind = Kind::scalable, .capacity = 1000, .fpr = 0.01},
      {.kind = Kind::counting, .capacity = 1000, .fpr = 0.01},
      {.kind = Kind::window, .fpr = 0.01, .window = Window{WindowUnit::insertions, 800}},
      {.kind = Kind::window,
       .capacity = 1000,
       .fpr = 0.01,
       .window = Window{WindowUnit::seconds, 800}}};
  for (std::size_t i = 0; i < std::size(requests); ++i) {
    const std::string key = at("redis+module", "k" + std::to_string(i));
    (void)AnyFilter::create(key, requests[i]);
    const FilterSpec made = AnyFilter::open(key).spec(), here = AnyFilter(plan(requests[i])).spec();
    EXPECT_EQ(made.kind, here.kind);
    EXPECT_EQ(made.growth, here.growth);
    EXPECT_EQ(made.counter_bits, here.counter_bits);
    EXPECT_EQ(made.slices, here.slices);
    EXPECT_EQ(made.window, here.window);
  }
}

TEST_F(AnyOnServer, AFilterOfAModuleTellsTheRoomOfItsSlice) {
  const auto create = [&](const char* key, WindowUnit unit) {
    return AnyFilter::create(at("redis+module", key), {.kind = Kind::window,
                                                       .capacity = 40,
                                                       .fpr = 1e-6,
                                                       .window = Window{unit, 40},
                                                       .slices = 4});
  };
  EXPECT_EQ(
      AnyFilter::create(at("redis+module", "longer"), {.kind = Kind::window,
                                                       .fpr = 0.01,
                                                       .window = Window{WindowUnit::insertions, 41},
                                                       .slices = 4})
          .slice_room()
          ->length,
      11U);
  AnyFilter filter = create("insertions", WindowUnit::insertions);
  const auto left = [&] { return filter.slice_room()->left; };
  EXPECT_EQ(filter.slice_room()->length, 10U);
  EXPECT_EQ(left(), 10U);
  filter.insert("1");
  EXPECT_EQ(left(), 9U);
  filter.insert_many(text_keys("key", 9));
  EXPECT_EQ(left(), 0U);
  filter.insert_many(text_keys("other", 55));
  EXPECT_EQ(left(), 5U);
  EXPECT_TRUE(filter.arrays().empty());
  EXPECT_FALSE(create("seconds", WindowUnit::seconds).slice_room());
  EXPECT_FALSE(AnyFilter::create(at("redis+module", "plain"), {.capacity = 40, .fpr = 0.01})
                   .slice_room()
                   .has_value());
}

// What a module chooses itself, or cannot have, is refused before anything is made.
TEST_F(AnyOnServer, AFilterOfAModuleTakesWhatAModuleHas) {
  const std::string one = at("redis+module", "x"),
                    shards = at("redis+module+cluster", "x&shards=2");
  const FilterSpec spec{.capacity = 1'000, .fpr = 0.01};
  const auto refused = [&](const std::string& where, const char* says, auto change,
                           ErrorCode code = ErrorCode::invalid_argument) {
    FilterSpec asked = spec;
    AnyOptions options;
    change(asked, options);
    expect_error(code, {says}, [&] { (void)AnyFilter::create(where, asked, options); });
  };
  const char* const kChooses = "the module chooses bits";
  for (const std::string& where : {one, shards}) {
    refused(where, "does not rotate", [](auto&, auto& options) { options.rotating = true; });
    refused(where, kChooses, [](auto& asked, auto&) { asked.bits = 8'192; });
    refused(where, kChooses, [](auto& asked, auto&) { asked.hashes = 3; });
    refused(where, kChooses, [](auto&, auto& options) { options.hash = HashFamily::xxh3; });
    refused(where, kChooses, [](auto&, auto& options) { options.seed = Seed{1, 0}; });
    refused(where, kChooses, [](auto&, auto& options) { options.random_seed = true; });
    refused(where, "is missing", [](auto& asked, auto&) { asked.capacity.reset(); });
    refused(where, "is missing", [](auto& asked, auto&) { asked.fpr.reset(); });
    refused(
        where, "is not replaced", [](auto&, auto& options) { options.replace = true; },
        ErrorCode::exists);
  }
  refused(one, "the layouts blocked and standard",
          [](auto& asked, auto&) { asked.layout = Layout::blocked2; });
  refused(shards, kChooses, [](auto& asked, auto&) { asked.layout = Layout::blocked; });
  for (const Kind kind : {Kind::counting, Kind::window})
    refused(
        shards, "are plain or scalable", [&](auto& asked, auto&) { asked.kind = kind; },
        ErrorCode::wrong_kind);
  EXPECT_EQ(server().ask({"DBSIZE"})->integer, 0);

  // A window of lines has its own capacity.
  FilterSpec lines{.kind = Kind::window, .fpr = 0.01, .window = Window{WindowUnit::insertions, 77}};
  (void)AnyFilter::create(at("redis+module", "lines"), lines);
  EXPECT_EQ(AnyFilter::open(at("redis+module", "lines")).spec().capacity, 77U);
  // Only what has layouts is asked for one.
  FilterSpec blocked{
      .kind = Kind::counting, .capacity = 100, .fpr = 0.01, .layout = Layout::blocked};
  (void)AnyFilter::create(at("redis+module", "counting"), blocked);
  EXPECT_EQ(AnyFilter::open(at("redis+module", "counting")).spec().layout, std::nullopt);
  blocked.kind = Kind::plain;
  (void)AnyFilter::create(at("redis+module", "blocked"), blocked);
  EXPECT_EQ(AnyFilter::open(at("redis+module", "blocked")).spec().layout, Layout::blocked);

  // Nor are these compared with what is there.
  AnyOptions unknown[4];
  unknown[0].rotating = true;
  unknown[1].hash = HashFamily::xxh3;
  unknown[2].seed = Seed{1, 0};
  unknown[3].random_seed = true;
  for (const AnyOptions& options : unknown)
    expect_error(ErrorCode::invalid_argument, {"do not rotate"}, [&] {
      (void)AnyFilter::open(at("redis+module", "blocked"), Access::write, options);
    });
  // A module may use a lower rate than a high one that was asked for, and never a higher one.
  const std::string high = at("redis+module", "high");
  (void)AnyFilter::create(high, {.capacity = 10, .fpr = 0.4});
  const AnyFilter of_high = AnyFilter::open_or_create(high, {.fpr = 0.45});
  EXPECT_NO_THROW(of_high.require_match({.fpr = 0.45}));
  EXPECT_NO_THROW(AnyFilter::open(high).require_match({.capacity = 10, .fpr = 0.4}));
  expect_error(ErrorCode::mismatch, {},
               [&] { (void)AnyFilter::open_or_create(high, {.fpr = 0.3}); });
  expect_error(ErrorCode::mismatch, {}, [&] { of_high.require_match({.fpr = 0.3}); });
  const std::string quarter = at("redis+module", "quarter");
  (void)AnyFilter::create(quarter, {.capacity = 10, .fpr = 0.25});
  EXPECT_NO_THROW((void)AnyFilter::open_or_create(quarter, {.fpr = 0.3}));
  expect_error(ErrorCode::mismatch, {},
               [&] { (void)AnyFilter::open_or_create(quarter, {.fpr = 0.24}); });
  expect_error(ErrorCode::wrong_kind, {"moved by bloomery convert"},
               [&] { (void)AnyFilter::rebuild(quarter, plan(spec)); });
  // Filters under one key are merged by their server.
  expect_error(ErrorCode::wrong_kind, {"BF.MERGE on its server"}, [&] {
    (void)AnyFilter::merge(Keys{high, high}, at("redis+module", "out"));
  });
  // Nothing in shards can be removed.
  AnyFilter kept = AnyFilter::create(shards, spec);
  kept.insert("a");
  expect_error(ErrorCode::wrong_kind, {}, [&] { kept.require_removal(); });
  expect_error(ErrorCode::wrong_kind, {}, [&] { (void)kept.remove("a"); });
  EXPECT_TRUE(kept.may_contain("a"));
  const Hash128 hash{1, 2};
  expect_error(ErrorCode::wrong_kind, {"give their bytes"}, [&] {
    (void)kept.apply(AnyFilter::Operation::insert, {&hash, 1});
  });
}
#endif

}  // namespace
}  // namespace bloomery::test
