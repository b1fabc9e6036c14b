// The calls for many keys of filters whose keys are text or bytes, which somebody else hashes: for any range of keys and
// any range of answers, as in key_calls.hpp.
#pragma once

#include <bloomery/detail/answers.hpp>
#include <bloomery/detail/key_parts.hpp>
#include <bloomery/detail/keys.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace bloomery::detail {

template <class R>
concept TextRange = KeyRange<R> && !IntegerKey<std::ranges::range_value_t<R>>;

// Whether views of all keys of the range can be kept: they are no temporary values, and it is read twice.
template <class R>
inline constexpr bool kHoldsTexts =
    std::ranges::forward_range<R>&&
        std::convertible_to<std::ranges::range_reference_t<R>, std::string_view> &&
    (std::is_lvalue_reference_v<std::ranges::range_reference_t<R>> ||
     std::same_as<std::ranges::range_value_t<R>, std::string_view>);

// A filter F derives privately from TextCalls<F>, makes it a friend, and names those calls that it has. Then it has
// do_insert, do_contain and do_remove(Texts keys, std::span<bool> answers), as far as it has the calls. `answers` is empty
// or has room for one per key; otherwise they throw Error{invalid_argument}. If they can fail between keys, F has
// acknowledged().
template <class F>
class TextCalls {
 public:
  using Texts = std::span<const std::string_view>;

  std::size_t insert_many(Texts keys, std::span<bool> fresh = {}) {
    return self().do_insert(keys, fresh);
  }
  template <class R, class A = std::span<bool>>
  std::size_t insert_many(R&& keys, A&& fresh = A()) {
    return many(keys, fresh, self(), [](auto& filter, Texts texts, std::span<bool> answers) {
      return filter.do_insert(texts, answers);
    });
  }
  std::size_t may_contain_many(Texts keys, std::span<bool> found = {}) {
    return self().do_contain(keys, found);
  }
  template <class R, class A = std::span<bool>>
  std::size_t may_contain_many(R&& keys, A&& found = A()) {
    return many(keys, found, self(), [](auto& filter, Texts texts, std::span<bool> answers) {
      return filter.do_contain(texts, answers);
    });
  }
  std::size_t may_contain_many(Texts keys, std::span<bool> found = {}) const {
    return self().do_contain(keys, found);
  }
  template <class R, class A = std::span<bool>>
  std::size_t may_contain_many(R&& keys, A&& found = A()) const {
    return many(keys, found, self(), [](auto& filter, Texts texts, std::span<bool> answers) {
      return filter.do_contain(texts, answers);
    });
  }
  std::size_t remove_many(Texts keys, std::span<bool> removed = {}) {
    return self().do_remove(keys, removed);
  }
  template <class R, class A = std::span<bool>>
  std::size_t remove_many(R&& keys, A&& removed = A()) {
    return many(keys, removed, self(), [](auto& filter, Texts texts, std::span<bool> answers) {
      return filter.do_remove(texts, answers);
    });
  }

 private:
  template <class R, class A, class Self, class Operation>
  static std::size_t many(R& keys, A& answers, Self& filter, Operation operation) {
    static_assert(TextRange<R>, "keys are a range of text or bytes");
    if constexpr (TextRange<R> && require_answers<A>()) {
      if constexpr (std::convertible_to<R&, Texts>) {
        return with_texts(Texts(keys), answers, filter, operation);
      } else if constexpr (kHoldsTexts<R>) {
        std::vector<std::string_view> views;
        for (const auto& key : keys) views.emplace_back(key);
        return with_texts(Texts(views), answers, filter, operation);
      } else {
        KeyPart copies(nullptr);
        for (auto&& key : keys) (void)copies.add(key);
        return with_texts(copies.texts(), answers, filter, operation);
      }
    } else {
      return 0;
    }
  }
  template <class A, class Self, class Operation>
  static std::size_t with_texts(Texts keys, A& answers, Self& filter, Operation operation) {
    if constexpr (!std::same_as<std::remove_cv_t<A>, std::span<bool>>) {
      const auto room = static_cast<std::size_t>(std::ranges::distance(answers));
      // A call without keys: acknowledged() tells of this call, and not of the one before.
      if (room < keys.size()) (void)operation(filter, Texts(), {});
      require_room(room, keys.size());
    }
    return with_bools(answers, keys.size(), [&](std::span<bool> bools, std::size_t& given) {
      try {
        const std::size_t count = operation(filter, keys, bools);
        given = keys.size();
        return count;
      } catch (...) {
        if constexpr (requires { filter.acknowledged(); })
          given = std::min(filter.acknowledged(), keys.size());
        throw;
      }
    });
  }

  [[nodiscard]] F& self() noexcept { return static_cast<F&>(*this); }
  [[nodiscard]] const F& self() const noexcept { return static_cast<const F&>(*this); }
};

}  // namespace bloomery::detail
