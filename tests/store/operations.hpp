// Operations on a filter of any kind, as data, so that a file, a model in memory and another
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

// The calls of a file that do the operations: all inserts, or removals, that follow one another
// are one call.
struct Call {
  Operation first;
  std::vector<Hash128> hashes;
};
inline std::vector<Call> calls_of(const Hasher& hasher, const Operations& operations) {
  std::vector<Call> calls;
  for (const Operation& operation : operations) {
    const bool has_key = operation.what == Operation::insert || operation.what == Operation::remove;
    if (!has_key || calls.empty() || calls.back().first.what != operation.what)
      calls.push_back({operation, {}});
    if (has_key) calls.back().hashes.push_back(hasher(operation.key));
  }
  return calls;
}

// Error: as the file's; the calls before the one that failed are done.
inline void perform(FilterFile& file, const std::vector<Call>& calls) {
  for (const Call& call : calls) switch (call.first.what) {
      case Operation::insert:
        file.insert_hashes(call.hashes);
        break;
      case Operation::remove:
        file.remove_hashes(call.hashes);
        break;
      case Operation::advance:
        file.advance(call.first.key);
        break;
      case Operation::merge:
        file.merge(what_a_merge_adds(file.counting()));
        break;
    }
}
inline void perform(FilterFile& file, const Operations& operations) {
  perform(file, calls_of(file.hasher(), operations));
}

// The n-th operation of a life without an end on a filter of that kind.
inline Operation numbered_operation(Kind kind, std::uint64_t n) {
  const std::uint64_t dice = mix(n);
  if (kind == Kind::window && n % 50 == 7) return {Operation::advance, 1000 + n / 50};
  if (kind == Kind::counting && n / 40 % 3 == 2) return {Operation::remove, dice % 2000};
  return {Operation::insert, kind == Kind::scalable ? dice : dice % 2000};
}

}  // namespace bloomery::test
