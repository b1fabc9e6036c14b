// A quotient filter, as a prototype: it deletes, and grows without the keys.
//
// It is an exact multiset of fingerprints, the top p bits of a key's hash. The quotient of a fingerprint f
// is f * slots >> p: a home slot, for any number of slots. The fingerprints of one home are d = 2^p / slots
// consecutive integers, and a slot stores which one: the remainder, from 0 to d - 1, plus 1. The
// fingerprints of one home form a run of slots; runs lie in the order of their homes, each at its home or
// right after the run before it. An absent key is a false positive if its fingerprint is present: with n
// keys at a rate of n / 2^p.
//
// Growth reads the fingerprints in order and appends them to a larger table, so both are read and written
// once from front to back. p stays the same, so remainders become shorter and the rate grows with n: a
// filter that is to grow 2^g times at a rate must begin with g more bits.
//
// Sources: Bender et al. 2012 (quotient filter); Pandey, Bender, Johnson, Patro 2017 (rank and select,
// blocks with an offset).
#pragma once

#include <bloomery/hash.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "quotient_blocks.hpp"

namespace bloomery::bench {

class QuotientFilter {
 public:
  static constexpr std::uint64_t kNowhere = QuotientBlocks::kNowhere;

  // Homes and remainders are computed in 64 bits: the fingerprint and the number of slots have 64 together.
  QuotientFilter(std::uint64_t slots, unsigned fingerprint_bits)
      : slots_(slots),
        fingerprint_bits_(fingerprint_bits),
        reciprocal_(~std::uint64_t{0} / slots + 1),
        blocks_((slots + 63) / 64 + kSpareBlocks,
                static_cast<unsigned>(std::bit_width(first_of(1, slots, fingerprint_bits)))) {
    if (slots < 2 || fingerprint_bits + static_cast<unsigned>(std::bit_width(slots)) > 64)
      throw std::invalid_argument("a quotient filter of these sizes is not implemented");
  }
  // The fingerprint bits with which so many keys have at most this rate.
  [[nodiscard]] static unsigned fingerprint_bits_for(double keys, double fpr) {
    return static_cast<unsigned>(std::ceil(std::log2(keys / fpr)));
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t slots() const noexcept { return slots_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return blocks_.bytes(); }
  [[nodiscard]] unsigned value_bits() const noexcept { return blocks_.value_bits(); }
  void clear() noexcept {
    blocks_.clear();
    size_ = 0;
  }

  [[nodiscard]] std::uint64_t fingerprint(Hash128 hash) const noexcept {
    return hash.high >> (64 - fingerprint_bits_);
  }
  [[gnu::always_inline]] void prefetch(Hash128 hash) const noexcept {
    blocks_.prefetch(fingerprint(hash) * slots_ >> fingerprint_bits_);
  }
  [[nodiscard]] bool contains(Hash128 hash) const noexcept {
    const Place place = place_of(fingerprint(hash));
    return blocks_.is_occupied(place.home) && find(run_of(place.home), place.value) != kNowhere;
  }
  // How often the key is there; walks the run slot by slot.
  [[nodiscard]] std::uint64_t count(Hash128 hash) const noexcept {
    const Place place = place_of(fingerprint(hash));
    if (!blocks_.is_occupied(place.home)) return 0;
    std::uint64_t found = 0, slot = run_of(place.home);
    for (;; ++slot) {
      found += blocks_.value(slot) == place.value ? 1 : 0;
      if (blocks_.is_runend(slot)) return found;
    }
  }

  // False: there is no empty slot up to the end, or a run is too far from home. Nothing has changed.
  bool insert(Hash128 hash) noexcept {
    const Place place = place_of(fingerprint(hash));
    const bool has_run = blocks_.is_occupied(place.home);
    const std::uint64_t slot = slot_for(place.home, has_run);
    const std::uint64_t empty = blocks_.first_empty(slot);
    if (empty == kNowhere) return false;
    for (std::uint64_t block = place.home / 64 + 1; block <= empty / 64; ++block)
      if (blocks_.offset(block) == QuotientBlocks::kMaxOffset) return false;
    // Every slot from home to the empty one is used, so all runs that begin there reach one further.
    for (std::uint64_t block = place.home / 64 + 1; block <= empty / 64; ++block)
      blocks_.set_offset(block, blocks_.offset(block) + 1);
    if (empty != slot) blocks_.shift_up(slot, empty);
    if (has_run)
      blocks_.set_runend(slot - 1, false);
    else
      blocks_.set_occupied(place.home, true);
    blocks_.set_runend(slot, true);
    blocks_.set_value(slot, place.value);
    ++size_;
    return true;
  }

  // False: the key is not there.
  bool remove(Hash128 hash) noexcept {
    const Place place = place_of(fingerprint(hash));
    if (!blocks_.is_occupied(place.home)) return false;
    const std::uint64_t run = run_of(place.home);
    const std::uint64_t slot = find(run, place.value);
    if (slot == kNowhere) return false;
    const std::uint64_t end = end_of_displaced(place.home, slot);
    if (blocks_.is_runend(slot)) {
      if (slot != run)
        blocks_.set_runend(slot - 1, true);
      else
        blocks_.set_occupied(place.home, false);
    }
    blocks_.shift_down(slot, end);
    for (std::uint64_t block = place.home / 64 + 1; block <= (end - 1) / 64; ++block)
      blocks_.set_offset(block, blocks_.offset(block) - 1);
    --size_;
    return true;
  }

  // The same fingerprints in another number of slots. Empty if they do not fit.
  [[nodiscard]] QuotientFilter resized(std::uint64_t slots) const {
    QuotientFilter larger(slots, fingerprint_bits_);
    std::vector<std::uint64_t> run;
    std::uint64_t end = 0, written = 0;  // after the last run, in both tables
    for (std::uint64_t block = 0; block < (slots_ + 63) / 64; ++block)
      for (std::uint64_t homes = blocks_.occupied(block); homes != 0; homes &= homes - 1) {
        const std::uint64_t home = 64 * block + static_cast<unsigned>(std::countr_zero(homes));
        std::uint64_t slot = std::max(home, end);
        end = blocks_.runend(slot, 1) + 1;
        run.clear();
        for (; slot != end; ++slot) run.push_back(blocks_.value(slot) - 1);
        if (run.size() > 1) std::sort(run.begin(), run.end());
        const std::uint64_t first = first_of(home, slots_, fingerprint_bits_);
        for (const std::uint64_t remainder : run)
          if (!larger.append(first + remainder, written)) return {slots, fingerprint_bits_};
      }
    larger.size_ = size_;
    return larger;
  }

  // How many slots an insert of this key would move, and the longest run without an empty slot.
  [[nodiscard]] std::uint64_t moved_by(Hash128 hash) const noexcept {
    const std::uint64_t home = place_of(fingerprint(hash)).home;
    const std::uint64_t slot = slot_for(home, blocks_.is_occupied(home));
    return blocks_.first_empty(slot) - slot;
  }
  [[nodiscard]] std::uint64_t longest_cluster() const noexcept {
    std::uint64_t longest = 0;
    for (std::uint64_t from = 0, empty = 0; from < blocks_.slots(); from = empty + 1) {
      empty = std::min(blocks_.first_empty(from), blocks_.slots());
      longest = std::max(longest, empty - from);
    }
    return longest;
  }

 private:
  // Runs of the last homes may end after the last home.
  static constexpr std::uint64_t kSpareBlocks = 4;

  struct Place {
    std::uint64_t home, value;
  };
  // The remainder of f * slots modulo 2^p, divided by the slots, is the distance of f from the first
  // fingerprint of its home. The reciprocal divides exactly as long as 2^p * slots fits 64 bits.
  [[nodiscard]] Place place_of(std::uint64_t fingerprint) const noexcept {
    const std::uint64_t product = fingerprint * slots_;
    const std::uint64_t rest = product & ((std::uint64_t{1} << fingerprint_bits_) - 1);
    const auto remainder =
        static_cast<std::uint64_t>(static_cast<detail::uint128>(rest) * reciprocal_ >> 64);
    return {product >> fingerprint_bits_, remainder + 1};
  }
  // The first fingerprint of a home: home * 2^p / slots, rounded up. That of home 1 is d.
  [[nodiscard]] static std::uint64_t first_of(std::uint64_t home, std::uint64_t slots,
                                              unsigned fingerprint_bits) noexcept {
    return home == 0 ? 0 : ((home << fingerprint_bits) - 1) / slots + 1;
  }

  // Where the run of a home begins, or would begin.
  [[nodiscard]] std::uint64_t run_of(std::uint64_t home) const noexcept {
    const std::uint64_t block = home / 64;
    const std::uint64_t from = 64 * block + blocks_.offset(block);
    const auto before =
        static_cast<unsigned>(std::popcount(blocks_.occupied(block) & ones_below(home)));
    return std::max(home, before == 0 ? from : blocks_.runend(from, before) + 1);
  }
  // Where a fingerprint is inserted: after its run, or where the run would begin.
  [[nodiscard]] std::uint64_t slot_for(std::uint64_t home, bool has_run) const noexcept {
    const std::uint64_t run = run_of(home);
    return has_run ? blocks_.runend(run, 1) + 1 : run;
  }
  [[nodiscard]] std::uint64_t find(std::uint64_t run, std::uint64_t value) const noexcept {
    std::uint64_t mask = ones_from(run);
    for (std::uint64_t block = run / 64;; ++block, mask = ~std::uint64_t{0}) {
      std::uint64_t equal = blocks_.equal(block, value) & mask;
      const std::uint64_t ends = blocks_.runends(block) & mask;
      equal &= ends ^ (ends - 1);  // up to the first end; all if there is none
      if (equal != 0) return 64 * block + static_cast<unsigned>(std::countr_zero(equal));
      if (ends != 0) return kNowhere;
    }
  }
  // The first slot after a used one that is empty or holds the first fingerprint of a run at its home.
  [[nodiscard]] std::uint64_t end_of_displaced(std::uint64_t home,
                                               std::uint64_t slot) const noexcept {
    std::uint64_t counted = home + 1;
    std::uint64_t end = blocks_.runend(slot, 1) + 1;
    while (const std::uint64_t runs = blocks_.occupied_in(counted, end)) {
      counted = end;
      end = blocks_.runend(end, runs) + 1;
    }
    return end;
  }
  // Fingerprints come in order; `written` is the slot after the last one.
  bool append(std::uint64_t fingerprint, std::uint64_t& written) noexcept {
    const Place place = place_of(fingerprint);
    const std::uint64_t slot = std::max(place.home, written);
    if (slot >= blocks_.slots()) return false;
    for (std::uint64_t block = place.home / 64 + 1; block <= slot / 64; ++block) {
      if (slot + 1 - 64 * block > QuotientBlocks::kMaxOffset) return false;
      blocks_.set_offset(block, slot + 1 - 64 * block);
    }
    if (blocks_.is_occupied(place.home)) blocks_.set_runend(slot - 1, false);
    blocks_.set_occupied(place.home, true);
    blocks_.set_runend(slot, true);
    blocks_.set_value(slot, place.value);
    written = slot + 1;
    return true;
  }

  std::uint64_t slots_;
  unsigned fingerprint_bits_;
  std::uint64_t reciprocal_;
  QuotientBlocks blocks_;
  std::uint64_t size_ = 0;
};

}  // namespace bloomery::bench
