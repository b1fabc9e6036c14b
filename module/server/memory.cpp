// Allocating, zeroing, moving and giving back memory of the server's allocator.
#include "server/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <bloomery/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "base/zeros.hpp"
#include "server/api.hpp"
#include "server/pages.hpp"

namespace bloomery::server {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kLarge = std::size_t{1} << 20;

// Calls use(part, offset) for each part of a page's size that is not all zeros.
template <class Use>
void for_used(std::span<const std::byte> from, Use use) noexcept {
  constexpr std::size_t kPart = 4096;
  for (std::size_t at = 0; at < from.size(); at += kPart) {
    const auto part = from.subspan(at, std::min(kPart, from.size() - at));
    if (!detail::is_zeros(part)) use(part, at);
  }
}

std::size_t page_size() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// Zeroes the ends of an array whose middle is zero.
void zero_around(std::span<const std::byte> zeros, std::byte* from, std::size_t bytes) noexcept {
  const auto before = static_cast<std::size_t>(zeros.data() - from);
  std::memset(from, 0, before);
  std::memset(from + before + zeros.size(), 0, bytes - before - zeros.size());
}

}  // namespace

bool machine_could_hold(std::size_t bytes) noexcept {
  return bytes < kLarge || bytes / page_size() < static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
}

void* allocate(std::size_t bytes) noexcept {
  // Outside a server (tests, fuzz targets) the C library is used.
  return api.TryAlloc != nullptr ? api.TryAlloc(bytes) : std::malloc(bytes);
}

void require_memory(bool is_there) {
  if (!is_there) throw Error(ErrorCode::no_memory, "no memory for a filter");
}

void release(void* memory) noexcept {
  if (api.Free != nullptr)
    api.Free(memory);
  else
    std::free(memory);
}

std::size_t allocated_size(const void* memory) noexcept {
  return api.MallocSize != nullptr ? api.MallocSize(const_cast<void*>(memory)) : 0;
}

void zero(std::byte* from, std::size_t bytes) noexcept {
  // Whole pages are given back; when they are used again, they are zeros. If the system refuses
  // (locked memory), zeros are written.
  if (bytes >= kWorthACall) {
    const std::span<std::byte> pages = whole_units(from, bytes, page_size());
    if (madvise(pages.data(), pages.size(), MADV_DONTNEED) == 0)
      return zero_around(pages, from, bytes);
  }
  std::memset(from, 0, bytes);
}

void clear(std::byte* from, std::size_t bytes) noexcept {
  let_be_small(from, bytes);  // until there are items again
  const std::span<std::byte> zeros =
      bytes < kManyPages ? std::span<std::byte>() : take_pages_away(from, bytes);
  if (zeros.empty()) return zero(from, bytes);
  zero_around(zeros, from, bytes);
}

void Sent::give_back(std::span<const std::byte> part) noexcept {
  const bool follows = kept_.data() + kept_.size() == part.data();
  kept_ = follows ? std::span(kept_.data(), kept_.size() + part.size()) : part;
  if (kept_.size() < kWorthACall || api.GetContextFlags == nullptr) return;
  // The script debugger also runs commands in a fork, and they may read a value after a DUMP has
  // sent it. A save runs no commands and has no context; both flags are known without a context.
  if ((api.GetContextFlags(nullptr) & (kContextIsChild | kContextIsLua)) != kContextIsChild) return;
  const std::span<std::byte> pages =
      whole_units(const_cast<std::byte*>(kept_.data()), kept_.size(), page_size());
  madvise(pages.data(), pages.size(), MADV_DONTNEED);
  kept_ = kept_.subspan(static_cast<std::size_t>(pages.data() + pages.size() - kept_.data()));
}

void copy_used(std::span<const std::byte> from, std::byte* to) noexcept {
  for_used(from, [&](std::span<const std::byte> part, std::size_t at) {
    std::memcpy(to + at, part.data(), part.size());
  });
}

void merge_used(std::span<const std::byte> from, std::byte* to) noexcept {
  // Reads and writes both ends in one access: a new page then costs one fault, and two if it is
  // read first.
  const auto touch = [&](std::size_t at) {
    __atomic_fetch_or(reinterpret_cast<unsigned char*>(to + at),
                      std::to_integer<unsigned char>(from[at]), __ATOMIC_RELAXED);
  };
  for_used(from, [&](std::span<const std::byte> part, std::size_t at) {
    touch(at);
    touch(at + part.size() - 1);
    std::transform(part.begin(), part.end(), to + at, to + at, std::bit_or<>());
  });
}

void release_array(void* memory, std::span<std::byte> bytes) noexcept {
  let_be_small(bytes.data(), bytes.size());
  if (bytes.size() >= kManyPages) take_pages_away(bytes.data(), bytes.size());
  release(memory);
}

void* allocate_zeroed(std::size_t bytes) noexcept {
  void* memory = machine_could_hold(bytes) ? allocate(bytes) : nullptr;
  if (memory != nullptr) zero(static_cast<std::byte*>(memory), bytes);
  return memory;
}

void* allocate_aligned(std::size_t bytes) noexcept {
  if (!machine_could_hold(bytes)) return nullptr;
  void* memory = allocate(bytes);
  // jemalloc aligns multiples of 64 to 64. For another allocator this adds room for the alignment.
  if (memory != nullptr && aligned(memory) != memory) {
    release(memory);
    memory = allocate(bytes + kAlignment);
  }
  if (memory != nullptr) zero(aligned(memory), bytes);
  return memory;
}

void* defragment(DefragContext* context, void* memory) noexcept {
  return api.DefragAlloc(context, memory);
}

void* defragment_aligned(DefragContext* context, void* memory, std::size_t bytes) noexcept {
  const auto offset = static_cast<std::size_t>(aligned(memory) - static_cast<std::byte*>(memory));
  // Bits that cannot be shifted may only move where every allocation of their size is aligned;
  // jemalloc lays out allocations of one size side by side from the start of a page on.
  if (offset == 0 && allocated_size(memory) % kAlignment != 0) return nullptr;
  void* moved = api.DefragAlloc(context, memory);
  if (moved == nullptr) return nullptr;
  std::byte* bits = static_cast<std::byte*>(moved) + offset;
  if (bits != aligned(moved)) std::memmove(aligned(moved), bits, bytes);
  return moved;
}

}  // namespace bloomery::server
