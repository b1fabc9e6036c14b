// What the checked filters share. A checked filter goes through any operations beside a naive one and the
// exact set of its keys, and throws std::logic_error at the first difference.
//
// A checked filter has an enum Kind of its operations, whose last is `kinds`, apply(operation) and check().
// One list of operations serves the property test (random lists) and the fuzzer (lists from bytes).
#pragma once

#include <bloomery/detail/keys.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace bloomery::test {

template <class KindOf>
struct CheckedOperation {
  using Kind = KindOf;
  static constexpr Kind kinds = KindOf::kinds;
  Kind kind = {};
  bool answers = false;  // of calls with many keys: whether they are asked for
  std::vector<std::uint16_t> keys;
};

inline void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

constexpr const char* kInsertDiffers = "insert answered otherwise than the naive filter";
constexpr const char* kLookUpDiffers = "a look-up differs from the naive filter";

inline std::string text_of(std::uint16_t key) { return "key " + std::to_string(key); }

// The keys of an operation, as numbers, as text, and as the hashes of both.
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
template <class Operation>
std::vector<Hash128> hashes_of_values(const Hasher& hasher, const Operation& operation) {
  return detail::hash_keys(hasher, values(operation));
}
template <class Operation>
std::vector<Hash128> hashes_of_strings(const Hasher& hasher, const Operation& operation) {
  return detail::hash_keys(hasher, strings(operation));
}

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

}  // namespace bloomery::test
