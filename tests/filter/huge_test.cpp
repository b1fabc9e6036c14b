// Positions beyond 2^32: every bit of an array of up to 2^40 bits is used, none is truncated.
//
// The array is lent by the system and only a few hundred of its pages are ever touched.
#include <bloomery/concurrent_filter.hpp>
#include <bloomery/counting_view.hpp>
#include <bloomery/filter_view.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "support/layouts.hpp"
#include "support/naive_filter.hpp"
#include "support/random.hpp"
#include "support/statistics.hpp"

namespace bloomery::test {
namespace {

class LentBytes {
 public:
  explicit LentBytes(std::size_t size) : size_(size) {
    data_ = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
    // Small pages, so that a touched one costs 4 KiB and not 2 MiB.
    if (lent()) madvise(data_, size, MADV_NOHUGEPAGE);
  }
  LentBytes(const LentBytes&) = delete;
  LentBytes& operator=(const LentBytes&) = delete;
  ~LentBytes() {
    if (lent()) munmap(data_, size_);
  }
  [[nodiscard]] bool lent() const { return data_ != MAP_FAILED; }
  [[nodiscard]] std::span<std::byte> bytes() const {
    return {static_cast<std::byte*>(data_), size_};
  }

 private:
  std::size_t size_;
  void* data_;
};

std::vector<std::uint64_t> sizes_of(Layout layout) {
  return {(std::uint64_t{1} << 32) + 512, (std::uint64_t{1} << 33) + 512 * 77, max_bits(layout)};
}

template <class Insert, class Find>
void check(const Plan& plan, const std::vector<Hash128>& hashes, Insert insert, Find find,
           const std::string& what) {
  LentBytes lent(plan.bytes());
  if (!lent.lent()) GTEST_SKIP() << "the system does not lend " << plan.bytes() << " bytes";
  FilterView view(plan, Hasher(), lent.bytes());
  insert(view, hashes);
  std::uint64_t highest = 0, beyond = 0, all = 0;
  for (const Hash128 hash : hashes)
    for (const std::uint64_t position : positions(plan, hash)) {
      ASSERT_LT(position, plan.bits);
      ASSERT_TRUE(bit_of(view.bytes(), position)) << what << ": bit " << position;
      highest = std::max(highest, position);
      beyond += position >> 32 != 0;
      ++all;
    }
  // Hashes are even over the array, and 250 random ones come within 10 % of its end unless
  // 0.9^250 < 1e-11 happens.
  EXPECT_GT(static_cast<double>(highest), 0.9 * static_cast<double>(plan.bits)) << what;
  if (plan.bits > std::uint64_t{1} << 33) {
    EXPECT_GT(beyond, all / 4);
  }
  EXPECT_EQ(find(view, hashes), hashes.size()) << what;
}

std::vector<Hash128> some_hashes() {
  std::vector<Hash128> out = Random(31).hashes(250);
  out.push_back({~std::uint64_t{0}, ~std::uint64_t{0}});
  return out;
}

TEST(Huge, EveryKernelUsesTheWholeArray) {
  const std::vector<Hash128> hashes = some_hashes();
  for (const Layout layout : kLayouts)
    for (const std::uint64_t bits : sizes_of(layout))
      for (const detail::Kernel* kernel : detail::kernels_of(layout))
        for (const bool bulk : {false, true})
          check(
              {layout, bits, 4, 1000, 0.01}, hashes,
              [&](FilterView& view, const std::vector<Hash128>& keys) {
                view.use_kernel(*kernel);
                if (bulk)
                  view.insert_hashes(keys);
                else
                  for (const Hash128 hash : keys) view.insert_hash(hash);
              },
              [](const FilterView& view, const std::vector<Hash128>& keys) {
                return view.may_contain_hashes(keys);
              },
              std::string(to_string(layout)) + " " + kernel->name + " 2^" +
                  std::to_string(std::log2(static_cast<double>(bits))));
}

// Integers are hashed and located eight at a time in some kernels.
TEST(Huge, IntegersUseTheWholeArray) {
  Random random(32);
  std::vector<std::uint64_t> keys(250);
  for (std::uint64_t& key : keys) key = random();
  std::vector<Hash128> hashes;
  for (const std::uint64_t key : keys) hashes.push_back(Hasher()(key));
  for (const Layout layout : kLayouts)
    for (const std::uint64_t bits : sizes_of(layout))
      for (const detail::Kernel* kernel : detail::kernels_of(layout))
        check(
            {layout, bits, 4, 1000, 0.01}, hashes,
            [&](FilterView& view, const std::vector<Hash128>&) {
              view.use_kernel(*kernel);
              view.insert_many(keys);
            },
            [&](const FilterView& view, const std::vector<Hash128>&) {
              return view.may_contain_many(keys);
            },
            std::string(to_string(layout)) + " " + kernel->name);
}

TEST(Huge, ConcurrentInsertsUseTheWholeArray) {
  const std::vector<Hash128> hashes = some_hashes();
  for (const Layout layout : kLayouts)
    for (const std::uint64_t bits : sizes_of(layout))
      check(
          {layout, bits, 4, 1000, 0.01}, hashes,
          [](FilterView& view, const std::vector<Hash128>& keys) {
            ConcurrentFilter(view).insert_hashes(keys);
          },
          [](FilterView& view, const std::vector<Hash128>& keys) {
            return ConcurrentFilter(view).may_contain_hashes(keys);
          },
          std::string(to_string(layout)) + " concurrent");
}

// A counting filter of 2^38 (2^37) counters has as many blocks as a plain one of 2^40 bits.
TEST(Huge, CountingKernelsUseTheWholeArray) {
  const std::vector<Hash128> hashes = some_hashes();
  for (const Layout layout : kNarrowLayouts)
    for (const std::uint64_t counters : sizes_of(layout))
      for (const detail::CountingKernel* kernel :
           detail::kernels_of<detail::CountingKernel>(layout)) {
        const Plan plan{layout, counters, 4, 1000, 0.01};
        LentBytes lent(counting_bytes(plan));
        if (!lent.lent()) GTEST_SKIP() << "the system does not lend the counters";
        CountingView view(plan, Hasher(), lent.bytes());
        view.use_kernel(*kernel);
        view.insert_hashes(hashes);
        const std::uint32_t width = counter_bits(layout);
        for (const Hash128 hash : hashes)
          for (const std::uint64_t position : positions(plan, hash))
            ASSERT_TRUE(bit_of(view.bytes(), position * width)) << kernel->name;
        EXPECT_EQ(view.remove_hashes(hashes), hashes.size());
        EXPECT_EQ(view.may_contain_hashes(hashes), 0U);
      }
}

}  // namespace
}  // namespace bloomery::test
