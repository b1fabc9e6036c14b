// The server's memory in tests without a server: counted, refused on demand, and moved.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

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

// The sizes tell that this memory, unlike a server's, does not keep the alignment of what it moves:
// an array that is aligned by chance alone stays.
struct MovingMemory : CountedMemory {
  MovingMemory() {
    server::api.DefragAlloc = move;
    server::api.MallocSize = malloc_usable_size;
  }
  static inline int moves = 0;

 private:
  // What was there is overwritten, so that code that still reads it gives itself away.
  static void* move(server::DefragContext*, void* memory) {
    const std::size_t bytes = malloc_usable_size(memory);
    void* moved = std::malloc(bytes);
    std::memcpy(moved, memory, bytes);
    std::memset(memory, 0xDD, bytes);
    std::free(memory);
    ++moves;
    return moved;
  }
};

}  // namespace bloomery::test
