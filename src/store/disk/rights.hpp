// The permissions of a file that is made from others: a user who cannot open one of those cannot open the new file,
// unless they own the file that it replaces.
//
// A reader of a filter learns the seed and which keys are in it; so does a reader of every filter that is made from
// it.
#pragma once

#include "base/file.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bloomery::detail {

// The permissions of the file `from`, for a file with another owner or group. A user who moves to another class of
// users gets only what both classes could do.
[[nodiscard]] std::uint32_t mode_from(const Os::Stat& from, std::uint32_t user,
                                      std::uint32_t group) noexcept;

// The files that exist among some paths; an address on a server has no permissions.
[[nodiscard]] std::vector<Os::Stat> rights_of(Os& os, std::span<const std::string> paths);

// Sets the permissions of a new file that only its user can open so far. It gets owner, group and permissions of the
// file that it will replace. If there is none, it gets the owner and group that all inputs have, as far as this
// process can set them, and the default permissions of new files. Of these permissions only those remain that every
// input has too.
//
// An access control list comes along from the replaced file itself (`old`, if it is known), and only if nothing narrows
// the permissions. Otherwise the file is closed to all but its user where there is a list, or may be one.
void take_rights(File& file, const Os::Stat* replaced, std::span<const Os::Stat> inputs,
                 const File* old = nullptr);

// As rights_of, for files of keys. What is no regular file, such as a pipe, is left out. A path that leads nowhere
// counts as a file that nobody else may read: the keys may have come from a file that was there.
[[nodiscard]] std::vector<Os::Stat> rights_of_keys(Os& os, std::span<const std::string> paths);

// For a new file of keys that replaces none: the mode to create it with in its directory, and the permissions that it
// gets then. It keeps its owner and group. At no time can anybody read it who cannot read all files of keys. If the
// directory gives new files an access control list, that decides if everybody may read the keys; otherwise the file is
// for its user alone, and has no list. Without one, the file has no right that one of the files of keys has not.
// Error{io}: the file system keeps no permissions.
[[nodiscard]] std::uint32_t mode_to_create(Os& os, const std::string& directory,
                                           std::span<const Os::Stat> keys);
void take_rights_of_keys(File& file, const std::string& directory, std::span<const Os::Stat> keys);

}  // namespace bloomery::detail
