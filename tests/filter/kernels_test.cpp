// Kernels that disagree would lose keys on another CPU: every one is held against the scalar
// kernel, and that against the naive filter, bit by bit and answer by answer.
#include <bloomery/error.hpp>
#include <bloomery/filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/hashes.hpp"
#include "support/layouts.hpp"
#include "support/naive_filter.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

constexpr std::uint64_t kBlockCounts[] = {1, 2, 3, 7, 64, 1000, 4097};

// Answers of a bulk call, with guards around them that must stay as they are.
class Answers {
 public:
  explicit Answers(std::size_t count) : bytes_(new std::uint8_t[count + 2]), count_(count) {
    std::memset(bytes_.get(), kGuard, count + 2);
  }
  bool* data() { return reinterpret_cast<bool*>(bytes_.get() + 1); }
  // Each answer is the byte 0 or 1, and nothing else was written.
  [[nodiscard]] std::optional<std::vector<bool>> get() const {
    if (bytes_[0] != kGuard || bytes_[count_ + 1] != kGuard) return std::nullopt;
    std::vector<bool> out;
    for (std::size_t i = 0; i < count_; ++i) {
      if (bytes_[i + 1] > 1) return std::nullopt;
      out.push_back(bytes_[i + 1] == 1);
    }
    return out;
  }

 private:
  static constexpr std::uint8_t kGuard = 0xA5;
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t count_;
};

// A bulk call applies keys as single calls do, for which every count is tried.
std::vector<std::uint32_t> bulk_hash_counts(Layout layout) {
  std::vector<std::uint32_t> out = hash_counts(layout);
  if (!nightly()) std::erase_if(out, [](std::uint32_t k) { return k > 4 && k % 8 > 1; });
  // Which memory is read and written does not depend on k.
  if (hurried()) std::erase_if(out, [](std::uint32_t k) { return k > 2 && k % 16 != 0; });
  return out;
}

// Runs visit(scalar, other) over a pair of empty filters for each layout, hash count, number
// of blocks and kernel (the scalar one too: its bulk calls are held against its single ones).
template <class Visit>
void each_kernel(std::span<const std::uint64_t> block_counts, Visit visit, bool bulk = false) {
  for (const Layout layout : kLayouts)
    for (const std::uint32_t k : bulk ? bulk_hash_counts(layout) : hash_counts(layout))
      for (const std::uint64_t blocks : block_counts) {
        const auto kernels = detail::kernels_of(layout);
        for (const detail::Kernel* kernel : kernels) {
          const Plan plan = plan_of(layout, blocks, k);
          Filter reference = with_kernel(plan, *kernels.front());
          Filter other = with_kernel(plan, *kernel);
          visit(reference, other);
          if (testing::Test::HasFatalFailure()) {
            ADD_FAILURE() << "with " << describe(other);
            return;
          }
        }
      }
}

TEST(Kernels, ScalarComesFirstAndNamesAreDistinct) {
  for (const Layout layout : kLayouts) {
    std::vector<std::string> names;
    for (const detail::Kernel* kernel : detail::kernels_of(layout))
      names.emplace_back(kernel->name);
    ASSERT_FALSE(names.empty());
    EXPECT_EQ(names.front(), "scalar");
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  }
}

TEST(Kernels, ScalarIsTheNaiveFilter) {
  for (const Layout layout : kLayouts)
    for (const std::uint32_t k : hash_counts(layout))
      for (const std::uint64_t blocks : {1, 2, 3, 37}) {
        const Plan plan = plan_of(layout, blocks, k);
        Filter filter = with_kernel(plan, *detail::kernels_of(layout).front());
        NaiveFilter naive(plan);
        for (const Hash128 hash : mixed_hashes(k * 64 + blocks, 300)) {
          ASSERT_EQ(filter.may_contain_hash(hash), naive.may_contain(hash));
          ASSERT_EQ(filter.insert_hash(hash), naive.insert(hash)) << describe(filter);
        }
        const std::vector<std::byte> expected = naive.bytes();
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), filter.bytes().begin()))
            << describe(filter);
      }
}

