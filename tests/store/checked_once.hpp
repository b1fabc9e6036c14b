// Remembers which machines were checked, so that equal ones are checked once.
#pragma once

#include <bloomery/hash.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "store/fake_os.hpp"
#include "support/effort.hpp"

namespace bloomery::test {

// Whether what is left is to be checked: these files with these promises were not checked before. Most calls change
// neither (they look, or lock), so that to stop before each of them and the next one leaves the same.
inline bool is_to_check(const FakeOs& os, const std::string& promised) {
  static std::set<std::pair<std::uint64_t, std::uint64_t>> checked;
  const Hash128 hash = Hasher()(os.files() + promised);
  return checked.emplace(hash.low, hash.high).second || nightly();
}
template <class Number>
void add_bytes(std::string& to, const Number* numbers, std::size_t count) {
  to.append(reinterpret_cast<const char*>(numbers), count * sizeof(Number));
}

}  // namespace bloomery::test
