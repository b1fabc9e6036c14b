// The keys of a frozen filter until it is built: the lower half of each hash, in the bucket that the upper half gives.
//
// Up to kFew they are in one bucket for all, since most filters are small, and 4,096 chunks are 16 MiB. With a spool,
// so many keys at a time are written there as a run, which has them in the order of the buckets: the keys of a
// partition are then one piece of every run.
#pragma once

#include <bloomery/frozen_filter.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

// Where the keys of a set go that is larger than memory, while its frozen filter is built.
namespace bloomery::detail {

class KeySpool {
 public:
  virtual ~KeySpool() = default;
  // Bytes are written one after the other from 0 on, and again from an offset that was not finished. Error: they cannot.
  virtual void write(std::span<const std::byte> bytes, std::uint64_t offset) = 0;
  // Of what was written. Any number of threads at once. Error{io}.
  virtual void read(std::span<std::byte> bytes, std::uint64_t offset) const = 0;
};

}  // namespace bloomery::detail

namespace bloomery {

class FrozenBuilder::Keys {
 public:
  // From now on there are at most so many keys in memory, as long as the spool takes them. Where it does not,
  // they stay in memory.
  void spool_to(std::unique_ptr<detail::KeySpool> spool, std::uint64_t most_in_memory) noexcept {
    spool_ = std::move(spool);
    most_in_memory_ = most_in_memory;
  }
  [[nodiscard]] bool is_spooled() const noexcept { return !runs_.empty(); }

  // If it throws, some of the keys are there, and perhaps twice.
  void add(std::span<const Hash128> hashes);

  // The keys of another, which are taken from it. It throws with both as they were.
  void add(std::unique_ptr<Keys>& other) { others_.push_back(std::move(other)); }

  // Keys so far, each as often as it came. At least as many as there are.
  [[nodiscard]] std::uint64_t count() const noexcept;

  // The keys of the buckets in [first, end), for which there is room; copy() returns where they end. Any number of threads at once. Error{io}: the
  // spool cannot be read.
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
      std::vector<std::uint64_t>;  // where each bucket begins, in bytes of the spool, and the end

  void distribute(std::span<const Hash128> hashes);
  void spill() noexcept;
  // Returns where its keys end.
  std::uint64_t* copy(const Bucket& bucket, std::uint64_t* to) const noexcept;

  std::uint64_t count_ = 0;  // without those of others_
  std::vector<std::unique_ptr<Keys>> others_;
  std::vector<Hash128> few_;
  std::vector<Bucket> buckets_;  // none while there are few keys
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::size_t chunks_used_ = 0;  // the others have been spilled

  std::unique_ptr<detail::KeySpool> spool_;
  std::uint64_t most_in_memory_ = UINT64_MAX;
  std::uint64_t in_memory_ = 0;  // in chunks
  std::vector<Run> runs_;
};

}  // namespace bloomery
