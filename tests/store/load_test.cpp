// A load: many keys go past the journal, straight into the bits of a plain file or into a file that takes the place of
// another kind's, and count when it ends. What a crash leaves of one is tested with the rest of a working life
// (session_script.hpp, kinds_script.hpp).
#include "format/layout.hpp"
#include "store/fake_os.hpp"
#include "store/kinds.hpp"
#include "store/scratch.hpp"

namespace bloomery::test {
namespace {

constexpr std::uint64_t kLoadRoom = std::uint64_t{1} << 20;
constexpr std::uint64_t kBlocks = 200,
                        kManyKeys = 5000;  // the journal of so few blocks takes 928 keys

class Load : public testing::TestWithParam<Layout> {
 protected:
  FilterFile open(Durability durability = Durability::sync, Access access = Access::write) {
    return Files(os_).open(kFakePath, {.access = access, .durability = durability});
  }
  void create() { Files(os_).create(kFakePath, plan_).close(); }
  [[nodiscard]] std::vector<Hash128> hashes(std::uint64_t first, std::uint64_t count) const {
    return hashes_of(Hasher(), first, count);
  }
  // The waits for a journal in what the work does.
  template <class Work>
  std::size_t commits(Work work) {
    const std::size_t before = os_.syncs_of_written().size();
    work();
    return os_.syncs_of_written().size() - before;
  }

  const Plan plan_ = plan_of(GetParam(), 512 * kBlocks);
  FakeOs os_{kLoadRoom};
};
INSTANTIATE_TEST_SUITE_P(, Load, testing::ValuesIn(kLayouts), kNameOfOne);

TEST_P(Load, GivesTheBitsAndTheCountOfSingleCommits) {
  create();
  auto file = open();
  const auto keys = hashes(0, kManyKeys);
  const std::unique_ptr<bool[]> fresh(new bool[kManyKeys]);
  Filter same(plan_);
  EXPECT_EQ(file.insert_hashes(keys, std::span(fresh.get(), kManyKeys)), same.insert_hashes(keys));
  EXPECT_EQ(file.insert_hashes(keys), 0U);
  file.close();
  EXPECT_TRUE(Files(os_).verify(kFakePath).ok());
  const auto again = open();
  EXPECT_TRUE(std::ranges::equal(again.view().bytes(), same.bytes()));
  EXPECT_EQ(again.inserted(),
            static_cast<std::uint64_t>(std::count(fresh.get(), fresh.get() + kManyKeys, true)));
}

TEST_P(Load, OfFewKeysIsJournaled) {
  create();
  auto file = open();
  EXPECT_GT(commits([&] { file.insert_hashes(hashes(0, 100)); }), 0U);
  EXPECT_EQ(commits([&] { file.insert_hashes(hashes(0, kManyKeys)); }), 0U);
  EXPECT_EQ(commits([&] { file.insert_hashes(hashes(kManyKeys, 100)); }), 1U)
      << "the load before has ended";
  ASSERT_TRUE(file.begin_load());
  EXPECT_GT(commits([&] { file.insert_hashes(hashes(0, 200)); }), 0U);
  EXPECT_EQ(commits([&] {
              for (std::uint64_t i = 0; i < 20; ++i) file.insert_hashes(hashes(i * 200, 900));
            }),
            0U)
      << "calls of one load count together";
  file.sync();
  EXPECT_GT(commits([&] { file.insert_hashes(hashes(9000, 100)); }), 0U)
      << "from an acknowledgement on they are few again";
  file.end_load();
}

// The first keys are on the device whatever the load after them has done.
TEST_P(Load, CountsWhenItEnds) {
  create();
  auto file = open();
  file.insert_hashes(hashes(0, 300));
  ASSERT_TRUE(file.begin_load());
  const std::uint64_t acknowledged = file.inserted();
  file.insert_hashes(hashes(1000, kManyKeys));
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto os = os_.after_power_loss(seed, detail::FileLayout(plan_).journal_at);
    auto after = Files(*os).open(kFakePath, {.access = Access::write});
    EXPECT_EQ(missing(after.view(), 0, 300), 0U);
    EXPECT_GE(after.inserted(), acknowledged);
  }
  file.end_load();
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto os = os_.after_power_loss(seed, detail::FileLayout(plan_).journal_at);
    const auto after = Files(*os).open(kFakePath, {.access = Access::write});
    EXPECT_EQ(missing(after.view(), 0, 300), 0U);
    EXPECT_EQ(missing(after.view(), 1000, kManyKeys), 0U);
  }
}

