// Batches: repeated after a crash at any moment, a batch leaves the filter as if it had never been interrupted.
#include "format/layout.hpp"
#include "store/kinds_script.hpp"

#include <algorithm>
#include <array>

namespace bloomery::test {
namespace {

class BatchOf : public KindAndLevel {
 protected:
  // A closed file with some keys.
  static void prepare(FakeOs& os) {
    auto file = Files(os).create(kKindPath, kind().plan, {.durability = durability()});
    for (int times = 0; times < 2; ++times) file.insert_many(keys(0, 150));
    file.close();
  }
  static std::vector<std::uint64_t> keys(std::uint64_t from, std::uint64_t count) {
    std::vector<std::uint64_t> all(count);
    for (std::uint64_t& key : all) key = from++;
    return all;
  }
  static FilterFile open(FakeOs& os) {
    return Files(os).open(kKindPath, {.access = Access::write, .durability = durability()});
  }
  // The whole batch, in calls of many keys: inserts or, of counters, removals, and steps of time. More than
  // the first journal holds.
  static std::uint64_t run(FakeOs& os) {
    auto file = open(os);
    const std::uint64_t done = file.begin_batch("monday");
    for (std::uint64_t step = 0; step < 16; ++step) {
      if (kind().has_time()) file.advance(1000 + 10 * step);
      if (kind().counts())
        file.remove_many(keys(step * 7, 71));
      else
        file.insert_many(keys(step * 31, 71));
    }
    file.close();
    return done;
  }
  static void run_until_stopped(FakeOs& os) {
    try {
      run(os);
    } catch (const Error&) {
      EXPECT_TRUE(os.stopped());
    }
  }
  static constexpr std::uint64_t kAll = std::uint64_t{16} * 71;
  static Image image(FakeOs& os) { return image_of(Files(os).open(kKindPath)); }
};
INSTANTIATE_TEST_SUITE_P(, BatchOf, at_every_level(kind_cases()), kNameOfBoth);

TEST_P(BatchOf, IsDoneOnceWhereverItWasInterrupted) {
  FakeOs sane(kKindRoom);
  prepare(sane);
  const std::uint64_t before = sane.calls();
  EXPECT_EQ(run(sane), 0U);
  const Image whole = image(sane);
  const std::uint64_t after = sane.calls();
  EXPECT_EQ(run(sane), kAll) << "once more";
  EXPECT_EQ(image(sane), whole);

  std::uint64_t resumed = 0;
  for (std::uint64_t call = before + 1; call <= after; call += 3) {
    SCOPED_TRACE("call " + std::to_string(call));
    FakeOs os(kKindRoom);
    prepare(os);
    os.stop_before(call);
    run_until_stopped(os);
    for (const unsigned seed : {0U, 2U}) {
      if (durability() == Durability::process && seed == 2) continue;
      const auto next = durability() == Durability::process
                            ? os.after_kill()
                            : os.after_power_loss(seed, detail::kBitsAt);
      // And interrupted again.
      next->stop_before(40 + call % 50);
      run_until_stopped(*next);
      const auto last = next->after_kill();
      const std::uint64_t done = run(*last);
      resumed += done > 0 && done < kAll;
      ASSERT_EQ(image(*last), whole) << "seed " << seed << ", " << done << " done";
    }
  }
  // Without a journal it is all or nothing.
  EXPECT_EQ(resumed > 10, durability() != Durability::none) << resumed;
}

TEST_P(BatchOf, KeepsItsPlaceWhileOthersWrite) {
  if (durability() == Durability::none) return;
  FakeOs os(8 * kKindRoom);  // each beginning doubles the journal
  prepare(os);
  auto interrupted = open(os);
  interrupted.insert_many(keys(900, 5));  // of no batch, in the same journal
  EXPECT_EQ(interrupted.begin_batch("monday"), 0U);
  interrupted.insert_many(keys(1000, 30));
  const auto next = os.after_kill();
  {
    auto other = open(*next);
    other.insert_many(keys(2000, 10));
    other.close();
    auto another = open(*next);
    another.insert_many(keys(3000, 10));
  }
  auto again = open(*next);
  again.insert_many(keys(4000, 3));
  EXPECT_EQ(again.begin_batch("monday"), 30U);
  std::array<bool, 30> answers;
  answers.fill(true);
  EXPECT_EQ(again.insert_many(keys(1000, 30), answers), 0U);
  EXPECT_EQ(std::ranges::count(answers, true), 0);
  const auto image_there = image_of(again);
  std::vector<std::uint64_t> wrong = keys(1000, 40);
  EXPECT_EQ(again.begin_batch("monday"), 30U);
  wrong[7] = 1;
  EXPECT_EQ(code_of([&] { again.insert_many(wrong); }), ErrorCode::mismatch);
  if (kind().counts()) {
    EXPECT_EQ(code_of([&] { again.remove_many(keys(1000, 40)); }), ErrorCode::mismatch);
  }
  EXPECT_EQ(image_of(again), image_there) << "nothing is changed";
  EXPECT_EQ(again.insert_many(keys(1000, 31)), 1U) << "the right ones after all";
  EXPECT_EQ(again.begin_batch("tuesday"), 0U) << "a file knows its latest batch";
  again.insert(std::uint64_t{1});
  again.close();
  auto after = open(*next);
  EXPECT_EQ(after.begin_batch("monday"), 0U);
  after.close();
}

TEST_P(BatchOf, KeepsItsPlaceInASalvagedFile) {
  if (durability() == Durability::none) return;
  FakeOs os(kKindRoom);
  prepare(os);
  auto interrupted = open(os);
  EXPECT_EQ(interrupted.begin_batch("monday"), 0U);
  interrupted.insert_many(keys(1000, 30));
  const auto next = os.after_kill();
  (void)Files(*next).salvage(kKindPath, "dir/saved");
  auto saved = Files(*next).open("dir/saved", {.access = Access::write});
  EXPECT_EQ(saved.begin_batch("monday"), 30U);
}

TEST_P(BatchOf, CountsKeysThatComeOneByOne) {
  FakeOs os(kKindRoom);
  prepare(os);
  for (const std::uint64_t done : {0U, 3U}) {
    auto file = open(os);
    EXPECT_EQ(file.begin_batch("monday"), done);
    for (std::uint64_t key = 1000; key < 1003; ++key) EXPECT_FALSE(file.insert(key) && done != 0);
    file.close();
  }
}

TEST(Batch, OfAPlainFilterIsSimplyRepeated) {
  const Scratch scratch(fast_place());
  const std::string path = scratch / "f";
  FilterFile::create(path, plan_of(Layout::blocked)).close();
  for (int times = 0; times < 2; ++times) {
    auto file = FilterFile::open(path, {.access = Access::write});
    EXPECT_EQ(file.begin_batch("monday"), 0U);
    EXPECT_EQ(file.insert(1), times == 0);
    file.close();
    EXPECT_EQ(code_of([&] { file.begin_batch("monday"); }), ErrorCode::read_only);
  }
  auto reader = FilterFile::open(path);
  EXPECT_EQ(code_of([&] { reader.begin_batch("monday"); }), ErrorCode::read_only);
}

}  // namespace
}  // namespace bloomery::test
