// Forgetting as time or lines pass.
#include "seen.hpp"

#include "kinds.hpp"

namespace bloomery::cli {

void SeenInWindow::decide(std::span<const Hash128> hashes, std::span<bool> answers) {
  if (const std::uint64_t now = seconds_now(); is_late(filter_, now)) filter_.advance(now);
  // Asking all at once brings the lines of memory near; a line that no slice has is then asked
  // for again, since it may have come a moment ago.
  filter_.may_contain_hashes(hashes, answers);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    answers[i] = !answers[i] && !filter_.may_contain_hash(hashes[i]);
    if (answers[i]) filter_.insert_hash(hashes[i]);
  }
}

}  // namespace bloomery::cli
