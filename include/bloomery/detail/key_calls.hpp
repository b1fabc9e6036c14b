// The operations of every filter on keys, one or many.
//
// A key is an integer (by value), text or bytes (hash.hpp). A filter that derives from KeyCalls has
//
//   insert(key)             adds a key. True: it was certainly not there before
//   may_contain(key)        false: the key is certainly not there. True: probably it is
//   remove(key)             counting filters: takes back one insert. False: the key was certainly not
//                           there, and nothing has changed
//   insert_many(keys)       the same for every key of a range, in order; they return how many of the
//   may_contain_many(keys)  answers are true. Several times as fast as a call per key if the filter does
//   remove_many(keys)       not fit into the cache
//   hash(key)               the hash of a key. Functions named *_hash take it instead of a key; those
//                           named *_hashes take a span of hashes
//
// Every function for many keys also takes a range for the answers, of bools or other integers, with room
// for one answer per key. If it is too short, the call throws Error{invalid_argument} and nothing has
// changed; an empty std::span<bool> means that no answers are wanted. Contiguous bools are written directly;
// any other range, such as std::vector<bool>, is filled by copying. If answers are wanted and the range of keys can
// be read only once and has no size, all keys are hashed first.
//
// If the look-ups of a filter do not throw, may_contain_many(keys, answers, threads) divides the keys among
// `threads` threads; 0 means one per core that the process may use. `seen.may_contain_many(keys, {}, 0)` counts the
// keys that the filter may contain. The keys must be contiguous, as in a vector. insert_many(keys, answers, threads)
// of Filter and CountingFilter does the same, and sets the same bits and counters as one thread; there 0 means one
// thread for a filter below 12 MiB, because the caches of a core hold it and several threads would take longer.
// bulk_insert.hpp describes its answers and the memory that it needs; without that memory, or for few keys, it uses
// one thread.
//
// A call throws what the filter's own insert_hash, may_contain_hash or remove_hash throws. If those are
// noexcept, all calls are, except for ranges that throw, and for keys of a type whose conversion to text or
// bytes is not noexcept: the call throws what that throws, and the keys before it may be in the filter. With
// such keys the calls for several threads use one.
//
// ---- for authors of filters ----
//
// A filter F derives from KeyCalls<F>, makes it a friend, and has
//
//   const Hasher& hasher() const
//   bool insert_hash(Hash128), bool may_contain_hash(Hash128) const; if it counts bool remove_hash(Hash128)
//   std::size_t do_insert(std::span<const Hash128>, bool* answers), do_contain(...) const, do_remove(...):
//     many hashes in order; `answers` is null or has room for one per hash
//
// and, if it helps,
//
//   do_insert(std::span<const std::uint64_t>, bool*) and the like: integers, which the filter hashes with
//     hash_integer(). Called only if the hash family is xxh3
//   bool insert_integer(std::uint64_t), bool contains_integer(std::uint64_t) const: one integer
//   keys_at_once() const: the number of hashes that one do_* gets, instead of 1,024, if each part has its own cost,
//     such as a commit or a round trip. It is called again before each part. The hashes are in allocated memory. The
//     do_* is called even if there are no keys
//   around_many(work, keys) const: returns work(), which does all parts of one call; `keys`: count_if_known
//   begin_call() const noexcept: called first in each call, also in one that is refused
//   If keys_at_once() or around_many() is not const, only calls that change the filter use it
#pragma once

#include <bloomery/detail/answers.hpp>
#include <bloomery/detail/keys.hpp>
#include <bloomery/detail/parts.hpp>
#include <bloomery/hash.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace bloomery::detail {

// Runs work() as one load (FilterFile::begin_load): its inserts are acknowledged when this function returns.
template <class F, class Work>
auto as_one_load(F&& filter, std::uint64_t expected, Work work) -> decltype(work()) {
  if (!filter.begin_load(expected)) return work();
  try {
    const auto result = work();
    filter.end_load();
    return result;
  } catch (...) {
    try {
      filter.end_load();
    } catch (...) {
      // The first error says why.
    }
    throw;
  }
}

template <class F>
concept Counts = requires(F& filter) {
  filter.remove_hash(Hash128{});
};

template <class F>
inline constexpr bool kInsertsQuietly = noexcept(std::declval<F&>().insert_hash(Hash128{}));
template <class F>
inline constexpr bool kContainsQuietly =
    noexcept(std::declval<const F&>().may_contain_hash(Hash128{}));
