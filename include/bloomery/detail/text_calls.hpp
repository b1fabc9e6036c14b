// The calls for many keys of filters whose keys are text or bytes, which somebody else hashes: for any range of keys
// and any range of answers, as in key_calls.hpp.
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
// do_insert, do_contain (const) and do_remove(Texts keys, std::span<bool> answers), as far as it has the calls.
// `answers` is empty or has room for one per key; otherwise they throw Error{invalid_argument}. If they can fail
// between keys, F has acknowledged(), and begin_call() const noexcept, which is called first in each call, also in
// one that is refused.
template <class F>
class TextCalls {
 public:
  using Texts = std::span<const std::string_view>;

  std::size_t insert_many(Texts keys, std::span<bool> fresh = {}) {
    return apply<Insert>(self(), keys, fresh);
  }
  template <class R, class A = std::span<bool>>
  std::size_t insert_many(R&& keys, A&& fresh = A()) {
    return many<Insert>(self(), keys, fresh);
  }
  std::size_t may_contain_many(Texts keys, std::span<bool> found = {}) const {
    return apply<Contain>(self(), keys, found);
  }
  template <class R, class A = std::span<bool>>
  std::size_t may_contain_many(R&& keys, A&& found = A()) const {
    return many<Contain>(self(), keys, found);
  }
  std::size_t remove_many(Texts keys, std::span<bool> removed = {}) {
    return apply<Remove>(self(), keys, removed);
  }
  template <class R, class A = std::span<bool>>
  std::size_t remove_many(R&& keys, A&& removed = A()) {
    return many<Remove>(self(), keys, removed);
  }

 private:
  struct Insert {
    static std::size_t apply(F& filter, Texts keys, std::span<bool> fresh) {
      return filter.do_insert(keys, fresh);
    }
  };
  struct Contain {
    static std::size_t apply(const F& filter, Texts keys, std::span<bool> found) {
      return filter.do_contain(keys, found);
    }
  };
  struct Remove {
    static std::size_t apply(F& filter, Texts keys, std::span<bool> removed) {
      return filter.do_remove(keys, removed);
    }
  };

  static void begin(const F& filter) noexcept {
    if constexpr (requires { filter.begin_call(); }) filter.begin_call();
  }
  // Self is F or const F.
  template <class Operation, class Self>
  static std::size_t apply(Self& filter, Texts keys, std::span<bool> answers) {
    begin(filter);
    return Operation::apply(filter, keys, answers);
  }
  template <class Operation, class Self, class R, class A>
  static std::size_t many(Self& filter, R& keys, A& answers) {
    static_assert(TextRange<R>, "keys are a range of text or bytes");
    if constexpr (TextRange<R> && require_answers<A>()) {
      begin(filter);
      if constexpr (std::convertible_to<R&, Texts>) {
        return with_texts<Operation>(filter, Texts(keys), answers);
      } else if constexpr (kHoldsTexts<R>) {
        std::vector<std::string_view> views;
        for (const auto& key : keys) views.emplace_back(key);
        return with_texts<Operation>(filter, Texts(views), answers);
      } else {
        KeyPart copies(nullptr);
        for (auto&& key : keys) (void)copies.add(key);
        return with_texts<Operation>(filter, copies.texts(), answers);
      }
    } else {
      return 0;
    }
  }
  template <class Operation, class Self, class A>
  static std::size_t with_texts(Self& filter, Texts keys, A& answers) {
    if constexpr (!std::same_as<std::remove_cv_t<A>, std::span<bool>>)
      require_room(static_cast<std::size_t>(std::ranges::distance(answers)), keys.size());
    return with_bools(answers, keys.size(), [&](std::span<bool> bools, std::size_t& given) {
      try {
        const std::size_t count = Operation::apply(filter, keys, bools);
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
