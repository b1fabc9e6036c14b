// What every kind of filter does with its header and its arrays.
#include "values/value.hpp"

#include <algorithm>

namespace bloomery::server {

Value::Value(const Header& header) noexcept
    : kind_(header.kind),
      hashing_(header.family == Family::redisbloom
                   ? (header.options & legacy::redisbloom::kForce64) != 0 ? Hashing::murmur64
                                                                          : Hashing::murmur32
               : header.key ? Hashing::siphash
                            : Hashing::xxh3),
      needs_time_(header.kind == Kind::window && header.window.unit == WindowUnit::seconds),
      loading_(header.loading) {
  if (header.key)
    std::memcpy(reinterpret_cast<std::byte*>(this) + object_bytes(kind_), &*header.key,
                sizeof *header.key);
}

Header Value::header() const {
  Header header;
  header.kind = kind_;
  header.family = family();
  header.key = key();
  describe(header);
  header.add_up();
  return header;
}

std::span<std::byte> Value::part_of(const Allocation& array, std::uint64_t offset,
                                    std::uint64_t most) const noexcept {
  if (array.bit_bytes == 0) return {};
  const std::uint64_t bytes = std::min(most, array.bit_bytes - offset);
  expect_access(offset, bytes);
  return {bits_in(family(), *array.place) + offset, bytes};
}

std::span<std::byte> Value::part_at(std::uint64_t offset, std::uint64_t most) const noexcept {
  for (std::size_t i = 0; const Allocation array = allocation(i); ++i) {
    if (offset < array.bit_bytes) return part_of(array, offset, most);
    offset -= array.bit_bytes;
  }
  return {};
}

std::uint64_t Value::bit_bytes() const noexcept {
  std::uint64_t total = 0;
  for (std::size_t i = 0; const Allocation one = allocation(i); ++i) total += one.bit_bytes;
  return total;
}

std::size_t Value::memory() const noexcept {
  std::size_t total = allocated_size(this);
  for (std::size_t i = 0; const Allocation one = allocation(i); ++i)
    total += allocated_size(*one.place);
  return total;
}

void Value::defragment(DefragContext* context) noexcept {
  // Moving one allocation may move the place of another: so each place is looked up when its turn comes.
  for (std::size_t i = 0; const Allocation one = allocation(i); ++i) {
    const bool is_aligned = one.bit_bytes != 0 && family() == Family::native;
    void* const moved = is_aligned ? defragment_aligned(context, *one.place, one.bit_bytes)
                                   : server::defragment(context, *one.place);
    if (moved != nullptr) *const_cast<void**>(one.place) = moved;
  }
  has_moved();
}

void DeleteValue::operator()(Value* value) const noexcept {
  // The table of sub-filters holds the places of their arrays, so it comes after the arrays.
  for (std::size_t i = 0; const Allocation one = value->allocation(i); ++i) {
    if (one.bit_bytes != 0)
      release_array(*one.place, {bits_in(value->family(), *one.place), one.bit_bytes});
    else
      release(*one.place);
  }
  value->~Value();
  release(value);
}

OwnedMemory new_array(Family family, std::uint64_t bytes) {
  OwnedMemory memory(family == Family::native ? allocate_aligned(bytes) : allocate_zeroed(bytes));
  require_memory(memory != nullptr);
  return memory;
}

}  // namespace bloomery::server
