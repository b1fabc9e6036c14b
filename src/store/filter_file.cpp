// The public face of the filter file: create, open, and forwarding to what stands behind.
#include <bloomery/filter_file.hpp>

#include "format/sums.hpp"
#include "store/edge.hpp"
#include "store/file_plan.hpp"
#include "store/new_file.hpp"
#include "store/rebuild_writer.hpp"
#include "store/session.hpp"

#include <array>
#include <utility>

namespace bloomery {

using namespace detail;

namespace {

// What a new file is to be: an empty filter, all of it on the device.
Opened write_empty(NewFile& fresh, Header header) {
  const FileLayout layout = layout_of(header);
  const Sums sums = sums_of_zeros(layout);
  header.total = total_of(sums);
  write_first_header(fresh.file(), header);
  fresh.file().write(encode_sums(sums), layout.sums_at);
  fresh.file().sync();
  return {fresh.take(), header, 0};
}

}  // namespace

FilterFile FilterFile::create(const std::string& path, const FilePlan& plan,
                              const CreateOptions& options) {
  return at_edge(path, [&] {
    Header header = header_of(plan, options.hasher);
    Os& os = options.os != nullptr ? *options.os : real_os();
    const std::string target = place_of(os, path);
    // Held until the new file, which is locked too, is in its place.
    const File old = lock_replaced(os, target, options.replace);
    header.identity = random_id(os, path);
    Session session;  // it outlives the new file's name
    NewFile fresh(os, target, layout_of(header).clean_bytes, old);
    // All that its writer needs is there before anybody sees it.
    session = write_file(write_empty(fresh, header), options.durability);
    fresh.publish(old);
    return FilterFile(std::move(session));
  });
}

FilterFile FilterFile::rebuild(const std::string& path, const FilePlan& plan,
                               const CreateOptions& options) {
  return at_edge(path, [&] {
    Header header = header_of(plan, options.hasher);
    Os& os = options.os != nullptr ? *options.os : real_os();
    const std::string target = place_of(os, path);
    File old = lock_replaced(os, target, true);
    header.identity = random_id(os, path);
    auto fresh = std::make_unique<NewFile>(os, target, layout_of(header).clean_bytes, old);
    Opened opened = write_empty(*fresh, header);
    return FilterFile(write_beside(std::move(old), std::move(fresh), std::move(opened)));
  });
}

FilterFile FilterFile::open(const std::string& path, const OpenOptions& options) {
  return at_edge(path, [&] {
    Os& os = options.os != nullptr ? *options.os : real_os();
    if (options.access == Access::read) return FilterFile(read_file(os, path));
    Opened opened = open_for_writing(os, path);
    if (options.durability != Durability::none) make_name_last(opened.file);
    return FilterFile(write_file(std::move(opened), options.durability));
  });
}

FilterFile::FilterFile(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
FilterFile::FilterFile(FilterFile&&) noexcept = default;

FilterFile& FilterFile::operator=(FilterFile&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

FilterFile::~FilterFile() {
  if (!impl_) return;
  try {
    impl_->drop();
  } catch (...) {
    // A destructor has nobody to tell; close() is there for those who ask.
    return;
  }
}

bool FilterFile::insert_hash(Hash128 hash) {
  return at_edge(path(), [&] { return impl_->insert_hash(hash); });
}

std::size_t FilterFile::insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh) {
  return at_edge(path(), [&] { return impl_->insert_hashes(hashes, fresh); });
}

std::size_t FilterFile::remove_hashes(std::span<const Hash128> hashes, std::span<bool> removed) {
  return at_edge(path(), [&] { return impl_->remove_hashes(hashes, removed); });
}

std::size_t FilterFile::may_contain_hashes(std::span<const Hash128> hashes,
                                           std::span<bool> found) const noexcept {
  if (const FilterView* bits = plain()) return bits->may_contain_hashes(hashes, found);
  return impl_->contents()->may_contain(hashes, found);
}

bool FilterFile::may_contain_hash(Hash128 hash) const noexcept {
  if (const FilterView* bits = plain()) return bits->may_contain_hash(hash);
  return impl_->contents()->may_contain(hash);
}

void FilterFile::advance(std::uint64_t now) {
  at_edge(path(), [&] { impl_->advance(now); });
}

void FilterFile::merge(const FilterView& other) {
  at_edge(path(), [&] {
    if (plain() != nullptr) FilterView::require_same_scheme(view(), other);
    impl_->merge(other);
  });
}

void FilterFile::merge(const CountingView& other) {
  at_edge(path(), [&] { impl_->merge(other); });
}

void FilterFile::merge_bytes(std::uint64_t at, std::span<const std::byte> bytes) {
  at_edge(path(), [&] {
    const std::uint64_t all = view().plan().bytes();
    if (at > all || bytes.size() > all - at)
      throw Error(ErrorCode::invalid_argument, path() + ": has " + std::to_string(all) +
                                                   " bytes of bits, and the piece goes beyond");
    impl_->merge_bytes(at, bytes);
  });
}

void FilterFile::sync() {
  at_edge(path(), [&] { impl_->sync(); });
}

void FilterFile::close() {
  if (!impl_) return;  // moved from
  at_edge(path(), [&] { impl_->close(); });
}

bool FilterFile::reload() {
  return at_edge(path(), [&] { return impl_->reload(); });
}

void FilterFile::refuse_for_memory() const { detail::refuse_for_memory(path()); }

const FilterView* FilterFile::plain() const noexcept { return impl_->plain(); }

const FilterView& FilterFile::view() const {
  if (const FilterView* bits = plain()) return *bits;
  throw wrong_kind(impl_->opened(), "it has no view() of bits; ask for its own kind");
}

const CountingView& FilterFile::counting() const {
  Contents* contents = impl_->contents();
  if (contents != nullptr && contents->counting() != nullptr) return *contents->counting();
  throw wrong_kind(impl_->opened(), "it has no counting(); ask for its own kind");
}

const ScalableFilter& FilterFile::scalable() const {
  const Contents* contents = impl_->contents();
  if (contents != nullptr && contents->scalable() != nullptr) return *contents->scalable();
  throw wrong_kind(impl_->opened(), "it has no scalable(); ask for its own kind");
}

const WindowFilter& FilterFile::window() const {
  Contents* contents = impl_->contents();
  if (contents != nullptr && contents->window() != nullptr) return *contents->window();
  throw wrong_kind(impl_->opened(), "it has no window(); ask for its own kind");
}

Kind FilterFile::kind() const noexcept { return impl_->opened().header.kind; }
const Hasher& FilterFile::hasher() const noexcept { return impl_->opened().header.hasher; }
const std::string& FilterFile::path() const noexcept { return impl_->opened().file.path(); }
std::uint64_t FilterFile::inserted() const noexcept {
  const Contents* contents = impl_->contents();
  return contents != nullptr ? contents->inserted() : impl_->opened().header.inserted;
}

std::string FilterFile::identity() const {
  constexpr std::array<char, 17> kDigits{"0123456789abcdef"};
  std::string text;
  for (const std::byte b : impl_->opened().header.identity) {
    text += kDigits[std::to_integer<unsigned>(b >> 4)];
    text += kDigits[std::to_integer<unsigned>(b & std::byte{15})];
  }
  return text;
}

}  // namespace bloomery
