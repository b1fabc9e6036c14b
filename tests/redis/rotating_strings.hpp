// A rotating filter in each form.
#pragma once

#include <bloomery/rotating_redis_filter.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "redis/forms.hpp"
#include "redis/strings/redis_header.hpp"

namespace bloomery::test {

class RotatingStrings : public OfEachForm {
 protected:
  static RotatingRedisFilter made(std::optional<Layout> layout = std::nullopt) {
    return RotatingRedisFilter::create(place(), 10'000, 1e-6, Hasher(), layout);
  }
  static RotatingRedisFilter open() { return RotatingRedisFilter::open(place_to_open()); }
  // Of each newer string.
  static std::vector<std::uint64_t> generations() {
    std::vector<std::uint64_t> all;
    for (const std::string& key : keys())
      all.push_back(detail::decode_redis_header(server().get(key), key).generation);
    return all;
  }
  static std::vector<std::uint64_t> all_at(std::uint64_t generation) {
    return std::vector(strings(), generation);
  }
};

}  // namespace bloomery::test