TEST(Kernels, SingleCallsAgree) {
  each_kernel(kBlockCounts, [](Filter& reference, Filter& other) {
    for (const Hash128 hash : mixed_hashes(reference.plan().bits + reference.plan().hashes, 400)) {
      ASSERT_EQ(reference.may_contain_hash(hash), other.may_contain_hash(hash));
      ASSERT_EQ(reference.insert_hash(hash), other.insert_hash(hash));
      ASSERT_TRUE(other.may_contain_hash(hash));
    }
    ASSERT_TRUE(same_bits(reference, other));
    Random absent(99);
    for (int i = 0; i < 400; ++i) {
      const Hash128 hash = absent.hash();
      ASSERT_EQ(reference.may_contain_hash(hash), other.may_contain_hash(hash));
    }
  });
}

// One bit less than a key has must be seen as absent, whichever bit it is: a kernel that
// forgets to look at a word gives a higher rate, not a crash.
TEST(Kernels, EveryBitOfAKeyIsLookedAt) {
  constexpr std::uint64_t kBlocks[] = {1, 5};
  each_kernel(kBlocks, [](Filter& reference, Filter& other) {
    Random source(reference.plan().hashes);
    for (int round = 0; round < 4; ++round) {
      const Hash128 hash = source.hash();
      for (const std::uint64_t position : positions(other.plan(), hash)) {
        std::fill(other.mutable_bytes().begin(), other.mutable_bytes().end(), std::byte{0xFF});
        ASSERT_TRUE(other.may_contain_hash(hash));
        std::byte& byte = other.mutable_bytes()[position / 8];
        byte ^= std::byte{1} << (position % 8);
        ASSERT_FALSE(other.may_contain_hash(hash));
        ASSERT_TRUE(other.insert_hash(hash));
        ASSERT_EQ(byte, std::byte{0xFF});
        ASSERT_FALSE(other.insert_hash(hash));
      }
    }
  });
}

// Around the block of 16 keys and around rings of 2, 6 and 12 blocks; unaligned by one key.
std::vector<std::size_t> bulk_counts() {
  std::vector<std::size_t> out;
  for (std::size_t count = 0; count <= 70; ++count) out.push_back(count);
  for (const std::size_t middle : {80, 96, 112, 128, 176, 192, 208, 224, 240, 256, 384, 400})
    for (std::size_t count = middle - 2; count <= middle + 2; ++count) out.push_back(count);
  out.push_back(1000);
  return out;
}

template <class Key, class Single, class Bulk>
void bulk_agrees(std::span<const Key> all, Filter& reference, Filter& other, bool answers,
                 std::size_t count, Single single, Bulk bulk) {
  const std::span<const Key> keys = all.subspan(1 + count % 3, count);
  std::vector<bool> expected;
  for (const Key& key : keys) expected.push_back(single(reference, key));
  Answers got(answers ? count : 0);
  const std::size_t yes =
      bulk(other, keys, answers ? std::span<bool>(got.data(), count) : std::span<bool>());
  ASSERT_EQ(yes, static_cast<std::size_t>(std::count(expected.begin(), expected.end(), true)))
      << count;
  const auto written = got.get();
  ASSERT_TRUE(written.has_value()) << count;
  if (answers) {
    ASSERT_EQ(*written, expected) << count;
  }
  ASSERT_TRUE(same_bits(reference, other)) << count;
}

// Look-ups and inserts of any number of keys, with answers and without, by each kernel.
template <class Key>
void all_bulk_calls_agree(const std::vector<Key>& keys, auto find, auto find_many, auto insert,
                          auto insert_many) {
  constexpr std::uint64_t kBlocks[] = {1, 3, 67};
  const std::vector<std::size_t> counts = bulk_counts();
  each_kernel(
      kBlocks,
      [&](Filter& reference, Filter& other) {
        for (const bool answers : {false, true}) {
          reference.clear();
          other.clear();
          for (const std::size_t count : counts) {
            bulk_agrees<Key>(keys, reference, other, answers, count, find, find_many);
            if (count % 8 == 7) reference.clear(), other.clear();
            bulk_agrees<Key>(keys, reference, other, answers, count, insert, insert_many);
            if (testing::Test::HasFatalFailure()) return;
          }
        }
      },
      true);
}

