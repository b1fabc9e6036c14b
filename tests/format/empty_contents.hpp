// Contents without a key, and the hasher of all keys of their tests.
#pragma once

#include "format/make_contents.hpp"

#include "format/kinds.hpp"

#include <memory>

namespace bloomery::test {

inline const Hasher kHasher(HashFamily::siphash, {.low = 5, .high = 6});

inline std::unique_ptr<detail::Contents> empty(const FilterPlan& plan,
                                               const Hasher& hasher = kHasher) {
  const detail::Header header = detail::header_of(plan, hasher);
  return detail::make_contents(header, detail::Payload(detail::payload_bytes(header)));
}

}  // namespace bloomery::test
