// Asks the newer generation for all keys, and the older generation for the remaining keys.
#include "redis/strings/generations.hpp"

#include <bloomery/detail/key_calls.hpp>
#include <bloomery/error.hpp>

#include <algorithm>
#include <memory>

namespace bloomery::detail {

// While a failover is under way, one connection may still lead to the old server, and the other to the new one.
Error not_next(const BitString& newer, const BitString& older) {
  return {ErrorCode::mismatch, older.name() + " is not the generation before that of " +
                                   quoted_key(newer.key()) +
                                   "; try again, and if that does not help rotate, which drops it"};
}

void require_next(const BitString& newer, const BitString& older, std::uint64_t newer_generation,
                  std::uint64_t older_generation) {
  if (older_generation + 1 < newer_generation) throw not_next(newer, older);
}

template <class Key>
std::size_t Generations<Key>::run(BitOperation operation, std::span<const Key> keys,
                                  std::span<bool> answers) {
  require_room(answers, keys.size());
  std::size_t count = 0;
  do {
    const auto some = keys.first(std::min(keys.size(), kKeysOfRound));
    count += run_some(operation, some, answers.empty() ? answers : answers.first(some.size()));
    keys = keys.subspan(some.size());
    if (!answers.empty()) answers = answers.subspan(some.size());
  } while (!keys.empty());
  return count;
}

template <class Key>
std::size_t Generations<Key>::run_some(BitOperation operation, std::span<const Key> keys,
                                       std::span<bool> answers) {
  if (!older_) return newer_.run(operation, bits_of_(keys), answers);
  const auto said = std::make_unique<bool[]>(keys.size());
  const std::span<bool> both(said.get(), keys.size());
  std::vector<std::uint64_t> generations(keys.size());
  newer_.run(operation, bits_of_(keys), both, generations);
  ask_older(operation, keys, both, generations);
  if (!answers.empty()) std::ranges::copy(both, answers.begin());
  return static_cast<std::size_t>(std::ranges::count(both, true));
}

template <class Key>
void Generations<Key>::ask_older(BitOperation operation, std::span<const Key> keys,
                                 std::span<bool> answers,
                                 std::span<const std::uint64_t> generations) {
  const bool setting = operation == BitOperation::set;
  std::vector<std::size_t> asked;
  std::vector<Key> some;
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (answers[i] == setting) {  // it is new to the newer generation, or was not found there
      asked.push_back(i);
      some.push_back(keys[i]);
    }
  const auto said = std::make_unique<bool[]>(some.size());
  const std::span<bool> found(said.get(), some.size());
  std::vector<std::uint64_t> older(some.size());
  older_->run(BitOperation::test, bits_of_(some), found, older);
  const bool rotates = newer_.strings()[0].guard().rotates;
  std::map<std::uint32_t, std::uint64_t> seen;
  for (std::size_t i = 0; i < some.size(); ++i) {
    const std::uint64_t newer = generations[asked[i]];
    if (rotates && older[i] + 1 != newer) require_order(some[i], newer, older[i], seen);
    // A rotation in between has turned the bits that this call set into the older generation, and dropped the
    // generation that could have had the key before. So if the key was new to its generation, it is new. (Buckets of
    // PHP classes do not show a rotation: there the key is reported as present before.)
    const bool rotated = rotates && older[i] >= newer;
    answers[asked[i]] = setting ? rotated || !found[i] : found[i];
  }
}

template <class Key>
void Generations<Key>::require_order(const Key& key, std::uint64_t newer, std::uint64_t older,
                                     std::map<std::uint32_t, std::uint64_t>& seen) {
  KeyBits bits;
  (void)bits_of_({&key, 1})(1, bits);
  const std::uint32_t string = bits.strings[0];
  require_next(newer_.strings()[string], older_->strings()[string], newer, older);
  // It is larger because of a rotation in between, which the newer one shows, or the string is not the older one at
  // all: then the keys of the generation that it has replaced would be absent.
  std::uint64_t& now = seen[string];
  if (older >= now) now = newer_.generation_of(string);
  if (older >= now) throw not_next(newer_.strings()[string], older_->strings()[string]);
}

template class Generations<Hash128>;
template class Generations<std::string_view>;

}  // namespace bloomery::detail
