// Calls on whole filters.
#include <cstring>
#include <string>

#include "handle.hpp"
#include "structs.hpp"

using namespace bloomery;
using namespace bloomery::c;

namespace {

// The second filter is only read, but it must belong to this process too.
const AnyFilter& other_of(const bloomery_filter* other) {
  return used(const_cast<bloomery_filter*>(other));
}

}  // namespace

int bloomery_merge(bloomery_filter* filter, const bloomery_filter* other, bloomery_error* error) {
  return outcome_of(error, [&] { used(filter).merge(other_of(other)); });
}

int bloomery_intersect(bloomery_filter* filter, const bloomery_filter* other,
                       bloomery_error* error) {
  return outcome_of(error, [&] { used(filter).intersect(other_of(other)); });
}

int bloomery_clear(bloomery_filter* filter, bloomery_error* error) {
  return outcome_of(error, [&] { used(filter).clear(); });
}

int bloomery_advance(bloomery_filter* filter, uint64_t now, bloomery_error* error) {
  return outcome_of(error, [&] { used(filter).advance(now); });
}

int bloomery_begin_load(bloomery_filter* filter, bloomery_error* error) {
  return number_of(error, [&] { return used(filter).begin_load() ? 1 : 0; });
}

int bloomery_end_load(bloomery_filter* filter, bloomery_error* error) {
  return outcome_of(error, [&] {
    AnyFilter& any = used(filter);
    filter->acknowledge_load([&] { any.end_load(); });
  });
}

int64_t bloomery_begin_batch(bloomery_filter* filter, const char* name, bloomery_error* error) {
  return number_of(error, [&] {
    if (name == nullptr) throw Error(ErrorCode::invalid_argument, "the name of the batch is NULL");
    return static_cast<int64_t>(used(filter).begin_batch(name));
  });
}

int bloomery_get_stats(bloomery_filter* filter, bool exact, bloomery_stats* stats,
                       bloomery_error* error) {
  return outcome_of(error, [&] {
    const std::size_t size = size_of(stats, "stats");
    const auto precision = exact ? Precision::exact : Precision::sampled;
    give(c::stats_of(used(filter).stats(precision)), stats, size);
  });
}

int bloomery_get_spec(bloomery_filter* filter, bloomery_spec* spec, bloomery_error* error) {
  return outcome_of(error, [&] {
    const std::size_t size = size_of(spec, "spec");
    give(c::spec_of(used(filter).spec()), spec, size);
  });
}

int bloomery_require_match(bloomery_filter* filter, const bloomery_spec* spec,
                           const bloomery_options* options, bloomery_error* error) {
  return outcome_of(error,
                    [&] { used(filter).require_match(c::spec_of(spec), options_of(options)); });
}

int64_t bloomery_encoded_size(bloomery_filter* filter, bloomery_error* error) {
  return number_of(error, [&] { return static_cast<int64_t>(used(filter).encoded_size()); });
}

int64_t bloomery_encode(bloomery_filter* filter, void* bytes, size_t size, bloomery_error* error) {
  return number_of(error, [&] {
    const std::uint64_t needed = used(filter).encoded_size();
    if (size < needed)
      throw Error(ErrorCode::invalid_argument,
                  "the filter takes " + std::to_string(needed) + " bytes, and there is room for " +
                      std::to_string(size) + "; make room for bloomery_encoded_size");
    if (bytes == nullptr)
      throw Error(ErrorCode::invalid_argument, "the room for the bytes is NULL");
    const std::vector<std::byte> encoded = used(filter).encode();
    std::memcpy(bytes, encoded.data(), encoded.size());
    return static_cast<int64_t>(encoded.size());
  });
}

int bloomery_save(bloomery_filter* filter, const char* path, bloomery_error* error) {
  return outcome_of(error, [&] {
    if (path == nullptr || *path == 0)
      throw Error(ErrorCode::invalid_argument, "the path is NULL or empty");
    used(filter).save(path);
  });
}

int bloomery_sync(bloomery_filter* filter, bloomery_error* error) {
  return outcome_of(error, [&] {
    AnyFilter& any = used(filter);
    filter->acknowledge_load([&] { any.sync(); });
  });
}

int bloomery_reload(bloomery_filter* filter, bloomery_error* error) {
  return number_of(error, [&] { return used(filter).reload() ? 1 : 0; });
}

const char* bloomery_name(const bloomery_filter* filter) {
  return filter == nullptr ? "" : filter->name();
}
