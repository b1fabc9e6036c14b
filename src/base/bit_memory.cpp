// Zeroed memory for bits, on huge pages if they help and the system has them.
#include <bloomery/detail/bit_memory.hpp>
#include <bloomery/error.hpp>

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace bloomery::detail {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

[[noreturn]] void refuse(std::size_t bytes) {
  throw Error(ErrorCode::no_memory,
              "no memory for a filter of " + std::to_string(bytes) +
                  " bytes; plan fewer items, a higher rate, or a plain filter in a file");
}

}  // namespace

BitMemory::BitMemory(std::size_t bytes) : size_(bytes) {
  if (bytes > SIZE_MAX / 2) refuse(bytes);  // so that rounding up cannot overflow
  if (bytes < kHugePage) {
    data_ = static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
    if (data_ == nullptr) refuse(bytes);
    std::memset(data_, 0, bytes);
    return;
  }
  // Random blocks of a large array miss the TLB at every key; with huge pages they miss it less
  // (bench/file_bench compares both). If the system refuses huge pages, small pages remain.
  const std::size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  void* start =
      mmap(nullptr, whole + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) refuse(bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const std::size_t before = (kHugePage - address % kHugePage) % kHugePage;
  data_ = static_cast<std::byte*>(start) + before;
  mapped_ = whole;
  if (before != 0) munmap(start, before);
  munmap(data_ + whole, kHugePage - before);
  madvise(data_, whole, MADV_HUGEPAGE);
}

BitMemory::BitMemory(BitMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)) {}

BitMemory& BitMemory::operator=(BitMemory&& other) noexcept {
  BitMemory taken(std::move(other));
  std::swap(data_, taken.data_);
  std::swap(size_, taken.size_);
  std::swap(mapped_, taken.mapped_);
  return *this;
}

BitMemory::~BitMemory() {
  if (mapped_ != 0)
    munmap(data_, mapped_);
  else
    std::free(data_);
}

}  // namespace bloomery::detail
