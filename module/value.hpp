// What a key holds: one of our kinds of filter, made and freed in the server's memory.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include <bloomery/error.hpp>

#include "memory.hpp"

namespace bloomery::server {

// Numbers are in dumps and never change.
enum class Kind : std::uint8_t { chain = 1 };

class Value {
 public:
  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 protected:
  explicit Value(Kind kind) noexcept : kind_(kind) {}
  ~Value() = default;

 private:
  Kind kind_;
};

template <class T>
struct ValueDeleter {
  void operator()(T* value) const noexcept {
    value->~T();
    release(value);
  }
};
template <class T>
using ValuePointer = std::unique_ptr<T, ValueDeleter<T>>;

struct ValueAccess {
  // Error{no_memory}.
  template <class T, class... Arguments>
  [[nodiscard]] static ValuePointer<T> make(Arguments&&... arguments) {
    void* memory = allocate(sizeof(T));
    if (memory == nullptr) throw Error(ErrorCode::no_memory, "no memory for a filter");
    return ValuePointer<T>(new (memory) T(std::forward<Arguments>(arguments)...));
  }
};

}  // namespace bloomery::server