template <class F>
inline constexpr bool kRemovesQuietly = noexcept(std::declval<F&>().remove_hash(Hash128{}));

template <class F>
class KeyCalls {
  // A member of the class, because bulk_target() may be private.
  template <class Self>
  static constexpr bool kTakesPieces = requires(const Self& filter) {
    filter.bulk_target();
  };

 public:
  // ---- one key ----

  template <class K>
  [[nodiscard]] Hash128 hash(const K& key) const noexcept(kConvertsQuietly<K>) {
    return hash_key(self().hasher(), key);
  }
  template <class K>
  bool insert(const K& key) noexcept(kInsertsQuietly<F>&& kConvertsQuietly<K>) {
    if constexpr (IntegerKey<K> && requires(F & filter) { filter.insert_integer(0); })
      return self().insert_integer(static_cast<std::uint64_t>(key));
    else
      return self().insert_hash(hash(key));
  }
  template <class K>
  [[nodiscard]] bool may_contain(const K& key) const
      noexcept(kContainsQuietly<F>&& kConvertsQuietly<K>) {
    if constexpr (IntegerKey<K> && requires(const F& filter) { filter.contains_integer(0); })
      return self().contains_integer(static_cast<std::uint64_t>(key));
    else
      return self().may_contain_hash(hash(key));
  }
  template <class K, Counts C = F>
  bool remove(const K& key) noexcept(kRemovesQuietly<F>&& kConvertsQuietly<K>) {
    return self().remove_hash(hash(key));
  }

  // ---- many keys ----

  template <class R>
  std::size_t insert_many(R&& keys) {
    return many<Insert>(self(), keys);
  }
  template <class R, class A = std::span<bool>>
  std::size_t insert_many(R&& keys, A&& fresh) {
    return many<Insert>(self(), keys, fresh);
  }
  template <class R>
  std::size_t may_contain_many(R&& keys) const {
    return many<Contain>(self(), keys);
  }
  template <class R, class A = std::span<bool>>
  std::size_t may_contain_many(R&& keys, A&& found) const {
    return many<Contain>(self(), keys, found);
  }
  template <class R, Counts C = F>
  std::size_t remove_many(R&& keys) {
    return many<Remove>(self(), keys);
  }
  template <class R, class A = std::span<bool>, Counts C = F>
  std::size_t remove_many(R&& keys, A&& removed) {
    return many<Remove>(self(), keys, removed);
  }

  // ---- many keys, several threads ----

  template <class R, class A = std::span<bool>, class T = F>
  requires kContainsQuietly<T> std::size_t may_contain_many(R&& keys, A&& found, unsigned threads)
  const { return many_by_threads<Contain>(self(), keys, found, threads); }
  template <class R, class A = std::span<bool>, class T = F>
  requires kTakesPieces<T> std::size_t insert_many(R&& keys, A&& fresh, unsigned threads) {
    return many_by_threads<Insert>(self(), keys, fresh, threads);
  }

  // ---- many hashes ----

  std::size_t insert_hashes(std::span<const Hash128> hashes) noexcept(kInsertsQuietly<F>) {
    return run<Insert>(self(), hashes, BoolAnswers{});
  }
  template <class A = std::span<bool>>
  std::size_t insert_hashes(std::span<const Hash128> hashes, A&& fresh) {
    return with_answers<Insert>(self(), hashes, fresh);
  }
  std::size_t may_contain_hashes(std::span<const Hash128> hashes) const
      noexcept(kContainsQuietly<F>) {
    return run<Contain>(self(), hashes, BoolAnswers{});
  }
  template <class A = std::span<bool>>
  std::size_t may_contain_hashes(std::span<const Hash128> hashes, A&& found) const {
    return with_answers<Contain>(self(), hashes, found);
  }
  template <Counts C = F>
  std::size_t remove_hashes(std::span<const Hash128> hashes) noexcept(kRemovesQuietly<F>) {
    return run<Remove>(self(), hashes, BoolAnswers{});
  }
  template <class A = std::span<bool>, Counts C = F>
  std::size_t remove_hashes(std::span<const Hash128> hashes, A&& removed) {
    return with_answers<Remove>(self(), hashes, removed);
  }

 private:
  [[nodiscard]] F& self() noexcept { return static_cast<F&>(*this); }
  [[nodiscard]] const F& self() const noexcept { return static_cast<const F&>(*this); }

