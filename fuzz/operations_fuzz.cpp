// Any sequence of operations on filters of any small size, compared with a naive filter and exact
// sets; with every kernel of the machine.
#include "operations.hpp"
#include "support/checked_filter.hpp"
#include "support/layouts.hpp"

namespace {

using namespace bloomery;

Plan plan_from(fuzz::Bytes& bytes) {
  const Layout layout = test::kLayouts[bytes.byte() % std::size(test::kLayouts)];
  const std::vector<std::uint32_t> counts = test::hash_counts(layout);
  const std::uint32_t k = counts[bytes.byte() % counts.size()];
  return test::plan_of(layout, 1 + bytes.byte() % 12, k);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes bytes(data, size);
  const Plan plan = plan_from(bytes);
  test::CheckedFilter checked(plan, fuzz::hasher_from(bytes));
  return fuzz::apply_all(checked, bytes, 60);
}
