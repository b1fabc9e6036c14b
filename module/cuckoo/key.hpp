// The data type of cuckoo filters, RedisBloom's `MBbloomCF`, and keys that hold one.
#pragma once

#include "api.hpp"
#include "cuckoo/filter.hpp"
#include "statistics.hpp"

namespace bloomery::server::cuckoo {

// False: another module (RedisBloom) has registered it already.
[[nodiscard]] bool register_type(Context* context) noexcept;

// Counts what a command changes in a filter, when the change is over (statistics.hpp).
class CountedChange {
 public:
  explicit CountedChange(const Filter& filter) noexcept;
  ~CountedChange();
  CountedChange(const CountedChange&) = delete;
  CountedChange& operator=(const CountedChange&) = delete;

 private:
  const Filter& filter_;
  CuckooTotals before_;
};

class OpenedKey {
 public:
  OpenedKey(Context* context, String* name, int mode) noexcept;
  ~OpenedKey() {
    if (key_ != nullptr) api.CloseKey(key_);
  }
  OpenedKey(const OpenedKey&) = delete;
  OpenedKey& operator=(const OpenedKey&) = delete;

  // Null: there is none, or the key holds something else.
  [[nodiscard]] Filter* value() const noexcept { return value_; }
  // ErrorReply{"ERR not found"} or {WRONGTYPE}.
  [[nodiscard]] Filter& filter() const;
  [[nodiscard]] bool is_missing() const noexcept { return api.KeyType(key_) == kKeyIsEmpty; }
  // ErrorReply{"ERR item exists"} or {WRONGTYPE}, unless it is missing.
  void must_be_missing() const;
  // The key must have been opened for writing.
  Filter& put(Filter::Pointer filter) noexcept;

 private:
  Key* key_;
  Filter* value_;
};

}  // namespace bloomery::server::cuckoo
