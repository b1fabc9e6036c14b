// Memory that is lacking where a test says so. A program with scarce_memory.cpp has its own operator new, and the linker
// hands it the library's calls for the memory of bits (--wrap), so it is one of its own.
#pragma once

#include <cstddef>

namespace bloomery::test {

// The allocation after which one of at least so many bytes fails; negative: none does.
inline long fail_after = -1;
inline std::size_t fail_from = 0;
inline std::size_t allocations_failed = 0;
inline std::size_t asked_for = 0;  // bytes

}  // namespace bloomery::test
