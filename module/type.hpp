// The two data types, and keys that hold values of them.
//
// Filters of RedisBloom's scheme have RedisBloom's type, `MBbloom--`, so that RDB files and DUMP
// payloads go both ways. Native ones have `bloomery-`, so that RedisBloom never takes them for its
// own.
#pragma once

#include "api.hpp"
#include "value.hpp"

namespace bloomery::server {

// False: another module (RedisBloom) has registered them already.
[[nodiscard]] bool register_types(Context* context) noexcept;

// Thrown by commands, and replied as it stands.
struct ErrorReply {
  const char* message;
};
constexpr const char* kWrongType =
    "WRONGTYPE Operation against a key holding the wrong kind of value";

class OpenedKey {
 public:
  OpenedKey(Context* context, String* name, int mode) noexcept;
  ~OpenedKey() {
    if (key_ != nullptr) api.CloseKey(key_);
  }
  OpenedKey(const OpenedKey&) = delete;
  OpenedKey& operator=(const OpenedKey&) = delete;

  // Null: there is none, or the key holds something else.
  [[nodiscard]] Value* value() const noexcept { return value_; }
  [[nodiscard]] Value& filter() const {
    return value_ != nullptr ? *value_
                             : throw ErrorReply{is_missing() ? "ERR not found" : kWrongType};
  }
  [[nodiscard]] bool is_missing() const noexcept { return api.KeyType(key_) == kKeyIsEmpty; }
  // The key must have been opened for writing.
  Value& put(AnyValue value) noexcept;

 private:
  Key* key_;
  Value* value_;
};

}  // namespace bloomery::server
