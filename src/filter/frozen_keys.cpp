// Distributes keys to buckets, and writes them to a spool run by run.
#include "filter/frozen_keys.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <memory>
#include <utility>

#include "plan/fuse_geometry.hpp"

namespace bloomery {

using detail::kBuckets;

namespace {

// In the longer one, for the elements of both and so many more.
template <class T>
void make_room(std::vector<T>& one, std::vector<T>& other, std::size_t more) {
  std::vector<T>& longer = one.size() < other.size() ? other : one;
  const std::size_t all = one.size() + other.size() + more;
  if (longer.capacity() < all) longer.reserve(2 * all);
}

// The longer one takes the shorter one, so that a chain of these moves each element a few times. The order may change.
template <class T>
void append(std::vector<T>& to, std::vector<T>& from) noexcept {
  if (to.size() < from.size()) to.swap(from);
  std::ranges::move(from, std::back_inserter(to));
  from.clear();
}

}  // namespace

void FrozenBuilder::Keys::add(std::span<const Hash128> hashes) {
  if (few_.size() + hashes.size() <= std::min<std::uint64_t>(kFew, most_in_memory_)) {
    few_.insert(few_.end(), hashes.begin(), hashes.end());
    count_ += hashes.size();
    return;
  }
  if (buckets_.empty()) {
    buckets_.resize(kBuckets);
    chunks_.reserve(kBuckets);
  }
  count_ += hashes.size();
  distribute(few_);
  few_.clear();
  distribute(hashes);
}

// Few keys are joined with few keys, so that a set of many small builders is not a long list.
void FrozenBuilder::Keys::add(std::unique_ptr<Keys>& other) {
  const std::size_t few = other->few_.size();
  const bool fits = few_.size() + few <= kFew;
  if (fits) make_room(few_, other->few_, 0);
  make_room(others_, other->others_, 1);
  // Nothing below throws.
  if (fits) {
    append(few_, other->few_);
    count_ += few;
    other->count_ -= few;
  }
  append(others_, other->others_);
  if (other->few_.empty() && other->buckets_.empty())
    other.reset();
  else
    others_.push_back(std::move(other));
}

void FrozenBuilder::Keys::distribute(std::span<const Hash128> hashes) {
  for (const Hash128 hash : hashes) {
    if (in_memory_ >= most_in_memory_) spill();
    Bucket& bucket = buckets_[detail::bucket_of(hash.high)];
    const std::size_t at = bucket.keys % kChunkKeys;
    if (at == 0) {
      if (chunks_used_ == chunks_.size()) {
        std::unique_ptr<Chunk> chunk(new Chunk);  // not initialized
        chunks_.push_back(std::move(chunk));      // if it throws, the bucket is unchanged
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

std::uint64_t* FrozenBuilder::Keys::copy(const Bucket& bucket, std::uint64_t* to) const noexcept {
  std::uint32_t chunk = bucket.newest;
  for (std::size_t left = bucket.keys; left != 0; chunk = chunks_[chunk]->before) {
    const std::size_t in_it = (left - 1) % kChunkKeys + 1;
    to = std::copy_n(chunks_[chunk]->keys.begin(), in_it, to);
    left -= in_it;
  }
  return to;
}

// Keys are removed from memory only when all of them are in the spool. A key that comes again and again would fill its
// bucket, and so the memory for the partition of that bucket: of a crowded bucket only the different keys are written.
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
    keys.resize(keys.size() + bucket.keys);
    const auto first = keys.end() - static_cast<std::ptrdiff_t>(bucket.keys);
    copy(bucket, std::to_address(first));
    if (bucket.keys > 2 * in_memory_ / kBuckets) {
      std::sort(first, keys.end());
      keys.erase(std::unique(first, keys.end()), keys.end());
    }
    if (keys.size() >= kWriteKeys) write();
  }
  write();
  run.push_back(written);
  runs_.push_back(std::move(run));
  buckets_.assign(kBuckets, {});
  chunks_used_ = 0;
  in_memory_ = 0;
} catch (const std::exception&) {
  // There is no room on the device, or no memory to write: these keys and all later ones stay in memory.
  most_in_memory_ = UINT64_MAX;
  if (runs_.empty()) spool_.reset();
}

std::uint64_t FrozenBuilder::Keys::count() const noexcept {
  std::uint64_t count = count_;
  for (const auto& other : others_) count += other->count();
  return count;
}

void FrozenBuilder::Keys::sort() noexcept {
  for (const auto& other : others_) other->sort();
  std::ranges::sort(few_, {}, [](const Hash128& hash) { return hash.high; });
}

std::span<const Hash128> FrozenBuilder::Keys::few_in(std::uint32_t first,
                                                     std::uint32_t end) const noexcept {
  const auto bucket = [](const Hash128& hash) { return detail::bucket_of(hash.high); };
  return {std::ranges::lower_bound(few_, first, {}, bucket),
          std::ranges::lower_bound(few_, end, {}, bucket)};
}

std::uint64_t FrozenBuilder::Keys::count(std::uint32_t first, std::uint32_t end) const noexcept {
  std::uint64_t count = 0;
  for (const auto& other : others_) count += other->count(first, end);
  count += few_in(first, end).size();
  if (buckets_.empty()) return count;
  for (std::uint32_t bucket = first; bucket < end; ++bucket) count += buckets_[bucket].keys;
  for (const Run& run : runs_) count += (run[end] - run[first]) / sizeof(std::uint64_t);
  return count;
}

std::uint64_t* FrozenBuilder::Keys::copy(std::uint32_t first, std::uint32_t end,
                                         std::uint64_t* to) const {
  for (const auto& other : others_) to = other->copy(first, end, to);
  for (const Hash128 hash : few_in(first, end)) *to++ = hash.low;
  if (buckets_.empty()) return to;
  for (std::uint32_t bucket = first; bucket < end; ++bucket) to = copy(buckets_[bucket], to);
  for (const Run& run : runs_) {
    const auto count = static_cast<std::size_t>(run[end] - run[first]) / sizeof(std::uint64_t);
    spool_->read(std::as_writable_bytes(std::span(to, count)), run[first]);
    to += count;
  }
  return to;
}

}  // namespace bloomery
