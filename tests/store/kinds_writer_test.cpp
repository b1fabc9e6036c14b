// The writer of a file that is replaced whole, at its edges: a full journal, a replacement that
// fails, and calls that have nothing to do.
#include "store/kinds_script.hpp"

namespace bloomery::test {
namespace {

const FilterPlan kCounting = CountingPlan{{Layout::blocked128, 512 * 5, 4, 300, 0.01}};
const FilterPlan kSeconds = window_plan(WindowUnit::seconds, 90, 60, 0.01, 3);

FilterFile created(FakeOs& os, const FilterPlan& plan, Durability durability) {
  return Files(os).create(kKindPath, plan, {.durability = durability});
}

// An insert that finds the journal full, and the calls that it makes: (before, last].
struct Restart {
  std::uint64_t key = 0, before = 0, last = 0;
};
std::vector<Restart> first_restarts(std::size_t count, Durability durability) {
  FakeOs os(std::size_t{1} << 22);
  auto file = created(os, kCounting, durability);
  file.insert(std::uint64_t{0});
  std::vector<Restart> restarts;
  std::uint64_t usual = 0;
  for (std::uint64_t key = 1; key < 40'000 && restarts.size() < count; ++key) {
    const std::uint64_t before = os.calls();
    file.insert(key);
    const std::uint64_t calls = os.calls() - before;
    if (usual != 0 && calls > 3 * usual)
      restarts.push_back({key, before, os.calls()});
    else
      usual = calls;
  }
  EXPECT_EQ(restarts.size(), count) << "the journal is never full";
  restarts.resize(count);
  return restarts;
}

// Replacing a file costs as much as the filter is large, so a filter that is written a lot does it ever more rarely.
TEST(KindWriter, HasALargerJournalAfterEachFullOne) {
  const auto full = first_restarts(3, Durability::process);
  const std::uint64_t first = full[0].key, second = full[1].key - first,
                      third = full[2].key - full[1].key;
  EXPECT_GT(second, first * 3 / 2);
  EXPECT_GT(third, second * 3 / 2);
}

// Where the new file's name may not last, nothing more is acknowledged in it.
TEST(KindWriter, AcknowledgesNothingThatARefusedReplacementMayLose) {
  for (const Durability durability : {Durability::process, Durability::sync}) {
    const Restart restart = first_restarts(1, durability).front();
    std::uint64_t poisoned = 0, went_on = 0;
    for (std::uint64_t call = restart.before + 1; call <= restart.last; ++call) {
      SCOPED_TRACE(name_of(durability) + ", call " + std::to_string(call - restart.before));
      FakeOs os(kKindRoom);
      auto file = created(os, kCounting, durability);
      for (std::uint64_t key = 0; key < restart.key; ++key) file.insert(key);
      os.inject({.at = call, .error = EIO});
      try {
        file.insert(restart.key);
      } catch (const Error&) {
      }
      os.inject({});
      try {
        file.insert(restart.key + 1);
        ++went_on;
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::poisoned) << error.what();
        ++poisoned;
        EXPECT_EQ(code_of([&] { file.close(); }), ErrorCode::poisoned);
        EXPECT_EQ(os.open_files(), 0U) << "it lets go of the file";
        continue;
      }
      const auto after =
          durability == Durability::sync ? os.after_power_loss(0, 0) : os.after_kill();
      const auto found = Files(*after).open(kKindPath);
      for (std::uint64_t key = 0; key < restart.key; ++key) ASSERT_TRUE(found.may_contain(key));
      ASSERT_TRUE(found.may_contain(restart.key + 1));
    }
    EXPECT_GT(poisoned, 0U);
    EXPECT_GT(went_on, 10U);
  }
}

// A merge is in no journal: if the file with it cannot be written, the handle has what no file has.
TEST(KindWriter, IsPoisonedByAMergeThatCouldNotBeWritten) {
  FakeOs sane(kKindRoom);
  auto whole = created(sane, kCounting, Durability::sync);
  whole.insert(std::uint64_t{1});
  const std::uint64_t before = sane.calls();
  whole.merge(what_a_merge_adds(whole.counting()));
  std::uint64_t failed = 0;
  for (std::uint64_t call = before + 1; call <= sane.calls(); ++call) {
    SCOPED_TRACE("call " + std::to_string(call - before));
    FakeOs os(kKindRoom);
    auto file = created(os, kCounting, Durability::sync);
    file.insert(std::uint64_t{1});
    os.inject({.at = call, .error = ENOSPC});
    try {
      file.merge(what_a_merge_adds(file.counting()));
      continue;
    } catch (const Error&) {
      ++failed;
    }
    os.inject({});
    EXPECT_EQ(code_of([&] { file.insert(std::uint64_t{2}); }), ErrorCode::poisoned);
    EXPECT_EQ(code_of([&] { file.close(); }), ErrorCode::poisoned);
    EXPECT_EQ(os.open_files(), 0U);
    const auto after = os.after_power_loss(0, 0);
    EXPECT_TRUE(Files(*after).open(kKindPath).may_contain(std::uint64_t{1}));
  }
  EXPECT_GT(failed, 10U);
}

// The journal has room for so many operations, and steps of time alone fill it too.
TEST(KindWriter, StepsOfTimeFillTheJournalToo) {
  FakeOs os(kKindRoom);
  auto file = created(os, kSeconds, Durability::sync);
  for (std::uint64_t now = 1; now <= 100; ++now) {
    file.advance(now);
    ASSERT_EQ(Files(*os.after_kill()).open(kKindPath).window().now(), now);
  }
}

// Only different keys take room.
TEST(KindWriter, TakesANewKeyThatComesOftenWhereItCannotGrow) {
  const FilterPlan three_sub_filters_of_50 = scalable_plan(50, 1e-14, 1, 0.5);
  const std::vector<std::uint64_t> keys(1000, 7);
  for (const Durability durability : kDurabilities) {
    FakeOs os(kKindRoom);
    auto file = created(os, three_sub_filters_of_50, durability);
    EXPECT_EQ(file.insert_many(keys), 1U) << name_of(durability);
    file.close();
    EXPECT_EQ(file.scalable().sub_filters().size(), 1U) << name_of(durability);
  }
}

TEST(KindWriter, WritesNothingWhereNothingChanges) {
  for (const Durability durability : kDurabilities) {
    FakeOs os(kKindRoom);
    auto file = created(os, kSeconds, durability);
    file.advance(1000);
    file.insert(std::uint64_t{1});
    file.sync();
    const std::uint64_t calls = os.calls();
    const auto bytes = os.contents(kKindPath);
    file.advance(1000);
    file.advance(7);
    file.set_back(1000);
    file.set_back(2000);
    EXPECT_EQ(os.calls(), calls) << name_of(durability);
    file.sync();
    EXPECT_LE(os.calls(), calls + 4) << "it looks whether the file is its own";
    EXPECT_EQ(os.contents(kKindPath), bytes) << name_of(durability);
  }
}

TEST(KindWriter, TheTimeOfAClosedFileStays) {
  for (const Durability durability : kDurabilities) {
    FakeOs os(kKindRoom);
    auto file = created(os, kSeconds, durability);
    file.advance(1000);
    file.close();
    EXPECT_EQ(code_of([&] { file.advance(2000); }), ErrorCode::read_only) << name_of(durability);
    EXPECT_EQ(code_of([&] { file.set_back(1); }), ErrorCode::read_only) << name_of(durability);
    EXPECT_EQ(file.window().now(), 1000U);
  }
}

// Whatever it is, and although nothing else has changed since the last sync.
TEST(KindWriter, KeepsAChangeThatComesAlone) {
  using Change = std::function<void(FilterFile&)>;
  const std::vector<std::uint64_t> keys = {1, 2, 3};
  for (const auto& [plan, change] : std::initializer_list<std::pair<FilterPlan, Change>>{
           {kSeconds, [](auto& file) { file.advance(2'000); }},
           {kSeconds, [](auto& file) { file.set_back(500); }},
           {kSeconds, [](auto& file) { file.insert(std::uint64_t{2}); }},
           {kSeconds, [&](auto& file) { file.insert_many(keys); }},
           {kCounting, [](auto& file) { file.insert(std::uint64_t{2}); }},
           {kCounting, [&](auto& file) { file.insert_many(keys); }},
           {kCounting, [](auto& file) { file.remove(std::uint64_t{1}); }},
           {kCounting, [&](auto& file) { file.remove_many(keys); }},
           {kCounting, [](auto& file) { file.merge(file.counting()); }}})
    for (const Durability durability : kDurabilities) {
      FakeOs os(kKindRoom);
      auto file = created(os, plan, durability);
      file.insert(std::uint64_t{1});
      if (kind_of(plan) == Kind::window) file.advance(1'000);
      file.sync();
      const auto before = image_of(file);
      change(file);
      const auto after = image_of(file);
      EXPECT_NE(before, after);
      file.sync();
      EXPECT_EQ(image_of(Files(*os.after_power_loss(0, 0)).open(kKindPath)), after)
          << name_of(durability);
      file.close();
      EXPECT_EQ(image_of(Files(os).open(kKindPath)), after) << name_of(durability);
    }
}

// A journal has times that go back, as they came.
TEST(KindWriter, IsSetBackAfterACrashToo) {
  for (const Durability durability : {Durability::process, Durability::sync}) {
    FakeOs os(kKindRoom);
    auto file = created(os, kSeconds, durability);
    file.advance(1'000'000);
    file.insert(std::uint64_t{1});
    file.set_back(2'000'000);
    EXPECT_EQ(file.window().now(), 1'000'000U);
    file.set_back(1'000);
    file.insert(std::uint64_t{2});
    file.advance(1'010);
    const auto next = os.after_kill();
    EXPECT_EQ(image_of(Files(*next).open(kKindPath)), image_of(file));
    auto again = Files(*next).open(kKindPath, {.access = Access::write});
    EXPECT_EQ(again.window().now(), 1'010U);
    EXPECT_TRUE(again.may_contain(std::uint64_t{1}));
    again.advance(1'200);
    EXPECT_FALSE(again.may_contain(std::uint64_t{1}));
  }
}

// Which keys were new nobody knows: as many as the counters say.
TEST(KindWriter, CountsWhatAMergeBrings) {
  FakeOs os(kKindRoom);
  auto file = created(os, kCounting, Durability::sync);
  file.insert(std::uint64_t{1});
  file.merge(what_a_merge_adds(file.counting()));  // 20 keys
  EXPECT_NEAR(static_cast<double>(file.inserted()), 21, 4);
  file.close();
  EXPECT_NEAR(static_cast<double>(Files(os).open(kKindPath).inserted()), 21, 4);
}

// verify misses the sums of the bits; a writer makes them new, since the bits are right.
TEST(KindWriter, RepairsTheSumsOfACleanFile) {
  FakeOs os(kKindRoom);
  created(os, kCounting, Durability::sync).insert(std::uint64_t{1});
  auto bytes = os.contents(kKindPath);
  bytes.back() ^= std::byte{1};
  os.put(kKindPath, bytes);
  EXPECT_TRUE(Files(os).verify(kKindPath).spare_damaged);
  Files(os).open(kKindPath, {.access = Access::write, .durability = Durability::none}).close();
  EXPECT_TRUE(Files(os).verify(kKindPath).ok());
  EXPECT_TRUE(Files(os).open(kKindPath).may_contain(std::uint64_t{1}));
}

}  // namespace
}  // namespace bloomery::test
