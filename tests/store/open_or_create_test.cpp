// Opening a filter or creating it, whatever other processes do meanwhile.
#include "store/fake_os.hpp"
#include "store/kinds.hpp"
#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

constexpr std::uint64_t kSmallRoom = 96 * 1024;

class OpenOrCreate : public KindAndLevel {
 protected:
  [[nodiscard]] const FilterPlan& plan() const { return kind().plan; }
  [[nodiscard]] CreateOptions options() const { return {.durability = durability()}; }
  // What a process does: true, unless another one is at it.
  bool insert(FakeOs& os, std::uint64_t key) const {
    try {
      auto file = Files(os).open_or_create(kFakePath, plan(), options());
      file.insert(key);
      file.close();
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::locked) << error.what();
      return false;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(, OpenOrCreate, at_every_level(all_kind_cases()), kNameOfBoth);

TEST_P(OpenOrCreate, CreatesOnceAndOpensThen) {
  FakeOs os(kSmallRoom);
  for (std::uint64_t key = 0; key < 5; ++key) ASSERT_TRUE(insert(os, key));
  const auto file = Files(os).open(kFakePath);
  for (std::uint64_t key = 0; key < 5; ++key) EXPECT_TRUE(file.may_contain(key));
  EXPECT_EQ(file.inserted(), 5U);
}

// Another process does the same, before each of the calls of this one.
TEST_P(OpenOrCreate, MakesOneFilterWithAnotherProcessInBetween) {
  std::uint64_t both = 0;
  bool reached = true;
  for (std::uint64_t call = 1; reached; ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    FakeOs os(kSmallRoom);
    bool other = reached = false;
    os.interrupt_before(call, [&] {
      reached = true;
      other = insert(os, 2);
    });
    ASSERT_TRUE(insert(os, 1)) << "the other process has finished";
    os.interrupt_before(0, {});
    const auto file = Files(os).open(kFakePath);
    ASSERT_TRUE(file.may_contain(std::uint64_t{1}));
    ASSERT_EQ(file.may_contain(std::uint64_t{2}), other);
    ASSERT_EQ(os.names(), 1U);
    both += other;
  }
  EXPECT_GT(both, 4U);
}

// Another process removes the file, before each of the calls of this one: that is as if it had come
// before or after, or the writer says that its file is gone, with the key.
TEST_P(OpenOrCreate, FindsThatTheFileIsGone) {
  bool reached = true;
  std::uint64_t again = 0;
  for (std::uint64_t call = 1; reached; ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    FakeOs os(kSmallRoom);
    ASSERT_TRUE(insert(os, 1));
    reached = false;
    os.interrupt_before(os.calls() + call, [&] {
      reached = true;
      os.unlink(kFakePath);
    });
    bool gone = false;
    try {
      auto file = Files(os).open_or_create(kFakePath, plan(), options());
      file.insert(std::uint64_t{2});
      file.close();
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::missing) << error.what();
      gone = true;
    }
    os.interrupt_before(0, {});
    Os::Stat there;
    ASSERT_TRUE(!gone || os.stat_path(kFakePath, there) == -ENOENT);
    if (os.stat_path(kFakePath, there) == 0) again += !Files(os).open(kFakePath).may_contain(1);
  }
  EXPECT_GT(again, 0U);
}

// It is gone whenever this process opens it, and there whenever this process creates it.
TEST(OpenOrCreateCalls, AreNotRepeatedWithoutEnd) {
  FakeOs os(kSmallRoom);
  const Plan plan = plan_of(Layout::blocked);
  std::uint64_t changes = 0;
  constexpr std::uint64_t kCallsOfEach = 3;
  const std::function<void()> change = [&] {
    if (++changes % 2 == 1)
      os.put(kFakePath, {});
    else
      os.unlink(kFakePath);
    os.interrupt_before((changes + 1) * kCallsOfEach + 1 + changes / 2, change);
  };
  os.interrupt_before(kCallsOfEach + 1, change);
  EXPECT_EQ(code_of([&] { Files(os).open_or_create(kFakePath, plan); }), ErrorCode::exists);
  os.interrupt_before(0, {});
  EXPECT_GE(changes, 20U) << "as many attempts";
  EXPECT_EQ(os.open_files(), 0U);
}

// A process that replaces the file waits for nobody.
TEST(OpenOrCreateCalls, WaitForNoSharingWriterIfTheyReplaceIt) {
  FakeOs os(kSmallRoom);
  const Plan plan = plan_of(Layout::blocked);
  const auto there = Files(os).create(kFakePath, plan);
  const std::uint64_t before = os.calls();
  const CreateOptions replacing{.durability = Durability::process, .replace = true, .shared = true};
  EXPECT_EQ(code_of([&] { Files(os).create(kFakePath, plan, replacing); }), ErrorCode::locked);
  EXPECT_LT(os.calls() - before, 100U) << "one attempt";
}

TEST_P(OpenOrCreate, RefusesAFilterThatWasCreatedFromAnotherPlan) {
  for (const KindCase& other : all_kind_cases()) {
    if (other.plan == plan()) continue;
    FakeOs os(kSmallRoom);
    ASSERT_TRUE(insert(os, 1));
    EXPECT_EQ(code_of([&] { Files(os).open_or_create(kFakePath, other.plan, options()); }),
              ErrorCode::mismatch);
    EXPECT_EQ(os.open_files(), 0U);
    EXPECT_TRUE(insert(os, 2)) << "and goes on";
  }
  FakeOs os(kSmallRoom);
  ASSERT_TRUE(insert(os, 1));
  CreateOptions seeded = options();
  seeded.hasher = Hasher(HashFamily::xxh3, {.low = 7});
  EXPECT_EQ(code_of([&] { Files(os).open_or_create(kFakePath, plan(), seeded); }),
            ErrorCode::mismatch);
}

// The last digits of a rate that a request leaves to be computed depend on the CPU.
TEST(OpenOrCreateRates, ComputedElsewhereAreTheSame) {
  const PlanRequest request{.capacity = 1436, .bits = 26'624};
  for (const FilterPlan& made : {FilterPlan(solve(request)), FilterPlan(counting_plan(request))}) {
    FakeOs os(kSmallRoom);
    const auto opened = [&](double factor) {
      FilterPlan wanted = made;
      auto* const counting = std::get_if<CountingPlan>(&wanted);
      (counting != nullptr ? counting->plan : std::get<Plan>(wanted)).fpr *= factor;
      return Files(os).open_or_create(kFakePath, wanted).plan();
    };
    EXPECT_EQ(opened(1), made);
    for (const double factor : {1 - 1e-8, 1 + 1e-8}) EXPECT_EQ(opened(factor), made);
    for (const double factor : {0.999, 1 - 1e-5, 1 + 1e-5, 1.001})
      expect_error(ErrorCode::mismatch, {"it was created with fpr "}, [&] { opened(factor); });
  }
}

TEST(OpenOrCreatePaths, AreNamedWithTheDirectoryThatIsMissing) {
  Scratch scratch;
  const Plan plan = plan_of(Layout::blocked);
  const std::string path = scratch / "no/such/f", directory = scratch / "no/such";
  const auto named = [&](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::missing);
      const std::string text = path + ": the directory " + directory + " does not exist";
      return std::string(error.what()).starts_with(text);
    }
    return false;
  };
  EXPECT_TRUE(named([&] { FilterFile::open_or_create(path, plan); }));
  EXPECT_TRUE(named([&] { FilterFile::create(path, plan); }));
  EXPECT_TRUE(named([&] { FilterFile::rebuild(path, plan); }));
  EXPECT_TRUE(named([&] { FilterFile::open(path); }));
  EXPECT_TRUE(named([&] { FilterFile::open(path, {.access = Access::write}); }));
  EXPECT_TRUE(named([&] { verify(path); }));
  const std::string there = scratch / "f";
  FilterFile::open_or_create(there, plan).close();
  EXPECT_TRUE(named([&] { salvage(there, path); }));
  // The directory is there, and the file is not.
  const std::string text = error_of([&] { FilterFile::open(scratch / "g"); }, ErrorCode::missing);
  EXPECT_EQ(text.find("directory " + (scratch / "")), std::string::npos) << text;
}

