// Any sequence of operations on filters of any small shape, against a naive filter and exact
// sets; every kernel of the machine is among them.
#include "bytes.hpp"
#include "support/shapes.hpp"
#include "support/twin.hpp"

namespace {

using namespace bloomery;
using fuzz::Bytes;
using test::Operation;

Plan shape_from(Bytes& bytes) {
  const Layout layout = test::kLayouts[bytes.byte() % std::size(test::kLayouts)];
  const std::vector<std::uint32_t> counts = test::hash_counts(layout);
  const std::uint32_t k = counts[bytes.byte() % counts.size()];
  return test::shape_of(layout, 1 + bytes.byte() % 12, k);
}

Hasher hasher_from(Bytes& bytes) {
  const std::uint8_t choice = bytes.byte();
  if (choice % 2 == 0) return Hasher(HashFamily::xxh3, {.low = choice, .high = 0});
  return Hasher(HashFamily::siphash, {.low = choice, .high = 1});
}

// Keys are few bytes: one byte a key of a small space, or sixteen bits; long batches repeat a
// stride, so that a short input reaches every turn of the ring.
Operation operation_from(Bytes& bytes) {
  Operation operation;
  operation.kind = static_cast<Operation::Kind>(bytes.byte() % Operation::kinds);
  const std::uint8_t form = bytes.byte();
  operation.answers = (form & 1) != 0;
  if ((form & 2) == 0) {
    for (unsigned left = form >> 3; left > 0 || operation.keys.empty(); left -= left > 0)
      operation.keys.push_back(bytes.byte());
    return operation;
  }
  const std::uint16_t first = bytes.word(), stride = bytes.byte(), count = bytes.word() % 500;
  for (unsigned i = 0; i <= count; ++i)
    operation.keys.push_back(static_cast<std::uint16_t>(first + i * stride));
  return operation;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const Plan shape = shape_from(bytes);
  test::Twin twin(shape, hasher_from(bytes));
  for (int left = 60; left > 0 && !bytes.empty(); --left) {
    twin.apply(operation_from(bytes));
    if (left % 10 == 0) twin.check();
  }
  twin.check();
  return 0;
}
