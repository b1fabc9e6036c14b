// A filter that grows and is checked: the real one, a naive one and the exact set of keys go
// through the same operations; any difference is thrown.
//
// The property test (random lists of operations) and the fuzzer (lists from bytes) both use it.
#pragma once

#include <bloomery/scalable_filter.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/checked.hpp"
#include "support/naive_scalable.hpp"

namespace bloomery::test {

class CheckedScalable {
 public:
  enum Call : std::uint8_t {
    insert_one,
    insert_text,
    insert_integers,
    insert_hashes,
    find_one,
    find_text,
    find_integers,
    find_hashes,
    clear,
    copy,
    move,
    restore,
    use_kernel,
    calls
  };
  using Operation = CheckedOperation<Call>;

  CheckedScalable(const ScalablePlan& plan, const Hasher& hasher)
      : filter_(plan, hasher), model_{NaiveScalable(plan)} {}

  void apply(const Operation& operation) {
    const std::uint64_t first = operation.keys.empty() ? 0 : operation.keys[0];
    const std::string text = text_of(static_cast<std::uint16_t>(first));
    const bool answers = operation.answers;
    switch (operation.call) {
      case insert_one:
        check_insert(filter_, first, model_);
        break;
      case insert_text:
        check_insert(filter_, text, model_);
        break;
      case insert_integers:
        check_insert_many(filter_, values(operation), answers, model_);
        break;
      case insert_hashes:
        check_insert_hashes(filter_, strings(operation), answers, model_);
        break;
      case find_one:
        check_find(filter_, first, model_);
        break;
      case find_text:
        check_find(filter_, text, model_);
        break;
      case find_integers:
        check_find_many(filter_, values(operation), answers, model_);
        break;
      case find_hashes:
        check_find_hashes(filter_, strings(operation), answers, model_);
        break;
      case clear:
        filter_.clear();
        model_ = {NaiveScalable(filter_.plan())};
        break;
      case copy:
        filter_ = filter_.copy();
        break;
      case move:
        move_and_return(filter_);
        break;
      case restore:
        filter_ = restored();
        break;
      case use_kernel:
        use_one_of(detail::kernels_of(filter_.plan().first.layout), first, filter_);
        break;
      case calls:
        break;
    }
  }

  // The sub-filters are the naive ones, every key is found, and the measures fit.
  void check() const {
    const auto sub_filters = filter_.sub_filters();
    const NaiveScalable& naive = model_.naive;
    require(sub_filters.size() == naive.sub_filters().size(), "another number of sub-filters");
    std::uint64_t inserted = 0;
    for (std::size_t i = 0; i < sub_filters.size(); ++i) {
      const std::vector<std::byte> bytes = naive.sub_filters()[i].bytes();
      require(std::ranges::equal(bytes, sub_filters[i]->bytes()), "the bits differ");
      require(filter_.inserted(i) == naive.inserted()[i], "another number of keys in a sub-filter");
      inserted += naive.inserted()[i];
    }
    require(filter_.inserted() == inserted, "another number of keys");
    require(filter_.inserted() <= filter_.capacity(), "beyond its capacity");
    require(filter_.inserted() <= model_.keys.size(), "more keys than were given");
    for (const auto& [high, low] : model_.keys)
      require(filter_.may_contain_hash({high, low}), "a false negative");
    const double fpr = filter_.current_fpr(), fill = filter_.fill();
    require(fpr >= 0 && fpr <= 1 && fill >= 0 && fill <= 1, "a share that is none");
    require((fill > 0) == (inserted > 0), "the fill does not fit the keys");
  }

 private:
  [[nodiscard]] ScalableFilter restored() const {
    std::vector<SubFilterState> sub_filters;
    for (std::size_t i = 0; i < filter_.sub_filters().size(); ++i) {
      const FilterView& sub_filter = *filter_.sub_filters()[i];
      detail::BitMemory memory(sub_filter.bytes().size());
      const std::span<std::byte> bits = memory.bytes();
      std::copy(sub_filter.bytes().begin(), sub_filter.bytes().end(), bits.begin());
      sub_filters.push_back({sub_filter.plan(), filter_.inserted(i), bits, std::move(memory)});
    }
    return ScalableFilter::restore(filter_.plan(), filter_.hasher(), std::move(sub_filters));
  }

  ScalableFilter filter_;
  SetModel<NaiveScalable> model_;
};

}  // namespace bloomery::test
