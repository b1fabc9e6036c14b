// The growth of a filter whose input did not say how long it is.
#include "seen.hpp"

#include <algorithm>

namespace bloomery::cli {

Plan dedup_plan(const Options& options, std::uint64_t items) {
  return solve({.capacity = options.items.value_or(items),
                .rate = options.rate.value_or(kDedupRate),
                .bits = std::nullopt,
                .hashes = std::nullopt,
                .layout = options.layout});
}

void SeenInPipe::decide(std::span<const Hash128> hashes, std::span<bool> answers) {
  constexpr std::size_t kStep = 65'536;
  while (!assumed_ && !hashes.empty()) {
    const std::size_t step = std::min(kStep, hashes.size());
    if (first_.size() + step > kFirstLines) {
      grow();
      break;
    }
    filter_.insert_hashes(hashes.first(step), answers.first(step));
    for (std::size_t i = 0; i < step; ++i)
      if (answers[i]) first_.push_back(hashes[i]);
    hashes = hashes.subspan(step);
    answers = answers.subspan(step);
  }
  filter_.insert_hashes(hashes, answers);
}

void SeenInPipe::grow() {
  Filter larger(dedup_plan(options_, kAssumedLines), filter_.hasher());
  larger.insert_hashes(first_);
  filter_ = std::move(larger);
  first_ = {};
  assumed_ = true;
}

}  // namespace bloomery::cli
