// An open-addressed table of indices, never more than half full.
#include "stream/batch.hpp"

#include <algorithm>

namespace bloomery::cli {

namespace {
constexpr std::size_t kDueKeys = std::size_t{256} * 1024;
constexpr std::chrono::seconds kDueAge{1};
constexpr std::size_t kLeastTable = 1024;
}  // namespace

bool Batch::insert(Hash128 hash) {
  if (2 * (hashes_.size() + 1) > table_.size()) widen();
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash.low & mask;
  for (; table_[at] != 0; at = (at + 1) & mask)
    if (hashes_[table_[at] - 1] == hash) return false;
  hashes_.push_back(hash);
  table_[at] = static_cast<std::uint32_t>(hashes_.size());
  return true;
}

bool Batch::due() const noexcept {
  return hashes_.size() >= kDueKeys || (!empty() && Clock::now() - since_ >= kDueAge);
}

void Batch::clear() noexcept {
  hashes_.clear();
  std::fill(table_.begin(), table_.end(), 0);
  since_ = Clock::now();
}

void Batch::widen() {
  table_.assign(std::max(kLeastTable, 2 * table_.size()), 0);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    std::size_t at = hashes_[i].low & mask;
    while (table_[at] != 0) at = (at + 1) & mask;
    table_[at] = static_cast<std::uint32_t>(i + 1);
  }
}

}  // namespace bloomery::cli