TEST_P(Load, IsSeenByReadersAtOnce) {
  create();
  auto file = open();
  const auto reader = open(Durability::sync, Access::read);
  ASSERT_TRUE(file.begin_load());
  file.insert_hashes(hashes(0, kManyKeys));
  EXPECT_EQ(missing(reader.view(), 0, kManyKeys), 0U);
  EXPECT_EQ(missing(open(Durability::sync, Access::read).view(), 0, kManyKeys), 0U);
}

TEST_P(Load, IsOneAtATimeAndOfSyncWritersAlone) {
  create();
  {
    auto file = open();
    EXPECT_TRUE(file.begin_load());
    EXPECT_FALSE(file.begin_load());
    file.end_load();
    EXPECT_TRUE(file.begin_load());
  }
  for (const Durability durability : {Durability::none, Durability::process})
    EXPECT_FALSE(open(durability).begin_load());
  EXPECT_FALSE(open(Durability::sync, Access::read).begin_load());
}

// Writers of the other kinds go on past a full journal, which takes 928 keys, and replace the file when the load ends.
TEST(LoadOfAnotherKind, CountsWhenItEnds) {
  const CountingPlan plan{plan_of(Layout::blocked128, 512 * 20)};
  const auto hashes = hashes_of(Hasher(), 0, kManyKeys);
  for (const Durability durability : {Durability::process, Durability::sync}) {
    FakeOs os(kLoadRoom);
    const auto found = [&](FakeOs& left) {
      return Files(left).open(kFakePath).may_contain_hashes(hashes);
    };
    auto file = Files(os).create(kFakePath, plan, {.durability = durability});
    ASSERT_TRUE(file.begin_load());
    EXPECT_FALSE(file.begin_load());
    const std::uint64_t calls = os.calls();
    file.insert_hashes(std::span(hashes).first(500));
    const std::uint64_t of_one = os.calls() - calls;
    for (std::size_t i = 500; i < kManyKeys; i += 500)
      file.insert_hashes(std::span(hashes).subspan(i, 500));
    EXPECT_LE(os.calls() - calls, 2 * of_one) << "the file is not replaced meanwhile";
    EXPECT_LT(found(*os.after_kill()), kManyKeys);
    file.end_load();
    EXPECT_EQ(found(*os.after_kill()), kManyKeys);
    if (durability == Durability::sync) {
      EXPECT_EQ(found(*os.after_power_loss(1, 0)), kManyKeys);
    }
    EXPECT_EQ(file.remove_hashes(hashes), kManyKeys);  // is a load too
    EXPECT_EQ(found(*os.after_kill()), file.may_contain_hashes(hashes));
  }
  FakeOs os(kLoadRoom);
  EXPECT_FALSE(Files(os).create(kFakePath, plan, {.durability = Durability::none}).begin_load());
}

TEST(LoadOfAnotherKind, WritesTheFileOnceIfItKnowsHowManyKeysCome) {
  const CountingPlan plan{plan_of(Layout::blocked128, 512 * 20)};
  const auto hashes = hashes_of(Hasher(), 0, kManyKeys);
  for (const Durability durability : {Durability::process, Durability::sync}) {
    FakeOs os(kLoadRoom);
    const auto found = [&] {
      return Files(*os.after_kill()).open(kFakePath).may_contain_hashes(hashes);
    };
    auto file = Files(os).create(kFakePath, plan, {.durability = durability});
    std::uint64_t calls = os.calls();
    const auto load = [&](std::uint64_t expected, std::uint64_t first, std::uint64_t count) {
      ASSERT_TRUE(file.begin_load(expected));
      for (calls = os.calls(); count > 0; first += 500, count -= 500)
        file.insert_hashes(std::span(hashes).subspan(first, 500));
    };
    load(kManyKeys, 0, kManyKeys - 500);
    EXPECT_EQ(os.calls(), calls) << "no journal";
    file.end_load();
    EXPECT_GE(found(), kManyKeys - 500);
    const auto clean = os.contents(kFakePath);
    file.close();
    EXPECT_EQ(os.contents(kFakePath), clean) << "not written again";

    file = Files(os).open(kFakePath, {.access = Access::write, .durability = durability});
    load(500, kManyKeys - 500, 500);
    EXPECT_GT(os.calls(), calls) << "the journal has room for it";
    EXPECT_EQ(found(), kManyKeys);
    file.end_load();
    EXPECT_EQ(file.remove_hashes(hashes), kManyKeys);  // how many is known
    const auto empty = os.contents(kFakePath);
    EXPECT_EQ(empty.size(), clean.size());
    file.insert_hash(hashes.front());
    EXPECT_GE(found(), 1U) << "a journal begins";
    EXPECT_GT(os.contents(kFakePath).size(), clean.size());
    load(kManyKeys, 0, kManyKeys - 500);
    file.end_load();
    load(kManyKeys, kManyKeys - 500, 500);
    file.close();
    EXPECT_EQ(found(), kManyKeys) << "close ends a load";
  }
}

