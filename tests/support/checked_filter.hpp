// A plain filter that is checked: two real filters and two naive ones go through the same operations, beside
// the exact sets of their keys; any difference is thrown.
//
// The property test (random lists of operations) and the fuzzer (lists from bytes) both use it.
#pragma once

#include <bloomery/concurrent_filter.hpp>
#include <bloomery/filter.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/checked.hpp"
#include "support/naive_filter.hpp"

namespace bloomery::test {

class CheckedFilter {
 public:
  enum Kind : std::uint8_t {
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
    kinds
  };
  using Operation = CheckedOperation<Kind>;

  CheckedFilter(const Plan& plan, const Hasher& hasher) : plan_(plan), hasher_(hasher) {
    for (int i = 0; i < 2; ++i)
      both_.push_back(Checked{Filter(plan, hasher), NaiveFilter(plan), {}});
  }

  void apply(const Operation& operation) {
    Checked &checked = both_[0], &other = both_[1];
    const std::uint16_t first = operation.keys.empty() ? 0 : operation.keys[0];
    const auto insert = [&](Hash128 hash) { return checked.insert(hash); };
    const auto find = [&](Hash128 hash) { return checked.find(hash); };
    switch (operation.kind) {
      case insert_integer:
        require(checked.filter.insert(std::uint64_t{first}) == checked.insert(integer(first)),
                kInsertDiffers);
        break;
      case insert_text:
        require(checked.filter.insert(text_of(first)) == checked.insert(text(first)),
                kInsertDiffers);
        break;
      case insert_integers:
        bulk(
            operation.answers, integers(operation),
            [&](auto answers) { return checked.filter.insert_many(values(operation), answers); },
            insert);
        break;
      case insert_texts:
        bulk(
            operation.answers, texts(operation),
            [&](auto answers) { return checked.filter.insert_many(strings(operation), answers); },
            insert);
        break;
      case insert_hashes:
        bulk(
            operation.answers, texts(operation),
            [&](auto answers) { return checked.filter.insert_hashes(texts(operation), answers); },
            insert);
        break;
      case insert_concurrently:
        require(ConcurrentFilter(checked.filter).insert(std::uint64_t{first}) ==
                    checked.insert(integer(first)),
                kInsertDiffers);
        break;
      case insert_hashes_concurrently:
        bulk(
            operation.answers, integers(operation),
            [&](auto answers) {
              return ConcurrentFilter(checked.filter).insert_hashes(integers(operation), answers);
            },
            insert);
        break;
      case find_integer:
        require(checked.filter.may_contain(std::uint64_t{first}) == checked.find(integer(first)),
                kLookUpDiffers);
        break;
      case find_text:
        require(checked.filter.may_contain(text_of(first)) == checked.find(text(first)),
                kLookUpDiffers);
        break;
      case find_integers:
        bulk(
            operation.answers, integers(operation),
            [&](auto answers) {
              return checked.filter.may_contain_many(values(operation), answers);
            },
            find);
        break;
      case find_hashes:
        bulk(
            operation.answers, texts(operation),
            [&](auto answers) {
              return checked.filter.may_contain_hashes(texts(operation), answers);
            },
            find);
        break;
      case find_hashes_concurrently:
        bulk(
            operation.answers, integers(operation),
            [&](auto answers) {
              return ConcurrentFilter(checked.filter)
                  .may_contain_hashes(integers(operation), answers);
            },
            find);
        break;
      case merge:
        checked.filter.merge(other.filter);
        combine(checked, other, [](bool a, bool b) { return a || b; });
        checked.keys.insert(other.keys.begin(), other.keys.end());
        break;
      case intersect:
        checked.filter.intersect(other.filter);
        combine(checked, other, [](bool a, bool b) { return a && b; });
        std::erase_if(checked.keys, [&](const Key& key) { return !other.keys.contains(key); });
        break;
      case clear:
        checked.filter.clear();
        checked.naive = NaiveFilter(plan_);
        checked.keys.clear();
        break;
      case copy:
        checked.filter = other.filter.copy();
        checked.naive = other.naive;
        checked.keys = other.keys;
        break;
      case move: {
        Filter moved(std::move(checked.filter));
        checked.filter = std::move(moved);
        break;
      }
      case swap:
        std::swap(both_[0], both_[1]);
        break;
      case use_kernel: {
        const auto kernels = detail::kernels_of(plan_.layout);
        checked.filter.use_kernel(*kernels[first % kernels.size()]);
        break;
      }
      case kinds:
        break;
    }
  }

  // The bits are the naive filter's, every key is found, and the measures are those of the bits.
  void check() const {
    for (const Checked& checked : both_) {
      const std::vector<std::byte> bytes = checked.naive.bytes();
      require(std::equal(bytes.begin(), bytes.end(), checked.filter.bytes().begin(),
                         checked.filter.bytes().end()),
              "the bits differ");
      for (const Key& key : checked.keys)
        require(checked.filter.may_contain_hash({key.first, key.second}), "a false negative");
      const auto ones = static_cast<double>(
          std::count(checked.naive.bits().begin(), checked.naive.bits().end(), true));
      const double fill = ones / static_cast<double>(plan_.bits);
      require(std::abs(checked.filter.fill() - fill) < 1e-12, "the fill is another");
      const double fpr = checked.filter.current_fpr(), items = checked.filter.estimated_items();
      require(fpr >= 0 && fpr <= 1, "the false-positive rate is no share");
      require((fpr == 0) || ones > 0, "an empty filter has a false-positive rate");
      require(items >= 0 && (items > 0) == (ones > 0), "the items do not fit the bits");
      require(std::isinf(items) == (fill == 1), "the items are infinite for no reason");
      if (items <= static_cast<double>(plan_.capacity))
        require(!checked.filter.over_capacity(), "over capacity below its capacity");
    }
  }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct Checked {
    Filter filter;
    NaiveFilter naive;
    std::set<Key> keys;

    bool insert(Hash128 hash) {
      const bool fresh = naive.insert(hash), known = !keys.emplace(hash.high, hash.low).second;
      require(!(fresh && known), "a key that was there is called certainly new");
      return fresh;
    }
    [[nodiscard]] bool find(Hash128 hash) const {
      const bool found = naive.may_contain(hash);
      require(found || !keys.contains({hash.high, hash.low}), "a false negative");
      return found;
    }
  };

  [[nodiscard]] Hash128 integer(std::uint16_t key) const { return hasher_(std::uint64_t{key}); }
  [[nodiscard]] Hash128 text(std::uint16_t key) const {
    return hasher_(std::string_view(text_of(key)));
  }
  [[nodiscard]] std::vector<Hash128> integers(const Operation& operation) const {
    return hashes_of_values(hasher_, operation);
  }
  [[nodiscard]] std::vector<Hash128> texts(const Operation& operation) const {
    return hashes_of_strings(hasher_, operation);
  }

  template <class Combine>
  static void combine(Checked& checked, const Checked& other, Combine both) {
    for (std::size_t i = 0; i < checked.naive.bits().size(); ++i)
      checked.naive.bits()[i] = both(checked.naive.bits()[i], other.naive.bits()[i]);
  }

  Plan plan_;
  Hasher hasher_;
  std::vector<Checked> both_;
};

}  // namespace bloomery::test