  struct Insert {
    template <class Keys>
    static auto apply(F& filter, Keys keys, bool* out) -> decltype(filter.do_insert(keys, out)) {
      return filter.do_insert(keys, out);
    }
  };
  struct Contain {
    template <class Keys>
    static auto apply(const F& filter, Keys keys, bool* out)
        -> decltype(filter.do_contain(keys, out)) {
      return filter.do_contain(keys, out);
    }
  };
  struct Remove {
    template <class Keys>
    static auto apply(F& filter, Keys keys, bool* out) -> decltype(filter.do_remove(keys, out)) {
      return filter.do_remove(keys, out);
    }
  };
  // A member of the class, because keys_at_once() may be private. Self is F or const F.
  template <class Self>
  static constexpr bool kInLargeParts = requires(Self& filter) {
    filter.keys_at_once();
  };
  using Integers = std::span<const std::uint64_t>;
  using Hashes = std::span<const Hash128>;

  static void begin(const F& filter) noexcept {
    if constexpr (requires { filter.begin_call(); }) filter.begin_call();
  }

  template <class Operation, class Self, class R>
  static std::size_t many(Self& filter, R& keys) {
    if constexpr (require_keys<R>())
      return run<Operation>(filter, keys, BoolAnswers{});
    else
      return 0;
  }
  template <class Operation, class Self, class R, class A>
  static std::size_t many(Self& filter, R& keys, A& answers) {
    if constexpr (!require_keys<R>()) {
      return 0;
    } else if constexpr (std::ranges::forward_range<R> || std::ranges::sized_range<R>) {
      return with_answers<Operation>(filter, keys, answers);
    } else {
      begin(filter);
      return with_answers<Operation>(filter, hash_keys(filter.hasher(), keys), answers);
    }
  }

  template <class Operation, class Self, class R, class A>
  static std::size_t many_by_threads(Self& filter, R& keys, A& answers, unsigned threads) {
    if constexpr (!require_divisible_keys<R>() || !require_answers<A>())
      return 0;
    else if constexpr (kConvertsQuietly<std::ranges::range_value_t<R>>)
      return answers_by_threads<Operation>(filter, keys, answers, threads);
    else
      return many<Operation>(filter, keys, answers);  // an exception does not leave another thread
  }
  template <class Operation, class Self, class R, class A>
  static std::size_t answers_by_threads(Self& filter, R& keys, A& answers, unsigned threads) {
    const auto give = [&](bool* out) {
      if constexpr (std::same_as<Operation, Insert>)
        return insert_keys_by_threads(filter, keys, out, threads);
      else
        return find_keys_by_threads(filter, keys, out, threads);
    };
    if constexpr (std::same_as<std::remove_cv_t<A>, std::span<bool>>)
      if (answers.empty()) return give(nullptr);
    const auto room = static_cast<std::size_t>(std::ranges::distance(answers));
    require_room(room, std::ranges::size(keys));
    if constexpr (std::ranges::contiguous_range<A> &&
                  std::same_as<std::ranges::range_value_t<A>, bool>) {
      return give(std::ranges::data(answers));
    } else {
      CopiedAnswers<std::ranges::iterator_t<A>, true> to{std::ranges::begin(answers), room};
      return to.give(std::ranges::size(keys), give);
    }
  }
  template <class R>
  static std::size_t insert_keys_by_threads(F& filter, R& keys, bool* out, unsigned threads) {
    const auto hash = [&](std::size_t first, std::size_t count, Hash128* hashes) noexcept {
      const Hasher hasher = filter.hasher();
      for (const auto& key : std::span(std::ranges::data(keys) + first, count))
        *hashes++ = hash_key(hasher, key);
    };
    BulkKeys all{
        std::ranges::size(keys), nullptr, &hash,
        [](const void* context, std::size_t first, std::size_t some, Hash128* hashes) noexcept {
          (*static_cast<decltype(&hash)>(context))(first, some, hashes);
        }};
    if constexpr (PlainIntegers<R>)
      if (filter.hasher().family() == HashFamily::xxh3) all.integers = std::ranges::data(keys);
    const auto fresh = insert_by_threads(filter.bulk_target(), all, out, threads);
    return fresh ? *fresh : run<Insert>(filter, keys, BoolAnswers{out, all.count});
  }
  template <class R>
  static std::size_t find_keys_by_threads(const F& filter, R& keys, bool* out, unsigned threads) {
    const auto part = [&](std::size_t first, std::size_t count) noexcept {
      return run<Contain>(filter, std::span(std::ranges::data(keys) + first, count),
                          BoolAnswers{out == nullptr ? nullptr : out + first, count});
    };
    return sum_of_parts(std::ranges::size(keys), threads,
                        {&part, [](const void* context, std::size_t first, std::size_t count) {
                           return (*static_cast<decltype(&part)>(context))(first, count);
                         }});
  }

