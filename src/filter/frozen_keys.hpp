// The keys of a frozen filter until it is built: the lower half of each hash, in the bucket that the upper half gives.
//
// Up to kFew keys are in one list without buckets, because most filters are small and 4,096 chunks take 16 MiB. With
// a spool, most_in_memory keys at a time are written to it as a run, in the order of the buckets, so that the keys of
// a partition are one piece of every run.
#pragma once

#include <bloomery/frozen_filter.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

// The storage for keys beyond those that stay in memory, while a frozen filter is built.
namespace bloomery::detail {

class KeySpool {
 public:
  virtual ~KeySpool() = default;
  // Bytes are written in order, from offset 0 on; after a run that was not finished, writing starts again at its
  // offset. Throws Error if it fails.
  virtual void write(std::span<const std::byte> bytes, std::uint64_t offset) = 0;
  // Reads bytes that were written. Any number of threads may call it at once. Error{io}.
  virtual void read(std::span<std::byte> bytes, std::uint64_t offset) const = 0;
};

// Threads for a set that is too large for the memory. The memory then holds the whole filter, and 38 bytes per key of a
// partition for each thread. Both together stay below 1.25 GiB, unless one thread alone needs more.
[[nodiscard]] unsigned threads_that_fit(const FrozenPlan& plan) noexcept;

}  // namespace bloomery::detail

namespace bloomery {

class FrozenBuilder::Keys {
 public:
  // From now on at most `most_in_memory` keys are in memory, as long as the spool takes keys. If it does not,
  // they stay in memory.
  void spool_to(std::unique_ptr<detail::KeySpool> spool, std::uint64_t most_in_memory) noexcept {
    spool_ = std::move(spool);
    most_in_memory_ = most_in_memory;
  }
  [[nodiscard]] bool is_spooled() const noexcept { return !runs_.empty(); }

  // If it throws, some of the keys have been added, perhaps twice.
  void add(std::span<const Hash128> hashes);

  // Takes the keys of `other`; neither has a spool. If it throws, both are unchanged.
  void add(std::unique_ptr<Keys>& other);

  // The number of keys so far, repeats included. It is never less than the number of different keys.
  [[nodiscard]] std::uint64_t count() const noexcept;

  // Sorts the keys for the two calls below. Call it after the last add().
  void sort() noexcept;
  // The number of keys in the buckets [first, end), and a copy of them to `to`, which has room for them; copy()
  // returns where the copy ends. Any number of threads may call both at once. Error{io}: the spool cannot be read.
  [[nodiscard]] std::uint64_t count(std::uint32_t first, std::uint32_t end) const noexcept;
  std::uint64_t* copy(std::uint32_t first, std::uint32_t end, std::uint64_t* to) const;

 private:
  static constexpr std::size_t kFew = 65'536;
  // A bucket's keys are in chunks, so that no key is moved again as the set grows.
  static constexpr std::size_t kChunkKeys = 512;
  struct Chunk {
    std::array<std::uint64_t, kChunkKeys> keys;
    std::uint32_t before;  // the chunk of the same bucket that is full
  };
  struct Bucket {
    std::size_t keys = 0;
    std::uint32_t newest = 0;
    Chunk* chunk = nullptr;
  };
  using Run =
      std::vector<std::uint64_t>;  // the byte of the spool at which each bucket begins, and the end

  [[nodiscard]] std::span<const Hash128> few_in(std::uint32_t first,
                                                std::uint32_t end) const noexcept;
  void distribute(std::span<const Hash128> hashes);
  void spill() noexcept;
  // Returns where the copied keys end.
  std::uint64_t* copy(const Bucket& bucket, std::uint64_t* to) const noexcept;

  std::uint64_t count_ = 0;                    // without those of others_
  std::vector<std::unique_ptr<Keys>> others_;  // none has others of its own
  std::vector<Hash128> few_;
  std::vector<Bucket> buckets_;  // empty while there are few keys
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::size_t chunks_used_ = 0;  // the keys of the others were spilled

  std::unique_ptr<detail::KeySpool> spool_;
  std::uint64_t most_in_memory_ = UINT64_MAX;
  std::uint64_t in_memory_ = 0;  // in chunks
  std::vector<Run> runs_;
};

}  // namespace bloomery
