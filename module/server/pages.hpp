// The pages of big arrays: given back, and made huge, without making anyone wait for the system.
//
// The system takes a quarter of a second to take a gigabyte back, and a server that frees or clears
// a value in the foreground (DEL, an expired key, FLUSHALL) would stop for so long. Instead the
// pages are moved to another address, which takes a third of a millisecond, and a thread gives them
// back there. For the server's allocator nothing differs: the array is freed at once and in its
// place.
//
// The same thread makes huge pages, if they are wanted: each is 2 MiB of zeros, and a command of many
// items would have to wait for many of them. Until the thread gets there, the array has small pages.
// Huge pages make forks short, for there are 512 times fewer pages to copy, and look-ups faster. An
// array gets them when it has had an item for each of its small pages: most of these exist by then,
// so that unused arrays take no memory. Whatever a header said about its items, the thread makes a
// huge page only if at least half of its small pages were written to and no fork shares them. So
// huge pages are requested a second time at 16 times as many items.
//
// If the system cannot do it or refuses, nothing happens here, and the operations take longer.
// Moving pages needs Linux 5.7; making huge pages of existing small ones needs 6.1 and /proc.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::server {

// Giving back fewer bytes takes no longer than a command of many items.
constexpr std::size_t kManyPages = std::size_t{4} << 20;

constexpr std::size_t kSmallPage = 4096;

// The whole units in [from, from + bytes): they begin at multiples of their size. Empty: there are
// none.
[[nodiscard]] std::span<std::byte> whole_units(std::byte* from, std::size_t bytes,
                                               std::size_t unit) noexcept;

// Takes the pages of [from, from + bytes) away, except for parts of pages at the ends (of huge
// pages, once there have been any). The bytes that it returns then read as zeros; the rest is
// unchanged. If it returns nothing, all bytes are unchanged. Any thread may call it.
std::span<std::byte> take_pages_away(std::byte* from, std::size_t bytes) noexcept;

// Whether new arrays have huge pages: the setting bf.huge-pages.
extern std::atomic<bool> huge_pages_wanted;
// Whether at least half of these pages were written to, and no fork shares them.
[[nodiscard]] bool are_mostly_there(const std::byte* from, std::size_t bytes) noexcept;
// Gives large memory huge pages soon, if they are wanted, where most of the small pages exist. The
// contents stay.
void make_pages_huge(std::byte* from, std::size_t bytes) noexcept;
// The same, when the number of items in this memory reaches the number of its small pages, and 16
// times that.
inline void items_came(std::uint64_t before, std::uint64_t after, std::byte* from,
                       std::size_t bytes) noexcept {
  const std::uint64_t pages = bytes / kSmallPage;
  if ((before < pages && after >= pages) || (before < 16 * pages && after >= 16 * pages))
    make_pages_huge(from, bytes);
}
// For new memory that is about to be written completely: it has huge pages from the first access on.
void let_be_huge(std::byte* from, std::size_t bytes) noexcept;
// Call it before memory that may have had either is freed or cleared: only pages of one size move.
void let_be_small(std::byte* from, std::size_t bytes) noexcept;

}  // namespace bloomery::server
