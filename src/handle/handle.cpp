// AnyFilter: calls are handed to the place, and the parts of a batch are counted.
#include <bloomery/any_filter.hpp>

#include "handle/dump_file.hpp"
#include "handle/places.hpp"
#include "store/files.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace bloomery {

using namespace detail;

namespace {

// How long open_or_create() waits for another program that makes the filter: as long as for an answer of the server.
// In a file nobody sees a filter that is not complete.
std::chrono::milliseconds longest_wait(const std::string& location) {
  return is_on_server(place_of(location)) ? redis_url(location).address.timeout
                                          : std::chrono::milliseconds(0);
}

// Whether the request says how large a new filter is. A frozen filter has the size of its keys.
bool is_sized(const FilterSpec& spec) noexcept {
  if (spec.kind == Kind::frozen) return spec.fpr.has_value();
  return spec.capacity || spec.bits || (spec.window && spec.window->unit == WindowUnit::insertions);
}

[[noreturn]] void refuse_unsized(const std::string& location, const FilterSpec& spec) {
  const bool frozen = spec.kind == Kind::frozen;
  throw PlanError(ErrorCode::invalid_argument, frozen ? PlanField::fpr : PlanField::capacity,
                  frozen ? " does not exist; {fpr} P would create it"
                         : " does not exist; {capacity} N (and {fpr} P) would create it",
                  AnyFilter::display_name(location));
}

}  // namespace

Hasher AnyOptions::hasher() const {
  const HashFamily family = hash.value_or(HashFamily::xxh3);
  if (seed) return Hasher(family, *seed);
  const bool draw = random_seed || family == HashFamily::siphash;
  return Hasher(family, draw ? bloomery::random_seed(family) : Seed{});
}

AnyFilter::AnyFilter(std::unique_ptr<Impl> impl) noexcept
    : impl_(std::move(impl)), direct_(impl_->direct()) {}
AnyFilter::AnyFilter(AnyFilter&& other) noexcept
    : impl_(std::move(other.impl_)),
      direct_(std::exchange(other.direct_, {})),
      acknowledged_(other.acknowledged_) {}
AnyFilter& AnyFilter::operator=(AnyFilter&& other) noexcept {
  impl_ = std::move(other.impl_);
  direct_ = std::exchange(other.direct_, {});
  acknowledged_ = other.acknowledged_;
  return *this;
}
AnyFilter::~AnyFilter() = default;

AnyFilter::AnyFilter(const FilterPlan& plan, const Hasher& hasher)
    : AnyFilter(memory_filter(plan, hasher)) {}

AnyFilter::AnyFilter(const PhpScheme& scheme) : AnyFilter(memory_filter(scheme)) {}

AnyFilter AnyFilter::decode(std::span<const std::byte> bytes) {
  return AnyFilter(memory_filter(bytes));
}

AnyFilter AnyFilter::open(const std::string& location, Access access, const AnyOptions& options) {
  return AnyFilter(
      filter_at(location, access == Access::read ? Opening::read : Opening::write, {}, options));
}

AnyFilter AnyFilter::create(const std::string& location, const FilterSpec& spec,
                            const AnyOptions& options) {
  return AnyFilter(filter_at(location, Opening::create, spec, options));
}

AnyFilter AnyFilter::open_or_create(const std::string& location, const FilterSpec& spec,
                                    const AnyOptions& options,
                                    const std::optional<FilterSpec>& new_spec) {
  AnyOptions creating = options;
  creating.replace = false;
  constexpr int kTries = 100;
  const std::chrono::milliseconds longest = longest_wait(location);
  const auto begin = std::chrono::steady_clock::now();
  // Shards are made one by one, and nobody can open the filter until its maker has made all of them.
  // Each look takes connections, and many programs may wait.
  std::chrono::milliseconds pause(10);
  const auto waits = [&](const Error& error) {
    if (error.code() != ErrorCode::locked) return false;
    if (std::chrono::steady_clock::now() - begin >= longest) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::milliseconds(300));
    return true;
  };
  for (int tries = 1;;) {
    // Another process may create the filter after this one has not found it, and remove it again.
    try {
      AnyFilter there(filter_at(location, Opening::write, spec, options));
      require_agreement(*there.impl_, spec, options);
      return there;
    } catch (const Error& error) {
      if (waits(error)) continue;
      if (error.code() != ErrorCode::missing) throw;
      if (!options.scheme && !is_sized(spec)) refuse_unsized(location, spec);
    }
    try {
      return create(location, new_spec.value_or(spec), creating);
    } catch (const Error& error) {
      if (waits(error)) continue;
      if (error.code() != ErrorCode::exists || tries++ == kTries) throw;
    }
  }
}

