// Look-ups of one handle in several threads: under ThreadSanitizer this shows that they write nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "c/handles.hpp"
#include "store/scratch.hpp"

namespace bloomery::test {
namespace {

constexpr std::uint64_t kKeys = 5'000;
constexpr std::size_t kThreads = 4;

class CThreads : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(, CThreads,
                         testing::Values(BLOOMERY_PLAIN, BLOOMERY_COUNTING, BLOOMERY_SCALABLE,
                                         BLOOMERY_WINDOW));

// How many of all keys a thread finds, in each of four ways.
std::int64_t found_in(const Handle& filter, const std::vector<std::uint64_t>& keys) {
  std::int64_t found =
      bloomery_contains_u64s(filter.get(), keys.data(), keys.size(), nullptr, nullptr);
  found += bloomery_contains_fixed(filter.get(), keys.data(), sizeof keys[0], keys.size(), nullptr,
                                   nullptr);
  for (const std::uint64_t key : keys) {
    found += bloomery_contains_u64(filter.get(), key, nullptr);
    found += bloomery_contains(filter.get(), &key, sizeof key, nullptr);
  }
  return found;
}

TEST_P(CThreads, LookUpAtOnce) {
  Scratch scratch;
  const std::string path = scratch / "f.bloom";
  const bloomery_spec spec = spec_of(GetParam(), 2 * kKeys);
  std::vector<std::uint64_t> keys(kKeys);
  for (std::uint64_t i = 0; i < kKeys; ++i) keys[i] = i << 40;
  const Handle memory(bloomery_new(&spec, nullptr, nullptr));
  const Handle file(bloomery_create(path.c_str(), &spec, nullptr, nullptr));
  for (const Handle* each : {&memory, &file}) {
    bloomery_insert_u64s(each->get(), keys.data(), keys.size(), nullptr, nullptr);
    bloomery_insert_fixed(each->get(), keys.data(), sizeof keys[0], keys.size(), nullptr, nullptr);
  }
  ASSERT_EQ(bloomery_close(file.get(), nullptr), 0);
  const Handle reader(bloomery_open(path.c_str(), BLOOMERY_READ, nullptr, nullptr));
  for (const Handle* each : {&memory, &reader}) {
    std::atomic<std::int64_t> found = 0;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kThreads; ++i)
      threads.emplace_back([&] { found += found_in(*each, keys); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(found, static_cast<std::int64_t>(kThreads * 4 * kKeys));
  }
}

TEST(CPlans, AreMadeAtOnce) {
  std::vector<double> sums(kThreads);
  std::vector<std::thread> threads;
  for (double& sum : sums)
    threads.emplace_back([&sum] {
      for (const double fpr : {0.1, 1e-4, 1e-9})
        for (const std::uint64_t capacity : {100U, 100'000U}) {
          const bloomery_spec spec = spec_of(BLOOMERY_PLAIN, capacity, fpr);
          sum += bloomery_predict(&spec, static_cast<double>(capacity), nullptr);
        }
    });
  for (std::thread& thread : threads) thread.join();
  for (const double sum : sums) EXPECT_EQ(sum, sums[0]);
  EXPECT_GT(sums[0], 0.1);
}

}  // namespace
}  // namespace bloomery::test
