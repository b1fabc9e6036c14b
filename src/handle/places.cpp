// What a location names, and what depends on that: one switch each.
#include "handle/places.hpp"

#include "handle/dump_file.hpp"
#include "handle/plain_bits.hpp"

#include <algorithm>

namespace bloomery {

namespace detail {

namespace {

AnyImpl filter_in_file(const std::string& path, Opening how, const FilterSpec& spec,
                       const AnyOptions& options) {
  if (options.rotating)
    throw PlanError(ErrorCode::wrong_kind, PlanField::window,
                    ": two generations are for filters in Redis strings; a {window} makes a file "
                    "that forgets",
                    path);
  if (options.scheme) return php_file_filter(path, *options.scheme, how, options.sources);
  const Durability durability =
      options.durability.value_or(options.shared ? Durability::process : Durability::sync);
  if (how == Opening::create)
    return file_filter(path,
                       FilterFile::create(path, plan(spec),
                                          {.hasher = options.hasher(),
                                           .durability = durability,
                                           .replace = options.replace,
                                           .shared = options.shared,
                                           .sources = options.sources}),
                       Access::write);
  const Access access = how == Opening::read ? Access::read : Access::write;
  try {
    return file_filter(
        path,
        FilterFile::open(path,
                         {.access = access, .durability = durability, .shared = options.shared}),
        access);
  } catch (const Error& error) {
    if (how != Opening::read || error.code() != ErrorCode::not_a_filter || !is_dump_file(path))
      throw;
  }
  return dump_filter(path);
}

AnyImpl filter_on_server(const RedisUrl& url, Opening how, const FilterSpec& spec,
                         const AnyOptions& options) {
  AnyImpl filter = redis_filter(url, how, spec, options);
  if (how == Opening::read) filter->only_reads();
  return filter;
}

RedisUrl bucket_at(const std::string& location) {
  RedisUrl url = redis_url(location);
  if (url.module)
    throw Error(ErrorCode::wrong_kind,
                url.text() +
                    ": a filter of the module has bits of its own, which cannot be made from the "
                    "bits of a PHP class; build a new one with create and add");
  return url;
}

PhpFilter load_php_bits(const std::string& source, const PhpScheme& scheme) {
  switch (place_of(source)) {
    case Place::file:
      return load_php_file(source, scheme);
    case Place::server:
      return load_php_bucket(bucket_at(source), scheme);
  }
  __builtin_unreachable();
}

// 127.0.0.1:6379, or localhost:6379: the form in which many programs take the address of a server.
bool is_host_and_port(std::string_view location) {
  constexpr std::string_view digits = "0123456789";
  const std::size_t colon = location.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view host = location.substr(0, colon), port = location.substr(colon + 1);
  return port.find_first_not_of(digits) == std::string_view::npos && !port.empty() &&
         (host == "localhost" ||
          (std::ranges::count(host, '.') == 3 && std::ranges::all_of(host, [&](char c) {
             return c == '.' || digits.find(c) != std::string_view::npos;
           })));
}

}  // namespace

bool is_file(Place place) noexcept {
  switch (place) {
    case Place::file:
      return true;
    case Place::server:
      return false;
  }
  __builtin_unreachable();
}
bool is_on_server(Place place) noexcept {
  switch (place) {
    case Place::file:
      return false;
    case Place::server:
      return true;
  }
  __builtin_unreachable();
}

Place place_of(std::string_view location) {
  if (is_redis_url(location)) return Place::server;
  if (is_host_and_port(location))
    throw Error(ErrorCode::invalid_argument,
                fill_in("{}: a server is named with its protocol and a key: write "
                        "redis://{}?key=NAME; if it is a path, write ./{}, or the whole path",
                        location, location, location));
  if (!AnyFilter::is_address(location)) return Place::file;
  const std::string_view word = location.substr(0, std::min<std::size_t>(location.find(':'), 64));
  throw Error(
      ErrorCode::invalid_argument,
      fill_in("{}:// is not the beginning of an address; write redis://, redis+module:// or "
              "redis+cluster://, for example; if it is a path, write ./{}://",
              word, word));
}

AnyImpl filter_at(const std::string& location, Opening how, const FilterSpec& spec,
                  const AnyOptions& options) {
  const Place place = place_of(location);
  const bool filter_file = is_file(place) && !options.scheme;
  const bool on_server = is_on_server(place);
  if (options.shared && !filter_file)
    throw Error(ErrorCode::invalid_argument,
                AnyFilter::display_name(location) + ": writers share filter files; " +
                    (on_server ? "a server is shared by all its clients anyway"
                               : "bits of a PHP class have one writer at a time"));
  if (options.durability && !filter_file)
    throw Error(
        ErrorCode::invalid_argument,
        AnyFilter::display_name(location) + ": a durability is for filter files; leave it out" +
            (on_server ? ": the settings of a server decide what a filter on it survives" : ""));
  if (options.scheme &&
      (spec != FilterSpec{} || options.hash || options.seed || options.random_seed))
    throw Error(ErrorCode::invalid_argument,
                AnyFilter::display_name(location) +
                    ": the scheme of a PHP class says all about its bits; leave out the kind, the "
                    "other numbers, the hash and the seed");
  switch (place) {
    case Place::file:
      return filter_in_file(location, how, spec, options);
    case Place::server:
      return filter_on_server(redis_url(location), how, spec, options);
  }
  __builtin_unreachable();
}

// ---- bits that are copied from one place to another -----------------------------------------------

std::unique_ptr<PlainSource> plain_source(const std::string& location) {
  switch (place_of(location)) {
    case Place::file:
      return file_source(location);
    case Place::server:
      return redis_source(redis_url(location));
  }
  __builtin_unreachable();
}

std::unique_ptr<PlainSink> plain_sink(const std::string& location,
                                      const PlainParameters& parameters, bool replace,
                                      std::span<const std::string> sources) {
  switch (place_of(location)) {
    case Place::file:
      return file_sink(location, parameters, replace, sources);
    case Place::server:
      return redis_sink(redis_url(location), parameters, replace);
  }
  __builtin_unreachable();
}

void copy_php_bits(const std::string& source, const std::string& out, const PhpScheme& scheme) {
  switch (place_of(out)) {
    case Place::file: {
      const PhpFilter filter = load_php_bits(source, scheme);
      WholeFile file(out, source);
      file.write(filter.string_bytes());
      return file.publish(false);
    }
    case Place::server: {
      const RedisUrl bucket = bucket_at(out);  // refused before anything is read
      return store_php_bucket(bucket, load_php_bits(source, scheme));
    }
  }
}

}  // namespace detail

using namespace detail;

bool AnyFilter::is_address(std::string_view location) noexcept {
  const std::size_t word = location.find_first_not_of(
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");  // RFC 3986, 3.1
  return word != 0 && word != std::string_view::npos && location[0] != '.' &&
         location.substr(word).starts_with("://");
}

bool AnyFilter::can_replace(const std::string& location, const AnyOptions& options) {
  switch (place_of(location)) {
    case Place::file:
      return !options.scheme;
    case Place::server: {
      const RedisUrl url = redis_url(location);
      return !url.module && !options.scheme && !(options.rotating && url.shards);
    }
  }
  __builtin_unreachable();
}

std::string AnyFilter::display_name(const std::string& location) {
  switch (place_of(location)) {
    case Place::file:
      return location;
    case Place::server:
      return redis_url(location).text();
  }
  __builtin_unreachable();
}

// The first colon ends a scheme or a user; a later one may be a part of the password.
std::optional<std::string_view> AnyFilter::secret_of(std::string_view text) noexcept {
  constexpr std::string_view scheme_end = "://";
  const std::size_t at = text.rfind('@'), colon = text.find(':');
  if (at == std::string_view::npos || colon >= at) return std::nullopt;
  text.remove_suffix(text.size() - at);
  text.remove_prefix(colon + (text.substr(colon).starts_with(scheme_end) ? scheme_end.size() : 1));
  return text;
}

AnyFilter AnyFilter::rebuild(const std::string& location, const FilterPlan& plan,
                             const Hasher& hasher, const std::vector<std::string>& sources) {
  switch (place_of(location)) {
    case Place::file:
      return AnyFilter(file_filter(location,
                                   FilterFile::rebuild(location, plan,
                                                       {.hasher = hasher,
                                                        .durability = Durability::process,
                                                        .replace = true,
                                                        .sources = sources}),
                                   Access::write));
    case Place::server:
      return AnyFilter(redis_rebuild(redis_url(location), plan, hasher));
  }
  __builtin_unreachable();
}

AnyFilter::Rotation AnyFilter::rotate(const std::string& location, const AnyOptions& options) {
  switch (place_of(location)) {
    case Place::file:
      throw PlanError(
          ErrorCode::wrong_kind, PlanField::window,
          ": a file does not rotate; create one with a {window}, which forgets by itself",
          location);
    case Place::server:
      return redis_rotate(redis_url(location), options);
  }
  __builtin_unreachable();
}

}  // namespace bloomery
