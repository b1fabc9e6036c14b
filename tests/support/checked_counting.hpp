// A counting filter that is checked: two real filters and two naive ones go through the same
// operations, beside the exact multisets of their keys; any difference is thrown.
//
// The property test (random lists of operations) and the fuzzer (lists from bytes) both use it. An
// absent key that looks present is never removed, so that the law holds: a key inserted more often
// than removed is found.
#pragma once

#include <bloomery/counting_filter.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/checked.hpp"
#include "support/naive_counting.hpp"

namespace bloomery::test {

class CheckedCounting {
 public:
  enum Kind : std::uint8_t {
    insert_integer,
    insert_integers,
    insert_hashes,
    insert_often,
    remove_integer,
    remove_integers,
    remove_hashes,
    remove_stranger,
    find_integer,
    find_integers,
    find_hashes,
    count,
    merge,
    clear,
    copy,
    move,
    swap,
    use_kernel,
    kinds
  };
  using Operation = CheckedOperation<Kind>;

  CheckedCounting(const Plan& plan, const Hasher& hasher) : plan_(plan), hasher_(hasher) {
    for (int i = 0; i < 2; ++i)
      both_.push_back(Checked{CountingFilter(plan, hasher), NaiveCounting(plan), {}});
  }

  void apply(const Operation& operation) {
    Checked &checked = both_[0], &other = both_[1];
    const std::uint16_t first = operation.keys.empty() ? 0 : operation.keys[0];
    const std::vector<std::uint64_t> keys(operation.keys.begin(), operation.keys.end());
    switch (operation.kind) {
      case insert_integer:
        require(checked.filter.insert(std::uint64_t{first}) == checked.insert(hash(first)),
                kInsertDiffers);
        break;
      case insert_integers:
        bulk(
            operation.answers, hashes(keys),
            [&](auto answers) { return checked.filter.insert_many(keys, answers); },
            [&](Hash128 key) { return checked.insert(key); });
        break;
      case insert_hashes:
        bulk(
            operation.answers, hashes(keys),
            [&](auto answers) { return checked.filter.insert_hashes(hashes(keys), answers); },
            [&](Hash128 key) { return checked.insert(key); });
        break;
      case insert_often: {
        // Enough to saturate; in one call, so that equal keys meet in one block.
        const std::vector<std::uint64_t> same(1 + first % 300U, first);
        bulk(
            operation.answers, hashes(same),
            [&](auto answers) { return checked.filter.insert_many(same, answers); },
            [&](Hash128 key) { return checked.insert(key); });
        break;
      }
      case remove_integer:
        if (checked.may_remove(hash(first)))
          require(checked.filter.remove(std::uint64_t{first}) == checked.remove(hash(first)),
                  "remove answered otherwise than the naive filter");
        break;
      case remove_integers: {
        const std::vector<std::uint64_t> present = removable(checked, keys);
        bulk(
            operation.answers, hashes(present),
            [&](auto answers) { return checked.filter.remove_many(present, answers); },
            [&](Hash128 key) { return checked.remove(key); });
        break;
      }
      case remove_hashes: {
        const std::vector<Hash128> present = hashes(removable(checked, keys));
        bulk(
            operation.answers, present,
            [&](auto answers) { return checked.filter.remove_hashes(present, answers); },
            [&](Hash128 key) { return checked.remove(key); });
        break;
      }
      case remove_stranger:
        if (!checked.naive.may_contain(hash(first)))
          require(!checked.filter.remove(std::uint64_t{first}),
                  "a key that is not there was removed");
        break;
      case find_integer:
        require(checked.filter.may_contain(std::uint64_t{first}) ==
                    checked.naive.may_contain(hash(first)),
                kLookUpDiffers);
        break;
      case find_integers:
        bulk(
            operation.answers, hashes(keys),
            [&](auto answers) { return checked.filter.may_contain_many(keys, answers); },
            [&](Hash128 key) { return checked.naive.may_contain(key); });
        break;
      case find_hashes:
        bulk(
            operation.answers, hashes(keys),
            [&](auto answers) { return checked.filter.may_contain_hashes(hashes(keys), answers); },
            [&](Hash128 key) { return checked.naive.may_contain(key); });
        break;
      case count:
        for (const std::uint64_t key : keys)
          require(checked.filter.count_at_most(key) == checked.naive.count_at_most(hash(key)),
                  "a count differs from the naive filter");
        break;
      case merge:
        checked.filter.merge(other.filter);
        checked.naive.merge(other.naive);
        for (const auto& [key, times] : other.keys) checked.keys[key] += times;
        break;
      case clear:
        checked.filter.clear();
        checked.naive = NaiveCounting(plan_);
        checked.keys.clear();
        break;
      case copy:
        checked.filter = other.filter.copy();
        checked.naive = other.naive;
        checked.keys = other.keys;
        break;
      case move: {
        CountingFilter moved(std::move(checked.filter));
        checked.filter = std::move(moved);
        break;
      }
      case swap:
        std::swap(both_[0], both_[1]);
        break;
      case use_kernel: {
        const auto kernels = detail::kernels_of<detail::CountingKernel>(plan_.layout);
        checked.filter.use_kernel(*kernels[first % kernels.size()]);
        break;
      }
      case kinds:
        break;
    }
  }

