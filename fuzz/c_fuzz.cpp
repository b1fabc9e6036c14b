// Any sequence of calls of the C interface on a few handles in memory, beside exact sets: no call crashes, no key
// is lost, and every refusal has a code and a text.
#include <bloomery.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "require.hpp"

namespace {

using bloomery::fuzz::Bytes;
using bloomery::fuzz::require;

// Checks what a call returned, and the error that it wrote.
void require_told(std::int64_t result, const bloomery_error& error) {
  if (result >= 0) return;
  require(error.code == -result && error.code <= BLOOMERY_MISSING && error.text[0] != 0);
}

// A filter that is merged with itself n times has each key 2^n times; no input removes a key so often.
constexpr int kMostTimes = 1 << 20;

struct Filter {
  bloomery_filter* handle = nullptr;
  std::uint32_t kind = 0;
  std::map<std::string, int> keys;  // and how often each key is in it

  void drop() {
    bloomery_free(handle);
    *this = {};
  }
};

bloomery_spec spec_from(Bytes& bytes) {
  bloomery_spec spec{};
  spec.size = bytes.byte() % 8 == 7 ? bytes.byte() % sizeof spec : sizeof spec;
  spec.kind = bytes.byte() % 6;
  spec.capacity = bytes.word() % 2000;
  spec.fpr = bytes.byte() / 200.0;
  spec.bits = bytes.byte() % 4 == 0 ? bytes.word() : 0;
  spec.hashes = bytes.byte() % 16 == 0 ? bytes.byte() : 0;
  spec.layout = bytes.byte() % 32 < 27 ? 0 : bytes.byte() % 8;
  spec.counter_bits = bytes.byte() % 4 == 0 ? bytes.byte() % 16 : 0;
  spec.growth = bytes.byte() % 4 == 0 ? bytes.byte() : 0;
  spec.window = spec.kind == BLOOMERY_WINDOW ? bytes.word() : 0;
  // A window of insertions would forget keys that the sets have.
  spec.window_unit = spec.kind != BLOOMERY_WINDOW ? 0
                     : bytes.byte() % 8 == 0      ? 3
                                                  : BLOOMERY_SECONDS;
  spec.reserved[0] = bytes.byte() == 255;
  return spec;
}

// The same keys in one of the forms that the functions for many keys take.
std::int64_t insert_keys(bloomery_filter* to, const std::vector<std::string>& keys,
                         const std::string& joined, const std::vector<std::int32_t>& offsets,
                         bool* answers, bloomery_error& error) {
  if (joined.size() % 3 == 0)
    return bloomery_insert_offsets32(to, joined.data(), offsets.data(), keys.size(), answers,
                                     &error);
  if (joined.size() % 3 == 1) {
    const std::vector<std::int64_t> wide(offsets.begin(), offsets.end());
    return bloomery_insert_offsets64(to, joined.data(), wide.data(), keys.size(), answers, &error);
  }
  std::vector<const void*> pointers;
  std::vector<std::size_t> sizes;
  for (const std::string& key : keys) {
    pointers.push_back(key.data());
    sizes.push_back(key.size());
  }
  return bloomery_insert_many(to, pointers.data(), sizes.data(), keys.size(), answers, &error);
}

void insert(Filter& to, Bytes& bytes, bloomery_error& error) {
  std::string joined;
  std::vector<std::int32_t> offsets = {0};
  std::vector<std::string> keys;
  for (int left = bytes.byte() % 20; left >= 0; --left) {
    keys.push_back(std::string(bytes.byte() % 5, 'k') + std::to_string(bytes.byte()));
    joined += keys.back();
    offsets.push_back(static_cast<std::int32_t>(joined.size()));
  }
  const std::size_t count = keys.size();
  std::array<bool, 32> answers{};
  const std::int64_t fresh = insert_keys(to.handle, keys, joined, offsets,
                                         bytes.byte() % 2 ? answers.data() : nullptr, error);
  // A frozen filter takes keys only until it is built, and a decoded one is built.
  if (fresh < 0 && to.kind == BLOOMERY_FROZEN && error.code == BLOOMERY_WRONG_KIND)
    return require_told(fresh, error);
  require(fresh >= 0 && fresh <= static_cast<std::int64_t>(count));
  require(bloomery_acknowledged(to.handle) == count);
  for (const std::string& key : keys) ++to.keys[key];
}

void remove(Filter& from, Bytes& bytes, bloomery_error& error) {
  if (from.keys.empty()) return;
  auto at = from.keys.begin();
  std::advance(at, bytes.byte() % from.keys.size());
  const int removed = bloomery_remove(from.handle, at->first.data(), at->first.size(), &error);
  require_told(removed, error);
  require((removed >= 0) == (from.kind == BLOOMERY_COUNTING));
  if (removed < 0) return;
  require(removed == 1);
  if (--at->second == 0) from.keys.erase(at);
}

void check(const Filter& filter) {
  for (const auto& [key, count] : filter.keys)
    require(bloomery_contains(filter.handle, key.data(), key.size(), nullptr) == 1);
}

void join(Filter& to, const Filter& from, bool all, bloomery_error& error) {
  const int done = all ? bloomery_merge(to.handle, from.handle, &error)
                       : bloomery_intersect(to.handle, from.handle, &error);
  require_told(done, error);
  if (done < 0) return;
  if (all) {
    const auto added = from.keys;
    for (const auto& [key, count] : added)
      to.keys[key] = std::min(to.keys[key] + count, kMostTimes);
  } else {
    std::erase_if(to.keys, [&](const auto& entry) { return from.keys.count(entry.first) == 0; });
  }
}

// Encodes the filter into bytes, perhaps damages them, and decodes them.
void encode(Filter& filter, Bytes& bytes, bloomery_error& error) {
  const std::int64_t size = bloomery_encoded_size(filter.handle, &error);
  require(size > 0);
  std::vector<unsigned char> encoded(static_cast<std::size_t>(size));
  require(bloomery_encode(filter.handle, encoded.data(), encoded.size(), &error) == size);
  const bool damages = bytes.byte() % 4 == 0;
  if (damages) {
    encoded[(bytes.word() * 7U) % encoded.size()] ^=
        static_cast<unsigned char>(1 + bytes.byte() % 255);
    encoded.resize(encoded.size() - bytes.byte() % 3);
  }
  bloomery_filter* const again = bloomery_decode(encoded.data(), encoded.size(), &error);
  if (again == nullptr) {
    require(damages);
    return require_told(-error.code, error);
  }
  bloomery_free(filter.handle);
  filter.handle = again;
}

// Makes calls that no filter can answer and calls that some filters can; then frees the filter.
void part_with(Filter& filter, Bytes& bytes, bloomery_error& error) {
  bloomery_filter* const handle = bytes.byte() % 4 == 0 ? nullptr : filter.handle;
  const std::int32_t falling[] = {3, 1};
  const std::uint64_t numbers[] = {bytes.word(), ~std::uint64_t{0}};
  bool bits[8];
  const std::int64_t refused[] = {
      bloomery_insert_offsets32(handle, "abc", falling, 1, bits, &error),
      bloomery_contains_fixed(handle, nullptr, 3, 2, bits, &error),
      bloomery_remove(handle, nullptr, 1, &error),
      bloomery_insert_bits(handle, "abc", 3, bits, 8, &error),
      bloomery_begin_batch(handle, "monday", &error),
      bloomery_reload(handle, &error),
      bloomery_save(handle, "", &error),
      bloomery_merge(handle, nullptr, &error)};
  for (const std::int64_t result : refused) require(result < 0);
  require_told(refused[std::size(refused) - 1], error);
  const std::int64_t fresh = bloomery_insert_u64s(handle, numbers, 2, bits, &error);
  require_told(fresh, error);
  if (fresh >= 0)
    require(bloomery_contains_u64s(handle, numbers, 2, nullptr, &error) == 2 &&
            bloomery_contains_u64(handle, numbers[1], &error) == 1);
  require_told(bloomery_advance(handle, bytes.word(), &error), error);
  require(bloomery_begin_load(handle, &error) <= 0);
  require_told(bloomery_sync(handle, &error), error);
  require(bloomery_close(handle, &error) == (handle == nullptr ? -BLOOMERY_INVALID_ARGUMENT : 0));
  filter.drop();
}

void look(const Filter& filter, Bytes& bytes, bloomery_error& error) {
  bloomery_stats stats{};
  stats.size = bytes.byte() % 8 == 0 ? bytes.byte() % sizeof stats : sizeof stats;
  const int told = bloomery_get_stats(filter.handle, bytes.byte() % 2 == 0, &stats, &error);
  require_told(told, error);
  if (told == 0) require(stats.kind == filter.kind && stats.fill >= 0 && stats.fill <= 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  std::array<Filter, 3> filters;
  for (int left = 80; left > 0 && !bytes.empty(); --left) {
    bloomery_error error{};
    Filter& filter = filters[bytes.byte() % filters.size()];
    if (filter.handle == nullptr) {
      const bloomery_spec spec = spec_from(bytes);
      filter.handle = bloomery_new(&spec, nullptr, &error);
      filter.kind = spec.kind == 0 ? std::uint32_t{BLOOMERY_PLAIN} : spec.kind;
      require_told(filter.handle == nullptr ? -error.code : 0, error);
      require(filter.handle != nullptr || error.code != 0);
      continue;
    }
    Filter& other = filters[bytes.byte() % filters.size()];
    switch (bytes.byte() % 10) {
      case 0:
      case 1:
      case 2:
        insert(filter, bytes, error);
        break;
      case 3:
        remove(filter, bytes, error);
        break;
      case 4:
        if (other.handle != nullptr) join(filter, other, bytes.byte() % 2 == 0, error);
        break;
      case 5:
        encode(filter, bytes, error);
        break;
      case 6:
        look(filter, bytes, error);
        break;
      case 7:
        require(bloomery_clear(filter.handle, &error) == 0);
        filter.keys.clear();
        break;
      case 8: {
        bloomery_filter* const copy = bloomery_copy(filter.handle, &error);
        require(copy != nullptr);
        bloomery_free(filter.handle);
        filter.handle = copy;
        break;
      }
      default:
        part_with(filter, bytes, error);
    }
    if (filter.handle != nullptr) check(filter);
  }
  for (Filter& filter : filters) filter.drop();
  return 0;
}
