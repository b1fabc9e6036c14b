// The eight string hashes of PHP.
#include <bloomery/php_hash.hpp>

#include "legacy/php_formulas.hpp"

namespace bloomery {
namespace {

using namespace detail::php;

template <class Formula>
std::uint32_t run(std::string_view key) noexcept {
  Integer hash = Formula::start(key.size());
  for (const char byte : key) hash = Formula::step(hash, static_cast<unsigned char>(byte));
  if constexpr (requires { Formula::finish(hash); }) hash = Formula::finish(hash);
  return static_cast<std::uint32_t>(hash % 0xFFFFFFFF);
}

constexpr std::array<std::string_view, 8> kNames = {"JS",   "PJW", "ELF", "BKDR",
                                                    "SDBM", "DJB", "DEK", "FNV"};

bool same_letters(std::string_view a, std::string_view b) noexcept {
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; };
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (upper(a[i]) != upper(b[i])) return false;
  return true;
}

}  // namespace

std::uint32_t php_hash(PhpHash hash, std::string_view key) noexcept {
  switch (hash) {
    case PhpHash::js:
      return run<Js>(key);
    case PhpHash::pjw:
      return run<Pjw>(key);
    case PhpHash::elf:
      return run<Elf>(key);
    case PhpHash::bkdr:
      return run<Bkdr>(key);
    case PhpHash::sdbm:
      return run<Sdbm>(key);
    case PhpHash::djb:
      return run<Djb>(key);
    case PhpHash::dek:
      return run<Dek>(key);
    case PhpHash::fnv:
      return run<Fnv>(key);
  }
  __builtin_unreachable();
}

std::string_view to_string(PhpHash hash) noexcept { return kNames[static_cast<std::size_t>(hash)]; }

std::optional<PhpHash> php_hash_named(std::string_view name) noexcept {
  for (const PhpHash hash : kPhpHashes)
    if (same_letters(name, to_string(hash))) return hash;
  return std::nullopt;
}

}  // namespace bloomery
