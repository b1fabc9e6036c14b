// Finds the filter at a location.
#include <bloomery/any_filter.hpp>

#include "handle/places.hpp"
#include "store/files.hpp"
#include "store/rights.hpp"

#include <utility>

namespace bloomery {

using namespace detail;

namespace {

AnyImpl at(const std::string& location, Opening how, const FilterSpec& spec,
           const AnyOptions& options) {
  if (options.shared && (is_redis_url(location) || options.scheme))
    throw Error(ErrorCode::invalid_argument,
                AnyFilter::display_name(location) +
                    ": writers share filter files; a server is shared by all its clients anyway");
  if (is_redis_url(location)) return redis_filter(redis_url(location), how, spec, options);
  if (options.scheme) return php_file_filter(location, *options.scheme, how);
  if (options.rotating)
    throw PlanError(ErrorCode::wrong_kind, PlanField::window,
                    ": two generations are for filters in Redis strings; a {window} makes a file "
                    "that forgets",
                    location);
  if (how == Opening::create)
    return file_filter(location,
                       FilterFile::create(location, plan(spec),
                                          {.hasher = options.hasher(),
                                           .durability = options.durability,
                                           .replace = options.replace,
                                           .shared = options.shared}),
                       Access::write);
  const Access access = how == Opening::read ? Access::read : Access::write;
  return file_filter(
      location,
      FilterFile::open(
          location, {.access = access, .durability = options.durability, .shared = options.shared}),
      access);
}

// Whether the request says how large a new filter is.
bool is_sized(const FilterSpec& spec) noexcept {
  return spec.capacity || (spec.window && spec.window->unit == WindowUnit::insertions);
}

}  // namespace

Hasher AnyOptions::hasher() const {
  const HashFamily family = hash.value_or(HashFamily::xxh3);
  if (seed) return Hasher(family, *seed);
  const bool draw = random_seed || family == HashFamily::siphash;
  return Hasher(family, draw ? bloomery::random_seed(family) : Seed{});
}

// ---- defaults that a place may override -----------------------------------------------------------

std::size_t AnyFilter::Impl::apply(Operation, std::span<const Hash128>, std::span<bool>) {
  refuse(ErrorCode::wrong_kind, "it hashes keys itself; give their bytes");
}

std::size_t AnyFilter::Impl::apply(Operation operation, Keys keys, std::span<bool> answers) {
  const std::vector<Hash128> hashes = hash_keys(*hasher(), keys);
  return apply(operation, std::span<const Hash128>(hashes), answers);
}

std::size_t AnyFilter::Impl::insert_bits(std::string_view, std::span<bool>) {
  refuse(ErrorCode::wrong_kind, "only the bits of a PHP class on a server are told one by one");
}

void AnyFilter::Impl::require_removal() const {
  throw PlanError(ErrorCode::wrong_kind, PlanField::kind,
                  ": keys cannot be removed from its bits, which many keys share; make a filter of "
                  "{kind} counting",
                  name_);
}

std::vector<std::byte> AnyFilter::Impl::encode() {
  refuse(ErrorCode::wrong_kind, "only a filter in memory or in a file is encoded");
}

std::uint64_t AnyFilter::Impl::encoded_size() { return encode().size(); }

void AnyFilter::Impl::merge(const FilterView&) { refuse_merge(); }
void AnyFilter::Impl::merge(const CountingView&) { refuse_merge(); }
void AnyFilter::Impl::refuse_merge() const {
  refuse(ErrorCode::wrong_kind,
         "filters are merged into one in memory or in a file; merge by location makes a new one");
}

void AnyFilter::Impl::intersect(const FilterView&) {
  refuse(ErrorCode::wrong_kind, "only a plain filter in memory is intersected; take a copy of it");
}

void AnyFilter::Impl::clear() {
  refuse(ErrorCode::wrong_kind,
         "only a filter in memory is cleared; create a new one in the place of this one");
}

std::unique_ptr<AnyFilter::Impl> AnyFilter::Impl::copy() { return memory_filter(encode()); }

bool AnyFilter::Impl::reload() {
  refuse(ErrorCode::wrong_kind, "only a reader of a file is reloaded; others are never behind");
}

void AnyFilter::Impl::refuse(ErrorCode code, const std::string& what) const {
  throw Error(code, name_ + ": " + what);
}

std::uint64_t AnyFilter::Impl::begin_batch(std::string_view) {
  refuse(ErrorCode::wrong_kind,
         "only a filter file knows which keys of a batch are done; repeat all");
}

void AnyFilter::Impl::refuse_insert_absent() const {
  refuse(ErrorCode::wrong_kind, "insert_absent is for filters in memory; ask first, then insert");
}

// ---- the handle -----------------------------------------------------------------------------------

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
  AnyImpl impl = at(location, access == Access::read ? Opening::read : Opening::write, {}, options);
  if (access == Access::read && is_redis_url(location)) impl->only_reads();
  return AnyFilter(std::move(impl));
}

AnyFilter AnyFilter::create(const std::string& location, const FilterSpec& spec,
                            const AnyOptions& options) {
  return AnyFilter(at(location, Opening::create, spec, options));
}

