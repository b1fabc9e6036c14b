// Cuckoo filters of numbered items, and all their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cuckoo/filter.hpp"
#include "values.hpp"

namespace bloomery::server::cuckoo {

inline const test::AtMost kAnyMemory(UINT64_MAX);

inline std::uint64_t hash_of(std::uint64_t number) {
  return hash("item:" + std::to_string(number));
}

inline Inserted add(Filter& filter, std::uint64_t number) {
  return filter.insert(hash_of(number), false, kAnyMemory);
}

inline std::vector<std::byte> whole(const Filter& filter) {
  const auto header = encode(filter.header());
  std::vector<std::byte> bytes(header.begin(), header.end());
  for (std::uint32_t i = 0; i < filter.header().sub_filters; ++i)
    bytes.insert(bytes.end(), filter.array(i).begin(), filter.array(i).end());
  return bytes;
}

}  // namespace bloomery::server::cuckoo
