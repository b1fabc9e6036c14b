// Collects the keys of a frozen filter by bucket, and builds its partitions, several at a time.
#include <bloomery/error.hpp>
#include <bloomery/frozen_filter.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <numeric>
#include <thread>
#include <utility>

#include "filter/frozen_keys.hpp"
#include "filter/frozen_partition.hpp"

namespace bloomery {

namespace {

using detail::kBuckets;

// Runs work() in several threads. When all have ended, throws the first exception.
template <class Work>
void in_parallel(unsigned threads, Work work) {
  std::exception_ptr error;
  std::mutex mutex;
  const auto guarded = [&]() noexcept {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (error == nullptr) error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads; ++i) {
      try {
        others.emplace_back(guarded);
      } catch (const std::system_error&) {
        break;  // the threads that were started do the work
      }
    }
    guarded();
  }
  if (error != nullptr) std::rethrow_exception(error);
}

// The different keys of a bucket, in `room`.
template <class Keys>
std::span<const std::uint64_t> different_in(const Keys& keys, std::uint32_t bucket,
                                            std::vector<std::uint64_t>& room) {
  room.resize(static_cast<std::size_t>(keys.count(bucket, bucket + 1)));
  keys.copy(bucket, bucket + 1, room.data());
  std::ranges::sort(room);
  return {room.begin(), std::unique(room.begin(), room.end())};
}

// The number of different keys in each bucket.
template <class Keys>
std::vector<std::uint64_t> count_different(const Keys& keys, unsigned threads) {
  std::vector<std::uint64_t> counts(kBuckets);
  std::atomic<std::uint32_t> next = 0;
  in_parallel(threads, [&] {
    std::vector<std::uint64_t> room;
    for (std::uint32_t bucket = next++; bucket < kBuckets; bucket = next++)
      counts[bucket] = different_in(keys, bucket, room).size();
  });
  return counts;
}

std::uint64_t sum_of(std::span<const std::uint64_t> counts) noexcept {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

// std::bad_alloc becomes Error{no_memory}.
template <class Work>
void with_memory(Work work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::no_memory,
                "there is no memory for the keys of a frozen filter; divide the set");
  }
}

}  // namespace

unsigned detail::threads_that_fit(const FrozenPlan& plan) noexcept {
  constexpr std::uint64_t kMemory = std::uint64_t{5} << 28;
  const std::uint64_t work = 38 * (plan.array.capacity / plan.partitions + 1);
  const std::uint64_t left = kMemory - std::min(kMemory, plan.bytes());
  return static_cast<unsigned>(std::clamp<std::uint64_t>(left / work, 1, 1'024));
}

FrozenBuilder::FrozenBuilder(double fpr, const Hasher& hasher) : hasher_(hasher), fpr_(fpr) {
  (void)frozen_plan(1, fpr);
}
FrozenBuilder::FrozenBuilder(FrozenBuilder&&) noexcept = default;
FrozenBuilder& FrozenBuilder::operator=(FrozenBuilder&&) noexcept = default;
FrozenBuilder::~FrozenBuilder() = default;

void FrozenBuilder::spool_to(std::unique_ptr<detail::KeySpool> spool,
                             std::uint64_t most_in_memory) {
  keys_ = std::make_unique<Keys>();
  keys_->spool_to(std::move(spool), most_in_memory);
}

std::uint64_t FrozenBuilder::inserted() const noexcept {
  return keys_ == nullptr ? 0 : keys_->count();
}

std::vector<detail::BuiltPartition> FrozenBuilder::build_partitions(
    const Keys& keys, const FrozenPlan& plan, unsigned threads,
    std::span<const std::uint64_t> different) {
  std::vector<detail::BuiltPartition> built(plan.partitions);
  std::atomic<std::uint32_t> next = 0;
  in_parallel(std::min(threads, plan.partitions), [&] {
    detail::PartitionBuilder builder;
    std::vector<std::uint64_t> room;
    for (std::uint32_t partition = next++; partition < plan.partitions; partition = next++) {
      const std::uint32_t first = detail::first_bucket(partition, plan.partitions);
      const std::uint32_t end = detail::first_bucket(partition + 1, plan.partitions);
      const std::uint64_t count = different.empty() ? keys.count(first, end)
                                                    : sum_of(different.subspan(first, end - first));
      const auto lows = builder.room_for(static_cast<std::size_t>(count));
      if (different.empty()) {
        keys.copy(first, end, lows.data());
      } else {
        auto to = lows.begin();
        for (std::uint32_t bucket = first; bucket < end; ++bucket)
          to = std::ranges::copy(different_in(keys, bucket, room), to).out;
      }
      built[partition] = builder.build(lows, plan.bits_of(partition));
    }
  });
  return built;
}

std::size_t FrozenBuilder::do_insert(std::span<const Hash128> hashes, bool* answers) {
  with_memory([&] {
    if (keys_ == nullptr) keys_ = std::make_unique<Keys>();
    keys_->add(hashes);
  });
  if (answers != nullptr) std::fill_n(answers, hashes.size(), false);
  return 0;
}

void FrozenBuilder::merge(FrozenBuilder&& other) {
  if (other.hasher_ != hasher_)
    throw Error(
        ErrorCode::mismatch,
        "the builders of a frozen filter differ in seed or hash family; give them the same hasher");
  if (&other == this || other.keys_ == nullptr) return;
  if (keys_ == nullptr)
    keys_ = std::move(other.keys_);
  else
    with_memory([&] { keys_->add(other.keys_); });
}

FrozenFilter FrozenBuilder::build(unsigned threads) try {
  if (keys_ == nullptr) keys_ = std::make_unique<Keys>();
  keys_->sort();
  const Keys& keys = *keys_;
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  const auto plan_for = [&](std::uint64_t count) {
    return frozen_plan(std::max<std::uint64_t>(count, 1), fpr_);
  };
  FrozenPlan plan = plan_for(keys.count());
  const auto threads_for = [&](const FrozenPlan& it) {
    return keys.is_spooled() ? std::min(threads, detail::threads_that_fit(it)) : threads;
  };
  std::vector<detail::BuiltPartition> partitions =
      build_partitions(keys, plan, threads_for(plan), {});
  std::uint64_t built = 0;
  for (const detail::BuiltPartition& partition : partitions) built += partition.keys;
  if (built != keys.count()) {
    // Some keys came more than once. A partition depends only on its different keys, not on the number
    // that was counted, and its bits on the rate and the number of partitions. There may be few of these, and then
    // few partitions, which have no room for repeats.
    const std::vector<std::uint64_t> different = count_different(keys, threads_for(plan));
    const FrozenPlan of_different = plan_for(sum_of(different));
    const bool same_partitions = of_different.partitions == plan.partitions;
    plan = of_different;
    if (!same_partitions) {
      partitions.clear();
      // To copy different keys alone sorts all of them again. It is worth that only where most are repeats.
      const bool few = sum_of(different) < keys.count() / 2;
      partitions = build_partitions(keys, plan, threads_for(plan),
                                    few ? different : std::span<const std::uint64_t>());
    }
  }
  FrozenFilter filter(plan, hasher_, std::move(partitions));
  keys_.reset();
  return filter;
} catch (const std::bad_alloc&) {
  throw Error(ErrorCode::no_memory,
              "there is no memory to build a frozen filter; use fewer threads, or divide the set");
}

}  // namespace bloomery
