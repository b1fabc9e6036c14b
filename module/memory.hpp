// Bits in memory that the server counts: zeroed, and refused rather than fatal.
//
// Large arrays are not touched when they are made: their pages come zeroed from the system one by
// one, so that reserving a gigabyte stops nobody.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace bloomery::server {

struct DefragContext;

// Null: there is no memory for it. Never aborts.
[[nodiscard]] void* allocate(std::size_t bytes) noexcept;
void release(void* memory) noexcept;
struct ReleaseMemory {
  void operator()(void* memory) const noexcept { release(memory); }
};
using OwnedMemory = std::unique_ptr<void, ReleaseMemory>;
// What an allocation takes of the server's memory; 0 outside a server.
[[nodiscard]] std::size_t allocated_size(const void* memory) noexcept;

// Whether the machine has so much memory at all.
[[nodiscard]] bool machine_could_hold(std::size_t bytes) noexcept;

// Zeroed. Null also where the machine could never hold so much, even if the system promises it:
// it would kill the server at the first use.
[[nodiscard]] void* allocate_zeroed(std::size_t bytes) noexcept;
// New memory: large arrays by giving their pages back, few of which are there.
void zero(std::byte* from, std::size_t bytes) noexcept;
// The same for memory in use, and release() of an array there: nobody waits for the system to take
// many pages back (pages.hpp).
void clear(std::byte* from, std::size_t bytes) noexcept;
void release_array(void* memory, std::span<std::byte> bytes) noexcept;

// What is sent of a value, part by part. Where a fork of the server sends its data and ends, that is not
// read again: it gives the pages back, so that it keeps no copy of them, and the server makes none of what
// it writes meanwhile. What has not been sent yet it has as ever. Nothing happens elsewhere, nor in the
// fork in which the server debugs a script. A fork that another module makes looks like one that saves: it
// must save a value once at most, and not read it afterwards.
class Sent {
 public:
  // A page that two parts share goes with the second.
  void give_back(std::span<const std::byte> part) noexcept;

 private:
  std::span<const std::byte> kept_;  // the end of what was sent, in a page that is not whole
};

// Into new memory, of as many zeros as `from` has bytes, and into memory in use: or-ed with what is there.
// What is zero is only read, so that pages which nobody has used are not taken there either.
void copy_used(std::span<const std::byte> from, std::byte* to) noexcept;
void merge_used(std::span<const std::byte> from, std::byte* to) noexcept;

// As allocate_zeroed, with room for `bytes` (a multiple of 64) from aligned() of what is returned, which
// is the next multiple of 64.
[[nodiscard]] void* allocate_aligned(std::size_t bytes) noexcept;
[[nodiscard]] inline std::byte* aligned(void* memory) noexcept {
  return reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(memory) + 63) &
                                      ~std::uintptr_t{63});
}

// Let the server's defragmentation move an allocation. Null: it stays where it is.
[[nodiscard]] void* defragment(DefragContext* context, void* memory) noexcept;
[[nodiscard]] void* defragment_aligned(DefragContext* context, void* memory,
                                       std::size_t bytes) noexcept;

}  // namespace bloomery::server
