// Values all of whose allocations are moved by the server's defragmentation: nothing points to the
// old places.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include "counted_memory.hpp"
#include "cuckoo/filter.hpp"
#include "values.hpp"
#include "values/window.hpp"

namespace {

using namespace bloomery::server;
using namespace bloomery::test;
using bloomery::Kind;

std::size_t add(Value& value, int first, int count) {
  return insert(value, hashes_of(value, first, count)).added.answered;
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
    const auto hashes = hashes_of(*goes, 0, first + 300);
    ASSERT_EQ(found(*goes, hashes), found(*stays, hashes));
  }
  ASSERT_EQ(whole(*copy(*goes)), whole(*stays));
  goes->clear();
  stays->clear();
  ASSERT_EQ(whole(*goes), whole(*stays));
  ASSERT_GT(memory.moves, 0);
  memory.moves = 0;
  goes.reset();
  stays.reset();
  EXPECT_EQ(CountedMemory::held, 0U);
}

TEST(Defragmentation, OfScalableFilters) {
  for (const Family family : {Family::native, Family::redisbloom})
    for (const double fpr : {0.01, 1e-6, 1e-12})
      check([&] { return made({.fpr = fpr, .capacity = 50, .family = family}); });
}

TEST(Defragmentation, OfCountingFilters) {
  for (const std::uint32_t counter_bits : {4U, 8U})
    for (const bool keyed : {false, true}) {
      const Header header = plan_header({.kind = Kind::counting,
                                         .fpr = 0.01,
                                         .capacity = 500,
                                         .keyed = keyed,
                                         .counter_bits = counter_bits});
      check([&] { return make_empty(header); });
    }
}

TEST(Defragmentation, OfWindows) {
  Request request{.kind = Kind::window, .fpr = 0.01, .capacity = 300, .window = 300, .slices = 4};
  check([&] { return made(request); });
  // One with a key, whose counts are too large to stand behind the object.
  request.unit = bloomery::WindowUnit::seconds;
  Header header = plan_header(request);
  header.key = bloomery::Seed{1, 2};
  header.size = 70'000;
  header.state = {.now = 5, .inserted = 70'000, .newest = 1, .inserted_in_slices = {70'000}};
  check([&] { return make_empty(header); });
}

TEST(Defragmentation, OfCuckooFilters) {
  MovingMemory memory;
  const auto hash_of = [](int i) { return cuckoo::hash("item:" + std::to_string(i)); };
  const auto make = [] { return cuckoo::Filter::make(cuckoo::plan(16, 2, 20, 2)); };
  const AtMost any_memory(UINT64_MAX);
  auto stays = make(), goes = make();
  for (int i = 0; i < 500; ++i) {
    if (i % 50 == 0) {
      auto* const there = static_cast<cuckoo::Filter*>(defragment(nullptr, goes.release()));
      there->defragment(nullptr);
      goes.reset(there);
    }
    for (cuckoo::Filter* filter : {stays.get(), goes.get()})
      ASSERT_EQ(filter->insert(hash_of(i), false, any_memory), cuckoo::Inserted::yes) << i;
    for (int past = 0; past <= i; past += 7) ASSERT_TRUE(goes->may_contain(hash_of(past))) << past;
  }
  ASSERT_GT(goes->header().sub_filters, 2U);
  for (std::uint32_t i = 0; i < goes->header().sub_filters; ++i)
    EXPECT_TRUE(std::ranges::equal(goes->array(i), stays->array(i)));
  EXPECT_GT(memory.moves, 0);
  goes.reset();
  stays.reset();
  EXPECT_EQ(CountedMemory::held, 0U);
}

TEST(Defragmentation, WhatTheServerLeavesStays) {
  MovingMemory memory;
  api.DefragAlloc = [](DefragContext*, void*) -> void* { return nullptr; };
  api.MallocSize = [](void*) { return std::size_t{64}; };  // so that it may move
  const auto cuckoo = cuckoo::Filter::make(cuckoo::plan(16, 2, 20, 2));
  cuckoo->defragment(nullptr);
  EXPECT_EQ(cuckoo->insert(1, false, AtMost(UINT64_MAX)), cuckoo::Inserted::yes);
  EXPECT_TRUE(cuckoo->may_contain(1));
  for (const Family family : {Family::native, Family::redisbloom}) {
    const AnyValue value = made({.fpr = 0.01, .capacity = 50, .family = family});
    const auto before = value->array(0).data();
    value->defragment(nullptr);
    EXPECT_EQ(value->array(0).data(), before);
  }
}

// Where every allocation of a size is aligned, an array that is aligned moves; one that is not comes to the next
// multiple of 64 in its new place.
TEST(Defragmentation, AlignsWhatMoves) {
  alignas(64) static std::byte from[192], to[192];
  for (const std::size_t place : {0U, 16U})
    for (const std::size_t new_place : {0U, 16U, 48U}) {
      if (place == 0 && new_place != 0) continue;
      static std::byte* moved;
      moved = to + new_place;
      std::byte* const bits = aligned(from + place);
      for (std::size_t i = 0; i < 64; ++i) bits[i] = std::byte(i);
      api.MallocSize = [](void*) { return std::size_t{128}; };
      api.DefragAlloc = [](DefragContext*, void* memory) -> void* {
        return std::memcpy(moved, memory, 128);
      };
      EXPECT_EQ(defragment_aligned(nullptr, from + place, 64), moved);
      EXPECT_EQ(std::memcmp(aligned(moved), bits, 64), 0) << place << ' ' << new_place;
    }
  api.DefragAlloc = [](DefragContext*, void*) -> void* { return nullptr; };
  EXPECT_EQ(defragment_aligned(nullptr, from + 16, 64), nullptr);
  api = {};
}

TEST(Defragmentation, OfABigWindowWhoseBlocksAreToBeCleared) {
  MovingMemory memory;
  const Request request{.kind = Kind::window,
                        .fpr = 0.01,
                        .capacity = 2'000'000,
                        .unit = bloomery::WindowUnit::seconds,
                        .window = 8000};
  AnyValue stays = made(request);
  AnyValue goes = made(request);
  for (int slice = 1; slice < 20; ++slice) {
    for (const AnyValue& value : {std::cref(stays), std::cref(goes)}) {
      static_cast<Window&>(*value).advance(1000 * static_cast<std::uint64_t>(slice));
      ASSERT_EQ(add(*value, 1000 * slice, 1000), 1000U);
    }
    goes = moved(std::move(goes));
    const auto hashes = hashes_of(*goes, 1000 * (slice - 9), 3);
    ASSERT_EQ(found(*goes, hashes), found(*stays, hashes));
    if (slice % 4 != 0) continue;
    ASSERT_EQ(whole(*goes), whole(*stays));
  }
  goes.reset();
  stays.reset();
  EXPECT_EQ(CountedMemory::held, 0U);
}

}  // namespace