TEST(Kernels, BulkCallsOfHashesAgree) {
  all_bulk_calls_agree(
      mixed_hashes(4, 1200),
      [](Filter& filter, Hash128 hash) { return filter.may_contain_hash(hash); },
      [](Filter& filter, auto keys, auto out) { return filter.may_contain_hashes(keys, out); },
      [](Filter& filter, Hash128 hash) { return filter.insert_hash(hash); },
      [](Filter& filter, auto keys, auto out) { return filter.insert_hashes(keys, out); });
}

TEST(Kernels, BulkCallsOfIntegersAgree) {
  std::vector<std::uint64_t> integers = {0, ~std::uint64_t{0}, 1, 0xFFFFFFFF, 0xFFFFFFFF00000000};
  for (unsigned bit = 0; bit < 64; ++bit) integers.push_back(std::uint64_t{1} << bit);
  Random source(5);
  while (integers.size() < 1200) integers.push_back(source());
  all_bulk_calls_agree(
      integers, [](Filter& filter, std::uint64_t key) { return filter.may_contain(key); },
      [](Filter& filter, auto keys, auto out) { return filter.may_contain_many(keys, out); },
      [](Filter& filter, std::uint64_t key) { return filter.insert(key); },
      [](Filter& filter, auto keys, auto out) { return filter.insert_many(keys, out); });
}

// Seeds reach the integers that are hashed on the way, and siphash takes the other way.
TEST(Kernels, BulkIntegersAreHashedAsSingleOnes) {
  std::vector<std::uint64_t> keys(333);
  Random source(6);
  std::generate(keys.begin(), keys.end(), source);
  for (const Hasher& hasher : {Hasher(), Hasher(HashFamily::xxh3, {.low = 12345, .high = 0}),
                               Hasher(HashFamily::siphash, {.low = 1, .high = 2})})
    for (const Layout layout : kLayouts)
      for (const detail::Kernel* kernel : detail::kernels_of(layout)) {
        const Plan plan = plan_of(layout, 211, 6);
        Filter one = with_kernel(plan, *kernel, hasher);
        Filter many = with_kernel(plan, *kernel, hasher);
        for (const std::uint64_t key : keys) one.insert(key);
        EXPECT_GT(many.insert_many(keys), keys.size() / 2);
        EXPECT_TRUE(same_bits(one, many)) << describe(many);
        EXPECT_EQ(many.may_contain_many(keys), keys.size());
      }
}

// A bulk insert that loads a block, waits, and stores it again would lose what another key put
// there meanwhile. Many keys in one block, the same key many times in one batch.
TEST(Kernels, NoUpdateIsLostWhereKeysShareABlock) {
  constexpr std::uint64_t kBlocks[] = {2, 1024};
  each_kernel(kBlocks, [](Filter& reference, Filter& other) {
    Random source(7);
    std::vector<Hash128> hashes;
    for (int i = 0; i < 200; ++i) hashes.push_back({0x8000000000000000, source()});
    for (int i = 0; i < 100; ++i) hashes.push_back(hashes[source.below(hashes.size())]);
    for (int i = 0; i < 60; ++i) hashes.push_back(hashes[0]);
    std::vector<bool> expected;
    for (const Hash128 hash : hashes) expected.push_back(reference.insert_hash(hash));
    Answers fresh(hashes.size());
    other.insert_hashes(hashes, {fresh.data(), hashes.size()});
    ASSERT_TRUE(same_bits(reference, other));
    ASSERT_EQ(fresh.get(), expected);
    ASSERT_EQ(other.may_contain_hashes(hashes), hashes.size());
  });
}

