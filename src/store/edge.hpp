// The library's edge: what leaves it is an Error, also where memory runs out.
#pragma once

#include <bloomery/error.hpp>

#include <new>
#include <string>

namespace bloomery::detail {

[[noreturn]] inline void refuse_for_memory(const std::string& path) {
  throw Error(ErrorCode::no_memory, path + ": out of memory; free some, or use a smaller filter");
}

template <class Work>
auto at_edge(const std::string& path, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    refuse_for_memory(path);
  }
}

}  // namespace bloomery::detail
