// Calls that a filter on a server refuses: of a reader, after close(), and what a server cannot do; and how many keys are
// done before an error.
#include <bloomery/any_filter.hpp>

#include <array>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "handle/any_on_server.hpp"
#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

// A call that fails says how many keys are done, and the next that fails at once says none.
TEST_F(AnyOnServer, CountsTheKeysBeforeAnError) {
  const std::string shards = at("redis+cluster", "s&shards=2");
  AnyFilter filter = AnyFilter::create(shards, spec_);
  filter.insert_many(keys());
  AnyFilter reader = AnyFilter::open(shards);
  server().ask({"UNLINK", RedisFilter::open(parse_redis_url(shards)).keys()[1]});
  Keys there, missing;
  for (const std::string& key : keys()) try {
      (void)filter.may_contain(key);
      there.push_back(key);
    } catch (const Error&) {
      missing.push_back(key);
    }
  ASSERT_FALSE(missing.empty());
  ASSERT_FALSE(there.empty());
  // More than AnyFilter takes at once.
  const std::size_t done = (65'536 / there.size() + 2) * there.size();
  Keys many;
  while (many.size() < done) many.insert(many.end(), there.begin(), there.end());
  many.insert(many.end(), missing.begin(), missing.end());
  for (const auto& call : {std::function<void()>([&] { (void)filter.insert_many(many); }),
                           std::function<void()>([&] { (void)filter.may_contain_many(many); })}) {
    expect_error(ErrorCode::missing, {}, call);
    EXPECT_EQ(filter.acknowledged(), done);
    expect_error(ErrorCode::wrong_kind, {}, [&] { (void)filter.remove("a"); });
    EXPECT_EQ(filter.acknowledged(), 0U);
  }
  expect_error(ErrorCode::missing, {}, [&] { (void)reader.may_contain_many(many); });
  EXPECT_EQ(reader.acknowledged(), done);
  expect_error(ErrorCode::read_only, {},
               [&] { (void)reader.apply(AnyFilter::Operation::insert, std::span<Hash128>()); });
  EXPECT_EQ(reader.acknowledged(), 0U);
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
  expect_error(ErrorCode::invalid_argument, {"room for 0 answers"},
               [&] { writer.insert_bits("newer", {}); });
  EXPECT_EQ(writer.acknowledged(), 0U);
}

// What needs the whole filter in this process.
TEST_F(AnyOnServer, SaysWhatAServerCannot) {
  std::vector<AnyFilter> filters = in_every_place();
  AnyFilter memory(plan(spec_)), counting(CountingPlan{plan(100, 0.01, Layout::blocked64)});
  memory.insert("kept");
  for (AnyFilter& filter : filters) {
    EXPECT_TRUE(filter.insert("old")) << filter.name();
    EXPECT_FALSE(filter.in_memory());
    EXPECT_FALSE(filter.needs_time());
    EXPECT_FALSE(filter.begin_load());
    EXPECT_EQ(filter.file(), nullptr);
    // What is on a server is as durable as it makes it, and knows its own time.
    filter.sync();
    filter.advance(7);
    filter.end_load();
    filter.use_threads(2);
    filter.keep_alive();
    EXPECT_FALSE(filter.is_loading());
    EXPECT_FALSE(filter.can_be_behind());
    EXPECT_FALSE(filter.slice_room());
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
    const std::string_view two[] = {"old", "old"};
    bool room = false;
    expect_error(ErrorCode::invalid_argument, {"2 keys"}, [&] {
      (void)filter.apply(AnyFilter::Operation::contain, two, {&room, 1});
    });
    if (filter.hasher() == nullptr) {
      const Hash128 hash{1, 2};
      expect_error(ErrorCode::wrong_kind, {filter.name(), "give their bytes"}, [&] {
        (void)filter.apply(AnyFilter::Operation::insert, {&hash, 1});
      });
      EXPECT_EQ(filter.acknowledged(), 0U) << "of the call before";
      continue;
    }
    const Hash128 hash = (*filter.hasher())(std::string_view("absent"));
    expect_error(ErrorCode::wrong_kind, {filter.name()}, [&] {
      (void)filter.apply(AnyFilter::Operation::insert_absent, {&hash, 1});
    });
  }
  // These bits are in no piece that a dump has.
  FilterSpec standard = spec_;
  standard.layout = Layout::standard;
  AnyFilter::create(at("redis+cluster", "t&shards=3"), standard);
  for (const std::string& one : {at("redis+module", "u"), string_at("u"), scratch_ / "u"})
    expect_error(ErrorCode::wrong_kind, {"in 3 shards"},
                 [&] { AnyFilter::convert(at("redis+cluster", "t"), one); });
  expect_error(ErrorCode::too_large, {"9,945,954,304 bits", "redis+cluster://"}, [&] {
    (void)AnyFilter::create(string_at("u"), {.capacity = 1'000'000'000, .fpr = 0.01});
  });
  const AnyOptions php{.scheme = PhpScheme::string_hashes("FNV")};
  expect_error(ErrorCode::missing, {"none"}, [&] { AnyFilter::rotate(string_at("none"), php); });
  EXPECT_TRUE(memory.may_contain("kept"));
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "saved"));
  EXPECT_TRUE(AnyFilter::open(string_at("k")).may_contain("old"));
}

// Nothing is sent to the server, which need not be there.
TEST_F(AnyOnServer, TakesNoDurability) {
  const std::string address = "redis://127.0.0.1:1?key=k";
  const FilterSpec spec{.capacity = 100, .fpr = 0.01};
  for (const Durability level : {Durability::sync, Durability::process, Durability::none}) {
    const AnyOptions options{.durability = level};
    const std::function<void()> calls[] = {
        [&] { (void)AnyFilter::open(address, Access::write, options); },
        [&] { (void)AnyFilter::create(address, spec, options); },
        [&] { (void)AnyFilter::open_or_create(address, spec, options); },
    };
    for (const auto& call : calls)
      expect_error(ErrorCode::invalid_argument, {"127.0.0.1", "a durability is for filter files"},
                   call);
  }
  expect_error(ErrorCode::invalid_argument, {"127.0.0.1", "shared by all its clients anyway"},
               [&] { (void)AnyFilter::create(address, spec, {.shared = true}); });
}

// Who asks for a window and for generations would otherwise get a filter that does not forget by itself.
TEST_F(AnyOnServer, PlainFiltersTakeNoNumberOfAnotherKind) {
  FilterSpec window = spec_, growth = spec_, delta = spec_;
  window.window = Window{WindowUnit::seconds, 60};
  growth.growth = 4;
  delta.delta = 100;
  for (const std::string& place : {string_at("z"), at("redis+cluster", "z&shards=2")})
    for (const bool rotating : {false, true})
      for (const FilterSpec& spec : {window, growth, delta})
        expect_error(ErrorCode::invalid_argument, {"not a plain filter"},
                     [&] { (void)AnyFilter::open_or_create(place, spec, {.rotating = rotating}); });
}

TEST_F(AnyOnServer, AClosedFilterRefusesEveryCall) {
  std::vector<AnyFilter> filters = in_every_place();
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
                                                      [&] { (void)filter.spec(); },
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

}  // namespace
}  // namespace bloomery::test
