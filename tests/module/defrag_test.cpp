// Values whose every allocation the server's defragmentation moves: nothing points back.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "chain.hpp"
#include "counted_memory.hpp"
#include "counting.hpp"
#include "window.hpp"

namespace {

using namespace bloomery::server;
using bloomery::Hash128;
using bloomery::test::CountedMemory;

int moves = 0;

// What was there is overwritten, so that whoever still reads it gives itself away.
void* move(DefragContext*, void* memory) {
  const std::size_t bytes = malloc_usable_size(memory);
  void* moved = std::malloc(bytes);
  std::memcpy(moved, memory, bytes);
  std::memset(memory, 0xDD, bytes);
  std::free(memory);
  ++moves;
  return moved;
}

// The sizes tell that this memory, unlike a server's, does not keep the alignment of what it moves:
// an array that is aligned by chance alone stays.
struct MovingMemory : CountedMemory {
  MovingMemory() {
    api.DefragAlloc = move;
    api.MallocSize = malloc_usable_size;
  }
};

std::vector<Hash128> hashes_of(const Value& value, int first, int count) {
  std::vector<Hash128> hashes;
  for (int i = first; i < first + count; ++i)
    hashes.push_back(value.hash("item:" + std::to_string(i)));
  return hashes;
}

std::size_t add(Value& value, int first, int count) {
  const auto hashes = hashes_of(value, first, count);
  const auto fresh = std::make_unique<bool[]>(hashes.size());
  return value.insert(hashes, {fresh.get(), hashes.size()}, UINT64_MAX).answered;
}

std::vector<std::byte> whole(const Value& value) {
  std::vector<std::byte> bytes = value.header();
  std::uint64_t offset = 0;
  for (auto part = value.part_at(0, SIZE_MAX); !part.empty();
       part = value.part_at(offset, SIZE_MAX)) {
    bytes.insert(bytes.end(), part.begin(), part.end());
    offset += part.size();
  }
  return bytes;
}

// As the server does it: the value itself first, then what it holds.
AnyValue moved(AnyValue value) {
  auto* const there = static_cast<Value*>(defragment(nullptr, value.release()));
  there->defragment(nullptr);
  return AnyValue(there);
}

// The same items go into one that is moved again and again and into one that stays.
void check(const std::function<AnyValue()>& make) {
  MovingMemory memory;
  AnyValue stays = make();
  AnyValue goes = make();
  for (int first = 0; first < 700; first += 100) {
    goes = moved(std::move(goes));
    ASSERT_EQ(add(*goes, first, 100), add(*stays, first, 100));
    goes = moved(std::move(goes));
    ASSERT_EQ(whole(*goes), whole(*stays)) << first;
    for (const Hash128 hash : hashes_of(*goes, 0, first + 300))
      ASSERT_EQ(goes->may_contain(hash, 0), stays->may_contain(hash, 0));
  }
  ASSERT_EQ(whole(*goes->copy()), whole(*stays));
  goes->clear();
  stays->clear();
  ASSERT_EQ(whole(*goes), whole(*stays));
  ASSERT_GT(moves, 0);
  moves = 0;
  goes.reset();
  stays.reset();
  EXPECT_EQ(CountedMemory::held, 0U);
}

TEST(Defragmentation, OfChains) {
  for (const Family family : {Family::bloomery, Family::redisbloom})
    for (const double fpr : {0.01, 1e-6, 1e-12})
      check([&] { return AnyValue(Chain::make({family, fpr, 50, 2, true}).release()); });
}

TEST(Defragmentation, OfCountingFilters) {
  for (const std::uint32_t counter_bits : {4U, 8U})
    check([&] { return AnyValue(Counting::make(500, 0.01, counter_bits).release()); });
}

TEST(Defragmentation, OfWindows) {
  check([] {
    return AnyValue(
        Window::make(window_plan(bloomery::WindowUnit::insertions, 300, 300, 0.01, 4)).release());
  });
  // One whose counts no longer fit beside it, and that has a key.
  check([] {
    const auto plan = window_plan(bloomery::WindowUnit::seconds, 300, 300, 0.01, 4);
    const bloomery::WindowState state{
        .now = 5, .inserted = 70'000, .newest = 1, .inserted_in_slices = {70'000}};
    OwnedMemory bits(allocate_aligned(plan.bytes()));
    return AnyValue(Window::restore(plan, bloomery::Seed{1, 2}, state, std::move(bits)).release());
  });
}

TEST(Defragmentation, OfABigWindowWhoseLinesAreToBeCleared) {
  MovingMemory memory;
  const auto plan = window_plan(bloomery::WindowUnit::seconds, 8000, 2'000'000, 0.01, 8);
  AnyValue stays(Window::make(plan).release());
  AnyValue goes(Window::make(plan).release());
  for (int slice = 1; slice < 20; ++slice) {
    for (const AnyValue& value : {std::cref(stays), std::cref(goes)}) {
      static_cast<Window&>(*value).advance(1000 * static_cast<std::uint64_t>(slice));
      ASSERT_EQ(add(*value, 1000 * slice, 1000), 1000U);
    }
    goes = moved(std::move(goes));
    for (const Hash128 hash : hashes_of(*goes, 1000 * (slice - 9), 3))
      ASSERT_EQ(goes->may_contain(hash, 0), stays->may_contain(hash, 0));
    if (slice % 4 != 0) continue;
    ASSERT_EQ(whole(*goes), whole(*stays));
  }
  goes.reset();
  stays.reset();
  EXPECT_EQ(CountedMemory::held, 0U);
}

}  // namespace
