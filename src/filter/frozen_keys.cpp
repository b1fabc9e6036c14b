// Distributing keys to buckets, and writing them to a spool run by run.
#include "filter/frozen_keys.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include "plan/frozen_partitions.hpp"

namespace bloomery {

using detail::kBuckets;

void FrozenBuilder::Keys::add(std::span<const Hash128> hashes) {
  count_ += hashes.size();
  if (few_.size() + hashes.size() <= std::min<std::uint64_t>(kFew, most_in_memory_)) {
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

void FrozenBuilder::Keys::distribute(std::span<const Hash128> hashes) {
  for (const Hash128 hash : hashes) {
    if (in_memory_ >= most_in_memory_) spill();
    Bucket& bucket = buckets_[detail::bucket_of(hash.high)];
    const std::size_t at = bucket.keys % kChunkKeys;
    if (at == 0) {
      if (chunks_used_ == chunks_.size()) {
        std::unique_ptr<Chunk> chunk(new Chunk);  // not zeros
        chunks_.push_back(std::move(chunk));      // may throw: the bucket is as it was
      }
      Chunk& chunk = *chunks_[chunks_used_];
      chunk.before = bucket.newest;
      bucket.newest = static_cast<std::uint32_t>(chunks_used_++);
      bucket.chunk = &chunk;
    }
    bucket.chunk->keys[at] = hash.low;
    ++bucket.keys;
    ++in_memory_;
  }
}

void FrozenBuilder::Keys::append(const Bucket& bucket, std::vector<std::uint64_t>& keys) const {
  std::uint32_t chunk = bucket.newest;
  for (std::size_t left = bucket.keys; left != 0; chunk = chunks_[chunk]->before) {
    const std::size_t in_it = (left - 1) % kChunkKeys + 1;
    const auto from = chunks_[chunk]->keys.begin();
    keys.insert(keys.end(), from, from + static_cast<std::ptrdiff_t>(in_it));
    left -= in_it;
  }
}

// The keys leave the memory when all of them are in the spool.
void FrozenBuilder::Keys::spill() noexcept try {
  constexpr std::size_t kWriteKeys = 131'072;
  Run run;
  run.reserve(kBuckets + 1);
  std::vector<std::uint64_t> keys;
  const std::uint64_t begin = runs_.empty() ? 0 : runs_.back().back();
  std::uint64_t written = begin;
  const auto write = [&] {
    spool_->write(std::as_bytes(std::span(keys)), written);
    written += keys.size() * sizeof(keys[0]);
    keys.clear();
  };
  for (const Bucket& bucket : buckets_) {
    run.push_back(written + keys.size() * sizeof(keys[0]));
    append(bucket, keys);
    if (keys.size() >= kWriteKeys) write();
  }
  write();
  run.push_back(written);
  runs_.push_back(std::move(run));
  buckets_.assign(kBuckets, {});
  chunks_used_ = 0;
  in_memory_ = 0;
} catch (const std::exception&) {
  // No room on the device, or no memory to write: keys stay where they are, and the next ones too.
  most_in_memory_ = UINT64_MAX;
  if (runs_.empty()) spool_.reset();
}

void FrozenBuilder::Keys::copy(std::uint32_t first, std::uint32_t end,
                               std::vector<std::uint64_t>& keys) const {
  keys.clear();
  for (const Hash128 hash : few_)
    if (const std::uint32_t bucket = detail::bucket_of(hash.high); bucket >= first && bucket < end)
      keys.push_back(hash.low);
  if (buckets_.empty()) return;
  std::size_t in_runs = 0;
  for (const Run& run : runs_) in_runs += (run[end] - run[first]) / sizeof(keys[0]);
  std::size_t count = keys.size() + in_runs;
  for (std::uint32_t bucket = first; bucket < end; ++bucket) count += buckets_[bucket].keys;
  keys.reserve(count);
  for (std::uint32_t bucket = first; bucket < end; ++bucket) append(buckets_[bucket], keys);
  std::size_t at = keys.size();
  keys.resize(at + in_runs);
  for (const Run& run : runs_) {
    const auto to =
        std::as_writable_bytes(std::span(keys).subspan(at)).first(run[end] - run[first]);
    spool_->read(to, run[first]);
    at += to.size() / sizeof(keys[0]);
  }
}

}  // namespace bloomery
