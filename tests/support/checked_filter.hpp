// A plain filter that is checked: two real filters and two naive ones go through the same operations, beside
// the exact sets of their keys; any difference is thrown.
//
// The property test (random lists of operations) and the fuzzer (lists from bytes) both use it.
#pragma once

#include <bloomery/concurrent_filter.hpp>
#include <bloomery/filter.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/checked.hpp"
#include "support/naive_filter.hpp"

namespace bloomery::test {

class CheckedFilter {
 public:
  enum Call : std::uint8_t {
    insert_integer,
    insert_text,
    insert_integers,
    insert_texts,
    insert_hashes,
    insert_concurrently,
    insert_hashes_concurrently,
    find_integer,
    find_text,
    find_integers,
    find_hashes,
    find_hashes_concurrently,
    merge,
    intersect,
    clear,
    copy,
    move,
    swap,
    use_kernel,
    calls
  };
  using Operation = CheckedOperation<Call>;

  CheckedFilter(const Plan& plan, const Hasher& hasher) : plan_(plan) {
    for (int i = 0; i < 2; ++i) both_.push_back(Checked{Filter(plan, hasher), {NaiveFilter(plan)}});
  }

  void apply(const Operation& operation) {
    Checked &checked = both_[0], &other = both_[1];
    Filter& filter = checked.filter;
    SetModel<NaiveFilter>& model = checked.model;
    const std::uint64_t first = operation.keys.empty() ? 0 : operation.keys[0];
    const std::string text = text_of(static_cast<std::uint16_t>(first));
    const bool answers = operation.answers;
    switch (operation.call) {
      case insert_integer:
        check_insert(filter, first, model);
        break;
      case insert_text:
        check_insert(filter, text, model);
        break;
      case insert_integers:
        check_insert_many(filter, values(operation), answers, model);
        break;
      case insert_texts:
        check_insert_many(filter, strings(operation), answers, model);
        break;
      case insert_hashes:
        check_insert_hashes(filter, strings(operation), answers, model);
        break;
      case insert_concurrently:
        check_insert(ConcurrentFilter(filter), first, model);
        break;
      case insert_hashes_concurrently:
        check_insert_hashes(ConcurrentFilter(filter), values(operation), answers, model);
        break;
      case find_integer:
        check_find(filter, first, model);
        break;
      case find_text:
        check_find(filter, text, model);
        break;
      case find_integers:
        check_find_many(filter, values(operation), answers, model);
        break;
      case find_hashes:
        check_find_hashes(filter, strings(operation), answers, model);
        break;
      case find_hashes_concurrently:
        check_find_hashes(ConcurrentFilter(filter), values(operation), answers, model);
        break;
      case merge:
        filter.merge(other.filter);
        combine(model.naive, other.model.naive, [](bool a, bool b) { return a || b; });
        model.keys.insert(other.model.keys.begin(), other.model.keys.end());
        break;
      case intersect:
        filter.intersect(other.filter);
        combine(model.naive, other.model.naive, [](bool a, bool b) { return a && b; });
        std::erase_if(model.keys,
                      [&](const ExactKey& key) { return !other.model.keys.contains(key); });
        break;
      case clear:
        filter.clear();
        model = {NaiveFilter(plan_)};
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
        use_one_of(detail::kernels_of(plan_.layout), first, filter);
        break;
      case calls:
        break;
    }
  }

  // The bits are the naive filter's, every key is found, and the measures are those of the bits.
  void check() const {
    for (const auto& [filter, model] : both_) {
      const std::vector<std::byte> bytes = model.naive.bytes();
      require(std::ranges::equal(bytes, filter.bytes()), "the bits differ");
      for (const auto& [high, low] : model.keys)
        require(filter.may_contain_hash({high, low}), "a false negative");
      const auto ones = static_cast<double>(std::ranges::count(model.naive.bits(), true));
      const double fill = ones / static_cast<double>(plan_.bits);
      require(std::abs(filter.fill() - fill) < 1e-12, "the fill is another");
      const double fpr = filter.current_fpr(), items = filter.estimated_items();
      require(fpr >= 0 && fpr <= 1, "the false-positive rate is no share");
      require((fpr == 0) || ones > 0, "an empty filter has a false-positive rate");
      require(items >= 0 && (items > 0) == (ones > 0), "the items do not fit the bits");
      require(std::isinf(items) == (fill == 1), "the items are infinite for no reason");
      if (items <= static_cast<double>(plan_.capacity))
        require(!filter.over_capacity(), "over capacity below its capacity");
    }
  }

 private:
  struct Checked {
    Filter filter;
    SetModel<NaiveFilter> model;
  };

  template <class Combine>
  static void combine(NaiveFilter& naive, const NaiveFilter& other, Combine both) {
    for (std::size_t i = 0; i < naive.bits().size(); ++i)
      naive.bits()[i] = both(naive.bits()[i], other.bits()[i]);
  }

  Plan plan_;
  std::vector<Checked> both_;
};

}  // namespace bloomery::test
