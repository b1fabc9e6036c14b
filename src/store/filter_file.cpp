// The public face of the filter file: create, open, and forwarding to what stands behind.
#include <bloomery/filter_file.hpp>

#include "format/sums.hpp"
#include "store/edge.hpp"
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
  const Sums sums = sums_of_zeros(FileLayout(header.plan));
  header.total = total_of(sums);
  write_first_header(fresh.file(), header);
  fresh.file().write(encode_sums(sums), FileLayout(header.plan).sums_at);
  fresh.file().sync();
  return {fresh.take(), header, 0};
}

Header new_header(Os& os, const std::string& path, const Plan& plan, const Hasher& hasher) {
  Header header;
  header.plan = plan;
  header.hasher = hasher;
  header.identity = random_id(os, path);
  return header;
}

}  // namespace

FilterFile FilterFile::create(const std::string& path, const Plan& plan,
                              const CreateOptions& options) {
  return at_edge(path, [&] {
    validate(plan);
    Os& os = options.os != nullptr ? *options.os : real_os();
    const std::string target = place_of(os, path);
    // Held until the new file, which is locked too, is in its place.
    const File old = lock_replaced(os, target, options.replace);
    const Header header = new_header(os, path, plan, options.hasher);
    Session session;  // it outlives the new file's name
    NewFile fresh(os, target, FileLayout(plan).clean_bytes, old);
    // All that its writer needs is there before anybody sees it.
    session = write_file(write_empty(fresh, header), options.durability);
    fresh.publish(old);
    return FilterFile(std::move(session));
  });
}

FilterFile FilterFile::rebuild(const std::string& path, const Plan& plan,
                               const CreateOptions& options) {
  return at_edge(path, [&] {
    validate(plan);
    Os& os = options.os != nullptr ? *options.os : real_os();
    const std::string target = place_of(os, path);
    File old = lock_replaced(os, target, true);
    const Header header = new_header(os, path, plan, options.hasher);
    auto fresh = std::make_unique<NewFile>(os, target, FileLayout(plan).clean_bytes, old);
    Opened opened = write_empty(*fresh, header);
    return FilterFile(write_beside(std::move(old), std::move(fresh), std::move(opened)));
  });
}

FilterFile FilterFile::open(const std::string& path, const OpenOptions& options) {
  return at_edge(path, [&] {
    Os& os = options.os != nullptr ? *options.os : real_os();
    if (options.access == Access::read) return FilterFile(read_file(os, path));
    return FilterFile(write_file(open_for_writing(os, path), options.durability));
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

void FilterFile::merge(const FilterView& other) {
  at_edge(path(), [&] {
    FilterView::require_same_scheme(view(), other);
    impl_->merge(other);
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

const FilterView& FilterFile::view() const noexcept { return impl_->view(); }
const std::string& FilterFile::path() const noexcept { return impl_->opened().file.path(); }
std::uint64_t FilterFile::inserted() const noexcept { return impl_->opened().header.inserted; }

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
