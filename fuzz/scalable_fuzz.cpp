// Any sequence of operations on a scalable filter of any small plan, compared with naive filters and an
// exact set; with every kernel of the machine.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "operations.hpp"
#include "support/checked_scalable.hpp"
#include "support/layouts.hpp"

namespace {

using namespace bloomery;
using fuzz::Bytes;

// The first sub-filter has room for few keys, and the keys of an input cannot reach the limit.
ScalablePlan plan_from(Bytes& bytes) {
  constexpr double kTightenings[] = {0.25, 0.5, 0.85, 0.95};
  constexpr double kFprs[] = {0.4, 0.1, 0.01, 0.001};
  const Layout layout = test::kLayouts[bytes.byte() % 3];
  const std::uint64_t first = 4 + bytes.byte() % 60;
  const std::uint8_t choice = bytes.byte();
  const double fpr = kFprs[choice >> 2 & 3];
  const double tightening = std::max(kTightenings[choice & 3], min_tightening(fpr));
  return scalable_plan(first, fpr, 2 + (choice >> 4) % 4, tightening, layout);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const ScalablePlan plan = plan_from(bytes);
  test::CheckedScalable checked(plan, fuzz::hasher_from(bytes));
  return fuzz::apply_all(checked, bytes, 25);
}
