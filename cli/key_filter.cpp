// Telling key filters from files by their names and the flags.
#include "key_filter.hpp"

#include "php_file.hpp"
#include "redis_places.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bloomery::cli {

namespace {

std::unique_ptr<KeyFilter> filter_of(const Options& options, const std::string& name, Mode mode) {
  if (is_redis_address(name)) return redis_key_filter(options, name, mode);
  if (options.scheme) return php_file_filter(options, name, mode);
  if (options.rotating)
    throw Error(ErrorCode::wrong_kind,
                fmt::format("{}: --rotating is for filters in Redis strings; --window makes a file "
                            "that forgets",
                            name));
  return nullptr;
}

}  // namespace

bool is_redis_address(std::string_view name) noexcept {
  const std::size_t colon = name.find("://");
  return name.starts_with("redis") && colon != std::string_view::npos &&
         std::ranges::all_of(name.substr(0, colon),
                             [](char c) { return (c >= 'a' && c <= 'z') || c == '+'; });
}

std::size_t KeyFilter::remove(Keys, std::span<bool>) {
  throw Error(ErrorCode::wrong_kind,
              fmt::format("{}: lines cannot be removed from its bits, which many keys share; a "
                          "counting filter takes them out: create --kind counting",
                          name()));
}

std::unique_ptr<KeyFilter> open_key_filter(const Options& options, const std::string& name,
                                           Access access) {
  return filter_of(options, name, access == Access::read ? Mode::read : Mode::write);
}

std::unique_ptr<KeyFilter> create_key_filter(const Options& options, const std::string& name) {
  return filter_of(options, name, Mode::create);
}

std::unique_ptr<KeyFilter> open_or_create_key_filter(const Options& options,
                                                     const std::string& name) {
  return filter_of(options, name, Mode::open_or_create);
}

bool names_key_filter(const Options& options, const std::string& name) noexcept {
  return is_redis_address(name) || options.scheme;
}

void require_file(const Options& options, const std::string& name, std::string_view why) {
  if (names_key_filter(options, name))
    throw Error(ErrorCode::wrong_kind,
                fmt::format("{}: {}", is_redis_address(name) ? "a redis address" : name, why));
}

}  // namespace bloomery::cli
