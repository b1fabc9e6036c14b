// Cuckoo filters without memory, and as they are stored: old encodings, and headers that lie.
#include "cuckoo/filter.hpp"

#include <gtest/gtest.h>
#include <bloomery/error.hpp>

#include <vector>

#include "counted_memory.hpp"
#include "cuckoo_filters.hpp"
#include "fields.hpp"

namespace bloomery::server::cuckoo {
namespace {

using namespace bloomery::test;

ErrorCode refusal(const std::vector<std::byte>& header) {
  try {
    (void)decode(header);
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "it was taken";
  return {};
}

// ---- memory -------------------------------------------------------------------------------------

TEST(Cuckoo, IsNotMadeWithoutMemory) {
  CountedMemory memory;
  Header header = plan(64, 2, 20, 1);
  header.sub_filters = 3;
  for (std::size_t left = 0; left < 5; ++left) {  // itself, its list of arrays, and the arrays
    CountedMemory::allocations_left = left;
    EXPECT_THROW((void)Filter::make(header), Error) << left;
    EXPECT_EQ(CountedMemory::held, 0U);
  }
  CountedMemory::allocations_left = 5;
  EXPECT_NO_THROW((void)Filter::make(header));
  // Terabytes: nothing is allocated for them.
  header = plan(kMaxEntries, 2, 20, 1);
  header.sub_filters = kMaxSubFilters;
  CountedMemory::allocations_left = SIZE_MAX;
  CountedMemory::largest = 0;
  EXPECT_THROW((void)Filter::make(header), Error);
  EXPECT_LE(CountedMemory::largest, sizeof(void*) * 65536);
}

TEST(Cuckoo, StaysAsItIsIfThereIsNoMemoryToGrow) {
  CountedMemory memory;
  Header header = plan(8, 1, 20, 1);
  header.sub_filters = 32;
  const auto filter = Filter::make(header);
  std::uint64_t number = 0;
  for (CountedMemory::allocations_left = 0; add(*filter, number) == Inserted::yes;) ++number;
  const auto before = whole(*filter);
  // The list of the arrays, which is longer than an array, and then the array after the list.
  CountedMemory::refuse_above = 256;
  for (const std::size_t left : {9, 1}) {
    CountedMemory::allocations_left = left;
    EXPECT_EQ(add(*filter, number), Inserted::no_memory);
    EXPECT_EQ(whole(*filter), before);
    CountedMemory::refuse_above = SIZE_MAX;
  }
  CountedMemory::allocations_left = 1;
  EXPECT_EQ(add(*filter, number), Inserted::yes);
  EXPECT_EQ(filter->header().sub_filters, 33U);
  CountedMemory::refuse_above = 256;
  CountedMemory::allocations_left = SIZE_MAX;
  header.sub_filters = 64;
  EXPECT_THROW((void)Filter::make(header), Error);
}

TEST(Cuckoo, CountsAllItsMemory) {
  const MovingMemory memory;
  Header header = plan(4096, 2, 20, 1);
  const auto one = Filter::make(header);
  EXPECT_GE(one->memory(), sizeof(Filter) + sizeof(void*) + 4096);
  header.sub_filters = 3;
  EXPECT_GE(Filter::make(header)->memory(), one->memory() + 2 * 4096);
}

// ---- stored -------------------------------------------------------------------------------------

TEST(Cuckoo, IsStoredAndCopied) {
  const auto filter = Filter::make(plan(16, 2, 20, 2));
  for (std::uint64_t i = 0; i < 300; ++i) (void)add(*filter, i);
  Fields fields;
  save(*filter, fields);
  EXPECT_EQ(whole(*load(fields, kEncoding)), whole(*filter));
  EXPECT_EQ(whole(*filter->copy()), whole(*filter));
  const auto bytes = encode(filter->header());
  EXPECT_EQ(decode(bytes), filter->header());
}

// RedisBloom's oldest encodings: sub-filters of one size.
TEST(Cuckoo, OldEncodingsAreRead) {
  for (int encoding = 0; encoding < kEncoding; ++encoding) {
    const auto filter = Filter::make(plan(64, 4, 20, 1));
    for (std::uint64_t i = 0; i < 100; ++i) (void)add(*filter, i);
    ASSERT_EQ(filter->header().sub_filters, 2U);
    Fields fields;
    fields.number(2);
    fields.number(16);
    fields.number(100);
    for (std::uint32_t i = 0; i < 2; ++i) fields.string(filter->array(i).data(), 64);
    EXPECT_EQ(whole(*load(fields, encoding)), whole(*filter));
  }
}

TEST(Cuckoo, FieldsThatLieAreRefused) {
  const auto filter = Filter::make(plan(16, 2, 20, 2));
  for (std::uint64_t i = 0; i < 60; ++i) (void)add(*filter, i);
  Fields good;
  save(*filter, good);
  // Items and deletes may be anything: a dump that is being loaded has items before entries.
  for (std::size_t i = 0; i < good.fields.size(); ++i) {
    if (i == 2 || i == 3) continue;
    for (const std::uint64_t number : {std::uint64_t{0}, UINT64_MAX, std::uint64_t{1} << 56}) {
      Fields bad = good;
      bad.next = 0;
      if (std::holds_alternative<std::uint64_t>(bad.fields[i]))
        bad.fields[i] = number;
      else
        std::get<Bytes>(bad.fields[i]).pop_back();
      EXPECT_THROW((void)load(bad, kEncoding), Error) << "field " << i << " is " << number;
    }
  }
  EXPECT_THROW((void)load(good, kEncoding + 1), Error);
  Fields old;  // without buckets, and with entries
  for (const std::uint64_t number : {1, 0, 60}) old.number(number);
  old.string(filter->array(0).data(), 32);
  EXPECT_THROW((void)load(old, 0), Error);
}

TEST(Cuckoo, HeadersThatLieAreRefused) {
  const Header good = plan(1024, 2, 20, 1);
  const auto with = [&](auto change) {
    Header header = good;
    change(header);
    const auto bytes = encode(header);
    return refusal({bytes.begin(), bytes.end()});
  };
  EXPECT_EQ(with([](Header& header) { header.buckets = 0; }), ErrorCode::corrupt);
  EXPECT_EQ(with([](Header& header) { header.buckets = 12; }), ErrorCode::corrupt);
  EXPECT_EQ(with([](Header& header) { header.buckets = std::uint64_t{1} << 32; }),
            ErrorCode::corrupt);
  EXPECT_EQ(with([](Header& header) { header.sub_filters = 0; }), ErrorCode::corrupt);
  EXPECT_EQ(with([](Header& header) { header.sub_filters = 65536; }), ErrorCode::corrupt);
  EXPECT_EQ(with([](Header& header) { header.bucket_size = 0; }), ErrorCode::corrupt);
  EXPECT_EQ(with([](Header& header) { header.bucket_size = 256; }), ErrorCode::corrupt);
  EXPECT_EQ(with([](Header& header) { header.max_iterations = 0; }), ErrorCode::corrupt);
  EXPECT_EQ(with([](Header& header) { header.expansion = 3; }), ErrorCode::corrupt);
  EXPECT_EQ(with([](Header& header) {
              header.expansion = 32768;
              header.sub_filters = 40;
            }),
            ErrorCode::corrupt);
  EXPECT_EQ(refusal(std::vector<std::byte>(37)), ErrorCode::corrupt);
}

}  // namespace
}  // namespace bloomery::server::cuckoo
