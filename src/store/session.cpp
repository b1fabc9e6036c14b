// Choosing the session for a file, and mapping its bits.
#include "store/session.hpp"

#include "store/recover.hpp"

#include <cmath>

namespace bloomery::detail {

MappedBits::MappedBits(const Opened& opened, Os::Map how)
    : mapping(opened.file.map(kBitsAt + opened.header.plan.bytes(), how)),
      view(opened.header.plan, opened.header.hasher, bits()) {}

std::uint64_t estimated_count(const FilterView& view) noexcept {
  const double estimate = view.estimated_items();
  // All ones: as many as any filter may hold.
  if (!(estimate < static_cast<double>(kMaxCapacity))) return kMaxCapacity;
  return static_cast<std::uint64_t>(std::llround(estimate));
}

Session write_file(Opened opened, Durability durability) {
  if (is_lost(opened.header, opened.file.os()))
    throw unclean_error(opened.header, opened.file.path());
  // Nothing that the older copy speaks of may go before the newer one is sure to last.
  if (!opened.settled) store_header(opened);
  recover(opened);
  switch (durability) {
    case Durability::none:
      return write_image(std::move(opened));
    case Durability::process:
      return write_mapped(std::move(opened));
    case Durability::sync:
      break;
  }
  return write_journaled(std::move(opened));
}

}  // namespace bloomery::detail
