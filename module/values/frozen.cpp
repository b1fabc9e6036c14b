// Frozen filters in the server's memory: the library's filter over bits that the server allocated.
#include "values/frozen.hpp"

#include <algorithm>

#include "server/pages.hpp"

namespace bloomery::server {

ValuePointer<Frozen> Frozen::make(const Header& header, OwnedMemory memory) {
  auto made = new_value<Frozen>(header, 0, std::move(memory));
  if (!header.loading) made->check_loaded();
  return made;
}

Frozen::Frozen(const Header& header, OwnedMemory memory) noexcept
    : Value(header),
      memory_(memory.release()),
      keys_(header.size),
      come_(header.loading ? header.come : header.frozen.bytes()),
      plan_(header.frozen) {
  make_pages_huge(bits().data(), bits().size());  // if its bits are already there
}

void Frozen::check_loaded() {
  // The filter hashes nothing: Value does.
  filter_ = FrozenFilter::over(plan_, keys_, Hasher(), std::span<const std::byte>(bits()));
}

bool Frozen::has_come(std::uint64_t end) noexcept {
  come_ = std::max(come_, end);
  return come_ == plan_.bytes();
}

void Frozen::has_moved() noexcept {
  if (filter_) filter_->moved_to(bits());
}

// ---- items --------------------------------------------------------------------------------------

void Frozen::prefetch(Hash128 hash) const noexcept {
  if (filter_) filter_->prefetch(hash);
}

void Frozen::may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                         std::uint64_t) const noexcept {
  if (!filter_)
    std::ranges::fill(found.first(hashes.size()), true);
  else if (hashes.size() == 1)
    found.front() = filter_->may_contain_hash(hashes.front());
  else
    (void)filter_->may_contain_hashes(hashes, found);
}

Added Frozen::insert(std::span<const Hash128>, std::span<bool>, const MemoryLimit&) noexcept {
  return {.stop = Stop::full};
}

// ---- the whole ----------------------------------------------------------------------------------

Totals Frozen::totals() const noexcept {
  return {keys_, plan_.array.capacity, own_bytes() + bits().size(), false};
}

void Frozen::describe(Header& header) const {
  header.frozen = plan_;
  header.come = come_;
  header.sub_filters = {sizes_of(plan_.array)};
  header.sub_filters[0].size = keys_;
}

Allocation Frozen::allocation(std::size_t number) const noexcept {
  return number == 0 ? Allocation{&memory_, plan_.bytes()} : Allocation{};
}

}  // namespace bloomery::server
