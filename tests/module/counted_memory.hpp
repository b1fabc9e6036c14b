// The server's memory in tests without a server: counted, and refused on demand.
#pragma once

#include <cstddef>
#include <cstdlib>

#include "server/api.hpp"

namespace bloomery::test {

struct CountedMemory {
  CountedMemory() {
    server::api.TryAlloc = take;
    server::api.Free = give_back;
    held = largest = 0;
    refuse_above = SIZE_MAX;
    allocations_left = SIZE_MAX;
  }
  ~CountedMemory() { server::api = {}; }
  CountedMemory(const CountedMemory&) = delete;
  CountedMemory& operator=(const CountedMemory&) = delete;

  static inline std::size_t held = 0;     // allocations that are not given back
  static inline std::size_t largest = 0;  // bytes of one
  static inline std::size_t refuse_above = SIZE_MAX;
  static inline std::size_t allocations_left = SIZE_MAX;

 private:
  static void* take(std::size_t bytes) {
    if (bytes > refuse_above || allocations_left == 0) return nullptr;
    --allocations_left;
    if (bytes > largest) largest = bytes;
    ++held;
    return std::malloc(bytes);
  }
  static void give_back(void* memory) {
    held -= memory != nullptr;
    std::free(memory);
  }
};

}  // namespace bloomery::test
