// An array that is used again and again: on huge pages if it is large, since what reads it goes anywhere in it.
#pragma once

#include <bloomery/detail/bit_memory.hpp>

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace bloomery::detail {

template <class T>
class ScratchMemory {
  static_assert(std::is_trivial_v<T>);

 public:
  // So many values, which are what they happen to be where it has to grow. Error{no_memory}.
  [[nodiscard]] std::span<T> take(std::size_t count) {
    if (count * sizeof(T) > memory_.bytes().size()) {
      memory_ = {};  // before there are two of it
      memory_ = BitMemory((count + count / 16) * sizeof(T));
    }
    return {reinterpret_cast<T*>(memory_.bytes().data()), count};
  }
  void swap(ScratchMemory& other) noexcept { std::swap(memory_, other.memory_); }

 private:
  BitMemory memory_;
};

}  // namespace bloomery::detail
