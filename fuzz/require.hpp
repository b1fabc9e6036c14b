// What must hold for any input: the fuzzer reports one for which it does not.
#pragma once

#include <cstdlib>

namespace bloomery::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace bloomery::fuzz
