// What the checked filters share. A checked filter goes through any operations beside a naive one and the
// exact set of its keys, and throws std::logic_error at the first difference.
//
// A checked filter has an enum Call of its operations, whose last is `calls`, apply(operation) and check().
// One list of operations serves the property test (random lists) and the fuzzer (lists from bytes).
#pragma once

#include <bloomery/detail/keys.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bloomery::test {

template <class CallOf>
struct CheckedOperation {
  using Call = CallOf;
  static constexpr Call calls = CallOf::calls;
  Call call = {};
  bool answers = false;  // of calls with many keys: whether they are asked for
  std::vector<std::uint16_t> keys;
};

inline void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

inline std::string text_of(std::uint16_t key) { return "key " + std::to_string(key); }

// The keys of an operation, as numbers and as text.
template <class Operation>
std::vector<std::uint64_t> values(const Operation& operation) {
  return {operation.keys.begin(), operation.keys.end()};
}
template <class Operation>
std::vector<std::string> strings(const Operation& operation) {
  std::vector<std::string> out;
  for (const std::uint16_t key : operation.keys) out.push_back(text_of(key));
  return out;
}

using ExactKey = std::pair<std::uint64_t, std::uint64_t>;

// A naive filter beside the exact set of its keys: what a filter that only takes keys is compared with.
template <class Naive>
struct SetModel {
  Naive naive;
  std::set<ExactKey> keys = {};

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

// The real filter's call(answers), with room for an answer a key or, if they are not wanted, for none; and what is
// expected of each key, by the naive filter: expect(hash).
template <class Call, class Expect>
void bulk(bool wanted, const std::vector<Hash128>& keys, Call call, Expect expect) {
  const auto answers = std::make_unique<bool[]>(keys.size());
  const std::size_t yes =
      call(wanted ? std::span<bool>(answers.get(), keys.size()) : std::span<bool>());
  std::size_t expected = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool answer = expect(keys[i]);
    expected += answer;
    require(!wanted || answers[i] == answer, "a bulk call answered otherwise");
  }
  require(yes == expected, "a bulk call counted otherwise");
}

// Each of these calls the filter with a key or with many, and the model with their hashes.
template <class Filter, class Key, class Model>
void check_insert(Filter&& filter, const Key& key, Model& model) {
  require(filter.insert(key) == model.insert(filter.hash(key)),
          "insert answered otherwise than the naive filter");
}
template <class Filter, class Key, class Model>
void check_find(const Filter& filter, const Key& key, Model& model) {
  require(filter.may_contain(key) == model.find(filter.hash(key)),
          "a look-up differs from the naive filter");
}
template <class Filter, class Keys, class Model>
void check_insert_many(Filter&& filter, const Keys& keys, bool wanted, Model& model) {
  bulk(
      wanted, detail::hash_keys(filter.hasher(), keys),
      [&](auto answers) { return filter.insert_many(keys, answers); },
      [&](Hash128 hash) { return model.insert(hash); });
}
template <class Filter, class Keys, class Model>
void check_insert_hashes(Filter&& filter, const Keys& keys, bool wanted, Model& model) {
  const std::vector<Hash128> hashes = detail::hash_keys(filter.hasher(), keys);
  bulk(
      wanted, hashes, [&](auto answers) { return filter.insert_hashes(hashes, answers); },
      [&](Hash128 hash) { return model.insert(hash); });
}
template <class Filter, class Keys, class Model>
void check_find_many(const Filter& filter, const Keys& keys, bool wanted, Model& model) {
  bulk(
      wanted, detail::hash_keys(filter.hasher(), keys),
      [&](auto answers) { return filter.may_contain_many(keys, answers); },
      [&](Hash128 hash) { return model.find(hash); });
}
template <class Filter, class Keys, class Model>
void check_find_hashes(const Filter& filter, const Keys& keys, bool wanted, Model& model) {
  const std::vector<Hash128> hashes = detail::hash_keys(filter.hasher(), keys);
  bulk(
      wanted, hashes, [&](auto answers) { return filter.may_contain_hashes(hashes, answers); },
      [&](Hash128 hash) { return model.find(hash); });
}

// For filters of every kind.
template <class Filter>
void move_and_return(Filter& filter) {
  Filter moved(std::move(filter));
  filter = std::move(moved);
}
template <class Filter, class Kernels>
void use_one_of(const Kernels& kernels, std::size_t which, Filter& filter) {
  filter.use_kernel(*kernels[which % kernels.size()]);
}

}  // namespace bloomery::test
