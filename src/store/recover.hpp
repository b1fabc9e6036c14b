// Recovering a file whose writer did not close it.
//
// What makes it simple for a plain filter: bits only turn on, and turning one on twice is the same as
// once. So old bits, new ones, or any mix of their sectors, with the journal's keys inserted
// again, are exactly the bits that were acknowledged; and the journal says their total, so
// that this is checked.
#pragma once

#include <bloomery/error.hpp>

#include "store/holes.hpp"
#include "store/snapshot.hpp"

#include <memory>
#include <string>

namespace bloomery::detail {

// Whether keys may be missing that nothing can give back.
[[nodiscard]] bool is_lost(const Header& header, Os& os) noexcept;
[[nodiscard]] Error unclean_error(const Header& header, const std::string& path);

// Whether what the file holds can only be read with its journal replayed.
[[nodiscard]] bool needs_replay(const Opened& opened) noexcept;
// What the file holds, with its journal replayed in memory; the file is left alone. If it is a
// snapshot, `position` says how far. Error{corrupt}: an acknowledged record is damaged, or the
// bits do not add up to what the header or the last record says; {no_memory}.
// `holes`: of the file; those that are left are so in what is returned, if it is stored in place.
[[nodiscard]] std::unique_ptr<Contents> replayed_contents(const Opened& opened,
                                                          JournalPosition& position, Holes& holes);

// Makes a file that is stored in place, and is not lost, clean again. Error{corrupt}.
void recover(Opened& opened);

// Puts the bits and everything that was written to the file on the device.
void write_back(File& file, const Mapping& bits);

// The device refused bits that had been acknowledged: says so in the header, if it can.
void mark_failed(Opened& opened) noexcept;

}  // namespace bloomery::detail
