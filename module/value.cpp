// Arrays of bits that values own.
#include "value.hpp"

#include <algorithm>

#include "pages.hpp"

namespace bloomery::server {

Array::Array(OwnedMemory memory, std::size_t bytes) : memory_(std::move(memory)), size_(bytes) {
  if (memory_ == nullptr) throw Error(ErrorCode::no_memory, "no memory for a filter");
  make_pages_huge(this->bytes().data(), bytes);
}

Array::~Array() {
  const auto held = bytes();
  release_array(memory_.release(), held);
}

std::span<std::byte> Array::part_at(std::uint64_t offset, std::uint64_t most) const noexcept {
  if (offset >= size_) return {};
  return bytes().subspan(offset, std::min<std::uint64_t>(most, size_ - offset));
}

void Array::defragment(DefragContext* context) noexcept {
  void* moved = defragment_aligned(context, memory_.get(), size_);
  if (moved == nullptr) return;
  // The server has given the old place back.
  (void)memory_.release();
  memory_.reset(moved);
}

}  // namespace bloomery::server
