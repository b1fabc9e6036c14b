// Writes a stream of URLs in which a given share are repeats, the same for the same numbers.
//
//   make_urls LINES REPEATS_PERCENT [SEED]
//
// The lines look like those of a web log: a few hosts, paths of words and numbers, sometimes a query;
// 89 bytes on average. A repeat is any earlier line, with equal probability, so with 50 % repeats every
// line comes twice on average, at any distance.
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

struct Random {
  std::uint64_t state;
  std::uint64_t next() { return mix(state += 0x9E3779B97F4A7C15); }
  std::uint64_t below(std::uint64_t n) { return next() % n; }
};

constexpr std::array<std::string_view, 16> kWords{
    "archive", "news",   "package", "download", "release", "image",  "article", "search",
    "product", "review", "library", "source",   "stable",  "static", "comment", "profile"};

void append_number(std::string& out, std::uint64_t number, int base) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base);
  out.append(digits.data(), end.ptr);
}

// URL number `id`: distinct for distinct ids.
void append_url(std::string& out, std::uint64_t id, std::uint64_t seed) {
  Random random{mix(id + seed * 0x9E3779B97F4A7C15)};
  out += "https://www";
  append_number(out, random.below(5000), 10);
  out += ".example.org";
  const std::uint64_t words = 2 + random.below(4);
  for (std::uint64_t i = 0; i < words; ++i) {
    out += '/';
    out += kWords[random.below(kWords.size())];
    if (random.below(3) == 0) append_number(out, random.below(1000), 10);
  }
  out += '/';
  append_number(out, random.next(), 16);
  out += '-';
  append_number(out, id, 10);
  if (random.below(4) == 0) {
    out += ".html?page=";
    append_number(out, random.below(100), 10);
    out += "&session=";
    append_number(out, random.below(100'000), 10);
  }
  out += '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::fputs("usage: make_urls LINES REPEATS_PERCENT [SEED]\n", stderr);
    return 2;
  }
  const std::uint64_t lines = std::strtoull(argv[1], nullptr, 10);
  const std::uint64_t repeats = std::strtoull(argv[2], nullptr, 10);
  const std::uint64_t seed = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 1;
  Random random{seed};
  std::uint64_t fresh = 0;
  std::string out;
  for (std::uint64_t i = 0; i < lines; ++i) {
    const bool repeat = fresh > 0 && random.below(100) < repeats;
    append_url(out, repeat ? random.below(fresh) : fresh++, seed);
    if (out.size() < (std::size_t{1} << 20) && i + 1 < lines) continue;
    if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size()) {
      std::perror("make_urls");
      return 2;
    }
    out.clear();
  }
  return std::fflush(stdout) == 0 ? 0 : 2;
}
