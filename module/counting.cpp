// Counting filters in the server's memory.
#include "counting.hpp"

#include <algorithm>

#include "dump.hpp"

namespace bloomery::server {

ValuePointer<Counting> Counting::make(std::uint64_t capacity, double rate, std::uint32_t cell_bits,
                                      const Hasher& hasher) {
  const Plan made = bloomery::plan(capacity, rate, counting_layout(cell_bits));
  return restore(made, hasher, 0, OwnedMemory(allocate_aligned(counting_bytes(made))));
}

ValuePointer<Counting> Counting::restore(const Plan& plan, const Hasher& hasher, std::uint64_t size,
                                         OwnedMemory memory) {
  return ValueAccess::make<Counting>(plan, hasher, size, std::move(memory));
}

Counting::Counting(const Plan& plan, const Hasher& hasher, std::uint64_t size, OwnedMemory memory)
    : Value(Kind::counting),
      size_(size),
      array_(std::move(memory), counting_bytes(plan)),
      view_(plan, hasher, array_.bytes()) {}

Hash128 Counting::hash(std::string_view item) const noexcept { return view_.hash(item); }

void Counting::may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                           std::uint64_t) const noexcept {
  (void)view_.may_contain_hashes(hashes, found);
}

Added Counting::insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                       std::uint64_t) noexcept {
  size_ += hashes.size();
  return {hashes.size(), view_.insert_hashes(hashes, fresh), !hashes.empty(), Stop::none};
}

std::size_t Counting::remove(std::span<const Hash128> hashes, std::span<bool> removed) noexcept {
  const std::size_t count = view_.remove_hashes(hashes, removed);
  // What was falsely removed may have been counted before it came.
  size_ -= std::min<std::uint64_t>(size_, count);
  return count;
}

void Counting::clear() noexcept {
  size_ = 0;
  server::clear(array_.bytes().data(), array_.bytes().size());
}

bool Counting::has_plan_of(const Counting& other) const noexcept {
  return plan() == other.plan() && key_of(hasher()) == key_of(other.hasher());
}

void Counting::merge(const Counting& other) {
  view_.merge(other.view_);
  size_ += other.size_;
}

std::vector<std::byte> Counting::header() const {
  Header header;
  header.kind = Kind::counting;
  header.size = size_;
  header.key = key_of(hasher());
  header.links = {sizes_of(plan())};
  header.links[0].size = size_;
  return encode_header(header);
}

AnyValue Counting::copy() const {
  auto copied = restore(plan(), hasher(), size_, OwnedMemory(allocate_aligned(bit_bytes())));
  std::ranges::copy(array_.bytes(), copied->array_.bytes().begin());
  return AnyValue(copied.release());
}

void Counting::defragment(DefragContext* context) noexcept {
  // The plan was valid and the array is aligned: nothing throws.
  if (array_.defragment(context)) view_ = CountingView(plan(), hasher(), array_.bytes());
}

}  // namespace bloomery::server
