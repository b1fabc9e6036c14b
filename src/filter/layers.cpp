// Keys in parts that stay in cache; each layer is asked for those of a part not found yet.
#include "filter/layers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace bloomery::detail {

namespace {

// Enough keys that filling and draining a kernel's ring is little beside them.
constexpr std::size_t kPart = 1024;

std::size_t ask_part(std::span<const FilterView* const> layers, std::span<const Hash128> hashes,
                     std::span<bool> found) noexcept {
  std::array<Hash128, kPart> left;
  std::array<std::uint16_t, kPart> place;
  std::array<bool, kPart> answers;
  std::span<const Hash128> asked = hashes;
  std::fill(found.begin(), found.end(), false);
  for (std::size_t layer = 0; layer < layers.size() && !asked.empty(); ++layer) {
    layers[layer]->may_contain_hashes(asked, answers);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto where = layer == 0 ? static_cast<std::uint16_t>(i) : place[i];
      if (!found.empty()) found[where] = answers[i];
      left[kept] = asked[i];
      place[kept] = where;
      kept += !answers[i];
    }
    asked = std::span(left).first(kept);
  }
  return hashes.size() - asked.size();
}

}  // namespace

std::size_t any_may_contain(std::span<const FilterView* const> layers,
                            std::span<const Hash128> hashes, std::span<bool> found) noexcept {
  std::size_t yes = 0;
  for (std::size_t done = 0; done < hashes.size(); done += kPart) {
    const std::size_t count = std::min(kPart, hashes.size() - done);
    yes += ask_part(layers, hashes.subspan(done, count),
                    found.empty() ? found : found.subspan(done, count));
  }
  return yes;
}

bool any_may_contain_one(std::span<const FilterView* const> layers, Hash128 hash) noexcept {
  for (const FilterView* layer : layers) layer->prefetch(hash);
  return std::any_of(layers.begin(), layers.end(),
                     [hash](const FilterView* layer) { return layer->may_contain_hash(hash); });
}

}  // namespace bloomery::detail
