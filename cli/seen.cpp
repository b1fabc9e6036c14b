// The size of what dedup remembers in, where it is told or has a file.
#include "seen.hpp"

namespace bloomery::cli {

Plan dedup_plan(const Options& options, std::uint64_t items) {
  return solve({.capacity = options.items.value_or(items),
                .rate = options.rate.value_or(kDedupRate),
                .bits = std::nullopt,
                .hashes = std::nullopt,
                .layout = options.layout});
}

}  // namespace bloomery::cli
