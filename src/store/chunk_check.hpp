// Reading bits that no writer stores into chunk by chunk, to see which are what their sums say.
#pragma once

#include "format/sums.hpp"
#include "store/opened.hpp"

#include <vector>

namespace bloomery::detail {

struct ChunkCheck {
  std::vector<std::uint64_t> damaged;  // chunks that nothing vouches for
  Sums read;                           // the sums of what was read
  bool sums_damaged = false;           // while all of the bits are whole
};
// A chunk that the device refuses to give is damaged.
[[nodiscard]] ChunkCheck check_chunks(const File& file, const Header& header);

}  // namespace bloomery::detail
