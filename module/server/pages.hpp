// The pages of big arrays: given back, and made huge, without making anyone wait for the system.
//
// The system takes a quarter of a second to take a gigabyte back, and a server that frees or clears
// a value in the foreground (DEL, an expired key, FLUSHALL) would stop for so long. Instead the
// pages are moved to another address, which takes a third of a millisecond, and a thread gives them
// back there. For the server's allocator nothing differs: the array is freed at once and in its
// place.
//
// Huge pages, if they are wanted, are made by the same thread: each is 2 MiB of zeros, and a
// command of many items would wait for as many of them. Until the thread gets there, the array has
// small pages. Huge pages make forks short, for there are 512 times fewer pages to copy, and
// look-ups faster. An array gets them when it has had an item for each of its small pages: most of
// these are there by then, so that what nobody uses takes no memory. Whatever a header said about
// its items, the thread makes a huge page only where at least half of the small ones were written to,
// and no fork shares them. So it is asked for a second time when there are 16 times as many items.
//
// If the system cannot do it or refuses, nothing happens here, and things take the time they take.
// Moving pages needs Linux 5.7, huge ones where there are small ones 6.1 and /proc.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::server {

// Giving back less takes no longer than a command of many items.
constexpr std::size_t kManyPages = std::size_t{4} << 20;

constexpr std::size_t kSmallPage = 4096;

// The whole units in [from, from + bytes): they begin at multiples of their size. Empty: there are
// none.
[[nodiscard]] std::span<std::byte> whole_units(std::byte* from, std::size_t bytes,
                                               std::size_t unit) noexcept;

// Takes the pages of [from, from + bytes) away, except for parts of pages at the ends (of huge
// pages, once there have been any). What it returns reads as zeros then; the rest stays as it was,
// and so does everything if it returns nothing. Any thread may call it.
std::span<std::byte> take_pages_away(std::byte* from, std::size_t bytes) noexcept;

// Whether new arrays have huge pages: the setting bf.huge-pages.
extern std::atomic<bool> huge_pages_wanted;
// Whether at least half of these pages were written to, and no fork shares them.
[[nodiscard]] bool are_mostly_there(const std::byte* from, std::size_t bytes) noexcept;
// Gives large memory huge pages soon, if they are wanted, where the small ones are mostly there. What
// is in it stays.
void make_pages_huge(std::byte* from, std::size_t bytes) noexcept;
// The same, when the number of items in this memory comes to that of its small pages, and to 16 times
// that.
inline void items_came(std::uint64_t before, std::uint64_t after, std::byte* from,
                       std::size_t bytes) noexcept {
  const std::uint64_t pages = bytes / kSmallPage;
  if ((before < pages && after >= pages) || (before < 16 * pages && after >= 16 * pages))
    make_pages_huge(from, bytes);
}
// For new memory that is about to be written as a whole: it has huge pages from the first touch on.
void let_be_huge(std::byte* from, std::size_t bytes) noexcept;
// To be called before memory is freed or cleared that may have had either: pages of one kind move.
void let_be_small(std::byte* from, std::size_t bytes) noexcept;

}  // namespace bloomery::server