TEST(Kernels, RangesOfEveryKindGoTheSameWay) {
  std::vector<std::string> strings;
  std::vector<std::uint32_t> small;
  for (std::uint32_t i = 0; i < 2500; ++i) {
    strings.push_back("key " + std::to_string(i));
    small.push_back(i * 7919);
  }
  const Plan plan = plan_of(Layout::blocked, 500, 8);
  Filter one(plan), many(plan);
  std::vector<bool> expected;
  for (const std::string& key : strings) expected.push_back(one.insert(key));
  Answers fresh(strings.size());
  const std::size_t yes = many.insert_many(strings, {fresh.data(), strings.size()});
  EXPECT_EQ(yes, static_cast<std::size_t>(std::count(expected.begin(), expected.end(), true)));
  EXPECT_EQ(fresh.get(), expected);
  for (const std::uint32_t key : small) one.insert(key);
  many.insert_many(small);
  EXPECT_TRUE(same_bits(one, many));
  EXPECT_EQ(many.may_contain_many(strings), strings.size());
  EXPECT_EQ(many.may_contain_many(small), small.size());
}

TEST(Kernels, CountOnesAgree) {
  for (const Layout layout : kLayouts)
    for (const detail::Kernel* kernel : detail::kernels_of(layout))
      for (const std::uint64_t blocks : {1, 2, 3, 1001}) {
        Filter filter(plan_of(layout, blocks, 2));
        Random source(blocks);
        std::uint64_t expected = 0;
        for (std::byte& byte : filter.mutable_bytes()) {
          byte = static_cast<std::byte>(source() >> 56);
          expected += static_cast<unsigned>(std::popcount(std::to_integer<unsigned>(byte)));
        }
        EXPECT_EQ(kernel->count_ones(filter.bit_array().words, filter.plan().bits), expected);
      }
}

// ---- BLOOMERY_KERNEL ------------------------------------------------------------------------

class ForcedKernel : public testing::Test {
 protected:
  ForcedKernel() {
    if (const char* before = std::getenv("BLOOMERY_KERNEL")) before_ = before;
  }
  ~ForcedKernel() override {
    if (before_)
      setenv("BLOOMERY_KERNEL", before_->c_str(), 1);
    else
      unsetenv("BLOOMERY_KERNEL");
  }

 private:
  std::optional<std::string> before_;
};

TEST_F(ForcedKernel, EveryNameOfThisMachineIsTaken) {
  for (const detail::Kernel* wanted : detail::kernels_of(Layout::blocked)) {
    setenv("BLOOMERY_KERNEL", wanted->name, 1);
    EXPECT_EQ(detail::inline_path_of(Layout::blocked), detail::InlinePath::none);
    EXPECT_STREQ(Filter(1000, 0.01).kernel_name(), wanted->name);
    for (const Layout layout : kLayouts) {
      Filter forced(plan_of(layout, 99, 8));
      Filter reference = with_kernel(plan_of(layout, 99, 8), *detail::kernels_of(layout).front());
      for (std::uint64_t key = 0; key < 500; ++key)
        ASSERT_EQ(forced.insert(key), reference.insert(key)) << describe(forced);
      EXPECT_TRUE(same_bits(forced, reference));
    }
  }
}

TEST_F(ForcedKernel, AnUnknownNameIsRefusedWithTheNamesThatThereAre) {
  for (const char* name : {"neon-x", "AVX2", "avx3", "best", " "}) {
    setenv("BLOOMERY_KERNEL", name, 1);
    try {
      Filter(1000, 0.01);
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      const std::string message = error.what();
      EXPECT_NE(message.find(name), std::string::npos) << message;
      EXPECT_NE(message.find("scalar"), std::string::npos) << message;
      EXPECT_NE(message.find("BLOOMERY_KERNEL"), std::string::npos) << message;
    }
  }
}

TEST_F(ForcedKernel, UnsetOrEmptyMeansTheBest) {
  unsetenv("BLOOMERY_KERNEL");
  EXPECT_NE(detail::inline_path_of(Layout::blocked), detail::InlinePath::none);
  EXPECT_EQ(&detail::kernel_for(Layout::blocked), detail::kernels_of(Layout::blocked).back());
  setenv("BLOOMERY_KERNEL", "", 1);
  EXPECT_NE(detail::inline_path_of(Layout::blocked), detail::InlinePath::none);
  EXPECT_EQ(&detail::kernel_for(Layout::blocked2), detail::kernels_of(Layout::blocked2).back());
}

}  // namespace
}  // namespace bloomery::test
