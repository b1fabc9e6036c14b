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
#include <utility>
#include <vector>

#include "support/checked.hpp"
#include "support/naive_counting.hpp"

namespace bloomery::test {

class CheckedCounting {
 public:
  enum Call : std::uint8_t {
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
    calls
  };
  using Operation = CheckedOperation<Call>;

  CheckedCounting(const Plan& plan, const Hasher& hasher) : plan_(plan) {
    for (int i = 0; i < 2; ++i)
      both_.push_back(Checked{CountingFilter(plan, hasher), {NaiveCounting(plan), {}}});
  }

  void apply(const Operation& operation) {
    Checked &checked = both_[0], &other = both_[1];
    CountingFilter& filter = checked.filter;
    CountingModel& model = checked.model;
    const std::uint64_t first = operation.keys.empty() ? 0 : operation.keys[0];
    const Hash128 hash = filter.hash(first);
    const std::vector<std::uint64_t> keys = values(operation);
    const bool answers = operation.answers;
    const auto remove = [&](Hash128 key) { return model.remove(key); };
    switch (operation.call) {
      case insert_integer:
        check_insert(filter, first, model);
        break;
      case insert_integers:
        check_insert_many(filter, keys, answers, model);
        break;
      case insert_hashes:
        check_insert_hashes(filter, keys, answers, model);
        break;
      case insert_often:
        // Enough to saturate; in one call, so that equal keys meet in one block.
        check_insert_many(filter, std::vector<std::uint64_t>(1 + first % 300, first), answers,
                          model);
        break;
      case remove_integer:
        if (model.may_remove(hash))
          require(filter.remove(first) == model.remove(hash),
                  "remove answered otherwise than the naive filter");
        break;
      case remove_integers: {
        const std::vector<std::uint64_t> present = removable(checked, keys);
        bulk(
            answers, detail::hash_keys(filter.hasher(), present),
            [&](auto removed) { return filter.remove_many(present, removed); }, remove);
        break;
      }
      case remove_hashes: {
        const auto present = detail::hash_keys(filter.hasher(), removable(checked, keys));
        bulk(
            answers, present, [&](auto removed) { return filter.remove_hashes(present, removed); },
            remove);
        break;
      }
      case remove_stranger:
        if (!model.find(hash))
          require(!filter.remove(first), "a key that is not there was removed");
        break;
      case find_integer:
        check_find(filter, first, model);
        break;
      case find_integers:
        check_find_many(filter, keys, answers, model);
        break;
      case find_hashes:
        check_find_hashes(filter, keys, answers, model);
        break;
      case count:
        for (const std::uint64_t key : keys)
          require(filter.count_at_most(key) == model.naive.count_at_most(filter.hash(key)),
                  "a count differs from the naive filter");
        break;
      case merge:
        filter.merge(other.filter);
        model.naive.merge(other.model.naive);
        for (const auto& [key, times] : other.model.keys) model.keys[key] += times;
        break;
      case clear:
        filter.clear();
        model = {NaiveCounting(plan_), {}};
        break;
      case copy:
        filter = other.filter.copy();
        model = other.model;
        break;
      case move:
        move_and_return(filter);
        break;
      case swap:
        std::swap(both_[0], both_[1]);
        break;
      case use_kernel:
        use_one_of(detail::kernels_of<detail::CountingKernel>(plan_.layout), first, filter);
        break;
      case calls:
        break;
    }
  }

  // The counters are the naive filter's, every key is found at least as often as it is there, and
  // the measures are those of the counters, which are those of the equivalent plain filter.
  void check() const {
    for (const auto& [filter, model] : both_) {
      const std::vector<std::byte> bytes = model.naive.bytes();
      require(std::ranges::equal(bytes, filter.bytes()), "the counters differ");
      const Filter plain = filter.to_plain();
      for (const auto& [key, times] : model.keys) {
        const Hash128 hash{key.first, key.second};
        require(filter.count_hash_at_most(hash) >= times, "a count is too low");
        if (times == 0) continue;
        require(filter.may_contain_hash(hash), "a false negative");
        require(plain.may_contain_hash(hash), "a false negative of the equivalent plain filter");
      }
      std::uint64_t used = 0, saturated = 0;
      for (std::size_t i = 0; i < model.naive.counters().size(); ++i) {
        const int counter = model.naive.counters()[i];
        used += counter != 0;
        saturated += counter == model.naive.full();
        const unsigned bit = std::to_integer<unsigned>(plain.bytes()[i / 8]) >> (i % 8) & 1;
        require((bit == 1) == (counter != 0), "the equivalent plain filter has another bit");
      }
      require(filter.saturated_counters() == saturated, "other counters are saturated");
      const double fill = static_cast<double>(used) / static_cast<double>(plan_.bits);
      require(std::abs(filter.fill() - fill) < 1e-12, "the fill is another");
      require(std::abs(filter.current_fpr() - plain.current_fpr()) < 1e-12,
              "the rate is not the equivalent plain filter's");
      require(filter.estimated_items() == plain.estimated_items(),
              "the items are not the equivalent plain filter's");
      require(filter.over_capacity() == plain.over_capacity(),
              "over capacity is not the equivalent plain filter's");
    }
  }

 private:
  // The naive filter beside the exact multiset of the keys.
  struct CountingModel {
    NaiveCounting naive;
    std::map<ExactKey, std::uint64_t> keys;

    bool insert(Hash128 hash) {
      const bool fresh = naive.insert(hash);
      require(!(++keys[{hash.high, hash.low}] > 1 && fresh), "a key that was there is called new");
      return fresh;
    }
    [[nodiscard]] bool find(Hash128 hash) const { return naive.may_contain(hash); }
    // Only keys that are there, or that every filter must refuse.
    [[nodiscard]] bool may_remove(Hash128 hash) const {
      const auto found = keys.find({hash.high, hash.low});
      return (found != keys.end() && found->second > 0) || !find(hash);
    }
    bool remove(Hash128 hash) {
      const bool removed = naive.remove(hash);
      if (removed) --keys[{hash.high, hash.low}];
      return removed;
    }
  };
  struct Checked {
    CountingFilter filter;
    CountingModel model;
  };

  // The keys that may be removed in this order: each as often as it is there.
  static std::vector<std::uint64_t> removable(const Checked& checked,
                                              const std::vector<std::uint64_t>& keys) {
    std::map<ExactKey, std::uint64_t> left = checked.model.keys;
    std::vector<std::uint64_t> out;
    for (const std::uint64_t key : keys) {
      const Hash128 hash = checked.filter.hash(key);
      std::uint64_t& times = left[{hash.high, hash.low}];
      if (times == 0) continue;
      --times;
      out.push_back(key);
    }
    return out;
  }

  Plan plan_;
  std::vector<Checked> both_;
};

}  // namespace bloomery::test
