// Who may open a file that is made from others: no user whom one of those keeps out.
//
// A filter tells its reader the seed, and which keys are in it; so does every filter that is made from it.
#pragma once

#include "base/file.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bloomery::detail {

// The permissions of the file `from` for one with another owner or group. A user who moves to another class
// may then do what both classes could.
[[nodiscard]] std::uint32_t mode_from(const Os::Stat& from, std::uint32_t user,
                                      std::uint32_t group) noexcept;

// The files among some paths that are there; what is an address on a server has no permissions.
[[nodiscard]] std::vector<Os::Stat> rights_of(Os& os, std::span<const std::string> paths);

// For a new file that only its user can open so far. It gets owner, group and permissions of the file that
// it will replace, or else the owner and group that all inputs have, as far as this process may give them,
// and the permissions that new files have; and of them what every input has too.
void take_rights(File& file, const Os::Stat* replaced, std::span<const Os::Stat> inputs);

}  // namespace bloomery::detail