  // The counters are the naive filter's, every key is found at least as often as it is there, and
  // the measures are those of the counters, which are those of the equivalent plain filter.
  void check() const {
    for (const Checked& checked : both_) {
      const std::vector<std::byte> bytes = checked.naive.bytes();
      require(std::equal(bytes.begin(), bytes.end(), checked.filter.bytes().begin(),
                         checked.filter.bytes().end()),
              "the counters differ");
      const Filter plain = checked.filter.to_plain();
      for (const auto& [key, times] : checked.keys) {
        const Hash128 hash{key.first, key.second};
        require(checked.filter.count_hash_at_most(hash) >= times, "a count is too low");
        if (times == 0) continue;
        require(checked.filter.may_contain_hash(hash), "a false negative");
        require(plain.may_contain_hash(hash), "a false negative of the equivalent plain filter");
      }
      std::uint64_t used = 0, saturated = 0;
      for (std::size_t i = 0; i < checked.naive.counters().size(); ++i) {
        const int counter = checked.naive.counters()[i];
        used += counter != 0;
        saturated += counter == checked.naive.full();
        const unsigned bit = std::to_integer<unsigned>(plain.bytes()[i / 8]) >> (i % 8) & 1;
        require((bit == 1) == (counter != 0), "the equivalent plain filter has another bit");
      }
      require(checked.filter.saturated_counters() == saturated, "other counters are saturated");
      const double fill = static_cast<double>(used) / static_cast<double>(plan_.bits);
      require(std::abs(checked.filter.fill() - fill) < 1e-12, "the fill is another");
      require(std::abs(checked.filter.current_fpr() - plain.current_fpr()) < 1e-12,
              "the rate is not the equivalent plain filter's");
      require(checked.filter.estimated_items() == plain.estimated_items(),
              "the items are not the equivalent plain filter's");
      require(checked.filter.over_capacity() == plain.over_capacity(),
              "over capacity is not the equivalent plain filter's");
    }
  }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct Checked {
    CountingFilter filter;
    NaiveCounting naive;
    std::map<Key, std::uint64_t> keys;

    bool insert(Hash128 hash) {
      const bool fresh = naive.insert(hash);
      require(!(++keys[{hash.high, hash.low}] > 1 && fresh), "a key that was there is called new");
      return fresh;
    }
    // Only keys that are there, or that every filter must refuse.
    [[nodiscard]] bool may_remove(Hash128 hash) const {
      const auto found = keys.find({hash.high, hash.low});
      return (found != keys.end() && found->second > 0) || !naive.may_contain(hash);
    }
    bool remove(Hash128 hash) {
      const bool removed = naive.remove(hash);
      if (removed) --keys[{hash.high, hash.low}];
      return removed;
    }
  };

  [[nodiscard]] Hash128 hash(std::uint64_t key) const { return hasher_(key); }
  [[nodiscard]] std::vector<Hash128> hashes(const std::vector<std::uint64_t>& keys) const {
    std::vector<Hash128> out;
    for (const std::uint64_t key : keys) out.push_back(hash(key));
    return out;
  }
  // The keys that may be removed in this order: each as often as it is there.
  [[nodiscard]] std::vector<std::uint64_t> removable(const Checked& checked,
                                                     const std::vector<std::uint64_t>& keys) const {
    std::map<Key, std::uint64_t> left = checked.keys;
    std::vector<std::uint64_t> out;
    for (const std::uint64_t key : keys) {
      const Hash128 it = hash(key);
      std::uint64_t& times = left[{it.high, it.low}];
      if (times == 0) continue;
      --times;
      out.push_back(key);
    }
    return out;
  }

  Plan plan_;
  Hasher hasher_;
  std::vector<Checked> both_;
};

}  // namespace bloomery::test