bool AnyFilter::is_pattern(std::string_view location) noexcept {
  return is_redis_pattern(location);
}

void AnyFilter::for_each(
    const std::string& location,
    const std::function<void(const std::string& address, const FilterStats& stats)>& use,
    const std::function<void(const std::string& address, const Error& error)>& refused) {
  for_each_of_module(redis_pattern(location), use, refused);
}

VerifyReport AnyFilter::verify(const std::string& location, const AnyOptions& options) {
  if (is_file(location) && !options.scheme)
    return is_dump_file(location) ? verify_dump(location) : bloomery::verify(location);
  return open(location, Access::read, options).verify();
}

std::size_t AnyFilter::apply(Operation operation, std::span<const Hash128> hashes,
                             std::span<bool> answers) {
  if (!answers.empty()) require_room(answers.size(), hashes.size());
  return apply_hashes(0, operation, hashes, answers);
}
std::size_t AnyFilter::apply(Operation operation, Keys keys, std::span<bool> answers) {
  if (!answers.empty()) require_room(answers.size(), keys.size());
  return apply_keys(0, operation, keys, answers);
}

std::size_t AnyFilter::insert_bits(std::string_view key, std::span<bool> before) {
  acknowledged_ = 0;
  impl().require_writer();
  const std::size_t bits = impl().insert_bits(key, before);
  acknowledged_ = 1;
  return bits;
}

namespace {

// Adds what the place acknowledges to the count of the parts before, also if it throws. A successful look-up writes
// nothing, because other threads may look up at the same time.
template <class Batch>
std::size_t apply_part(AnyFilter::Impl& impl, std::size_t before, std::size_t& acknowledged,
                       AnyFilter::Operation operation, Batch keys, std::span<bool> answers) {
  if (operation != AnyFilter::Operation::contain) {
    acknowledged = before;
    impl.require_writer();
  }
  try {
    const std::size_t count = impl.apply(operation, keys, answers);
    if (operation != AnyFilter::Operation::contain) acknowledged = before + keys.size();
    return count;
  } catch (...) {
    acknowledged = before + impl.acknowledged();
    throw;
  }
}

// Runs what acknowledges the keys of a load. If it fails, none of them is.
template <class Work>
void acknowledge_load(const AnyFilter::Impl& impl, std::size_t& acknowledged, Work work) {
  const bool loads = impl.is_loading();
  try {
    work();
  } catch (...) {
    if (loads) acknowledged = 0;
    throw;
  }
}

}  // namespace

std::size_t AnyFilter::apply_hashes(std::size_t before, Operation operation,
                                    std::span<const Hash128> hashes, std::span<bool> answers) {
  return apply_part(impl(), before, acknowledged_, operation, hashes, answers);
}
std::size_t AnyFilter::apply_keys(std::size_t before, Operation operation, Keys keys,
                                  std::span<bool> answers) {
  return apply_part(impl(), before, acknowledged_, operation, keys, answers);
}

AnyFilter::Impl& AnyFilter::impl() const {
  if (!impl_)
    throw Error(ErrorCode::invalid_argument,
                "the filter was moved from; use the one that it was moved to");
  return *impl_;
}

void AnyFilter::refuse_integers() const {
  throw Error(ErrorCode::wrong_kind,
              name() + ": its keys are text or bytes; write integers as text");
}