AnyFilter AnyFilter::open_or_create(const std::string& location, const FilterSpec& spec,
                                    const AnyOptions& options,
                                    const std::optional<FilterSpec>& new_spec) {
  AnyOptions creating = options;
  creating.replace = false;
  constexpr int kTries = 100;
  for (int i = 1;; ++i) {
    // Another process may create the filter after this one has not found it, and remove it again.
    try {
      AnyFilter there(at(location, Opening::write, spec, options));
      require_agreement(*there.impl_, spec, options);
      return there;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::missing) throw;
      if (!is_sized(spec))
        throw PlanError(ErrorCode::invalid_argument, PlanField::capacity,
                        " does not exist; {capacity} N (and {fpr} P) would create it",
                        display_name(location));
    }
    try {
      return create(location, new_spec.value_or(spec), creating);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::exists || i == kTries) throw;
    }
  }
}

AnyFilter AnyFilter::rebuild(const std::string& location, const FilterPlan& plan,
                             const Hasher& hasher) {
  if (!is_redis_url(location))
    return AnyFilter(file_filter(
        location,
        FilterFile::rebuild(location, plan,
                            {.hasher = hasher, .durability = Durability::process, .replace = true}),
        Access::write));
  const RedisUrl url = redis_url(location);
  if (kind_of(plan) != Kind::plain)
    throw PlanError(ErrorCode::wrong_kind, PlanField::kind,
                    ": a Redis string holds a plain filter; leave {kind} out", url.text());
  return AnyFilter(redis_rebuild(url, std::get<Plan>(plan), hasher));
}

AnyFilter::Rotation AnyFilter::rotate(const std::string& location, const AnyOptions& options) {
  if (!is_redis_url(location))
    throw PlanError(ErrorCode::wrong_kind, PlanField::window,
                    ": a file does not rotate; create one with a {window}, which forgets by itself",
                    location);
  return redis_rotate(redis_url(location), options);
}

bool AnyFilter::is_pattern(std::string_view location) noexcept {
  return is_redis_pattern(location);
}

void AnyFilter::for_each(
    const std::string& location,
    const std::function<void(const std::string& address, const FilterStats& stats)>& use) {
  for_each_of_module(redis_pattern(location), use);
}

VerifyReport AnyFilter::verify(const std::string& location, const AnyOptions& options) {
  if (!is_redis_url(location) && !options.scheme) return bloomery::verify(location);
  return open(location, Access::read, options).verify();
}

std::string AnyFilter::display_name(const std::string& location) {
  return is_redis_url(location) ? redis_url(location).text() : location;
}

bool AnyFilter::is_address(std::string_view location) noexcept { return is_redis_url(location); }

std::size_t AnyFilter::apply(Operation operation, std::span<const Hash128> hashes,
                             std::span<bool> answers) {
  require_room(answers, hashes.size());
  return apply_hashes(0, operation, hashes, answers);
}
std::size_t AnyFilter::apply(Operation operation, Keys keys, std::span<bool> answers) {
  require_room(answers, keys.size());
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
void AnyFilter::require_removal() const { impl().require_removal(); }
bool AnyFilter::needs_time() const noexcept { return impl_ && impl_->needs_time(); }
void AnyFilter::advance(std::uint64_t now) { impl().advance(now); }
FilterStats AnyFilter::stats(Precision precision) { return impl().stats(precision); }
VerifyReport AnyFilter::verify() { return impl().verify(); }
void AnyFilter::use_threads(unsigned threads) noexcept {
  if (impl_) impl_->use_threads(threads);
}
bool AnyFilter::begin_load() noexcept { return impl_ && impl_->begin_load(); }
void AnyFilter::end_load() {
  try {
    impl().end_load();
  } catch (...) {
    acknowledged_ = 0;
    throw;
  }
}
std::uint64_t AnyFilter::begin_batch(std::string_view name) { return impl().begin_batch(name); }
void AnyFilter::sync() { impl().sync(); }
void AnyFilter::keep_alive() { impl().keep_alive(); }
void AnyFilter::close() {
  if (!impl_) return;
  impl_->close();
  direct_ = impl_->direct();
}
std::vector<std::byte> AnyFilter::encode() { return impl().encode(); }
std::uint64_t AnyFilter::encoded_size() { return impl().encoded_size(); }
void AnyFilter::save(const std::string& path) {
  if (is_redis_url(path))
    throw Error(ErrorCode::invalid_argument,
                display_name(path) + ": a filter is saved in a file; give a path");
  const std::vector<std::byte> bytes = encode();
  std::vector<Os::Stat> rights;
  if (file() != nullptr) rights = rights_of(real_os(), {&file()->path(), 1});
  Files(real_os()).save(path, bytes, rights);
}

void AnyFilter::merge(const AnyFilter& other) {
  if (const FilterView* bits = other.impl().plain()) return impl().merge(*bits);
  if (const CountingView* counters = other.impl().counting()) return impl().merge(*counters);
  throw Error(ErrorCode::wrong_kind,
              other.name() +
                  ": only plain and counting filters in memory or in files are merged; "
                  "insert the keys themselves");
}
void AnyFilter::intersect(const AnyFilter& other) {
  if (const FilterView* bits = other.impl().plain()) return impl().intersect(*bits);
  throw Error(ErrorCode::wrong_kind,
              other.name() + ": only plain filters in memory or in files are intersected");
}
void AnyFilter::clear() { impl().clear(); }
AnyFilter AnyFilter::copy() { return AnyFilter(impl().copy()); }
bool AnyFilter::reload() {
  const bool changed = impl().reload();
  direct_ = impl().direct();
  return changed;
}
const FilterFile* AnyFilter::file() const noexcept { return impl_ ? impl_->file() : nullptr; }

}  // namespace bloomery
