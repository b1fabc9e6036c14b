// Real writers are killed at random moments; every key that they had acknowledged is there.
#include <bloomery/bloomery.hpp>

#include "store/kinds.hpp"
#include "store/real_writer.hpp"
#include "store/scratch.hpp"
#include "support/effort.hpp"

#include <chrono>
#include <ostream>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace bloomery::test {
namespace {

// Kills it after at most so long, in four of five rounds counted from its first key. In the others it may die while it
// opens the file, recovers what the last one left, or is in its first load.
void kill_at_random(Writer& writer, int round, std::mt19937& random, unsigned microseconds) {
  if (round % 5 != 0) {
    EXPECT_TRUE(writer.wait_for_a_key());
  }
  writer.listen(std::chrono::microseconds(random() % microseconds));
  writer.kill();
}

class KilledWriter : public testing::TestWithParam<Durability> {
 protected:
  void SetUp() override {
    FilterFile::create(path_, plan(1'000'000, 0.001), {.durability = GetParam()}).close();
  }
  Scratch scratch_;
  std::string path_ = scratch_ / "seen.bloom";
};
INSTANTIATE_TEST_SUITE_P(, KilledWriter, testing::ValuesIn(kDurabilities), kNameOfOne);

TEST_P(KilledWriter, LosesNothingThatItAcknowledged) {
  std::mt19937 random(1);
  std::uint64_t next = 0;
  int fruitful = 0;
  for (int round = 0; round < 50; ++round) {
    Writer writer(path_, name_of(GetParam()), next);
    kill_at_random(writer, round, random, 20'000);
    const std::uint64_t acknowledged = writer.acknowledged();
    fruitful += acknowledged != next;
    const auto reader = FilterFile::open(path_);
    ASSERT_EQ(missing(reader.view(), next, acknowledged - next), 0U) << "round " << round;
    expect_recoverable(path_);
    next = acknowledged;
  }
  EXPECT_GE(fruitful, 40);
  auto file = FilterFile::open(path_, {.access = Access::write, .durability = GetParam()});
  EXPECT_EQ(missing(file.view(), 0, next), 0U);
  file.insert(next);
  file.close();
  EXPECT_EQ(scratch_.files(), 1U) << "what killed writers left is gone";
  EXPECT_TRUE(verify(path_).ok()) << verify(path_).detail;
}

TEST_P(KilledWriter, IsWatchedByReadersAndKeepsOtherWritersOut) {
  auto before = FilterFile::open(path_);
  Writer writer(path_, name_of(GetParam()), 0);
  ASSERT_TRUE(writer.wait_for_a_key());
  EXPECT_EQ(code_of([&] { FilterFile::open(path_, {.access = Access::write}); }),
            ErrorCode::locked);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(writer.wait_for_a_key());
    const std::uint64_t acknowledged = writer.acknowledged();
    if (GetParam() == Durability::none) before.reload();
    EXPECT_EQ(missing(before.view(), 0, acknowledged), 0U) << "a reader from before";
    EXPECT_EQ(missing(FilterFile::open(path_).view(), 0, acknowledged), 0U) << "a new reader";
  }
  const VerifyReport report = verify(path_);
  EXPECT_TRUE(report.state == VerifyReport::State::in_use ||
              report.state == VerifyReport::State::clean)
      << report.detail;
  EXPECT_TRUE(report.damaged_chunks.empty());
  writer.kill();
  // Its lock has died with it.
  FilterFile::open(path_, {.access = Access::write, .durability = GetParam()}).close();
}

// Of the kinds other than plain: killed at any moment, the file is the filter after all
// operations up to one that is not before the last acknowledged one.
class KilledKind : public KindAndLevel {};
INSTANTIATE_TEST_SUITE_P(
    , KilledKind,
    testing::Combine(
        testing::Values(KindCase{"counting", CountingPlan{plan(2000, 0.01, Layout::blocked128)}},
                        KindCase{"scalable", scalable_plan(5000, 0.01)},
                        KindCase{"window", window_plan(WindowUnit::seconds, 30, 2000, 0.01)}),
        testing::ValuesIn(kDurabilities)),
    kNameOfBoth);

TEST_P(KilledKind, IsAPrefixOfItsOperationsWithAllAcknowledgedOnes) {
  const auto& [kind, durability] = GetParam();
  Scratch scratch(fast_place());
  const std::string path = scratch / "kind.bloom";
  FilterFile::create(path, kind.plan, {.durability = durability}).close();
  const Kind number = FilterFile::open(path).kind();
  KindModel model(kind.plan);
  std::mt19937 random(1);
  std::uint64_t next = 0;
  int fruitful = 0;
  for (int round = 0; round < 50; ++round) {
    Writer writer(path, name_of(durability), next);
    kill_at_random(writer, round, random, 8'000);
    const std::uint64_t acknowledged = writer.acknowledged();
    fruitful += acknowledged != next;
    for (; next < acknowledged; ++next) model.apply(numbered_operation(number, next));
    const Image found = image_of(FilterFile::open(path));
    // It may have done one batch more than it could say.
    while (model.image() != found) {
      ASSERT_LT(next, acknowledged + 100) << "round " << round;
      model.apply(numbered_operation(number, next++));
    }
    expect_recoverable(path);
    ASSERT_LE(scratch.files(), 2U);
  }
  EXPECT_GE(fruitful, 40);
  auto file = FilterFile::open(path, {.access = Access::write, .durability = durability});
  EXPECT_EQ(image_of(file), model.image());
  file.insert(next);
  file.close();
  EXPECT_EQ(scratch.files(), 1U) << "what killed writers left is gone";
  EXPECT_TRUE(verify(path).ok()) << verify(path).detail;
}

// Loads that go past the journal: of a `sync` writer of plain bits, and of every writer of another kind. Each round has
// a new file, so that a load which is lost cannot hide in a full filter.
struct LoadCase {
  KindCase kind;
  Durability durability;
  std::uint64_t keys;  // of a load
  [[nodiscard]] bool in_place() const {
    return std::holds_alternative<Plan>(kind.plan) || std::holds_alternative<FrozenPlan>(kind.plan);
  }
};
void PrintTo(const LoadCase& one, std::ostream* out) { *out << one.kind.name; }

std::vector<LoadCase> load_cases() {
  // Plain bits: more keys than there are blocks, and than one commit takes (65,536). Other kinds: their journals take
  // 928 keys when the files are new.
  std::vector<LoadCase> cases = {
      {{"plain", plan(1'000'000, 0.001)}, Durability::sync, 200'000},
      {{"frozen", frozen_plan(1, 0.01, 1'000'000)}, Durability::sync, 200'000}};
  for (const KindCase& kind :
       {KindCase{"counting", CountingPlan{plan(2000, 0.01, Layout::blocked128)}},
        KindCase{"scalable", scalable_plan(1000, 0.01)},
        KindCase{"window", window_plan(WindowUnit::seconds, 30, 2000, 0.01)}})
    for (const Durability durability : {Durability::process, Durability::sync})
      cases.push_back({kind, durability, 2'400});
  return cases;
}

class KilledLoad : public testing::TestWithParam<LoadCase> {};
INSTANTIATE_TEST_SUITE_P(, KilledLoad, testing::ValuesIn(load_cases()), [](const auto& param) {
  return name_of(param.param.kind) + "_" + name_of(param.param.durability);
});

// The number of operations that are in the file; at least as many as were acknowledged.
std::uint64_t operations_in(const FilterFile& file, const LoadCase& one,
                            std::uint64_t acknowledged) {
  if (one.in_place()) {
    const auto hashes = hashes_of(file.hasher(), 0, acknowledged);
    EXPECT_EQ(file.may_contain_hashes(hashes), acknowledged);
    return acknowledged;
  }
  KindModel model(one.kind.plan);
  std::uint64_t done = 0;
  while (done < acknowledged) model.apply(numbered_operation(file.kind(), done++));
  const Image found = image_of(file);
  while (model.image() != found) {
    // The last load may be there without having been acknowledged.
    if (done == acknowledged + one.keys) {
      ADD_FAILURE() << "it is no prefix of the operations";
      break;
    }
    model.apply(numbered_operation(file.kind(), done++));
  }
  return done;
}

TEST_P(KilledLoad, LosesNothingThatItAcknowledged) {
  const LoadCase& one = GetParam();
  std::mt19937 random(1);
  int fruitful = 0;
  const int rounds = nightly() ? 25 : 10;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    Scratch scratch(fast_place());
    const std::string path = scratch / "kind.bloom";
    FilterFile::create(path, one.kind.plan).close();
    Writer writer(path, name_of(one.durability), 0, one.keys);
    kill_at_random(writer, round, random, 8'000);
    const std::uint64_t acknowledged = writer.acknowledged();
    fruitful += acknowledged != 0;
    const std::uint64_t done = operations_in(FilterFile::open(path), one, acknowledged);
    expect_recoverable(path);
    // The next writer finds the same.
    auto file = FilterFile::open(path, {.access = Access::write, .durability = one.durability});
    EXPECT_EQ(operations_in(file, one, acknowledged), done);
    file.insert(done);
    file.close();
    EXPECT_EQ(scratch.files(), 1U) << "what the killed writer left is gone";
    ASSERT_TRUE(verify(path).ok()) << verify(path).detail;
  }
  EXPECT_GE(fruitful, rounds / 5 * 4);
}

TEST(KilledRebuild, LeavesTheOldFilterOrTheNew) {
  Scratch scratch(fast_place());
  const std::string path = scratch / "cache.bloom";
  FilterFile::create(path, plan(10'000, 1e-6)).close();
  std::mt19937 random(1);
  std::uint64_t done = 0;  // the file is of this rebuild; 0: of none
  int fruitful = 0;
  for (int round = 0; round < 50; ++round) {
    Writer writer(path, "rebuild", done);
    kill_at_random(writer, round, random, 5'000);
    fruitful += writer.acknowledged() != done;
    const auto reader = FilterFile::open(path);
    const VerifyReport report = verify(path);
    ASSERT_TRUE(report.ok() && report.state == VerifyReport::State::clean) << report.detail;
    ASSERT_LE(scratch.files(), 2U);
    // What it said last, or the next, if it died before it could say so.
    const auto is = [&](std::uint64_t n) { return missing(reader.view(), n * 1000, 1000) == 0; };
    done = writer.acknowledged() + (is(writer.acknowledged() + 1) ? 1 : 0);
    if (done != 0) {
      ASSERT_TRUE(is(done)) << "round " << round;
      ASSERT_NEAR(reader.view().estimated_items(), 1000, 100) << "and of no other";
    }
  }
  EXPECT_GE(fruitful, 40);
  FilterFile::rebuild(path, plan(1000, 0.001)).close();
  EXPECT_EQ(scratch.files(), 1U) << "what killed ones left is gone";
}

// Processes that open or create one file at once write one filter, one after the other.
TEST(JoiningWriters, ShareOneFilter) {
  constexpr std::uint64_t kWriters = 4;
  for (int round = 0; round < 30; ++round) {
    SCOPED_TRACE(round);
    Scratch scratch(fast_place());
    const std::string path = scratch / "seen.bloom";
    std::vector<std::unique_ptr<Writer>> writers;
    for (std::uint64_t i = 0; i < kWriters; ++i)
      writers.push_back(std::make_unique<Writer>(path, "join", 1000 * (i + 1)));
    for (const auto& writer : writers) ASSERT_TRUE(writer->wait_for_a_key()) << "it is there";
    std::ofstream(path + ".go").close();
    for (const auto& writer : writers) ASSERT_TRUE(writer->wait_for_a_key());
    writers.clear();
    const auto file = FilterFile::open(path);
    for (std::uint64_t i = 0; i < kWriters; ++i) EXPECT_TRUE(file.may_contain(1000 * (i + 1)));
    EXPECT_EQ(file.inserted(), kWriters);
    EXPECT_TRUE(verify(path).ok());
    EXPECT_EQ(scratch.files(), 2U);
  }
}

}  // namespace
}  // namespace bloomery::test
