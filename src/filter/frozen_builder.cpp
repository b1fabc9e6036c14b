// Collecting the keys of a frozen filter by bucket, and building its partitions, several at a time.
#include <bloomery/error.hpp>
#include <bloomery/frozen_filter.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "base/endian.hpp"
#include "filter/frozen_partition.hpp"

namespace bloomery {

namespace {

using detail::kBuckets;

// A bucket's keys are in chunks, so that no key is moved again as the set grows.
constexpr std::size_t kChunkKeys = 512;

// Several threads; the first exception is thrown when all have ended.
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
        break;  // the threads that there are do it
      }
    }
    guarded();
  }
  if (error != nullptr) std::rethrow_exception(error);
}

}  // namespace

// The lower half of each hash, in the bucket that the upper half gives. Up to kFew, a bucket of their own for
// all: most filters are small, and 4,096 chunks are 16 MiB.
class FrozenBuilder::Keys {
 public:
  // If it throws, some of the keys are there, and perhaps twice.
  void add(std::span<const Hash128> hashes) {
    count_ += hashes.size();
    if (few_.size() + hashes.size() <= kFew) {
      few_.insert(few_.end(), hashes.begin(), hashes.end());
      return;
    }
    if (buckets_.empty()) {
      buckets_.resize(kBuckets);
      chunks_.reserve(kBuckets);
    }
    distribute(few_);
    few_.clear();
    distribute(hashes);
  }

  // Keys so far, each as often as it came. At least as many as there are.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  // How many there are with another bucket or another lower half.
  [[nodiscard]] std::uint64_t different(unsigned threads) const {
    std::atomic<std::uint32_t> next = 0;
    std::atomic<std::uint64_t> count = 0;
    in_parallel(threads, [&] {
      std::vector<std::uint64_t> lows;
      for (std::uint32_t bucket = next++; bucket < kBuckets; bucket = next++) {
        copy(bucket, bucket + 1, lows);
        std::ranges::sort(lows);
        count += static_cast<std::uint64_t>(std::unique(lows.begin(), lows.end()) - lows.begin());
      }
    });
    return count;
  }

  // The keys of these buckets. Any number of threads at once.
  void copy(std::uint32_t first, std::uint32_t end, std::vector<std::uint64_t>& keys) const {
    keys.clear();
    for (const Hash128 hash : few_)
      if (const std::uint32_t bucket = detail::bucket_of(hash.high);
          bucket >= first && bucket < end)
        keys.push_back(hash.low);
    if (buckets_.empty()) return;
    std::size_t count = 0;
    for (std::uint32_t bucket = first; bucket < end; ++bucket) count += buckets_[bucket].keys;
    keys.reserve(count);
    for (std::uint32_t bucket = first; bucket < end; ++bucket) {
      std::uint32_t chunk = buckets_[bucket].newest;
      for (std::size_t left = buckets_[bucket].keys; left != 0; chunk = chunks_[chunk]->before) {
        const std::size_t in_it = (left - 1) % kChunkKeys + 1;
        const auto from = chunks_[chunk]->keys.begin();
        keys.insert(keys.end(), from, from + static_cast<std::ptrdiff_t>(in_it));
        left -= in_it;
      }
    }
  }

 private:
  static constexpr std::size_t kFew = 65'536;
  struct Chunk {
    std::array<std::uint64_t, kChunkKeys> keys;
    std::uint32_t before;  // the chunk of the same bucket that is full
  };
  struct Bucket {
    std::size_t keys = 0;
    std::uint32_t newest = 0;
    Chunk* chunk = nullptr;
  };

  void distribute(std::span<const Hash128> hashes) {
    for (const Hash128 hash : hashes) {
      Bucket& bucket = buckets_[detail::bucket_of(hash.high)];
      const std::size_t at = bucket.keys % kChunkKeys;
      if (at == 0) {
        std::unique_ptr<Chunk> chunk(new Chunk);  // not zeros
        chunk->before = bucket.newest;
        chunks_.push_back(std::move(chunk));  // may throw: the bucket is as it was
        bucket.newest = static_cast<std::uint32_t>(chunks_.size() - 1);
        bucket.chunk = chunks_.back().get();
      }
      bucket.chunk->keys[at] = hash.low;
      ++bucket.keys;
    }
  }

  std::uint64_t count_ = 0;
  std::vector<Hash128> few_;
  std::vector<Bucket> buckets_;  // none while there are few keys
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

FrozenBuilder::FrozenBuilder(double fpr, const Hasher& hasher) : hasher_(hasher), fpr_(fpr) {
  (void)frozen_plan(1, fpr);
}
FrozenBuilder::FrozenBuilder(FrozenBuilder&&) noexcept = default;
FrozenBuilder& FrozenBuilder::operator=(FrozenBuilder&&) noexcept = default;
FrozenBuilder::~FrozenBuilder() = default;

std::uint64_t FrozenBuilder::inserted() const noexcept {
  return keys_ == nullptr ? 0 : keys_->count();
}

std::vector<detail::BuiltPartition> FrozenBuilder::build_partitions(const Keys& keys,
                                                                    const FrozenPlan& plan,
                                                                    unsigned threads) {
  std::vector<detail::BuiltPartition> built(plan.partitions);
  std::atomic<std::uint32_t> next = 0;
  in_parallel(std::min(threads, plan.partitions), [&] {
    detail::PartitionBuilder builder;
    std::vector<std::uint64_t> lows;
    for (std::uint32_t partition = next++; partition < plan.partitions; partition = next++) {
      keys.copy(detail::first_bucket(partition, plan.partitions),
                detail::first_bucket(partition + 1, plan.partitions), lows);
      built[partition] = builder.build(lows, plan.bits_of(partition));
    }
  });
  return built;
}

std::size_t FrozenBuilder::do_insert(std::span<const Hash128> hashes, bool* answers) {
  try {
    if (keys_ == nullptr) keys_ = std::make_unique<Keys>();
    keys_->add(hashes);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::no_memory,
                "there is no memory for the keys of a frozen filter; divide the set");
  }
  if (answers != nullptr) std::fill_n(answers, hashes.size(), false);
  return 0;
}

FrozenFilter FrozenBuilder::build(unsigned threads) try {
  const std::unique_ptr<Keys> keys = keys_ == nullptr ? std::make_unique<Keys>() : std::move(keys_);
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  const auto plan_for = [&](std::uint64_t count) {
    return frozen_plan(std::max<std::uint64_t>(count, 1), fpr_);
  };
  FrozenPlan plan = plan_for(keys->count());
  std::vector<detail::BuiltPartition> partitions = build_partitions(*keys, plan, threads);
  std::uint64_t built = 0;
  for (const detail::BuiltPartition& partition : partitions) built += partition.keys;
  if (built != keys->count()) {
    // Some came more than once. The partitions follow from the different keys, whatever their number was.
    const FrozenPlan of_different = plan_for(keys->different(threads));
    const bool same_partitions = of_different.partitions == plan.partitions &&
                                 of_different.narrow_partitions == plan.narrow_partitions;
    plan = of_different;
    if (!same_partitions) partitions = build_partitions(*keys, plan, threads);
  }
  return FrozenFilter(plan, hasher_, std::move(partitions));
} catch (const std::bad_alloc&) {
  throw Error(ErrorCode::no_memory,
              "there is no memory to build a frozen filter; use fewer threads, or divide the set");
}

}  // namespace bloomery
