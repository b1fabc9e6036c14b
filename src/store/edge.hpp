// The library's edge: what leaves it is an Error, also where memory runs out.
#pragma once

#include <bloomery/error.hpp>

#include <new>
#include <string>

namespace bloomery::detail {

template <class Work>
auto at_edge(const std::string& path, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::no_memory, path + ": out of memory; free some, or use a smaller filter");
  }
}

}  // namespace bloomery::detail
