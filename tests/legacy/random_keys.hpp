// Random keys of one size, as a filter takes many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/random.hpp"

namespace bloomery::test {

struct Keys {
  std::vector<std::string> texts;
  std::vector<std::string_view> views;
};

inline Keys random_keys(std::size_t count, std::size_t size, std::uint64_t seed) {
  Random random(seed);
  Keys keys;
  for (std::size_t i = 0; i < count; ++i) keys.texts.push_back(random.bytes(size));
  keys.views.assign(keys.texts.begin(), keys.texts.end());
  return keys;
}

}  // namespace bloomery::test
