// Making whole what a writer left that did not close its file.
//
// The property that makes it simple: bits only turn on, and turning on twice is the same as
// once. So old bits, new ones, or any mix of their sectors, with the journal's keys inserted
// again, are exactly the bits that were acknowledged; and the journal says their total, so
// that this is not believed but checked.
#pragma once

#include "format/sums.hpp"
#include "store/session.hpp"

namespace bloomery::detail {

struct Replayed {
  std::uint64_t records = 0;
  std::uint64_t total = 0;     // what the bits must add up to now
  std::uint64_t inserted = 0;  // the file's count
  Sums sums;                   // of the bits, as they are now
};

// Inserts the journal's keys into the bits. Every block of theirs is stored to, changed or not.
// Error{corrupt}: an acknowledged record is damaged, or the bits do not add up to what the
// last one says.
Replayed replay(const File& file, const Header& header, MappedBits& bits);

// Puts the bits and all that was written to the file on the device.
void write_back(File& file, const Mapping& bits);

// The device lost bits that had been acknowledged: says so in the header, if it can.
void mark_failed(Opened& opened) noexcept;

// What a dead writer left, and is not lost, becomes a clean file. Error{corrupt}.
void recover(Opened& opened);

// Whether keys may be missing that nothing can give back.
[[nodiscard]] bool is_lost(const Header& header, Os& os) noexcept;
[[nodiscard]] Error unclean_error(const Header& header, const std::string& path);

}  // namespace bloomery::detail
