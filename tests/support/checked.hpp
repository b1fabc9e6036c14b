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

// Calls call(answers), with room for `count` answers or, if they are not wanted, for none.
template <class Call>
std::vector<bool> answers_of(std::size_t count, bool wanted, std::size_t& yes, Call call) {
  const auto answers = std::make_unique<bool[]>(count);
  yes = call(wanted ? std::span<bool>(answers.get(), count) : std::span<bool>());
  return std::vector<bool>(answers.get(), answers.get() + count);
}

}  // namespace bloomery::test
