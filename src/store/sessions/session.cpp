// Chooses the writer of a file; the common part of all writers.
#include "store/sessions/session.hpp"

#include <algorithm>
#include <utility>

#include "filter/statistics.hpp"
#include "store/journal/recover.hpp"

namespace bloomery::detail {

std::uint64_t Session::begin_batch(std::string_view) {
  require_writer(opened());
  return 0;
}

std::size_t Session::remove_hashes(std::span<const Hash128>, std::span<bool>) {
  contents().require(Ability::remove, opened().file.path());
  return 0;
}

void Session::advance(std::uint64_t) { contents().require(Ability::advance, opened().file.path()); }

void Session::set_back(std::uint64_t) {
  contents().require(Ability::advance, opened().file.path());
}

void Session::merge_bytes(std::uint64_t, std::span<const std::byte>) {
  throw Error(ErrorCode::invalid_argument,
              opened().file.path() + ": is not being rebuilt, and takes no part of a filter");
}

std::vector<File::Range> Session::data() const { return {{0, payload_bytes(opened().header)}}; }

std::uint64_t Session::count_ones() {
  const std::span<const std::byte> bytes = contents().as<FilterView>()->bytes();
  std::uint64_t ones = 0;
  for (const auto [from, to] : data())
    ones += detail::count_ones(reinterpret_cast<const std::uint32_t*>(bytes.data() + from),
                               (to - from) * 8);
  return ones;
}

std::unique_ptr<Session> write_file(Opened opened, Durability durability) {
  if (is_lost(opened.header, opened.file.os(), opened.file.path()))
    throw unclean_error(opened.header, opened.file.path());
  // Until the newer copy of the header is safe, what the older copy describes must not be removed.
  if (!opened.both_current) store_header(opened);
  const bool in_place = is_stored_in_place(opened.header.plan);
  if (in_place) recover(opened);
  if (in_place && durability == Durability::process) return write_mapped(std::move(opened));
  if (in_place && durability == Durability::sync) return write_journaled(std::move(opened));
  return write_snapshots(std::move(opened), durability);
}

std::unique_ptr<Session> rebuild_file(File replaced, std::unique_ptr<NewFile> fresh,
                                      Opened opened) {
  auto writer = is_stored_in_place(opened.header.plan)
                    ? write_mapped(std::move(opened))
                    : write_snapshots(std::move(opened), Durability::none);
  writer->replace_at_close(std::move(replaced), std::move(fresh));
  return writer;
}

void Writer::sync() {
  if (is_rebuilding())
    throw Error(ErrorCode::invalid_argument,
                opened_.file.path() + ": is being rebuilt; close() puts it in its place");
  save();
}

void Writer::close() {
  if (!opened_.file.is_open()) return;
  try {
    require_writable();
    finish();
    if (is_rebuilding()) fresh_->publish(replaced_);
  } catch (...) {
    if (opened_.poisoned) let_go();
    throw;
  }
  let_go();
}

void Writer::require_place() {
  require_writable();
  if (!is_rebuilding()) require_own(opened_);
}

void Writer::count_pieces() {
  if (!std::exchange(has_pieces_, false)) return;
  const FilterView* plain = contents().as<FilterView>();
  const double items =
      plain != nullptr ? estimated_items(plain->plan(), static_cast<double>(count_ones()) /
                                                            static_cast<double>(plain->plan().bits))
                       : contents().stats(Precision::exact).estimated_items;
  contents().set_inserted(std::max(contents().inserted(), count_of(items)));
}

void Writer::drop() {
  if (!is_rebuilding()) close();
}

void Writer::let_go() noexcept {
  fresh_.reset();
  opened_.file.close();
  replaced_.close();
}

}  // namespace bloomery::detail
