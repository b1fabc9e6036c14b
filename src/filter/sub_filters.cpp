// Asks as many sub-filters in one call as a kernel takes. Only if there are more, the next call leaves out
// the keys that were already found.
#include "filter/sub_filters.hpp"

#include <algorithm>
#include <array>

namespace bloomery::detail {

namespace {

constexpr std::size_t kPart = 1024;  // keys at a time, if the sub-filters are asked in groups

SubFilters first_group(const SubFilters& sub_filters) noexcept {
  return {sub_filters.kernel,
          sub_filters.bit_arrays.first(std::min(kSubFiltersAtOnce, sub_filters.bit_arrays.size()))};
}
SubFilters without(const SubFilters& sub_filters, const SubFilters& group) noexcept {
  return {sub_filters.kernel, sub_filters.bit_arrays.subspan(group.bit_arrays.size())};
}

// 1 to kSubFiltersAtOnce sub-filters.
std::size_t ask_group(const SubFilters& sub_filters, std::span<const Hash128> hashes,
                      bool* found) noexcept {
  if (sub_filters.bit_arrays.size() == 1)
    return sub_filters.kernel->contains_hashes(*sub_filters.bit_arrays[0], hashes.data(),
                                               hashes.size(), found);
  return sub_filters.kernel->contains_in_any_hashes(sub_filters.bit_arrays.data(),
                                                    sub_filters.bit_arrays.size(), hashes.data(),
                                                    hashes.size(), found);
}

std::size_t ask_part(SubFilters sub_filters, std::span<const Hash128> hashes,
                     bool* found) noexcept {
  std::array<Hash128, kPart> left;
  std::array<std::uint16_t, kPart> place;
  std::array<bool, kPart> answers;
  std::copy(hashes.begin(), hashes.end(), left.begin());
  for (std::size_t i = 0; i < hashes.size(); ++i) place[i] = static_cast<std::uint16_t>(i);
  std::size_t asked = hashes.size();
  while (!sub_filters.bit_arrays.empty() && asked > 0) {
    const SubFilters group = first_group(sub_filters);
    sub_filters = without(sub_filters, group);
    ask_group(group, {left.data(), asked}, answers.data());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < asked; ++i) {
      if (found != nullptr) found[place[i]] = answers[i];
      left[kept] = left[i];
      place[kept] = place[i];
      kept += answers[i] ? 0U : 1U;
    }
    asked = kept;
  }
  return hashes.size() - asked;
}

bool in_one_group(const SubFilters& sub_filters) noexcept {
  return !sub_filters.bit_arrays.empty() && sub_filters.bit_arrays.size() <= kSubFiltersAtOnce;
}

}  // namespace

std::size_t may_contain_in_any(const SubFilters& sub_filters, std::span<const Hash128> hashes,
                               bool* found) noexcept {
  if (in_one_group(sub_filters)) return ask_group(sub_filters, hashes, found);
  if (found != nullptr) std::fill_n(found, hashes.size(), false);
  std::size_t yes = 0;
  for (std::size_t done = 0; done < hashes.size(); done += kPart)
    yes += ask_part(sub_filters, hashes.subspan(done, std::min(kPart, hashes.size() - done)),
                    found == nullptr ? nullptr : found + done);
  return yes;
}

std::size_t may_contain_in_any(const SubFilters& sub_filters, std::uint64_t seed_multiplier,
                               std::span<const std::uint64_t> keys, bool* found) noexcept {
  const std::span<const BitArray* const> arrays = sub_filters.bit_arrays;
  if (arrays.size() == 1)
    return sub_filters.kernel->contains_integers(*arrays[0], seed_multiplier, keys.data(),
                                                 keys.size(), found);
  if (in_one_group(sub_filters))
    return sub_filters.kernel->contains_in_any_integers(
        arrays.data(), arrays.size(), seed_multiplier, keys.data(), keys.size(), found);
  std::array<Hash128, kPart> hashes;
  std::size_t yes = 0;
  for (std::size_t done = 0; done < keys.size(); done += kPart) {
    const std::size_t part = std::min(kPart, keys.size() - done);
    for (std::size_t i = 0; i < part; ++i)
      hashes[i] = hash_integer(keys[done + i], seed_multiplier);
    yes += may_contain_in_any(sub_filters, std::span(hashes).first(part),
                              found == nullptr ? nullptr : found + done);
  }
  return yes;
}

bool may_contain_in_any_one(const SubFilters& sub_filters, Hash128 hash) noexcept {
  // There is no branch on the answer, because it cannot be predicted.
  if (in_one_group(sub_filters)) [[likely]]
    return sub_filters.kernel->contains_in_any(sub_filters.bit_arrays.data(),
                                               sub_filters.bit_arrays.size(), hash);
  for (SubFilters left = sub_filters; !left.bit_arrays.empty();
       left = without(left, first_group(left)))
    if (may_contain_in_any_one(first_group(left), hash)) return true;
  return false;
}

}  // namespace bloomery::detail
