// As many layers as a kernel takes go to it at once; only of longer lists are keys that were found
// taken out before the rest of the layers are asked.
#include "filter/layers.hpp"

#include <bloomery/detail/keys.hpp>

#include <algorithm>
#include <array>

namespace bloomery::detail {

namespace {

constexpr std::size_t kPart = 1024;  // keys of a list that is asked in groups

Layers first_group(const Layers& layers) noexcept {
  return {layers.kernel, layers.shapes.first(std::min(kLayersAtOnce, layers.shapes.size()))};
}
Layers without(const Layers& layers, const Layers& group) noexcept {
  return {layers.kernel, layers.shapes.subspan(group.shapes.size())};
}

// Of 1 to kLayersAtOnce layers.
std::size_t ask_group(const Layers& layers, std::span<const Hash128> hashes, bool* found) noexcept {
  if (layers.shapes.size() == 1)
    return layers.kernel->contains_hashes(*layers.shapes[0], hashes.data(), hashes.size(), found);
  return layers.kernel->any_contains_hashes(layers.shapes.data(), layers.shapes.size(),
                                            hashes.data(), hashes.size(), found);
}

std::size_t ask_part(Layers layers, std::span<const Hash128> hashes, bool* found) noexcept {
  std::array<Hash128, kPart> left;
  std::array<std::uint16_t, kPart> place;
  std::array<bool, kPart> answers;
  std::copy(hashes.begin(), hashes.end(), left.begin());
  for (std::size_t i = 0; i < hashes.size(); ++i) place[i] = static_cast<std::uint16_t>(i);
  std::size_t asked = hashes.size();
  while (!layers.shapes.empty() && asked > 0) {
    const Layers group = first_group(layers);
    layers = without(layers, group);
    ask_group(group, {left.data(), asked}, answers.data());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < asked; ++i) {
      if (found != nullptr) found[place[i]] = answers[i];
      left[kept] = left[i];
      place[kept] = place[i];
      kept += answers[i] ? 0 : 1;
    }
    asked = kept;
  }
  return hashes.size() - asked;
}

bool in_one_group(const Layers& layers) noexcept {
  return !layers.shapes.empty() && layers.shapes.size() <= kLayersAtOnce;
}

}  // namespace

std::size_t any_may_contain(const Layers& layers, std::span<const Hash128> hashes,
                            std::span<bool> found) noexcept {
  if (in_one_group(layers))
    return ask_group(layers, hashes, found.empty() ? nullptr : found.data());
  std::fill(found.begin(), found.end(), false);
  std::size_t yes = 0;
  for (std::size_t done = 0; done < hashes.size(); done += kPart)
    yes += ask_part(layers, hashes.subspan(done, std::min(kPart, hashes.size() - done)),
                    found.empty() ? nullptr : found.data() + done);
  return yes;
}

std::size_t any_may_contain_integers(const Layers& layers, const Hasher& hasher,
                                     std::span<const std::uint64_t> keys,
                                     std::span<bool> found) noexcept {
  if (hasher.family() != HashFamily::xxh3 || !in_one_group(layers))
    return in_chunks(hasher, keys, found, [&layers](auto hashes, auto out) {
      return any_may_contain(layers, hashes, out);
    });
  bool* answers = found.empty() ? nullptr : found.data();
  if (layers.shapes.size() == 1)
    return layers.kernel->contains_integers(*layers.shapes[0], hasher.seed_multiplier(),
                                            keys.data(), keys.size(), answers);
  return layers.kernel->any_contains_integers(layers.shapes.data(), layers.shapes.size(),
                                              hasher.seed_multiplier(), keys.data(), keys.size(),
                                              answers);
}

bool any_may_contain_one(const Layers& layers, Hash128 hash) noexcept {
  // Without a branch on the answer, which nobody can predict.
  if (in_one_group(layers)) [[likely]]
    return layers.kernel->any_contains(layers.shapes.data(), layers.shapes.size(), hash);
  for (Layers left = layers; !left.shapes.empty(); left = without(left, first_group(left)))
    if (any_may_contain_one(first_group(left), hash)) return true;
  return false;
}

}  // namespace bloomery::detail