  template <class Operation, class Self, class R, class A>
  static std::size_t with_answers(Self& filter, R&& keys, A& answers) {
    if constexpr (require_answers<A>()) {
      begin(filter);
      using Answer = std::ranges::range_value_t<A>;
      if constexpr (std::same_as<std::remove_cv_t<A>, std::span<bool>>)
        if (answers.empty()) return run<Operation>(filter, keys, BoolAnswers{});
      const auto room = static_cast<std::size_t>(std::ranges::distance(answers));
      require_room(room, static_cast<std::size_t>(std::ranges::distance(keys)));
      if constexpr (std::ranges::contiguous_range<A> && std::same_as<Answer, bool>)
        return run<Operation>(filter, keys, BoolAnswers{std::ranges::data(answers), room});
      else
        return run<Operation>(filter, keys,
                              CopiedAnswers<std::ranges::iterator_t<A>, kInLargeParts<Self>>{
                                  std::ranges::begin(answers), room});
    } else {
      return 0;
    }
  }

  // `keys` is a range of keys or of hashes.
  template <class Operation, class Self, class R, class Answers>
  static std::size_t run(Self& filter, R&& keys, Answers answers) {
    begin(filter);
    const auto work = [&] { return apply<Operation>(filter, keys, answers); };
    if constexpr (requires { filter.around_many(work, std::uint64_t{}); })
      return filter.around_many(work, count_if_known(keys));
    else
      return work();
  }
  template <class Operation, class Self, class R, class Answers>
  static std::size_t apply(Self& filter, R& keys, Answers& answers) {
    using Range = std::remove_cvref_t<R>;
    if constexpr (std::same_as<std::ranges::range_value_t<Range>, Hash128>) {
      return apply_all<Operation>(filter, Hashes(keys), answers);
    } else {
      if constexpr (PlainIntegers<Range> &&
                    requires { Operation::apply(filter, Integers(), nullptr); })
        if (filter.hasher().family() == HashFamily::xxh3)
          return apply_all<Operation>(
              filter, Integers(std::ranges::data(keys), std::ranges::size(keys)), answers);
      return hash_and_apply<Operation>(filter, keys, answers);
    }
  }
  template <class Operation, class Self, class Keys, class Answers>
  static std::size_t apply_all(Self& filter, Keys keys, Answers& answers) {
    std::size_t yes = 0;
    bool first = kInLargeParts<Self>;
    while (first || !keys.empty()) {
      const Keys part = keys.first(std::min(keys.size(), Answers::kMost));
      yes +=
          answers.give(part.size(), [&](bool* out) { return Operation::apply(filter, part, out); });
      keys = keys.subspan(part.size());
      first = false;
    }
    return yes;
  }
  template <class Operation, class Self, class R, class Answers>
  static std::size_t hash_and_apply(Self& filter, R& keys, Answers& answers) {
    const Hasher& hasher = filter.hasher();
    std::array<Hash128, 1024> hashes;
    std::size_t held = 0, yes = 0;
    for (auto&& key : keys) {
      hashes[held++] = hash_key(hasher, key);
      if (held < hashes.size()) continue;
      yes += apply_all<Operation>(filter, Hashes(hashes), answers);
      held = 0;
    }
    return yes + apply_all<Operation>(filter, Hashes(hashes).first(held), answers);
  }
  template <class Operation, class Self, class R, class Answers>
  requires kInLargeParts<Self>
  static std::size_t hash_and_apply(Self& filter, R& keys, Answers& answers) {
    const Hasher hasher = filter.hasher();
    std::vector<Hash128> hashes;
    std::size_t most = filter.keys_at_once(), yes = 0;
    if constexpr (std::ranges::sized_range<R>)
      hashes.reserve(std::min<std::size_t>(most, std::ranges::size(keys)));
    for (auto&& key : keys) {
      if (hashes.size() == most) {
        yes += apply_all<Operation>(filter, Hashes(hashes), answers);
        hashes.clear();
        most = filter.keys_at_once();
      }
      hashes.push_back(hash_key(hasher, key));
    }
    return yes + apply_all<Operation>(filter, Hashes(hashes), answers);
  }
};

}  // namespace bloomery::detail
