// Finding and moving lines: the loops that every byte of the input goes through.
#include "input/block.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace bloomery::cli {

namespace {

void find_ends_plainly(std::string_view text, std::size_t from, char end,
                       std::vector<std::size_t>& ends) {
  const char* at = text.data() + from;
  const char* const stop = text.data() + text.size();
  while (at != stop) {
    const void* const found = std::memchr(at, end, static_cast<std::size_t>(stop - at));
    if (found == nullptr) return;
    at = static_cast<const char*>(found) + 1;
    ends.push_back(static_cast<std::size_t>(at - text.data()));
  }
}

#if defined(__SSE2__)
std::uint64_t matches_of_64(const char* at, __m128i wanted) noexcept {
  std::uint64_t matches = 0;
  for (std::size_t part = 0; part < 4; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * part));
    const auto mask = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted)));
    matches |= static_cast<std::uint64_t>(mask) << (16 * part);
  }
  return matches;
}
#endif

}  // namespace

void find_ends(std::string_view text, char end, std::vector<std::size_t>& ends) {
  ends.clear();
  std::size_t at = 0;
#if defined(__SSE2__)
  const __m128i wanted = _mm_set1_epi8(end);
  for (; at + 64 <= text.size(); at += 64)
    for (std::uint64_t left = matches_of_64(text.data() + at, wanted); left != 0; left &= left - 1)
      ends.push_back(at + static_cast<std::size_t>(std::countr_zero(left)) + 1);
#endif
  find_ends_plainly(text, at, end, ends);
}

std::size_t keep_lines(char* text, std::size_t begin, std::span<const std::size_t> ends,
                       std::span<const bool> answers, bool wanted) noexcept {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ends.size();) {
    if (answers[i] != wanted) {
      begin = ends[i++];
      continue;
    }
    while (i < ends.size() && answers[i] == wanted) ++i;
    const std::size_t bytes = ends[i - 1] - begin;
    if (kept != begin) std::memmove(text + kept, text + begin, bytes);
    kept += bytes;
    begin = ends[i - 1];
  }
  return kept;
}

}  // namespace bloomery::cli
