// Recovers a file that its writer did not close.
//
// For a plain filter this is simple: bits only turn on, and turning a bit on twice is the same as once. So old bits,
// new bits, or any mix of their sectors, with the journal's keys inserted again, are exactly the acknowledged bits.
// The journal has their total, so the result is checked.
#pragma once

#include <bloomery/error.hpp>

#include "store/disk/holes.hpp"
#include "store/journal/snapshot.hpp"

#include <memory>
#include <string>

namespace bloomery::detail {

// Whether keys may be missing that cannot be restored. Errors as boot_for.
[[nodiscard]] bool is_lost(const Header& header, Os& os, const std::string& path);
[[nodiscard]] Error unclean_error(const Header& header, const std::string& path);

// Whether the content of the file can be read only with its journal replayed.
[[nodiscard]] bool needs_replay(const Opened& opened) noexcept;
// The content of the file, with its journal replayed in memory; the file is not changed. For a snapshot, `position`
// is the end of the replayed part. Error{corrupt}: an acknowledged record is damaged, or the total of the bits is not
// the one in the header or in the last record; {no_memory}. `holes`: the holes of the file; if it is stored in place,
// the holes that remain are holes of the result too.
[[nodiscard]] std::unique_ptr<Contents> replayed_contents(const Opened& opened,
                                                          JournalPosition& position, Holes& holes);

// The writer of a delta does not change the list, so the sums of the list count even while those of the other bits do
// not. Error{corrupt}: bits of the list have changed.
void require_list(const Opened& opened);

// Makes a file that is stored in place and is not lost clean again. Error{corrupt}.
void recover(Opened& opened);

// Puts the bits and everything else that was written to the file on the device.
void write_back(File& file, const Mapping& bits);

// Marks the header as `failed`, if it can be written: the device refused acknowledged bits.
void mark_failed(Opened& opened) noexcept;

}  // namespace bloomery::detail
