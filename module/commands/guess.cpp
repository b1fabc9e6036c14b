// A small table; the hash of a key's name selects its place.
#include "commands/guess.hpp"

#include <array>

#include "server/pages.hpp"
#include "values/scalable.hpp"

namespace bloomery::server {

namespace {

// Smaller filters are in the processor's caches.
constexpr std::uint64_t kBigFilter = kManyPages;

// Hashing a longer name or item would take as long as loading the cache line.
constexpr std::size_t kLongest = 256;

constexpr int kPlaceBits = 6;
std::array<Guess, std::size_t{1} << kPlaceBits> guesses;

// Until then commands cost nothing here.
bool any_learned = false;
// The hash of the key's name in the command that the server calls now; 0: not known.
std::uint64_t asked = 0;

std::uint64_t hash_of_name(std::string_view name) noexcept {
  return detail::xxh3_bytes(name.data(), name.size(), 0).low | 1;
}

Guess& place_of(std::uint64_t name) noexcept { return guesses[name >> (64 - kPlaceBits)]; }

bool is_ours(std::string_view command) noexcept {
  return command.size() > 3 && (command[0] | 0x20) == 'b' && (command[1] | 0x20) == 'f' &&
         command[2] == '.';
}

}  // namespace

void guess(CommandFilterContext* command) noexcept {
  if (!any_learned) return;
  asked = 0;
  if (api.CommandFilterArgsCount(command) != 3 ||
      !is_ours(text_of(api.CommandFilterArgGet(command, 0))))
    return;
  const std::string_view name = text_of(api.CommandFilterArgGet(command, 1));
  const std::string_view item = text_of(api.CommandFilterArgGet(command, 2));
  if (name.size() > kLongest || item.size() > kLongest) return;
  asked = hash_of_name(name);
  const Guess& known = place_of(asked);
  if (known.name != asked) return;
  const Hash128 hash = hash_item(known.hashing, item, [&] { return known.key; });
  prefetch(known.bits, family_of(known.hashing), hash);
}

void learn(const String* name, const Value& value) noexcept {
  const bool is_big =
      value.kind() == Kind::scalable &&
      static_cast<const Scalable&>(value).newest_sub_filter().sizes.bytes >= kBigFilter;
  if (!is_big) {
    if (asked != 0 && place_of(asked).name == asked) place_of(asked) = {};
    return;
  }
  const std::string_view bytes = text_of(name);
  if (bytes.size() > kLongest) return;
  const std::uint64_t hash = asked != 0 ? asked : hash_of_name(bytes);
  Guess& known = place_of(hash);
  const SubFilter& bits = static_cast<const Scalable&>(value).newest_sub_filter();
  if (known.name == hash && known.bits.memory == bits.memory &&
      known.bits.sizes.bits == bits.sizes.bits && known.hashing == value.hashing())
    return;
  known = {
      .name = hash, .hashing = value.hashing(), .key = value.key().value_or(Seed{}), .bits = bits};
  any_learned = true;
}

const Guess* guess_of(std::string_view name) noexcept {
  const std::uint64_t hash = hash_of_name(name);
  const Guess& known = place_of(hash);
  return known.name == hash ? &known : nullptr;
}

}  // namespace bloomery::server
