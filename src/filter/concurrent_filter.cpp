// Insertion and look-up by atomic words, so that threads need no lock.
//
// All accesses are relaxed: bits only turn on, each key is found by its own bits alone, and
// whoever learns of an insert in a happens-before order sees its words by coherence. The
// thread whose fetch_or turns a bit on is the one that is told "certainly new"; of a key that
// was not there, some bit was off, so there is such a thread.
#include <bloomery/concurrent_filter.hpp>

#include <atomic>
#include <bit>

#include "base/endian.hpp"

namespace bloomery {

namespace {

using Word = std::uint64_t;

Word* words_of(const detail::Shape& shape) noexcept { return reinterpret_cast<Word*>(shape.words); }

bool turn_on(Word& word, Word wanted) noexcept {
  std::atomic_ref<Word> shared(word);
  if ((wanted & ~shared.load(std::memory_order_relaxed)) == 0) return false;
  return (wanted & ~shared.fetch_or(wanted, std::memory_order_relaxed)) != 0;
}

bool is_on(Word& word, Word wanted) noexcept {
  return (wanted & ~std::atomic_ref<Word>(word).load(std::memory_order_relaxed)) == 0;
}

// Calls visit(word, wanted) for every 64-bit word of the line in which the key has bits, until
// it returns false.
template <class Visit>
void visit_line(const detail::Shape& shape, Hash128 hash, Visit visit) noexcept {
  Word* line = words_of(shape) + detail::scale(hash.high, shape.lines) * (kLineBits / 64);
  std::uint32_t chosen = shape.masks->of[hash.low >> 58];
  while (chosen != 0) {
    const auto pair = static_cast<unsigned>(std::countr_zero(chosen)) / 2;
    Word wanted = 0;
    for (unsigned half = 0; half < 2; ++half)
      if ((chosen >> (2 * pair + half) & 1) != 0)
        wanted |= Word{detail::ScalarLine::bit(hash.low, 2 * pair + half)} << (32 * half);
    chosen &= ~(3U << (2 * pair));
    if (!visit(line[pair], detail::to_le(wanted))) return;
  }
}

template <class Visit>
void visit_words(const FilterView& view, Hash128 hash, Visit visit) noexcept {
  const detail::Shape& shape = view.shape();
  if (view.plan().layout == Layout::classic) {
    detail::PositionSequence sequence(hash);
    for (std::uint32_t j = 0; j < shape.hashes; ++j, sequence.advance()) {
      const std::uint64_t position = sequence.position(shape.bits);
      if (!visit(words_of(shape)[position / 64], detail::to_le(Word{1} << (position % 64)))) return;
    }
    return;
  }
  if (cell_bits(view.plan().layout) != 0) {
    detail::visit_narrow_bits(shape, hash, [&](std::uint64_t position) {
      return visit(words_of(shape)[position / 64], detail::to_le(Word{1} << (position % 64)));
    });
    return;
  }
  bool more = true;
  visit_line(shape, hash, [&](Word& word, Word wanted) { return more = visit(word, wanted); });
  if (view.plan().layout == Layout::pair && more)
    visit_line(shape, detail::second_hash(hash), visit);
}

template <class One>
std::size_t each(const FilterView& view, std::span<const Hash128> hashes, std::span<bool> answers,
                 One one) noexcept {
  constexpr std::size_t kAhead = 32;
  std::size_t yes = 0;
  for (std::size_t i = 0; i < std::min(kAhead, hashes.size()); ++i) view.prefetch(hashes[i]);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (i + kAhead < hashes.size()) view.prefetch(hashes[i + kAhead]);
    const bool answer = one(hashes[i]);
    if (!answers.empty()) answers[i] = answer;
    yes += answer;
  }
  return yes;
}

}  // namespace

bool ConcurrentFilter::insert_hash(Hash128 hash) noexcept {
  bool fresh = false;
  visit_words(*view_, hash, [&](Word& word, Word wanted) {
    fresh |= turn_on(word, wanted);
    return true;
  });
  return fresh;
}

bool ConcurrentFilter::may_contain_hash(Hash128 hash) const noexcept {
  bool found = true;
  visit_words(*view_, hash, [&](Word& word, Word wanted) { return found = is_on(word, wanted); });
  return found;
}

std::size_t ConcurrentFilter::insert_hashes(std::span<const Hash128> hashes,
                                            std::span<bool> fresh) noexcept {
  return each(*view_, hashes, fresh, [this](Hash128 hash) { return insert_hash(hash); });
}

std::size_t ConcurrentFilter::may_contain_hashes(std::span<const Hash128> hashes,
                                                 std::span<bool> found) const noexcept {
  return each(*view_, hashes, found, [this](Hash128 hash) { return may_contain_hash(hash); });
}

}  // namespace bloomery
