// A filter that grows and is checked: the real one, a naive one and the exact set of keys go
// through the same operations; any difference is thrown.
//
// The property test (random lists of operations) and the fuzzer (lists from bytes) both use it.
#pragma once

#include <bloomery/scalable_filter.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
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
    switch (operation.kind) {
      case insert_one:
        expect_insert(integer(first), filter_.insert(std::uint64_t{first}));
        break;
      case insert_text:
        expect_insert(text(first), filter_.insert(text_of(first)));
        break;
      case insert_integers:
        insert_many(integers(operation), operation.answers,
                    [&](auto fresh) { return filter_.insert_many(values(operation), fresh); });
        break;
      case insert_hashes:
        insert_many(texts(operation), operation.answers,
                    [&](auto fresh) { return filter_.insert_hashes(texts(operation), fresh); });
        break;
      case find_one:
        expect_find(integer(first), filter_.may_contain(std::uint64_t{first}));
        break;
      case find_text:
        expect_find(text(first), filter_.may_contain(text_of(first)));
        break;
      case find_integers:
        find_many(integers(operation), operation.answers,
                  [&](auto found) { return filter_.may_contain_many(values(operation), found); });
        break;
      case find_hashes:
        find_many(texts(operation), operation.answers,
                  [&](auto found) { return filter_.may_contain_hashes(texts(operation), found); });
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
    for (const auto& [high, low] : hashes_of(keys_))
      require(filter_.may_contain_hash({high, low}), "a false negative");
    const double fpr = filter_.current_fpr(), fill = filter_.fill();
    require(fpr >= 0 && fpr <= 1 && fill >= 0 && fill <= 1, "a share that is none");
    require((fill > 0) == (inserted > 0), "the fill does not fit the keys");
  }

 private:
  // Exactly what was inserted. Keys are distinguished by their whole hash.
  using Keys = std::unordered_set<std::string>;

  static std::string name_of(Hash128 hash) {
    std::string name(16, '\0');
    for (unsigned i = 0; i < 8; ++i) {
      name[i] = static_cast<char>(hash.high >> (8 * i) & 255);
      name[8 + i] = static_cast<char>(hash.low >> (8 * i) & 255);
    }
    return name;
  }
  static std::vector<std::pair<std::uint64_t, std::uint64_t>> hashes_of(const Keys& keys) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> out;
    for (const std::string& name : keys) {
      Hash128 hash;
      for (unsigned i = 0; i < 8; ++i) {
        hash.high |= std::uint64_t{static_cast<std::uint8_t>(name[i])} << (8 * i);
        hash.low |= std::uint64_t{static_cast<std::uint8_t>(name[8 + i])} << (8 * i);
      }
      out.emplace_back(hash.high, hash.low);
    }
    return out;
  }

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

  void expect_insert(Hash128 hash, bool fresh) {
    const bool known = !keys_.insert(name_of(hash)).second;
    require(fresh == naive_.insert(hash), "insert answered otherwise than the naive filter");
    require(!(fresh && known), "a key that was there is called certainly new");
  }
  void expect_find(Hash128 hash, bool found) const {
    require(found == naive_.may_contain(hash), "a look-up differs from the naive filter");
    require(found || !keys_.contains(name_of(hash)), "a false negative");
  }
  template <class Call>
  void insert_many(const std::vector<Hash128>& hashes, bool wanted, Call call) {
    std::size_t yes = 0, expected = 0;
    const std::vector<bool> fresh = answers_of(hashes.size(), wanted, yes, call);
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      if (wanted) {
        expect_insert(hashes[i], fresh[i]);
        expected += fresh[i];
      } else {
        keys_.insert(name_of(hashes[i]));
        expected += naive_.insert(hashes[i]);
      }
    }
    require(yes == expected, "a bulk insert counted otherwise");
  }
  template <class Call>
  void find_many(const std::vector<Hash128>& hashes, bool wanted, Call call) const {
    std::size_t yes = 0, expected = 0;
    const std::vector<bool> found = answers_of(hashes.size(), wanted, yes, call);
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      if (wanted) expect_find(hashes[i], found[i]);
      expected += naive_.may_contain(hashes[i]);
    }
    require(yes == expected, "a bulk look-up counted otherwise");
  }

  ScalableFilter filter_;
  NaiveScalable naive_;
  Keys keys_;
};

}  // namespace bloomery::test
