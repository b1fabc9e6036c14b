// Any sequence of operations on counting filters of any small size, compared with a naive filter and
// with exact multisets; with every kernel of the machine.
#include "operations.hpp"
#include "support/checked_counting.hpp"
#include "support/layouts.hpp"

namespace {

using namespace bloomery;

Plan plan_from(fuzz::Bytes& bytes) {
  const Layout layout = test::kNarrowLayouts[bytes.byte() % 2];
  const std::uint32_t k = 1 + bytes.byte() % 16;
  return test::plan_of(layout, 1 + bytes.byte() % 12, k);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes bytes(data, size);
  const Plan plan = plan_from(bytes);
  test::CheckedCounting checked(plan, fuzz::hasher_from(bytes));
  return fuzz::apply_all(checked, bytes, 60);
}
