// Choosing the session for a file, mapping its bits, and what only some kinds can do.
#include "store/session.hpp"

#include "store/recover.hpp"

#include <cmath>

namespace bloomery {

std::size_t FilterFile::Impl::remove_hashes(std::span<const Hash128>, std::span<bool>) {
  throw wrong_kind(opened(), "only counting filters can remove keys; rebuild it without them");
}

void FilterFile::Impl::advance(std::uint64_t) {
  throw wrong_kind(opened(), "only window filters forget as time goes on");
}

void FilterFile::Impl::merge(const CountingView&) {
  throw wrong_kind(opened(), "no counting filter can be merged into it; merge its to_plain()");
}

void FilterFile::Impl::merge_bytes(std::uint64_t, std::span<const std::byte>) {
  throw Error(ErrorCode::invalid_argument,
              opened().file.path() + ": is not being rebuilt, and takes no part of a filter");
}

void FilterFile::Impl::merge_unseen(std::uint64_t at, std::span<const std::byte> bytes) {
  Impl::merge_bytes(at, bytes);
}

namespace detail {

Error wrong_kind(const Opened& opened, const std::string& can) {
  return {ErrorCode::wrong_kind, opened.file.path() + ": is a " +
                                     std::string(to_string(opened.header.kind)) + " filter; " +
                                     can};
}

MappedBits::MappedBits(const Opened& opened, Os::Map how)
    : mapping(opened.file.map(kBitsAt + opened.header.plan.bytes(), how)),
      view(opened.header.plan, opened.header.hasher, bits()) {}

std::uint64_t count_of(double estimate) noexcept {
  // All ones: as many as any filter may hold.
  if (!(estimate < static_cast<double>(kMaxCapacity))) return kMaxCapacity;
  return static_cast<std::uint64_t>(std::llround(estimate));
}

Session write_file(Opened opened, Durability durability) {
  if (is_lost(opened.header, opened.file.os()))
    throw unclean_error(opened.header, opened.file.path());
  // Nothing that the older copy speaks of may go before the newer one is sure to last.
  if (!opened.settled) store_header(opened);
  if (opened.header.kind != Kind::plain) return write_operations(std::move(opened), durability);
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

}  // namespace detail
}  // namespace bloomery
