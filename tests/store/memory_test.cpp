// Each allocation of a working life fails once: Error{no_memory}, and the file is whole; and how much
// is allocated at a time.
//
// The program has its own operator new, so it is one of its own.
#include <bloomery/bloomery.hpp>

#include "format/forged_headers.hpp"
#include "store/kinds.hpp"
#include "store/scratch.hpp"

#include <malloc.h>
#include <cstdlib>
#include <new>
#include <numeric>
#include <optional>

namespace {

// Counts the allocations of the library's calls down to the last one that fails.
std::uint64_t countdown = 0;  // 0: none fails
std::uint64_t failing = 1;    // so many fail, one after the other
std::uint64_t largest = 0;
std::uint64_t held = 0, most_held = 0;

void* allocate(std::size_t size) {
  if (size > largest) largest = size;
  if (countdown != 0 && --countdown < failing) throw std::bad_alloc();
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  held += malloc_usable_size(memory);
  if (held > most_held) most_held = held;
  return memory;
}
void release(void* memory) noexcept {
  held -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) { return allocate(size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return allocate(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { release(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { release(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { release(memory); }

namespace bloomery::test {
namespace {

// Runs a call of the library with its n-th allocation failing, and as many after it as make `count`. False: it failed
// so.
class Starved {
 public:
  explicit Starved(std::uint64_t nth, std::uint64_t count = 1) : left_(nth + count - 1) {
    failing = count;
  }
  bool operator()(const std::function<void()>& call) {
    countdown = left_;
    bool done = false;
    try {
      call();
      done = true;
    } catch (const Error& error) {
      countdown = 0;
      EXPECT_EQ(error.code(), ErrorCode::no_memory) << error.what();
    } catch (const std::bad_alloc&) {
      countdown = 0;
      EXPECT_GT(failing, 1U) << "there was memory for a message";
    }
    left_ = countdown;
    countdown = 0;
    failed_ |= !done;
    return done;
  }
  [[nodiscard]] bool exhausted() const { return left_ < failing; }  // it was reached
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::uint64_t left_;
  bool failed_ = false;
};

class ScarceMemory : public testing::TestWithParam<Durability> {};
INSTANTIATE_TEST_SUITE_P(, ScarceMemory, testing::ValuesIn(kDurabilities), kNameOfOne);

TEST_P(ScarceMemory, IsAnErrorAndHarmsNothing) {
  const Plan plan = plan_of(Layout::blocked);
  const Hasher hasher;
  const auto first = hashes_of(hasher, 0, 300), second = hashes_of(hasher, 300, 3000);
  Filter other(plan);
  other.insert(5000);
  const std::vector<std::uint64_t> more{6000, 6001};
  std::uint64_t failures = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    const Scratch scratch(fast_place());
    const std::string path = scratch / "f", out = scratch / "out";
    Starved call(nth);
    std::vector<std::uint64_t> promised;
    const auto promise = [&](std::uint64_t from, std::uint64_t count) {
      for (std::uint64_t key = from; key < from + count; ++key) promised.push_back(key);
    };
    std::optional<FilterFile> file;
    if (!call([&] { file = FilterFile::create(path, plan, {.durability = GetParam()}); }))
      file = FilterFile::create(path, plan, {.durability = GetParam(), .replace = true});
    if (call([&] { file->insert_hashes(first); })) promise(0, 300);
    call([&] { file->sync(); });
    if (call([&] { file->insert_hashes(second); })) promise(300, 3000);
    if (call([&] { file->insert_many(more); })) promise(6000, 2);
    if (call([&] { file->merge(other); })) promise(5000, 1);
    if (!call([&] { file->close(); })) file->close();  // what failed can be done again
    const OpenOptions writing{.access = Access::write, .durability = GetParam()};
    call([&] { FilterFile::open(path, writing); });
    call([&] { (void)FilterFile::open(path); });
    call([&] { (void)verify(path); });
    call([&] { salvage(path, out); });
    call([&] { (void)decode(encode(other)); });

    file = FilterFile::open(path, writing);
    for (const std::uint64_t key : promised) ASSERT_TRUE(file->may_contain(key)) << key;
    file->close();
    ASSERT_TRUE(verify(path).ok()) << verify(path).detail;
    ASSERT_LE(scratch.files(), 2U);
    failures += call.failed();
    if (!call.exhausted()) break;
  }
  EXPECT_GT(failures, 40U);
}

// The keys of a frozen filter in memory are built into a list, which then gets a delta: either may fail.
TEST(ScarceMemoryOfADelta, LosesNoKeyAndIsNoEnd) {
  std::vector<std::uint64_t> keys(1'000);
  std::iota(keys.begin(), keys.end(), 0);
  const FilterPlan frozen = plan(FilterSpec{.kind = Kind::frozen, .fpr = 0.01, .delta = 10});
  std::uint64_t failures = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    AnyFilter filter(frozen);
    filter.insert_many(keys);
    Starved call(nth);
    if (!call([&] { filter.sync(); })) filter.sync();
    ASSERT_EQ(filter.may_contain_many(keys), keys.size()) << "allocation " << nth;
    failures += call.failed();
    if (!call.exhausted()) break;
  }
  EXPECT_GT(failures, 3U);
}

// What the next sub-filter takes is there before the journal has the keys that it is for: a key that was
// refused for want of memory is in no journal.
// One failure is none if there is memory for the keys that are new.
TEST(ScarceMemoryOfASubFilter, IsAnErrorBeforeTheJournalHasTheKeys) {
  for (const std::uint64_t keys : {11, 40, 200}) {  // there is room for 10
    std::uint64_t failures = 0;
    for (std::uint64_t nth = 1;; ++nth) {
      SCOPED_TRACE(std::to_string(keys) + " keys, allocation " + std::to_string(nth));
      const Scratch scratch(fast_place());
      const std::string path = scratch / "f";
      auto file = FilterFile::create(path, scalable_plan(30, 0.01));
      const auto first = hashes_of(file.hasher(), 0, 20), more = hashes_of(file.hasher(), 20, keys);
      file.insert_hashes(first);
      Starved call(nth, 2);
      call([&] { file.insert_hashes(more); });
      ASSERT_EQ(image_of(FilterFile::open(path)), image_of(file));
      failures += call.failed();
      if (!call.exhausted()) break;
    }
    EXPECT_GT(failures, 3U);
  }
}

// The same of the other kinds: whatever fails, the file is the filter after a prefix of the call.
class ScarceMemoryOfKinds : public KindAndLevel {};
INSTANTIATE_TEST_SUITE_P(, ScarceMemoryOfKinds, at_every_level(kind_cases()), kNameOfBoth);

TEST_P(ScarceMemoryOfKinds, IsAnErrorAndHarmsNothing) {
  const KindCase& kind = KindAndLevel::kind();
  const Durability durability = KindAndLevel::durability();
  const OpenOptions writing{.access = Access::write, .durability = durability};
  std::uint64_t failures = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    const Scratch scratch(fast_place());
    const std::string path = scratch / "f", out = scratch / "out";
    Starved call(nth);
    KindModel model(kind.plan);
    RandomOperations random(kind, 1, 400);
    std::optional<FilterFile> file;
    const auto expect_prefix = [&](const Operations& operations, bool done) {
      for (std::size_t i = 0; i < operations.size() && (done || model.image() != image_of(*file));
           ++i)
        model.apply(operations[i]);
      ASSERT_EQ(model.image(), image_of(*file));
    };
    if (!call([&] { file = FilterFile::create(path, kind.plan, {.durability = durability}); }))
      file = FilterFile::create(path, kind.plan, {.durability = durability, .replace = true});
    // The second does not fit the journal.
    for (const std::size_t count : {40, 1000, 3}) {
      const Operations operations = random(count);
      const auto calls = calls_of(Hasher(), operations);
      expect_prefix(operations, call([&] { perform(*file, calls); }));
      call([&] { file->sync(); });
    }
    if (kind.counts()) {
      const CountingFilter other = what_a_merge_adds(file->counting());
      const bool merged = call([&] { file->merge(other); });
      if (!merged && durability != Durability::none) {
        // What is in memory is not in the journal then.
        EXPECT_EQ(code_of([&] { file->close(); }), ErrorCode::poisoned);
        file = FilterFile::open(path, writing);
      }
      expect_prefix({{Operation::merge}}, merged);
    }
    if (!call([&] { file->close(); })) file->close();
    call([&] { FilterFile::open(path, writing); });
    std::optional<FilterFile> reader;
    call([&] { reader = FilterFile::open(path); });
    if (reader) call([&] { reader->reload(); });
    call([&] { (void)verify(path); });
    call([&] { salvage(path, out); });
    call([&] { FilterFile::rebuild(out, kind.plan).close(); });

    file = FilterFile::open(path, writing);
    ASSERT_EQ(image_of(*file), model.image());
    file->close();
    ASSERT_TRUE(verify(path).ok()) << verify(path).detail;
    for (const auto& entry : std::filesystem::directory_iterator(scratch / "."))
      EXPECT_TRUE(entry.path().filename() == "f" || entry.path().filename() == "out") << entry;
    ASSERT_FALSE(HasFailure());
    failures += call.failed();
    if (!call.exhausted()) break;
  }
  EXPECT_GT(failures, 40U);
}

// Many keys are hashed as many at a time as one commit takes: 1 MiB of hashes and, with a journal, 8 MiB
// of blocks in the worst case for a plain filter; 34 MiB with their records for the other kinds. All
// hashes at once would be 32 MiB, and more while the array grows.
TEST(MemoryOfManyKeys, IsThatOfOneCommit) {
  constexpr std::uint64_t kKeys = std::uint64_t{2} << 20;
  constexpr std::uint64_t kMiB = 1 << 20;
  std::vector<std::uint64_t> keys(kKeys);
  std::iota(keys.begin(), keys.end(), std::uint64_t{0});
  const Plan plain = plan_of(Layout::blocked, std::uint64_t{16} << 20, 2);
  // Each key changes eight blocks, and there are more of them than a commit copies.
  const Plan standard = plan_of(Layout::standard, std::uint64_t{128} << 20, 8);
  // So large that its journal takes more than a commit does.
  const CountingPlan counting{plan_of(Layout::blocked64, std::uint64_t{24} << 20, 2)};
  for (const FilterPlan& plan : {FilterPlan(plain), FilterPlan(standard), FilterPlan(counting)}) {
    for (const Durability durability : kDurabilities) {
      const Scratch scratch(fast_place());
      auto file = FilterFile::create(scratch / "f", plan, {.durability = durability});
      const std::uint64_t before = held;
      most_held = held;
      file.insert_many(keys);
      EXPECT_LE(most_held - before, (plan.index() == 0 ? 16 : 40) * kMiB) << name_of(durability);
      EXPECT_GT(most_held - before, kMiB / 2) << "it is measured";
    }
  }
}

// What a header says is checked against the file before memory is asked for.
TEST(HostileSizes, AllocateNothingLarge) {
  std::vector<FilterPlan> plans = {plan_of(Layout::blocked)};
  for (const KindCase& kind : kind_cases()) plans.push_back(kind.plan);
  for (const FilterPlan& plan : plans) {
    Scratch scratch(fast_place());
    const std::string path = scratch / "f";
    FilterFile::create(path, plan).close();
    const auto bytes = read_bytes(path);
    for (std::size_t byte = 0; byte < 240; ++byte) {
      auto hostile = bytes;
      change_headers(hostile, [&](std::byte* page) { page[byte] = std::byte{0xFF}; });
      write_bytes(path, hostile);
      largest = 0;
      for (const Access access : {Access::read, Access::write}) {
        try {
          FilterFile::open(path, {.access = access});
        } catch (const Error&) {
        }
      }
      const auto decoding = [&](const auto& decode_it) {
        try {
          (void)decode_it(hostile);
        } catch (const Error&) {
        }
      };
      decoding([](const auto& all) { return decode(all); });
      decoding([](const auto& all) { return decode_counting(all); });
      decoding([](const auto& all) { return decode_scalable(all); });
      decoding([](const auto& all) { return decode_window(all); });
      ASSERT_LE(largest, 2 * bytes.size()) << "kind " << plan.index() << ", byte " << byte;
    }
  }
}

}  // namespace
}  // namespace bloomery::test
