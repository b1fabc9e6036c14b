// Memory of the server's allocator: counted by the server, zeroed, and refused if there is none.
//
// Large arrays are not touched when they are made: the system zeroes their pages one by one as they
// are used, so reserving a gigabyte does not stop the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace bloomery::server {

struct DefragContext;

// Giving back less is not worth a system call.
constexpr std::size_t kWorthACall = std::size_t{64} << 10;

// Null: there is no memory. Never aborts the server.
[[nodiscard]] void* allocate(std::size_t bytes) noexcept;
void require_memory(bool is_there);  // Error{no_memory} if not
void release(void* memory) noexcept;
struct ReleaseMemory {
  void operator()(void* memory) const noexcept { release(memory); }
};
using OwnedMemory = std::unique_ptr<void, ReleaseMemory>;
// The size of an allocation as the server counts it; 0 outside a server.
[[nodiscard]] std::size_t allocated_size(const void* memory) noexcept;

// Whether the machine has so much memory in total, used or not.
[[nodiscard]] bool machine_could_hold(std::size_t bytes) noexcept;

// Zeroed memory. Null also if the machine could not hold so much: some systems promise it
// nevertheless, and kill the server when it is used.
[[nodiscard]] void* allocate_zeroed(std::size_t bytes) noexcept;
// Zeroes new memory. Few pages of a large new array exist, and giving them back zeroes them.
void zero(std::byte* from, std::size_t bytes) noexcept;
// Zeroes memory in use, and frees an array there. Neither waits for the system to take many pages
// back (pages.hpp).
void clear(std::byte* from, std::size_t bytes) noexcept;
void release_array(void* memory, std::span<std::byte> bytes) noexcept;

// The parts of a value that have been saved or sent, in order.
//
// A fork of the server that saves its data and ends does not read a part again. It gives the pages
// of the part back, so it keeps no copy of them, and the server need not copy what it writes
// meanwhile. Parts that have not been sent yet are not affected. Nothing happens outside a fork,
// nor in the fork in which the server debugs a script. A fork of another module looks like a fork
// that saves: it must save a value at most once, and not read it afterwards.
class Sent {
 public:
  // A page that two parts share is given back with the second.
  void give_back(std::span<const std::byte> part) noexcept;

 private:
  std::span<const std::byte> kept_;  // the end of what was sent, less than a page
};

// Copies bits into new memory, which is zero, or merges them into memory in use. Only what is not
// zero is written, so that pages which were never used are not taken there either.
void copy_used(std::span<const std::byte> from, std::byte* to) noexcept;
void merge_used(std::span<const std::byte> from, std::byte* to) noexcept;

// Like allocate_zeroed, with room for `bytes`, a multiple of 64, from aligned() of the result on,
// which is the next multiple of 64.
[[nodiscard]] void* allocate_aligned(std::size_t bytes) noexcept;
[[nodiscard]] inline std::byte* aligned(void* memory) noexcept {
  return reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(memory) + 63) &
                                      ~std::uintptr_t{63});
}

// These let the server's defragmentation move an allocation. Null: it stays where it is.
[[nodiscard]] void* defragment(DefragContext* context, void* memory) noexcept;
[[nodiscard]] void* defragment_aligned(DefragContext* context, void* memory,
                                       std::size_t bytes) noexcept;

}  // namespace bloomery::server
