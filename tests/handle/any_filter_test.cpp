// The handle over filters in memory and in files: every kind has the same answers in both places as the
// filter of its kind.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <bloomery/bloomery.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "handle/any_kind.hpp"
#include "store/scratch.hpp"
#include "support/expect_error.hpp"
#include "support/refused_calls.hpp"
#include "support/throwing_key.hpp"

namespace bloomery::test {
namespace {

using Operation = AnyFilter::Operation;

INSTANTIATE_TEST_SUITE_P(, AnyKind, kKindsOfKeys, name_of_kind);

TEST_P(AnyKind, AnswersTheSameInMemoryInBytesAndInAFile) {
  const auto keys = text_keys("key", 5'000), others = text_keys("other", 5'000);
  AnyFilter memory(plan(spec()));
  AnyFilter file = AnyFilter::create(path(), spec());
  EXPECT_TRUE(memory.in_memory());
  EXPECT_FALSE(file.in_memory());
  const auto room = std::make_unique<bool[]>(keys.size());
  const std::span<bool> fresh(room.get(), keys.size());
  EXPECT_EQ(memory.insert_many(keys, fresh), file.insert_many(keys));
  EXPECT_TRUE(fresh.front());
  EXPECT_EQ(memory.acknowledged(), keys.size());
  file.close();
  AnyFilter reader = AnyFilter::open(path());
  AnyFilter decoded = AnyFilter::decode(memory.encode());
  for (AnyFilter* each : {&memory, &reader, &decoded}) {
    EXPECT_EQ(each->may_contain_many(keys), keys.size());
    EXPECT_EQ(each->may_contain_many(others), memory.may_contain_many(others));
    EXPECT_EQ(each->plan(), plan(spec()));
    const FilterStats stats = each->stats();
    EXPECT_EQ(stats.kind, GetParam());
    EXPECT_EQ(stats.capacity, 10'000U);
    EXPECT_EQ(stats.fpr, 0.001);
    EXPECT_EQ(stats.fill, memory.stats().fill);
    EXPECT_GT(stats.fill, 0);
    EXPECT_NEAR(stats.estimated_items, 5'000, 300);
    EXPECT_FALSE(stats.over_capacity);
  }
  EXPECT_EQ(reader.stats().inserted, memory.stats().inserted);
  EXPECT_EQ(reader.encode().size(), memory.encode().size());
}

TEST_P(AnyKind, SaysWhatItsKindCannot) {
  AnyFilter memory(plan(spec()));
  AnyFilter file = AnyFilter::create(path(), spec());
  for (AnyFilter* each : {&memory, &file}) {
    each->insert("a");
    if (GetParam() == Kind::counting) {
      each->require_removal();
      EXPECT_TRUE(each->remove("a"));
      EXPECT_FALSE(each->may_contain("a"));
    } else {
      expect_error(ErrorCode::wrong_kind, {}, [&] { (void)each->require_removal(); });
      expect_error(ErrorCode::wrong_kind, {}, [&] { (void)each->remove("a"); });
      EXPECT_TRUE(each->may_contain("a"));
    }
  }
  if (GetParam() != Kind::counting)
    expect_error(
        ErrorCode::wrong_kind,
        {GetParam() == Kind::window ? "older than its window" : "make one of kind counting"},
        [&] { (void)file.require_removal(); });
  const Hash128 hash = (*memory.hasher())(std::string_view("b"));
  bool absent = false;
  EXPECT_EQ(memory.apply(Operation::insert_absent, {&hash, 1}, {&absent, 1}), 1U);
  EXPECT_TRUE(absent);
  EXPECT_EQ(memory.apply(Operation::insert_absent, {&hash, 1}, {&absent, 1}), 0U);
  EXPECT_FALSE(absent);
  const Hash128 more[] = {(*memory.hasher())(std::string_view("c")), hash};
  EXPECT_EQ(memory.apply(Operation::insert_absent, more), 1U);
  EXPECT_EQ(memory.apply(Operation::contain, more), 2U);
  // Keys as bytes are hashed as everywhere.
  const std::string_view texts[] = {"d", "b"}, two[] = {"e", "f"};
  EXPECT_EQ(memory.apply(Operation::insert_absent, texts), 1U);
  EXPECT_EQ(memory.acknowledged(), 2U);
  EXPECT_TRUE(memory.may_contain("d"));
  EXPECT_EQ(memory.apply(Operation::insert, two), 2U);
  EXPECT_TRUE(memory.may_contain("e") && memory.may_contain("f"));
  for (const Operation operation : {Operation::contain, Operation::insert}) {
    EXPECT_EQ(memory.apply(operation, std::span<const Hash128>()), 0U);
    const bool contains = operation == Operation::contain;
    absent = !contains;
    EXPECT_EQ(memory.apply(operation, {&hash, 1}, {&absent, 1}), contains ? 1U : 0U);
    EXPECT_EQ(absent, contains);
  }
  expect_error(ErrorCode::wrong_kind, {}, [&] {
    (void)file.apply(Operation::insert_absent, {&hash, 1});
  });
  EXPECT_EQ(memory.verify().detail, "in memory, without checksums");
  std::array<bool, 64> before{};
  for (AnyFilter* each : {&memory, &file})
    expect_error(ErrorCode::wrong_kind, {each->name(), "of a PHP class on a server"},
                 [&] { each->insert_bits("a", before); });
}

// A key that is there is not counted again, and keeps its age. In a filter that is still being built nothing is known
// of any key, so all are taken.
TEST(AnyFilter, InsertsOnlyWhatIsAbsent) {
  const std::string_view keys[] = {"a", "b"};
  AnyFilter counting(plan(spec_of_kind(Kind::counting)));
  for (const std::size_t absent : {2, 0}) {
    EXPECT_EQ(counting.apply(Operation::insert_absent, keys), absent);
    EXPECT_EQ(counting.may_contain_many(keys), 2U);
  }
  EXPECT_EQ(counting.remove_many(keys), 2U);
  EXPECT_EQ(counting.may_contain_many(keys), 0U);

  FilterSpec spec = spec_of_kind(Kind::window);
  spec.window = Window{WindowUnit::seconds, 80};
  AnyFilter window(plan(spec));
  for (const std::uint64_t now : {1'000, 1'040}) {
    window.advance(now);
    window.apply(Operation::insert_absent, keys);
  }
  window.advance(1'100);
  EXPECT_EQ(window.may_contain_many(keys), 0U);

  AnyFilter frozen(plan({.kind = Kind::frozen, .fpr = 0.001}));
  frozen.apply(Operation::insert_absent, keys);
  frozen.apply(Operation::insert_absent, std::span(keys).first(1));
  frozen.sync();
  EXPECT_EQ(frozen.may_contain_many(keys), 2U);
  EXPECT_EQ(frozen.stats().inserted, 2U);
}

TEST_P(AnyKind, OpensOrCreates) {
  expect_error(ErrorCode::missing, {}, [&] { (void)AnyFilter::open(path()); });
  expect_error(ErrorCode::invalid_argument, {},
               [&] { (void)AnyFilter::open_or_create(path(), {}); });
  AnyFilter::open_or_create(path(), spec()).insert("a");
  expect_error(ErrorCode::exists, {}, [&] { (void)AnyFilter::create(path(), spec()); });
  EXPECT_TRUE(AnyFilter::open_or_create(path(), spec()).may_contain("a"));
  EXPECT_TRUE(AnyFilter::open_or_create(path(), {}).may_contain("a"));  // nothing contradicts it
  EXPECT_FALSE(AnyFilter::create(path(), spec(), {.replace = true}).may_contain("a"));
}

TEST_P(AnyKind, RebuildsBesideWhatIsThere) {
  AnyFilter::create(path(), spec()).insert("old");
  AnyFilter rebuilt = AnyFilter::rebuild(path(), plan(spec()));
  rebuilt.insert("new");
  EXPECT_TRUE(AnyFilter::open(path()).may_contain("old"));
  rebuilt.close();
  AnyFilter reader = AnyFilter::open(path());
  EXPECT_TRUE(reader.may_contain("new"));
  EXPECT_FALSE(reader.may_contain("old"));
  { AnyFilter::rebuild(path(), plan(spec())).insert("dropped"); }
  EXPECT_TRUE(AnyFilter::open(path()).may_contain("new"));
}

TEST_P(AnyKind, CountsTheKeysBeforeOneWhoseConversionThrows) {
  constexpr std::size_t kPart = 65'536;  // as many as AnyFilter takes at once
  const std::vector<ThrowingKey> keys = throwing_keys(kPart + 100, kPart + 50);
  const std::span<const ThrowingKey> good(keys.data(), kPart);
  FilterSpec large = spec();
  large.capacity = keys.size();
  if (large.window) large.window = Window{WindowUnit::insertions, keys.size()};
  AnyFilter memory(plan(large)), file = AnyFilter::create(path(), large);
  for (AnyFilter* filter : {&memory, &file}) {
    filter->insert(keys[0]);
    EXPECT_EQ(filter->acknowledged(), 1U);
    EXPECT_THROW((void)filter->insert(keys[kPart + 50]), std::domain_error);
    EXPECT_EQ(filter->acknowledged(), 0U);  // not that of the call before
    if (GetParam() == Kind::counting) {
      EXPECT_TRUE(filter->remove(keys[0]));
      EXPECT_EQ(filter->acknowledged(), 1U);
      EXPECT_THROW((void)filter->remove(keys[kPart + 50]), std::domain_error);
      EXPECT_EQ(filter->acknowledged(), 0U);
    }
    EXPECT_THROW(filter->insert_many(keys), std::domain_error);
    EXPECT_EQ(filter->acknowledged(), kPart);
    EXPECT_EQ(filter->may_contain_many(good), kPart);
    const std::uint64_t inserted = filter->stats().inserted.value();
    EXPECT_LE(inserted, kPart + 1);      // a window counts a key that comes again
    EXPECT_GT(inserted, kPart - 1'000);  // at most 66 false positives are expected
    EXPECT_THROW(filter->may_contain_many(keys), std::domain_error);
    EXPECT_THROW((void)filter->may_contain(keys[kPart + 50]), std::domain_error);
  }
  file.close();
  EXPECT_EQ(AnyFilter::open(path()).may_contain_many(good), kPart);
}

TEST(AnyFilter, TakesKeysAsTheFiltersDo) {
  AnyFilter any(plan({.capacity = 1'000, .fpr = 0.01}), Hasher(HashFamily::xxh3, {7, 0}));
  Filter filter(plan(1'000, 0.01), Hasher(HashFamily::xxh3, {7, 0}));
  any.insert(7);
  filter.insert(7);
  any.insert("seven");
  filter.insert("seven");
  const std::byte bytes[] = {std::byte{1}, std::byte{2}};
  any.insert(std::span<const std::byte>(bytes));
  filter.insert(std::span<const std::byte>(bytes));
  const Filter decoded = decode(any.encode());
  EXPECT_TRUE(std::ranges::equal(decoded.bytes(), filter.bytes()));
}

// A keyed hash protects only if nobody knows its key.
TEST(AnyFilter, HasARandomSeedIfItIsAskedForOrTheHashIsKeyed) {
  EXPECT_EQ(AnyOptions{}.hasher(), Hasher());
  const Seed seed{7, 0};
  for (const HashFamily family : {HashFamily::xxh3, HashFamily::siphash}) {
    EXPECT_EQ((AnyOptions{.hash = family, .seed = seed, .random_seed = true}.hasher()),
              Hasher(family, seed));
    const AnyOptions plain{.hash = family}, drawn{.hash = family, .random_seed = true};
    EXPECT_EQ(plain.hasher().family(), family);
    EXPECT_EQ(plain.hasher().seed() == Seed{}, family == HashFamily::xxh3);
    EXPECT_EQ(plain.hasher() == plain.hasher(), family == HashFamily::xxh3);
    EXPECT_NE(drawn.hasher().seed(), drawn.hasher().seed());
  }
}

TEST(AnyFilter, ThatWasMovedFromSaysSo) {
  AnyFilter from(plan({.capacity = 100, .fpr = 0.01}));
  AnyFilter to = std::move(from);
  EXPECT_TRUE(to.insert("a"));
  for (const auto& call : std::initializer_list<std::function<void()>>{
           [&] { from.insert(1); }, [&] { (void)from.stats(); }, [&] { (void)from.encode(); },
           [&] { (void)from.name(); }, [&] { from.advance(1); }, [&] { from.sync(); }})
    expect_error(ErrorCode::invalid_argument, {"moved from"},
                 call);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(from.hasher(), nullptr);
  EXPECT_FALSE(from.in_memory());
  EXPECT_FALSE(from.needs_time());
  EXPECT_FALSE(from.begin_load());
  EXPECT_FALSE(from.is_loading());
  EXPECT_FALSE(from.can_be_behind());
  EXPECT_EQ(from.file(), nullptr);
  from.use_threads(2);
  from.close();
}

TEST(AnyFilter, MergesFiles) {
  const Scratch scratch;
  const std::vector<std::string> sources = {scratch / "a", scratch / "b"};
  for (const Kind kind : {Kind::plain, Kind::counting}) {
    for (const std::string& source : sources)
      AnyFilter::create(source, spec_of_kind(kind), {.replace = true}).insert(source);
    const auto merged = AnyFilter::merge(sources, scratch / "out", true);
    ASSERT_TRUE(merged.stats);
    EXPECT_EQ(merged.stats->kind, kind);
    EXPECT_NEAR(merged.stats->estimated_items, 2, 0.1);
    EXPECT_EQ(AnyFilter::open(scratch / "out").may_contain_many(sources), 2U);
    expect_error(ErrorCode::exists, {}, [&] { (void)AnyFilter::merge(sources, scratch / "out"); });
  }
  AnyFilter::create(sources[0], spec_of_kind(Kind::plain), {.replace = true});
  expect_error(
      ErrorCode::mismatch,
      {sources[0] + " and " + sources[1], "one is a plain filter and the other a counting"},
      [&] { (void)AnyFilter::merge(sources, scratch / "new"); });
  // It is said before anything is asked of the destination.
  expect_error(ErrorCode::mismatch, {sources[0] + " and " + sources[1]},
               [&] { (void)AnyFilter::merge(sources, scratch / "out"); });
  AnyFilter::create(sources[1], {.capacity = 20'000, .fpr = 0.001}, {.replace = true});
  expect_error(ErrorCode::mismatch, {sources[0] + " and " + sources[1]},
               [&] { (void)AnyFilter::merge(sources, scratch / "new"); });
  const std::pair<Kind, const char*> refused[] = {{Kind::scalable, "two scalable filters together"},
                                                  {Kind::window, "two windows have forgotten"},
                                                  {Kind::frozen, "build a new one from the keys"}};
  for (const auto& [kind, why] : refused) {
    AnyFilter::create(sources[0], spec_of_kind(kind), {.replace = true}).close();
    expect_error(ErrorCode::wrong_kind,
                 {sources[0] + ": is a " + std::string(to_string(kind)) + " filter", why},
                 [&] { (void)AnyFilter::merge(sources, scratch / "new"); });
  }
  expect_error(ErrorCode::invalid_argument, {},
               [&] { (void)AnyFilter::merge({}, scratch / "new"); });
  EXPECT_FALSE(std::filesystem::exists(scratch / "new"));
}

// The file has the filter, is as private as the file that it was taken from, and replaces filters only.
TEST_P(AnyKind, IsSavedAsAFile) {
  const std::string copy = scratch_ / "copy", again = scratch_ / "again";
  AnyFilter memory{plan(spec())};
  memory.insert_many(text_keys("key", 100));
  memory.save(copy);
  EXPECT_EQ(AnyFilter::open(copy).may_contain_many(text_keys("key", 100)), 100U);
  std::filesystem::permissions(copy, std::filesystem::perms::owner_read);
  AnyFilter file = AnyFilter::open(copy);
  file.save(again);
  EXPECT_EQ(std::filesystem::status(again).permissions(), std::filesystem::perms::owner_read);
  EXPECT_EQ(AnyFilter::open(again).encode(), file.encode());
  // Wherever the file is now, and whatever is at its path.
  std::filesystem::rename(copy, scratch_ / "moved");
  AnyFilter::create(copy, spec()).close();
  for (const bool closed : {false, true}) {
    if (closed) file.close();
    std::filesystem::remove(again);
    file.save(again);
    EXPECT_EQ(std::filesystem::status(again).permissions(), std::filesystem::perms::owner_read);
  }
  memory.insert("new");
  memory.save(again);
  EXPECT_TRUE(AnyFilter::open(again).may_contain("new"));
  const std::string text = scratch_ / "text";
  std::ofstream(text) << "no filter\n";
  expect_error(ErrorCode::not_a_filter, {text}, [&] { memory.save(text); });
  expect_error(ErrorCode::invalid_argument, {"give a path"},
               [&] { memory.save("redis://h?key=k"); });
}

TEST(AnyFilter, KeepsWhatAnotherHasToo) {
  AnyFilter filter{plan(spec_of_kind(Kind::plain))}, other{plan(spec_of_kind(Kind::plain))};
  filter.insert_many(std::vector<std::string>{"a", "b"});
  other.insert_many(std::vector<std::string>{"b", "c"});
  filter.intersect(other);
  EXPECT_EQ(filter.may_contain_many(std::vector<std::string>{"a", "c"}), 0U);
  EXPECT_TRUE(filter.may_contain("b"));
  const AnyFilter counting{plan(spec_of_kind(Kind::counting))};
  expect_error(ErrorCode::wrong_kind, {"intersected"}, [&] { filter.intersect(counting); });
}

TEST(AnyFilter, ConvertsAPlainFile) {
  const Scratch scratch;
  AnyFilter::create(scratch / "a", spec_of_kind(Kind::plain)).insert("a");
  AnyFilter::convert(scratch / "a", scratch / "b");
  EXPECT_TRUE(AnyFilter::open(scratch / "b").may_contain("a"));
  expect_error(ErrorCode::exists, {},
               [&] { (void)AnyFilter::convert(scratch / "a", scratch / "b"); });
  // The second header is enough.
  std::fstream(scratch / "a", std::ios::in | std::ios::out) << std::string(512, '\0');
  AnyFilter::convert(scratch / "a", scratch / "e");
  EXPECT_TRUE(AnyFilter::open(scratch / "e").may_contain("a"));
  AnyFilter::create(scratch / "c", spec_of_kind(Kind::counting));
  expect_error(ErrorCode::wrong_kind, {},
               [&] { (void)AnyFilter::convert(scratch / "c", scratch / "d"); });
  std::ofstream(scratch / "text") << "no filter\n";
  expect_error(ErrorCode::not_a_filter, {},
               [&] { (void)AnyFilter::convert(scratch / "text", scratch / "d"); });
  expect_error(ErrorCode::not_a_filter, {"text"}, [&] { (void)AnyFilter::open(scratch / "text"); });
  expect_error(ErrorCode::missing, {},
               [&] { (void)AnyFilter::convert(scratch / "none", scratch / "d"); });
  expect_error(ErrorCode::missing, {"the directory"},
               [&] { (void)AnyFilter::convert(scratch / "none/f", scratch / "d"); });
  expect_error(ErrorCode::not_a_filter, {"is not a regular file"},
               [&] { (void)AnyFilter::convert(scratch / ".", scratch / "d"); });
  // Whatever has the name, in use or not.
  const AnyFilter writer = AnyFilter::open(scratch / "e", Access::write);
  for (const std::string& taken : {scratch / "text", scratch / "e"}) {
    expect_error(ErrorCode::exists, {taken, "replace it"},
                 [&] { AnyFilter::convert(scratch / "a", taken); });
    expect_error(ErrorCode::exists, {taken}, [&] {
      (void)AnyFilter::merge(std::vector<std::string>{scratch / "a", scratch / "b"}, taken);
    });
  }
}

TEST(AnyFilter, OfAFileDoesNotRotate) {
  const Scratch scratch;
  expect_error(ErrorCode::wrong_kind, {}, [&] { (void)AnyFilter::rotate(scratch / "f"); });
  expect_error(ErrorCode::wrong_kind, {}, [&] {
    (void)AnyFilter::create(scratch / "f", spec_of_kind(Kind::plain), {.rotating = true});
  });
}

TEST(AnyFilter, IsSharedByWritersOfOneFile) {
  const Scratch scratch;
  const FilterSpec spec{.capacity = 1'000, .fpr = 0.001};
  AnyOptions shared;
  shared.durability = Durability::process;
  shared.shared = true;
  AnyFilter one = AnyFilter::create(scratch / "f", spec, shared);
  AnyFilter other = AnyFilter::open(scratch / "f", Access::write, shared);
  EXPECT_TRUE(one.insert("a"));
  EXPECT_FALSE(other.insert("a"));
  EXPECT_TRUE(other.insert("b"));
  // Who is the last counts the keys of all.
  one.close();
  other.close();
  EXPECT_EQ(other.stats().inserted, 2U);
  EXPECT_EQ(AnyFilter::open(scratch / "f").stats().inserted, 2U);
}

// The keys of a load are in the file when it ends, while the file stays open.
TEST(AnyFilter, ALoadIsInTheFileWhenItEnds) {
  const Scratch scratch;
  std::vector<std::uint64_t> keys(100'000);
  std::iota(keys.begin(), keys.end(), 0);
  AnyFilter file = AnyFilter::create(scratch / "f", {.capacity = keys.size(), .fpr = 0.001});
  EXPECT_FALSE(file.is_loading());
  ASSERT_TRUE(file.begin_load());
  EXPECT_TRUE(file.is_loading());
  file.insert_many(keys);
  file.end_load();
  EXPECT_EQ(AnyFilter::open(scratch / "f").may_contain_many(keys), keys.size());
  EXPECT_FALSE(file.is_loading());
  EXPECT_TRUE(file.begin_load()) << "it has ended";
  file.close();
  EXPECT_FALSE(file.is_loading());
}

// None of its keys is acknowledged then. After a load its keys are, whatever fails.
TEST(AnyFilter, ALoadThatCannotEndHasAcknowledgedNothing) {
  using Call = void (AnyFilter::*)();
  const Scratch scratch;
  std::vector<std::uint64_t> keys(100'000);
  std::iota(keys.begin(), keys.end(), 0);
  const auto failed_of = [&](Call call, bool ended) {
    std::filesystem::remove(scratch / "f");
    return failed_in_child([&, call, ended] {
      AnyFilter file = AnyFilter::create(scratch / "f", {.capacity = keys.size(), .fpr = 0.001});
      if (!file.begin_load()) return 1;
      file.insert_many(keys);
      if (ended) file.end_load();
      if (file.acknowledged() != keys.size()) return 2;
      if (!refuse_from_now_on(SYS_fdatasync, EIO)) return kNoFilter;
      try {
        (file.*call)();
        return 3;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::io) return 4;
      }
      if (call == &AnyFilter::end_load && file.is_loading()) return 6;
      return file.acknowledged() == (ended ? keys.size() : 0) ? 0 : 5;
    });
  };
  const int failed = failed_of(&AnyFilter::end_load, false);
  if (failed == kNoFilter) GTEST_SKIP() << "no filter of system calls";
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(failed_of(&AnyFilter::sync, false), 0);
  EXPECT_EQ(failed_of(&AnyFilter::close, false), 0);
  EXPECT_EQ(failed_of(&AnyFilter::close, true), 0);
}

}  // namespace
}  // namespace bloomery::test
