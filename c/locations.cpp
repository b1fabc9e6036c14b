// The functions that handle whole filters by their locations, without a handle.
#include <string>
#include <vector>

#include "handle.hpp"
#include "structs.hpp"

using namespace bloomery;
using namespace bloomery::c;

int bloomery_rotate(const char* location, const bloomery_options* options, bloomery_error* error) {
  return number_of(
      error, [&] { return int{AnyFilter::rotate(text_of(location), options_of(options)).done}; });
}

int bloomery_convert(const char* source, const char* out, const bloomery_options* options,
                     bloomery_error* error) {
  return outcome_of(
      error, [&] { AnyFilter::convert(text_of(source), text_of(out), options_of(options)); });
}

int bloomery_merge_locations(const char* const* sources, size_t count, const char* out,
                             bool replace, bloomery_error* error) {
  return outcome_of(error, [&] {
    if (sources == nullptr) throw Error(ErrorCode::invalid_argument, "the sources are NULL");
    std::vector<std::string> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(text_of(sources[i]));
    (void)AnyFilter::merge(all, text_of(out), replace);
  });
}

int bloomery_verify(const char* location, const bloomery_options* options, bloomery_error* error) {
  return number_of(error, [&] {
    const std::string place = text_of(location);
    const VerifyReport report = AnyFilter::verify(place, options_of(options));
    report.require_ok(AnyFilter::display_name(place));
    return int{report.state != VerifyReport::State::in_use};
  });
}