// The journal takes 928 keys.
TEST(LoadOfAnotherKind, ThatJustFitsIsJournaled) {
  const CountingPlan plan{plan_of(Layout::blocked128, 512 * 20)};
  const auto hashes = hashes_of(Hasher(), 0, 928);
  FakeOs os(kLoadRoom);
  auto file = Files(os).create(kFakePath, plan, {.durability = Durability::process});
  ASSERT_TRUE(file.begin_load(928));
  for (const auto part : {std::span(hashes).first(522), std::span(hashes).last(406)})
    file.insert_hashes(part);
  EXPECT_EQ(Files(*os.after_kill()).open(kFakePath).may_contain_hashes(hashes), 928U);
}

// What the device refused once it may never write, although it refuses nothing more.
TEST(LoadOfAnotherKind, StopsTheWriterIfASyncFailed) {
  const CountingPlan plan{plan_of(Layout::blocked128, 512 * 20)};
  std::uint64_t syncs = 0;
  for (std::uint64_t call = 1;; ++call) {
    FakeOs os(kLoadRoom);
    auto file = Files(os).create(kFakePath, plan, {.durability = Durability::process});
    file.insert_hashes(hashes_of(Hasher(), 0, kManyKeys));
    const std::uint64_t before = os.failed_syncs();
    os.inject({.at = os.calls() + call, .error = EIO});
    bool failed = false;
    try {
      file.insert(1);
    } catch (const Error&) {
      failed = true;
    }
    if (!failed) break;
    if (os.failed_syncs() == before) continue;
    ++syncs;
    EXPECT_EQ(code_of([&] { file.insert(1); }), ErrorCode::poisoned) << call;
  }
  EXPECT_EQ(syncs, 3U) << "of the journal's room and of both headers";
}

TEST(LoadOfAnotherKind, MayHaveFewerKeysThanExpected) {
  const CountingPlan plan{plan_of(Layout::blocked128, 512 * 20)};
  FakeOs os(kLoadRoom);
  auto file = Files(os).create(kFakePath, plan, {.durability = Durability::process});
  ASSERT_TRUE(file.begin_load(kManyKeys));
  file.insert(1);
  file.end_load();
  file.insert(2);
  const std::uint64_t calls = os.calls();
  file.insert(3);
  EXPECT_LT(os.calls() - calls, 5U) << "only the journal is written";
}

// A load whose end failed is acknowledged by the next call that returns, also if that finds its time set already.
TEST(LoadOfAnotherKind, ThatFailedIsAcknowledgedByTheSameTimeAgain) {
  const WindowPlan plan = window_plan(WindowUnit::seconds, 90, 60, 0.01, 3, Layout::blocked2);
  for (const bool back : {false, true}) {
    FakeOs os(kLoadRoom);
    auto file = Files(os).create(kFakePath, plan, {.durability = Durability::process});
    file.advance(2000);
    const auto set = [&] { back ? file.set_back(1000) : file.advance(3000); };
    ASSERT_TRUE(file.begin_load(kManyKeys));
    file.insert(1);
    set();
    os.set_capacity(4096);
    EXPECT_EQ(code_of([&] { file.end_load(); }), ErrorCode::no_space);
    EXPECT_EQ(code_of(set), ErrorCode::no_space);
    os.set_capacity(kLoadRoom);
    set();
    const auto left = os.after_kill();
    const auto found = Files(*left).open(kFakePath);
    EXPECT_EQ(found.window().now(), back ? 1000U : 3000U);
  }
}

TEST(LoadOfAnotherKind, IsPartOfItsBatch) {
  const CountingPlan plan{plan_of(Layout::blocked128, 512 * 20)};
  const auto hashes = hashes_of(Hasher(), 0, kManyKeys + 100);
  FakeOs os(kLoadRoom);
  auto file = Files(os).create(kFakePath, plan, {.durability = Durability::process});
  EXPECT_EQ(file.begin_batch("monday"), 0U);
  const auto is_done = [&](std::uint64_t count) {
    const auto left = os.after_kill();
    auto again = Files(*left).open(kFakePath, {.access = Access::write});
    EXPECT_EQ(again.begin_batch("monday"), count);
  };
  file.insert_hashes(std::span(hashes).first(kManyKeys));
  is_done(kManyKeys);
  file.insert_hashes(std::span(hashes).last(100));
  is_done(kManyKeys + 100);
  file.close();
  is_done(kManyKeys + 100);
}

}  // namespace
}  // namespace bloomery::test
