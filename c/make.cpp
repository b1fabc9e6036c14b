// The functions that make, open and close filters.
#include <bloomery/spec.hpp>

#include <cmath>
#include <string>

#include "handle.hpp"
#include "structs.hpp"

using namespace bloomery;
using namespace bloomery::c;

namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

Access access_of(std::uint32_t access) {
  if (access != BLOOMERY_READ && access != BLOOMERY_WRITE)
    refuse("there is no access " + std::to_string(access) +
           "; use BLOOMERY_READ or BLOOMERY_WRITE");
  return access == BLOOMERY_WRITE ? Access::write : Access::read;
}

// For filters that take only the options hash and seed, or, in memory, the options of a PHP class.
AnyOptions options_in_memory(const bloomery_options* options) {
  AnyOptions made = options_of(options);
  if (made.replace || made.rotating || made.shared || made.durability)
    refuse("a filter in memory or one that is rebuilt has a hash and a seed, and no other options");
  return made;
}

}  // namespace

int bloomery_solve(const bloomery_spec* spec, bloomery_plan* plan, bloomery_error* error) {
  return outcome_of(error, [&] {
    const std::size_t size = size_of(plan, "plan");
    give(plan_of(bloomery::plan(c::spec_of(spec))), plan, size);
  });
}

double bloomery_predict(const bloomery_spec* spec, double keys, bloomery_error* error) {
  return number_of(error, [&] {
    if (!(keys >= 0) || std::isinf(keys))
      refuse("the number of keys must be finite and not negative");
    return predicted_fpr(bloomery::plan(c::spec_of(spec)), keys);
  });
}

bloomery_filter* bloomery_new(const bloomery_spec* spec, const bloomery_options* options,
                              bloomery_error* error) {
  return handle_of(error, true, [&] {
    const AnyOptions made = options_in_memory(options);
    if (!made.scheme) return AnyFilter(bloomery::plan(c::spec_of(spec)), made.hasher());
    if (spec != nullptr) refuse("the bits of a PHP class follow from its options; give no spec");
    return AnyFilter(*made.scheme);
  });
}

bloomery_filter* bloomery_create(const char* location, const bloomery_spec* spec,
                                 const bloomery_options* options, bloomery_error* error) {
  return handle_of(error, false, [&] {
    return AnyFilter::create(text_of(location), c::spec_of(spec), options_of(options));
  });
}

bloomery_filter* bloomery_open(const char* location, uint32_t access,
                               const bloomery_options* options, bloomery_error* error) {
  const bool stays =
      access == BLOOMERY_READ && location != nullptr && !AnyFilter::is_address(location);
  return handle_of(error, stays, [&] {
    return AnyFilter::open(text_of(location), access_of(access), options_of(options));
  });
}

bloomery_filter* bloomery_open_or_create(const char* location, const bloomery_spec* spec,
                                         const bloomery_options* options, bloomery_error* error) {
  return handle_of(error, false, [&] {
    return AnyFilter::open_or_create(text_of(location), c::spec_of(spec), options_of(options));
  });
}

bloomery_filter* bloomery_rebuild(const char* location, const bloomery_spec* spec,
                                  const bloomery_options* options, bloomery_error* error) {
  return handle_of(error, false, [&] {
    const AnyOptions made = options_in_memory(options);
    if (made.scheme) refuse("a filter that is rebuilt has no bits of a PHP class");
    return AnyFilter::rebuild(text_of(location), bloomery::plan(c::spec_of(spec)), made.hasher());
  });
}

bloomery_filter* bloomery_decode(const void* bytes, size_t size, bloomery_error* error) {
  return handle_of(error, true, [&] {
    if (bytes == nullptr && size != 0) refuse("the bytes are NULL");
    return AnyFilter::decode({static_cast<const std::byte*>(bytes), size});
  });
}

bloomery_filter* bloomery_copy(bloomery_filter* filter, bloomery_error* error) {
  return handle_of(error, true, [&] { return used(filter).copy(); });
}

int bloomery_close(bloomery_filter* filter, bloomery_error* error) {
  return outcome_of(error, [&] {
    AnyFilter& any = used(filter);
    filter->acknowledge_load([&] { any.close(); });
  });
}

void bloomery_free(bloomery_filter* filter) {
  // A handle of another process is not freed, because nothing of it may be written, sent or unlocked: its memory
  // stays until this process ends.
  if (filter != nullptr && !filter->is_inherited()) delete filter;
}
