// A filter that grows and is checked: the real one, a naive one and the exact set of keys go
// through the same operations; any difference is thrown.
//
// The property test (random lists of operations) and the fuzzer (lists from bytes) both use it.
#pragma once

#include <bloomery/scalable_filter.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/checked.hpp"
#include "support/naive_scalable.hpp"

namespace bloomery::test {

class CheckedScalable {
 public:
  enum Kind : std::uint8_t {
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
    kinds
  };
  using Operation = CheckedOperation<Kind>;

  CheckedScalable(const ScalablePlan& plan, const Hasher& hasher)
      : filter_(plan, hasher), naive_(plan) {}

  void apply(const Operation& operation) {
    const std::uint16_t first = operation.keys.empty() ? 0 : operation.keys[0];
    const auto inserted = [&](Hash128 hash) { return insert(hash); };
    const auto found = [&](Hash128 hash) { return find(hash); };
    switch (operation.kind) {
      case insert_one:
        require(filter_.insert(std::uint64_t{first}) == insert(integer(first)), kInsertDiffers);
        break;
      case insert_text:
        require(filter_.insert(text_of(first)) == insert(text(first)), kInsertDiffers);
        break;
      case insert_integers:
        bulk(
            operation.answers, integers(operation),
            [&](auto answers) { return filter_.insert_many(values(operation), answers); },
            inserted);
        break;
      case insert_hashes:
        bulk(
            operation.answers, texts(operation),
            [&](auto answers) { return filter_.insert_hashes(texts(operation), answers); },
            inserted);
        break;
      case find_one:
        require(filter_.may_contain(std::uint64_t{first}) == find(integer(first)), kLookUpDiffers);
        break;
      case find_text:
        require(filter_.may_contain(text_of(first)) == find(text(first)), kLookUpDiffers);
        break;
      case find_integers:
        bulk(
            operation.answers, integers(operation),
            [&](auto answers) { return filter_.may_contain_many(values(operation), answers); },
            found);
        break;
      case find_hashes:
        bulk(
            operation.answers, texts(operation),
            [&](auto answers) { return filter_.may_contain_hashes(texts(operation), answers); },
            found);
        break;
      case clear:
        filter_.clear();
        naive_.clear();
        keys_.clear();
        break;
      case copy:
        filter_ = filter_.copy();
        break;
      case move: {
        ScalableFilter moved(std::move(filter_));
        filter_ = std::move(moved);
        break;
      }
      case restore:
        filter_ = restored();
        break;
      case use_kernel: {
        const auto kernels = detail::kernels_of(filter_.plan().first.layout);
        filter_.use_kernel(*kernels[first % kernels.size()]);
        break;
      }
      case kinds:
        break;
    }
  }

  // The sub-filters are the naive ones, every key is found, and the measures fit.
  void check() const {
    const auto sub_filters = filter_.sub_filters();
    require(sub_filters.size() == naive_.sub_filters().size(), "another number of sub-filters");
    std::uint64_t inserted = 0;
    for (std::size_t i = 0; i < sub_filters.size(); ++i) {
      const std::vector<std::byte> bytes = naive_.sub_filters()[i].bytes();
      require(std::equal(bytes.begin(), bytes.end(), sub_filters[i]->bytes().begin(),
                         sub_filters[i]->bytes().end()),
              "the bits differ");
      require(filter_.inserted(i) == naive_.inserted()[i],
              "another number of keys in a sub-filter");
      inserted += naive_.inserted()[i];
    }
    require(filter_.inserted() == inserted, "another number of keys");
    require(filter_.inserted() <= filter_.capacity(), "beyond its capacity");
    require(filter_.inserted() <= keys_.size(), "more keys than were given");
    for (const auto& [high, low] : keys_)
      require(filter_.may_contain_hash({high, low}), "a false negative");
    const double fpr = filter_.current_fpr(), fill = filter_.fill();
    require(fpr >= 0 && fpr <= 1 && fill >= 0 && fill <= 1, "a share that is none");
    require((fill > 0) == (inserted > 0), "the fill does not fit the keys");
  }

 private:
  [[nodiscard]] Hash128 integer(std::uint16_t key) const {
    return filter_.hasher()(std::uint64_t{key});
  }
  [[nodiscard]] Hash128 text(std::uint16_t key) const {
    return filter_.hasher()(std::string_view(text_of(key)));
  }
  [[nodiscard]] std::vector<Hash128> integers(const Operation& operation) const {
    return hashes_of_values(filter_.hasher(), operation);
  }
  [[nodiscard]] std::vector<Hash128> texts(const Operation& operation) const {
    return hashes_of_strings(filter_.hasher(), operation);
  }

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

  bool insert(Hash128 hash) {
    const bool fresh = naive_.insert(hash), known = !keys_.emplace(hash.high, hash.low).second;
    require(!(fresh && known), "a key that was there is called certainly new");
    return fresh;
  }
  [[nodiscard]] bool find(Hash128 hash) const {
    const bool found = naive_.may_contain(hash);
    require(found || !keys_.contains({hash.high, hash.low}), "a false negative");
    return found;
  }

  ScalableFilter filter_;
  NaiveScalable naive_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> keys_;
};

}  // namespace bloomery::test
