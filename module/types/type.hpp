// The two data types of Bloom filters, and keys that hold values of a data type.
//
// Filters of RedisBloom's scheme have RedisBloom's type, `MBbloom--`, so that RDB files and DUMP
// payloads go both ways. Native ones have `bloomery-`, so that RedisBloom never takes them for its
// own.
#pragma once

#include <utility>

#include "server/api.hpp"
#include "values/value.hpp"

namespace bloomery::server {

// False: another module (RedisBloom) has registered them already.
[[nodiscard]] bool register_types(Context* context) noexcept;

// Commands throw it; it is replied word for word.
struct ErrorReply {
  const char* message;
};
constexpr const char* kWrongType =
    "WRONGTYPE Operation against a key holding the wrong kind of value";

// A key that holds a `T` or nothing. `Of` knows the data types of T: `is_type` says whether one is T's,
// `type_of` which one a value has, and `counted_in` gives it to the server.
template <class T, class Pointer, class Of>
class KeyHolding {
 public:
  KeyHolding(Context* context, String* name, int mode) noexcept
      : key_(api.OpenKey(context, name, mode)) {
    if (const Type* const type = api.ModuleTypeGetType(key_); type != nullptr && Of::is_type(type))
      value_ = static_cast<T*>(api.ModuleTypeGetValue(key_));
  }
  ~KeyHolding() {
    if (key_ != nullptr) api.CloseKey(key_);
  }
  KeyHolding(const KeyHolding&) = delete;
  KeyHolding& operator=(const KeyHolding&) = delete;

  // Null: there is none, or the key holds something else.
  [[nodiscard]] T* value() const noexcept { return value_; }
  // ErrorReply{"ERR not found"} or {WRONGTYPE}.
  [[nodiscard]] T& filter() const {
    if (value_ != nullptr) return *value_;
    throw ErrorReply{is_missing() ? "ERR not found" : kWrongType};
  }
  [[nodiscard]] bool is_missing() const noexcept { return api.KeyType(key_) == kKeyIsEmpty; }
  // ErrorReply{"ERR item exists"} or {WRONGTYPE}, unless it is missing.
  void must_be_missing() const {
    if (!is_missing()) throw ErrorReply{value_ != nullptr ? "ERR item exists" : kWrongType};
  }
  // The key must have been opened for writing.
  T& put(Pointer value) noexcept {
    value_ = Of::counted_in(std::move(value));
    api.ModuleTypeSetValue(key_, Of::type_of(*value_), value_);
    return *value_;
  }

 private:
  Key* key_;
  T* value_ = nullptr;
};

struct ValueTypes {
  [[nodiscard]] static bool is_type(const Type* type) noexcept;
  [[nodiscard]] static Type* type_of(const Value& value) noexcept;
  [[nodiscard]] static Value* counted_in(AnyValue value) noexcept;
};
using OpenedKey = KeyHolding<Value, AnyValue, ValueTypes>;

}  // namespace bloomery::server
