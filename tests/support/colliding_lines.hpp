// Distinct lines with one XXH3-128 hash, made by an adversary who knows the lower half of the seed.
//
// Beyond 240 bytes XXH3 adds to each accumulator the product of the two halves of (word xor key), and
// to its neighbour the word itself. Where the lower half of a word is that of its key, the product is
// zero, and the upper half of the word is seen in the sum of the words alone. So two words at one place
// of two stripes hide each other: one grows, the other shrinks, and the sum stays. The keys are the
// first two words of XXH3's constant, the seed added to one and subtracted from the other: the upper
// half of the seed does not enter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bloomery::test {

inline std::vector<std::string> colliding_lines(std::uint32_t lower_half_of_seed,
                                                std::size_t count) {
  constexpr std::uint32_t kFirstKey = 0x396CFEB8, kSecondKey = 0x2C81017C;
  constexpr std::size_t kBytes = 256, kStripe = 64;
  const auto put = [](std::string& line, std::size_t at, std::uint32_t lower, std::uint32_t upper) {
    for (std::size_t byte = 0; byte < 4; ++byte) {
      line[at + byte] = static_cast<char>(lower >> (8 * byte));
      line[at + 4 + byte] = static_cast<char>(upper >> (8 * byte));
    }
  };
  std::vector<std::string> lines;
  for (std::uint32_t i = 0; lines.size() < count; ++i) {
    std::string line(kBytes, 'x');
    put(line, 0, kFirstKey + lower_half_of_seed, 0x20202020 + i);
    put(line, kStripe, kSecondKey - lower_half_of_seed, 0x60606060 - i);
    if (line.find('\n') == std::string::npos) lines.push_back(line);
  }
  return lines;
}

}  // namespace bloomery::test
