// The pages of big arrays, without making anyone wait for the system.
//
// Giving back a gigabyte takes the system a quarter of a second, and a server that frees a value
// in the foreground (DEL, an expired key, FLUSHALL) or clears it would stop that long. The pages
// are moved to another address instead, which takes a third of a millisecond, and a thread gives
// them back from there. To the server's allocator and its accounts nothing differs: the array is
// freed at once, and in its place.
//
// Huge pages, where they are wanted, are made by the same thread: each is 2 MiB of zeros, and a
// command of many items would wait for as many. Until the thread comes to a place it has small ones.
// Huge pages make a fork short (there are 512 times fewer to copy), and look-ups quicker.
//
// Where the system cannot do it, or refuses, nothing happens here, and things take what they take.
// Moving needs Linux 5.7, huge pages 5.14, and 6.1 where there are small ones already.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>

namespace bloomery::server {

// Below this giving back takes no longer than a command of many items.
constexpr std::size_t kManyPages = std::size_t{4} << 20;

// The whole units of [from, from + bytes), which begin at multiples of one; none: empty.
[[nodiscard]] std::span<std::byte> whole_units(std::byte* from, std::size_t bytes,
                                               std::size_t unit) noexcept;

// Takes the pages of [from, from + bytes) away, but for parts of pages at the ends (of huge ones, once
// there were any). Reading what it returns gives zeros then; the rest, or all where it returns
// nothing, is as it was. From any thread.
std::span<std::byte> take_pages_away(std::byte* from, std::size_t bytes) noexcept;

// Whether new arrays have huge pages: the setting bloomery.huge-pages.
extern std::atomic<bool> huge_pages_wanted;
// Large memory has huge pages soon, if they are wanted. What is there stays.
void make_pages_huge(std::byte* from, std::size_t bytes) noexcept;
// New memory that is written as a whole at once has them from the first touch.
void let_be_huge(std::byte* from, std::size_t bytes) noexcept;
// Before memory that may have had either is freed.
void let_be_small(std::byte* from, std::size_t bytes) noexcept;

}  // namespace bloomery::server
