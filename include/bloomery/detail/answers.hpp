// Where calls for many keys write their answers: into bools directly, into any other range by copying.
#pragma once

#include <bloomery/error.hpp>
#include <bloomery/hash.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <string>

namespace bloomery::detail {

template <class A>
concept AnswerRange = std::ranges::forward_range<A> &&
    std::integral<std::ranges::range_value_t<A>> && requires(std::ranges::iterator_t<A> answer) {
  *answer = true;
};

template <class A>
[[nodiscard]] consteval bool require_answers() {
  static_assert(
      AnswerRange<A>,
      "answers are a range of bools or other integers: std::vector<bool>, std::span<bool>");
  return AnswerRange<A>;
}

// Error{invalid_argument}: there is less room for answers than there are keys.
inline void require_room(std::size_t room, std::size_t keys) {
  if (room < keys)
    throw Error(ErrorCode::invalid_argument, "there is room for " + std::to_string(room) +
                                                 " answers, but " + std::to_string(keys) +
                                                 " keys are given; make room for one answer each");
}

// The same, but an empty span means that no answers are wanted.
inline void require_room(std::span<const bool> answers, std::size_t keys) {
  if (!answers.empty()) require_room(answers.size(), keys);
}

// The room for the answers of these hashes, from the pointer that a do_* function gets.
[[nodiscard]] inline std::span<bool> answers_for(std::span<const Hash128> hashes,
                                                 bool* answers) noexcept {
  return answers == nullptr ? std::span<bool>() : std::span(answers, hashes.size());
}

// Returns call(std::span<bool>, given), for a callee whose answers are a span, and which sets `given` to their number.
// Any other range gets them copied, those before an error too, and keeps what is behind them. `most`: there are no
// more.
template <class A, class Call>
std::size_t with_bools(A& answers, std::size_t most, Call call) {
  std::size_t given = 0;
  if constexpr (std::same_as<std::remove_cv_t<A>, std::span<bool>>) {
    return call(answers, given);
  } else {
    const std::size_t room =
        std::min(most, static_cast<std::size_t>(std::ranges::distance(answers)));
    const auto bools = std::make_unique<bool[]>(room);
    const auto copy = [&] { std::copy_n(bools.get(), given, std::ranges::begin(answers)); };
    std::size_t count = 0;
    try {
      count = call(std::span(bools.get(), room), given);
    } catch (...) {
      copy();
      throw;
    }
    copy();
    return count;
  }
}

// A destination of answers: give(n, apply) calls apply(bool*) with room for the next n answers. The caller
// has already checked the room against the size of the range of keys; give() checks it again for each part,
// because a range may state a wrong size.
struct BoolAnswers {
  bool* next = nullptr;  // null: no answers are wanted
  std::size_t room = 0;
  static constexpr std::size_t kMost = ~std::size_t{0};
  template <class Apply>
  std::size_t give(std::size_t count, Apply apply) {
    if (next == nullptr) return apply(nullptr);
    require_room(room, count);
    bool* const here = next;
    next += count;
    room -= count;
    return apply(here);
  }
};
// `kAllAtOnce`: a part is not divided further, however large it is.
template <class Iterator, bool kAllAtOnce>
struct CopiedAnswers {
  Iterator next;
  std::size_t room;
  static constexpr std::size_t kMost = kAllAtOnce ? ~std::size_t{0} : 1024;
  template <class Apply>
  std::size_t give(std::size_t count, Apply apply) {
    require_room(room, count);
    room -= count;
    if constexpr (kAllAtOnce) {
      const auto here = std::make_unique<bool[]>(count);
      return copy(here.get(), count, apply);
    } else {
      std::array<bool, kMost> here;
      return copy(here.data(), count, apply);
    }
  }

 private:
  template <class Apply>
  std::size_t copy(bool* here, std::size_t count, Apply apply) {
    const std::size_t yes = apply(here);
    for (std::size_t i = 0; i < count; ++i, ++next) *next = here[i];
    return yes;
  }
};

}  // namespace bloomery::detail
