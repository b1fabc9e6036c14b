// Gives the pages of big arrays back to the system without making anyone wait for it.
//
// Giving back a gigabyte takes the system a quarter of a second, and a server that frees a value
// in the foreground (DEL, an expired key, FLUSHALL) or clears it would stop that long. The pages
// are moved to another address instead, which takes a third of a millisecond, and a thread gives
// them back from there. To the server's allocator and its accounts nothing differs: the array is
// freed at once, and in its place.
//
// Where the system cannot move pages (before Linux 5.7, or where it refuses), nothing happens
// here, and freeing takes what it takes.
#pragma once

#include <cstddef>

namespace bloomery::server {

// Below this giving back takes no longer than a command of many items.
constexpr std::size_t kManyPages = std::size_t{4} << 20;

// Takes the pages of [from, from + bytes) away, but for parts of pages at the ends; reading there
// gives zeros again, or where `false` is returned, what was there. From any thread.
bool take_pages_away(std::byte* from, std::size_t bytes) noexcept;

}  // namespace bloomery::server