const Hasher* AnyFilter::hasher() const noexcept { return impl_ ? impl_->hasher() : nullptr; }
const std::string& AnyFilter::name() const { return impl().name(); }
bool AnyFilter::in_memory() const noexcept { return impl_ && impl_->in_memory(); }
std::optional<FilterPlan> AnyFilter::plan() const { return impl().plan(); }
FilterSpec AnyFilter::spec() const { return impl().spec(); }
void AnyFilter::require_match(const FilterSpec& spec, const AnyOptions& options) const {
  require_agreement(impl(), spec, options);
}
void AnyFilter::require_removal() const { impl().require_removal(); }
bool AnyFilter::needs_time() const noexcept { return impl_ && impl_->needs_time(); }
void AnyFilter::advance(std::uint64_t now) { impl().advance(now); }
FilterStats AnyFilter::stats(Precision precision) { return impl().stats(precision); }
VerifyReport AnyFilter::verify() { return impl().verify(); }
void AnyFilter::use_threads(unsigned threads) noexcept {
  if (impl_) impl_->use_threads(threads);
}
bool AnyFilter::begin_load(std::uint64_t expected) noexcept {
  return impl_ && impl_->begin_load(expected);
}
bool AnyFilter::is_loading() const noexcept { return impl_ && impl_->is_loading(); }
void AnyFilter::end_load() {
  acknowledge_load(impl(), acknowledged_, [&] { impl().end_load(); });
}
std::uint64_t AnyFilter::begin_batch(std::string_view name) { return impl().begin_batch(name); }
void AnyFilter::sync() {
  acknowledge_load(impl(), acknowledged_, [&] { impl().sync(); });
}
void AnyFilter::keep_alive() { impl().keep_alive(); }
void AnyFilter::close() {
  if (!impl_) return;
  acknowledge_load(*impl_, acknowledged_, [&] { impl_->close(); });
  if (impl_->on_server()) impl_ = closed_filter(*impl_);
  direct_ = impl_->direct();
}
std::vector<std::byte> AnyFilter::encode() { return impl().encode(); }
std::uint64_t AnyFilter::encoded_size() { return impl().encoded_size(); }
void AnyFilter::save(const std::string& path) {
  if (!is_file(path))
    throw Error(ErrorCode::invalid_argument,
                display_name(path) + ": a filter is saved in a file; give a path");
  const std::vector<std::byte> bytes = encode();
  Files(real_os()).save(path, bytes, impl().rights());
}

void AnyFilter::merge(const AnyFilter& other) {
  if (other.file() != nullptr) Files::require_undamaged(*other.file());
  if (const FilterView* bits = other.impl().plain()) return impl().merge(*bits);
  if (const CountingView* counters = other.impl().counting()) return impl().merge(*counters);
  throw Error(ErrorCode::wrong_kind,
              other.name() +
                  ": only plain and counting filters in memory or in files are merged; "
                  "insert the keys themselves");
}
void AnyFilter::intersect(const AnyFilter& other) {
  if (other.file() != nullptr) Files::require_undamaged(*other.file());
  if (const FilterView* bits = other.impl().plain()) return impl().intersect(*bits);
  throw Error(ErrorCode::wrong_kind,
              other.name() + ": only plain filters in memory or in files are intersected");
}
std::optional<AnyFilter::SliceRoom> AnyFilter::slice_room() { return impl().slice_room(); }
std::vector<AnyFilter::Array> AnyFilter::arrays() const { return impl().arrays(); }
void AnyFilter::clear() { impl().clear(); }
AnyFilter AnyFilter::copy() { return AnyFilter(impl().copy()); }
bool AnyFilter::reload() {
  const bool changed = impl().reload();
  direct_ = impl().direct();
  return changed;
}
bool AnyFilter::can_be_behind() const noexcept { return impl_ && impl_->can_be_behind(); }
const FilterFile* AnyFilter::file() const noexcept { return impl_ ? impl_->file() : nullptr; }

}  // namespace bloomery
