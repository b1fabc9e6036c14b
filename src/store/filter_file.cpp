// The handle of a filter file, which forwards calls to the session behind it.
#include <bloomery/filter_file.hpp>

#include "format/kinds.hpp"
#include "format/make_contents.hpp"
#include "store/sessions/session.hpp"

#include <array>
#include <utility>

namespace bloomery {

using namespace detail;

namespace {

// Like at_edge with a name, but the name is computed only if it is needed.
template <class Work>
auto at_edge(const FilterFile& file, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    refuse_for_memory(file.path());
  }
}

void require_built(const Contents& contents, const std::string& path) {
  if (contents.is_collecting())
    throw Error(ErrorCode::invalid_argument,
                path + ": is being built from its keys; close() builds it; then open it again");
}

}  // namespace

FilterFile::FilterFile(std::unique_ptr<Session> session) noexcept
    : session_(std::move(session)), bits_(session_->contents().as<FilterView>()) {}

FilterFile::FilterFile(FilterFile&& other) noexcept
    : session_(std::move(other.session_)), bits_(std::exchange(other.bits_, nullptr)) {}

// The file that this one had is closed here, and not kept open and locked by `other`.
FilterFile& FilterFile::operator=(FilterFile&& other) noexcept {
  FilterFile taken(std::move(other));
  std::swap(session_, taken.session_);
  std::swap(bits_, taken.bits_);
  return *this;
}

FilterFile::~FilterFile() {
  if (!session_) return;
  try {
    session_->drop();
  } catch (...) {
    // A destructor cannot report an error; close() does.
    return;
  }
}

bool FilterFile::insert_hash(Hash128 hash) {
  return at_edge(*this, [&] { return session_->insert_hash(hash); });
}

bool FilterFile::may_contain_hash(Hash128 hash) const noexcept {
  return session_->contents().may_contain(hash);
}

std::size_t FilterFile::do_insert(std::span<const Hash128> hashes, bool* fresh) {
  return session_->insert_hashes(hashes, answers_for(hashes, fresh));
}

std::size_t FilterFile::do_contain(std::span<const Hash128> hashes, bool* found) const noexcept {
  return session_->contents().may_contain(hashes, answers_for(hashes, found));
}

std::size_t FilterFile::do_remove(std::span<const Hash128> hashes, bool* removed) {
  return session_->remove_hashes(hashes, answers_for(hashes, removed));
}

std::size_t FilterFile::keys_at_once() noexcept { return session_->keys_per_commit(); }

void FilterFile::refuse_for_memory() const { detail::refuse_for_memory(path()); }

void FilterFile::advance(std::uint64_t now) {
  at_edge(*this, [&] { session_->advance(now); });
}

void FilterFile::set_back(std::uint64_t now) {
  at_edge(*this, [&] { session_->set_back(now); });
}

std::uint64_t FilterFile::begin_batch(std::string_view name) {
  return at_edge(*this, [&] { return session_->begin_batch(name); });
}

void FilterFile::use_threads(unsigned threads) noexcept {
  session_->contents().use_threads(threads);
}

void FilterFile::require_place() {
  at_edge(*this, [&] { session_->require_place(); });
}

bool FilterFile::begin_load(std::uint64_t expected) noexcept {
  return session_->opened().file.is_open() && session_->begin_load(expected);
}

void FilterFile::end_load() {
  at_edge(*this, [&] { session_->end_load(); });
}

void FilterFile::merge(const FilterView& other) {
  at_edge(*this, [&] { session_->merge(PlainContents(other)); });
}

void FilterFile::merge(const CountingView& other) {
  at_edge(*this, [&] { session_->merge(CountingContents(other)); });
}

void FilterFile::merge_bytes(std::uint64_t at, std::span<const std::byte> bytes) {
  at_edge(*this, [&] {
    session_->contents().require(Ability::merge, path());
    const std::uint64_t all = payload_bytes(session_->opened().header);
    if (at > all || bytes.size() > all - at)
      throw Error(ErrorCode::invalid_argument,
                  path() + ": has " + std::to_string(all) +
                      " bytes of bits or counters, and the piece goes beyond");
    session_->merge_bytes(at, bytes);
  });
}

void FilterFile::sync() {
  at_edge(*this, [&] { session_->sync(); });
}

void FilterFile::close() {
  if (!session_) return;  // moved from
  at_edge(*this, [&] { session_->close(); });
}

bool FilterFile::reload() {
  const bool changed = at_edge(*this, [&] { return session_->reload(); });
  bits_ = session_->contents().as<FilterView>();
  return changed;
}

template <class Filter>
const Filter& FilterFile::as(const char* accessor) const {
  if (const Filter* filter = session_->contents().as<Filter>()) return *filter;
  throw Error(ErrorCode::wrong_kind, path() + ": is a " + std::string(to_string(kind())) +
                                         " filter; it has no " + accessor +
                                         "; ask for its own kind");
}

const FilterView& FilterFile::view() const { return as<FilterView>("view() of bits"); }
const CountingView& FilterFile::counting() const { return as<CountingView>("counting()"); }
const ScalableFilter& FilterFile::scalable() const { return as<ScalableFilter>("scalable()"); }
const WindowFilter& FilterFile::window() const { return as<WindowFilter>("window()"); }
const FrozenFilter& FilterFile::frozen() const { return as<FrozenFilter>("frozen()"); }
const FilterView* FilterFile::delta() const noexcept { return session_->contents().delta(); }

const FilterPlan& FilterFile::plan() const noexcept { return session_->opened().header.plan; }
std::vector<std::byte> FilterFile::encode() const {
  return at_edge(*this, [&] {
    require_built(session_->contents(), path());
    session_->require_undamaged();
    return encode_contents(session_->contents());
  });
}
std::uint64_t FilterFile::encoded_size() const {
  require_built(session_->contents(), path());
  Header header;
  session_->contents().describe(header);
  return layout_of(header).clean_bytes;
}

Kind FilterFile::kind() const noexcept { return session_->opened().header.kind(); }
const Hasher& FilterFile::hasher() const noexcept { return session_->opened().header.hasher; }
const std::string& FilterFile::path() const noexcept { return session_->opened().file.path(); }
std::uint64_t FilterFile::inserted() const noexcept { return session_->contents().inserted(); }

std::string FilterFile::identity() const {
  constexpr std::array<char, 17> kDigits{"0123456789abcdef"};
  std::string text;
  for (const std::byte b : session_->opened().header.identity) {
    text += kDigits[std::to_integer<unsigned>(b >> 4)];
    text += kDigits[std::to_integer<unsigned>(b & std::byte{15})];
  }
  return text;
}

}  // namespace bloomery
