// The writer that stands behind FilterFile::rebuild.
#pragma once

#include "store/new_file.hpp"
#include "store/session.hpp"

#include <memory>

namespace bloomery::detail {

// `opened`: the file of `fresh`, an empty filter that is on the device. It takes the place of
// `replaced` when the session is closed, and goes with the session otherwise.
[[nodiscard]] Session write_beside(File replaced, std::unique_ptr<NewFile> fresh, Opened opened);

}  // namespace bloomery::detail
