// Keys of any type on their way into AnyFilter: in parts, in the form that a place takes, hashes, or the bytes of keys
// if the place hashes them itself.
#pragma once

#include <bloomery/detail/answers.hpp>
#include <bloomery/detail/keys.hpp>
#include <bloomery/hash.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
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

// The calls of AnyFilter with keys of any type, by its calls with hashes and with bytes.
template <class F>
class KeyParts {
 protected:
  template <class K, class Operation>
  [[gnu::noinline]] bool one(Operation operation, Passed<K> key) {
    if (operation != Operation::contain)
      self().acknowledged_ = 0;  // the conversion of a key may throw
    if (const Hasher* hash_of = self().hasher()) {
      const Hash128 hash = hash_key(*hash_of, key);
      return self().apply(operation, std::span(&hash, 1)) == 1;
    }
    const std::span keys(&key, 1);
    std::size_t done = 0;
    return in_parts(operation, keys, {}, false, done) == 1;
  }
  template <class Operation, class R, class A>
  std::size_t with_answers(Operation operation, R& keys, A& answers) {
    if constexpr (!require_keys<R>() || !require_answers<A>()) {
      return 0;
    } else {
      (void)self().impl();
      constexpr bool kMayBeUnwanted = std::same_as<std::remove_cv_t<A>, std::span<bool>>;
      const bool wanted = !kMayBeUnwanted || !std::ranges::empty(answers);
      std::size_t most = ~std::size_t{0};
      if (operation != Operation::contain) self().acknowledged_ = 0;
      if constexpr (std::ranges::forward_range<R> || std::ranges::sized_range<R>) {
        most = static_cast<std::size_t>(std::ranges::distance(keys));
        if (wanted) require_room(static_cast<std::size_t>(std::ranges::distance(answers)), most);
      } else if (wanted && std::ranges::empty(answers)) {
        require_room(0, std::ranges::begin(keys) == std::ranges::end(keys) ? 0 : 1);
        return 0;
      }
      return with_bools(answers, most, [&](std::span<bool> bools, std::size_t& given) {
        return in_parts(operation, keys, bools, wanted, given);
      });
    }
  }
  void require_room(std::size_t room, std::size_t keys, std::size_t done = 0) {
    if (room < keys) self().acknowledged_ = done;
    detail::require_room(room, keys);
  }

 private:
  static constexpr std::size_t kKeysAtOnce = 65'536;

  // `wanted`: whether `answers` has room; it is empty and wanted if a range says that it has no keys. `done`: how many
  // keys have their answers, also after an Error.
  template <class Operation, class R>
  std::size_t in_parts(Operation operation, R& keys, std::span<bool> answers, bool wanted,
                       std::size_t& done) {
    std::size_t count = 0;
    bool in_place = false;  // whether an Error is one of the place, which then has counted
    KeyPart part(self().hasher());
    const auto finish_part = [&] {
      if (part.size() == 0 && done != 0) return;  // a call for no keys may be refused too
      if (wanted) require_room(answers.size(), done + part.size(), done);
      const auto out = wanted ? answers.subspan(done, part.size()) : answers;
      in_place = true;
      count += part.has_hashes() ? self().apply_hashes(done, operation, part.hashes(), out)
                                 : self().apply_keys(done, operation, part.texts(), out);
      in_place = false;
      done += part.size();
      part.clear();
    };
    try {
      for (auto&& key : keys) {
        if (!part.add(key)) self().refuse_integers();
        if (part.size() == kKeysAtOnce) finish_part();
      }
      finish_part();
    } catch (...) {
      if (in_place) done = std::clamp(self().acknowledged_, done, done + part.size());
      if (operation == Operation::contain) self().acknowledged_ = done;
      throw;
    }
    return count;
  }
  [[nodiscard]] F& self() noexcept { return static_cast<F&>(*this); }
};

}  // namespace bloomery::detail
