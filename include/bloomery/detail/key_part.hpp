// A part of the keys of a bulk call, in the form that a place takes: hashes, or the bytes of keys if the place hashes
// them itself.
#pragma once

#include <bloomery/detail/keys.hpp>
#include <bloomery/hash.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::detail {

class KeyPart {
 public:
  // Null: the place hashes keys itself.
  explicit KeyPart(const Hasher* hasher) noexcept : hasher_(hasher) {}

  [[nodiscard]] bool has_hashes() const noexcept { return hasher_ != nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return hashes_.size() + ends_.size(); }
  // False: the key is an integer, which has no bytes that every client would hash alike.
  template <class K>
  [[nodiscard]] bool add(const K& key) {
    if (hasher_ != nullptr) {
      hashes_.push_back(hash_key(*hasher_, key));
    } else if constexpr (IntegerKey<K>) {
      return false;
    } else {
      if constexpr (std::convertible_to<const K&, std::string_view>) {
        bytes_.append(std::string_view(key));
      } else {
        const std::span<const std::byte> bytes(key);
        bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      }
      ends_.push_back(bytes_.size());
    }
    return true;
  }
  void clear() noexcept {
    hashes_.clear();
    bytes_.clear();
    ends_.clear();
  }

  [[nodiscard]] std::span<const Hash128> hashes() const noexcept { return hashes_; }
  // Valid until the next call of a function that is not const.
  [[nodiscard]] std::span<const std::string_view> texts() {
    views_.clear();
    for (std::size_t i = 0, begin = 0; i < ends_.size(); begin = ends_[i++])
      views_.push_back(std::string_view(bytes_).substr(begin, ends_[i] - begin));
    return views_;
  }

 private:
  const Hasher* hasher_;
  std::vector<Hash128> hashes_;
  std::string bytes_;  // of all keys, one after the other
  std::vector<std::size_t> ends_;
  std::vector<std::string_view> views_;
};

}  // namespace bloomery::detail
