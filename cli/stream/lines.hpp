// Where the lines of a block end, and which of their bytes are the key.
#pragma once

#include <bloomery/hash.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace bloomery::cli {

// Replaces `ends` by the places just behind every `end` in `text`.
void find_ends(std::string_view text, char end, std::vector<std::size_t>& ends);

// Field `number` (from 1) of a line; empty if it has fewer.
[[nodiscard]] std::string_view field_of(std::string_view line, std::size_t number,
                                        char delimiter) noexcept;

// Which bytes of a line are its key.
struct KeyRule {
  std::size_t field = 0;  // 0: all
  char delimiter = '\t';
};

// The key of each line in place of the ones that are there.
void keys_of(std::string_view text, std::span<const std::size_t> ends, const KeyRule& rule,
             std::vector<std::string_view>& keys);

// The hash of each line's key into `hashes`, which has one place a line.
void hash_lines(std::string_view text, std::span<const std::size_t> ends, const KeyRule& rule,
                const Hasher& hasher, std::span<Hash128> hashes) noexcept;

// Moves the lines whose answer is `wanted` together at the front, in order, and returns
// their bytes. Lines that stand side by side move as one.
[[nodiscard]] std::size_t keep_lines(char* text, std::span<const std::size_t> ends,
                                     std::span<const bool> answers, bool wanted) noexcept;

}  // namespace bloomery::cli
