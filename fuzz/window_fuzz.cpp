// Any sequence of operations on windows of any small size, compared with naive filters and a queue; with
// every kernel of the machine.
#include <algorithm>

#include "operations.hpp"
#include "support/checked_window.hpp"

namespace {

using namespace bloomery;
using fuzz::Bytes;
using WindowOperation = test::CheckedWindow::Operation;

WindowPlan plan_from(Bytes& bytes) {
  const std::uint8_t form = bytes.byte();
  const std::uint32_t slices = 1 + bytes.byte() % kMaxSlices;
  const std::uint64_t window = slices * (1U + bytes.byte());
  const std::uint64_t capacity = 1U + bytes.word() % 300;
  constexpr double kFprs[] = {0.5, 0.1, 0.01, 1e-6};
  const Layout layout = (form & 2) == 0 ? Layout::blocked : Layout::blocked2;
  const double fpr = kFprs[form / 4 % 4];
  if ((form & 1) == 0)
    return window_plan(WindowUnit::seconds, window, capacity, fpr, slices, layout);
  return window_plan(WindowUnit::insertions, window, std::min(window, capacity), fpr, slices,
                     layout);
}

// Keys are few bytes; long batches repeat a stride, so that a short input fills parts and slices.
WindowOperation operation_from(Bytes& bytes) {
  WindowOperation operation;
  operation.call = static_cast<WindowOperation::Call>(bytes.byte() % WindowOperation::calls);
  const std::uint8_t form = bytes.byte();
  operation.answers = (form & 1) != 0;
  if ((form & 2) == 0) {
    operation.keys.push_back(bytes.word());
    for (unsigned left = form >> 3; left > 0; --left) operation.keys.push_back(bytes.byte());
    return operation;
  }
  const std::uint16_t first = bytes.word(), stride = bytes.byte(), count = bytes.word() % 1500;
  for (unsigned i = 0; i <= count; ++i)
    operation.keys.push_back(static_cast<std::uint16_t>(first + i * stride));
  return operation;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const WindowPlan plan = plan_from(bytes);
  test::CheckedWindow checked(plan, fuzz::hasher_from(bytes));
  return fuzz::apply_all(checked, bytes, 30, operation_from);
}
