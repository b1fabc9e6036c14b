// The fields of a line, from the first to the last that is asked for.
//
// Each byte becomes a bit, 64 at a time; after that only the bits are read. All code is in this header: a
// function call per line would take as long as the work itself.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace bloomery::cli {

// The separator of two fields: one `byte`, or a run of spaces and tabs, which may also stand before the
// first field and after the last.
class Delimiter {
 public:
  static constexpr std::size_t kBytes = 64;  // one bit for each

  explicit Delimiter(char byte, bool blanks = false) noexcept
      : one_(blanks ? ' ' : byte), other_(blanks ? '\t' : byte), blanks_(blanks) {
#if defined(__SSE2__)
    ones_ = _mm_set1_epi8(one_);
    others_ = _mm_set1_epi8(other_);
#endif
  }

  [[nodiscard]] bool blanks() const noexcept { return blanks_; }

  // One bit for each byte up to `stop`, at most 64. Reads up to `readable`, which is at or after `stop`; bytes after
  // `stop` may have bits, too.
  [[nodiscard]] std::uint64_t in(const char* at, const char* stop,
                                 [[maybe_unused]] const char* readable) const noexcept {
    std::uint64_t found = 0;
#if defined(__SSE2__)
    if (static_cast<std::size_t>(readable - at) >= kBytes) {
      for (std::size_t part = 0; part < kBytes; part += 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + part));
        const __m128i same =
            _mm_or_si128(_mm_cmpeq_epi8(bytes, ones_), _mm_cmpeq_epi8(bytes, others_));
        const auto mask = static_cast<std::uint32_t>(_mm_movemask_epi8(same));
        found |= static_cast<std::uint64_t>(mask) << part;
      }
      return found;
    }
#endif
    const std::size_t size = std::min(static_cast<std::size_t>(stop - at), kBytes);
    for (std::size_t i = 0; i < size; ++i)
      found |= static_cast<std::uint64_t>(at[i] == one_ || at[i] == other_) << i;
    return found;
  }

 private:
  char one_, other_;
  bool blanks_;
#if defined(__SSE2__)
  __m128i ones_, others_;
#endif
};

class Fields {
 public:
  // Reads up to `readable`, which is at or after the line's end. The line and the delimiter must outlive it.
  Fields(std::string_view line, const char* readable, const Delimiter& delimiter) noexcept
      : stop_(line.data() + line.size()),
        readable_(readable),
        delimiter_(delimiter),
        at_(line.data()),
        boundary_(line.data()),
        next_(line.data()) {
    find_boundaries();
  }

  // Field `number`, counted from 1, greater than in the previous call; empty if the line has fewer fields.
  [[nodiscard]] std::string_view field(std::size_t number) noexcept {
    const std::size_t skipped = number - 1 - before_;
    before_ = number;
    if (skipped > static_cast<std::size_t>(stop_ - at_)) {  // there are fewer bytes
      at_ = boundary_ = next_ = stop_;
      boundaries_ = 0;
      return {};
    }
    // A run of blanks ends one field and begins the next one: two boundaries for each.
    const std::size_t boundaries = delimiter_.blanks() ? 2 * skipped + 1 : skipped;
    if (boundaries > 0 && !pass(boundaries)) return {};
    const char* const begin = delimiter_.blanks() ? boundary_ : next_;
    pass(1);
    return {begin, static_cast<std::size_t>(boundary_ - begin)};
  }

 private:
  static constexpr std::size_t kBytes = Delimiter::kBytes;

  // Moves forward by so many boundaries; false, and at the line's end, if there are fewer.
  bool pass(std::size_t boundaries) noexcept {
    for (;;) {
      for (; boundaries_ != 0; boundaries_ &= boundaries_ - 1) {
        if (--boundaries > 0) continue;
        boundary_ = std::min(at_ + std::countr_zero(boundaries_), stop_);
        next_ = std::min(boundary_ + 1, stop_);
        boundaries_ &= boundaries_ - 1;
        return boundary_ != stop_;
      }
      if (static_cast<std::size_t>(stop_ - at_) <= kBytes) break;
      at_ += kBytes;
      find_boundaries();
    }
    boundary_ = next_ = stop_;
    return false;
  }

  void find_boundaries() noexcept {
    boundaries_ = delimiter_.in(at_, stop_, readable_);
    if (!delimiter_.blanks()) return;
    // Keeps each byte at which a run of blanks begins or has just ended.
    const std::uint64_t blanks = boundaries_;
    boundaries_ ^= blanks << 1 | blank_before_;
    blank_before_ = blanks >> (kBytes - 1);
  }

  const char* stop_;
  const char* readable_;
  const Delimiter& delimiter_;
  const char* at_;                // the first byte of boundaries_; bytes after stop_ may have some
  std::uint64_t boundaries_ = 0;  // not yet passed
  std::uint64_t blank_before_ = 1;
  const char* boundary_;    // the last that was passed
  const char* next_;        // the byte after it
  std::size_t before_ = 0;  // fields that were passed
};

}  // namespace bloomery::cli