// The system would take the path for that of another file.
TEST(OpenOrCreatePaths, DoNotEndAtAZeroByte) {
  Scratch scratch;
  const Plan plan = plan_of(Layout::blocked);
  const std::string there = scratch / "f", path = there + '\0' + "g";
  FilterFile::create(there, plan).close();
  const std::string text = there + ": the path goes on after a zero byte";
  expect_error(ErrorCode::invalid_argument, {text}, [&] { FilterFile::open(path); });
  expect_error(ErrorCode::invalid_argument, {text},
               [&] { FilterFile::open(path, {.access = Access::write}); });
  expect_error(ErrorCode::invalid_argument, {text},
               [&] { FilterFile::create(path, plan, {.replace = true}); });
  expect_error(ErrorCode::invalid_argument, {text},
               [&] { FilterFile::open_or_create(path, plan); });
  expect_error(ErrorCode::invalid_argument, {text}, [&] { verify(path); });
}

TEST(OpenOrCreatePaths, RefuseWhatIsNoFilterAndPlansOfNone) {
  Scratch scratch;
  const std::string letter = scratch / "letter";
  std::ofstream(letter) << "Dear reader";
  EXPECT_EQ(code_of([&] { FilterFile::open_or_create(letter, plan_of(Layout::blocked)); }),
            ErrorCode::not_a_filter);
  Plan none = plan_of(Layout::blocked);
  none.bits = 100;
  EXPECT_EQ(code_of([&] { FilterFile::open_or_create(scratch / "f", none); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(scratch.files(), 1U);
}

}  // namespace
}  // namespace bloomery::test
