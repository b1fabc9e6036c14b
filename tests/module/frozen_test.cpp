// A frozen filter in the server's memory is the library's, from the moment when the last of its bits are there.
#include "values/frozen.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "counted_memory.hpp"
#include "values.hpp"

namespace {

using namespace bloomery::server;
using namespace bloomery::test;
using bloomery::Error;
using bloomery::FrozenBuilder;
using bloomery::FrozenFilter;
using bloomery::Hash128;
using bloomery::Kind;

constexpr int kItems = 20'000;

FrozenFilter built(int items, double fpr = 0.01) {
  FrozenBuilder builder(fpr);
  for (int i = 0; i < items; ++i) builder.insert(std::to_string(i));
  return builder.build();
}

Header header_for(const FrozenFilter& filter) {
  Header header;
  header.kind = Kind::frozen;
  header.frozen = filter.plan();
  header.sub_filters.resize(1);
  header.sub_filters[0].bits = filter.plan().array.bits;
  header.sub_filters[0].bytes = filter.plan().bytes();
  header.sub_filters[0].entries = filter.plan().array.capacity;
  header.sub_filters[0].error = filter.plan().array.fpr;
  header.sub_filters[0].hashes = 3;
  header.sub_filters[0].exponent = 3;
  header.size = header.sub_filters[0].size = filter.keys();
  return header;
}

void fill(Value& value, const FrozenFilter& filter) {
  std::byte* to = value.array(0).data();
  for (const auto piece : filter.pieces()) to = std::ranges::copy(piece, to).out;
}

AnyValue loaded(const FrozenFilter& filter) {
  Header header = header_for(filter);
  header.loading = true;
  AnyValue value = make_empty(header);
  fill(*value, filter);
  value->check_loaded();
  value->end_loading();
  return value;
}

void expect_same(const Value& value, const FrozenFilter& filter, int count) {
  const auto asked = hashes_of(value, 0, count);
  const auto answers = found(value, asked);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    ASSERT_EQ(answers[i], filter.may_contain_hash(asked[i])) << i;
    ASSERT_EQ(found(value, asked[i]), answers[i]) << i;
  }
}

TEST(ServersFrozen, IsTheLibrarys) {
  CountedMemory memory;
  for (const int items : {0, 1, 300, kItems}) {
    const FrozenFilter filter = built(items);
    const AnyValue value = loaded(filter);
    expect_same(*value, filter, 2 * items + 3'000);
    EXPECT_EQ(value->totals().items, static_cast<std::uint64_t>(items));
    EXPECT_EQ(value->bit_bytes(), filter.plan().bytes());
    const AnyValue same = copy(*value);
    expect_same(*same, filter, 2 * items);
    EXPECT_EQ(encode_header(same->header()), encode_header(value->header()));
    EXPECT_EQ(decode_header(encode_header(value->header())).frozen, filter.plan());
    // Adding is refused, and changes nothing.
    EXPECT_EQ(insert(*value, hashes_of(*value, 0, 5)).added.answered, 0U);
    expect_same(*value, filter, 100);
  }
  EXPECT_EQ(CountedMemory::held, 0U);
}

TEST(ServersFrozen, AnswersMaybeUntilAllIsThere) {
  CountedMemory memory;
  const FrozenFilter filter = built(kItems);
  Header header = header_for(filter);
  header.loading = true;
  const AnyValue value = make_empty(header);
  const auto all = [&] {
    return std::ranges::count(found(*value, hashes_of(*value, kItems, 500)), true);
  };
  EXPECT_EQ(all(), 500);
  EXPECT_TRUE(found(*value, hashes_of(*value, kItems, 1)[0]));
  EXPECT_THROW(value->check_loaded(), Error) << "a table of zeros is not that of its items";
  EXPECT_EQ(all(), 500);
  EXPECT_TRUE(copy(*value)->is_loading());
  fill(*value, filter);
  EXPECT_EQ(all(), 500);
  value->check_loaded();
  EXPECT_LT(all(), 30);
}

// Each byte of the table, and of the header: an Error, or a filter that can be asked.
TEST(ServersFrozen, IsNotBelieved) {
  CountedMemory memory;
  const FrozenFilter filter = built(300);
  const Header right = header_for(filter);
  const auto make_with = [&](const Header& header, std::size_t at, int flip) {
    return make_value(header, [&](std::uint64_t bytes) {
      OwnedMemory array = new_array(Family::native, bytes);
      std::byte* to = aligned(array.get());
      std::byte* const begin = to;
      for (const auto piece : filter.pieces()) to = std::ranges::copy(piece, to).out;
      begin[at] ^= static_cast<std::byte>(flip);
      return array;
    });
  };
  expect_same(*make_with(right, 0, 0), filter, 1'000);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < 32; ++at)
    for (const int flip : {1, 0x80}) try {
        (void)found(*make_with(right, at, flip), Hash128{at * 77, at});
      } catch (const Error&) {
        ++refused;
      }
  EXPECT_GT(refused, 40U) << "only the seed can be another";
  const auto bytes = encode_header(right);
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const int flip : {1, 0x80, 0xFF}) {
      auto changed = bytes;
      changed[at] ^= static_cast<std::byte>(flip);
      try {
        const Header header = decode_header(changed);
        // What the header says of its size is the size of a filter that could be.
        EXPECT_EQ(header.bit_bytes(),
                  header.kind == Kind::frozen ? header.frozen.bytes() : header.bit_bytes());
      } catch (const Error&) {
      }
    }
  Header empty = right;
  empty.size = empty.sub_filters[0].size = 0;
  EXPECT_THROW((void)decode_header(encode_header(empty)), Error) << "it was made for 300 items";
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW((void)decode_header(std::span(bytes).first(size)), Error) << size;
}

// A server that saves a part of a filter takes the rest of it when it has started again.
TEST(ServersFrozen, SaysHowMuchOfItHasCome) {
  Header header = header_for(built(300));
  EXPECT_FALSE(decode_header(encode_header(header)).loading);
  header.loading = true;
  for (const std::uint64_t come : {std::uint64_t{0}, std::uint64_t{64}, header.frozen.bytes()}) {
    header.come = come;
    const Header decoded = decode_header(encode_header(header));
    EXPECT_TRUE(decoded.loading);
    EXPECT_EQ(decoded.come, come);
  }
  ++header.come;
  EXPECT_THROW((void)decode_header(encode_header(header)), Error);
}

TEST(ServersFrozen, IsTheSameWhereverItIsMoved) {
  const MovingMemory memory;
  const FrozenFilter filter = built(kItems);
  AnyValue value = loaded(filter);
  for (int i = 0; i < 5; ++i) {
    value = moved(std::move(value));
    expect_same(*value, filter, 2 * kItems);
  }
  Header header = header_for(filter);
  header.loading = true;
  AnyValue part = moved(make_empty(header));
  EXPECT_TRUE(found(*part, part->hash("absent")));
  fill(*part, filter);
  part->check_loaded();
  expect_same(*part, filter, 2 * kItems);
}

}  // namespace
