// Operations on a filter of any kind, as data, so that a file, a twin in memory and another
// process can do the same.
#pragma once

#include <bloomery/bloomery.hpp>

#include "support/random.hpp"

#include <vector>

namespace bloomery::test {

struct Operation {
  enum What : std::uint8_t { insert, remove, advance, merge };
  What what = insert;
  std::uint64_t key = 0;  // of advance: the time
};
using Operations = std::vector<Operation>;

inline CountingFilter what_a_merge_adds(const CountingView& filter) {
  CountingFilter other(filter.plan(), filter.hasher());
  for (std::uint64_t key = 1'000'000; key < 1'000'020; ++key) other.insert(key);
  return other;
}

// The same operations on a file, all inserts and removals that follow one another in one call
// each. Error: as the file's; the operations before the call that failed are done.
inline void perform(FilterFile& file, const Operations& operations) {
  for (std::size_t from = 0, to = 0; from < operations.size(); from = to) {
    const Operation::What what = operations[from].what;
    if (what == Operation::advance) {
      file.advance(operations[to++].key);
      continue;
    }
    std::vector<Hash128> hashes;
    for (; to < operations.size() && operations[to].what == what; ++to)
      hashes.push_back(file.hasher()(operations[to].key));
    if (what == Operation::insert) file.insert_hashes(hashes);
    if (what == Operation::remove) file.remove_hashes(hashes);
    if (what == Operation::merge) file.merge(what_a_merge_adds(file.counting()));
  }
}

// The n-th operation of a life without an end on a filter of that kind.
inline Operation numbered_operation(Kind kind, std::uint64_t n) {
  const std::uint64_t dice = mix(n);
  if (kind == Kind::window && n % 50 == 7) return {Operation::advance, 1000 + n / 50};
  if (kind == Kind::counting && n / 40 % 3 == 2) return {Operation::remove, dice % 2000};
  return {Operation::insert, kind == Kind::scalable ? dice : dice % 2000};
}

}  // namespace bloomery::test
