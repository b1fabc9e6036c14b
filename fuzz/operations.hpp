// A hasher and operations on a checked filter, from a fuzzer's bytes.
#pragma once

#include <bloomery/hash.hpp>

#include <cstdint>

#include "bytes.hpp"

namespace bloomery::fuzz {

inline Hasher hasher_from(Bytes& bytes) {
  const std::uint8_t choice = bytes.byte();
  if (choice % 2 == 0) return Hasher(HashFamily::xxh3, {.low = choice, .high = 0});
  return Hasher(HashFamily::siphash, {.low = choice, .high = 1});
}

// A key is one or two bytes of the input; long batches repeat a stride, so that a short input reaches
// every part of the ring.
template <class Operation>
Operation operation_from(Bytes& bytes) {
  Operation operation;
  operation.call = static_cast<typename Operation::Call>(bytes.byte() % Operation::calls);
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

// Applies operations, at most so many, until the bytes end, and checks the filter now and then.
template <class Checked>
int apply_all(
    Checked& checked, Bytes& bytes, int most,
    typename Checked::Operation (*next)(Bytes&) = operation_from<typename Checked::Operation>) {
  for (; most > 0 && !bytes.empty(); --most) {
    checked.apply(next(bytes));
    if (most % 10 == 0) checked.check();
  }
  checked.check();
  return 0;
}

}  // namespace bloomery::fuzz
