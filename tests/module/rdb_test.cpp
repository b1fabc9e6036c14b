// Stored filters without a server: RedisBloom's older encodings, and hostile bytes.
#include "types/rdb.hpp"

#include <gtest/gtest.h>
#include <bloomery/error.hpp>

#include <algorithm>
#include <numbers>
#include <string>
#include <variant>
#include <vector>

#include "counted_memory.hpp"
#include "fields.hpp"
#include "support/expect_error.hpp"
#include "values.hpp"
#include "values/scalable.hpp"
#include "values/window.hpp"

namespace {

using namespace bloomery::server;
using namespace bloomery::test;
using bloomery::Error;
using bloomery::ErrorCode;
using bloomery::Kind;
namespace redisbloom = bloomery::legacy::redisbloom;

// Filters of every kind, with something in them. The first is RedisBloom's.
std::vector<AnyValue> filled() {
  const Request scalable{.fpr = 0.01, .capacity = 10};
  std::vector<Request> requests(6, scalable);
  requests[0].family = Family::redisbloom;
  requests[2].keyed = true;
  requests[3] = {.kind = Kind::counting, .fpr = 0.01, .capacity = 20};
  requests[4] = {
      .kind = Kind::counting, .fpr = 0.01, .capacity = 20, .keyed = true, .counter_bits = 8};
  requests[5] = {.kind = Kind::window,
                 .fpr = 0.01,
                 .capacity = 30,
                 .unit = bloomery::WindowUnit::seconds,
                 .window = 40,
                 .slices = 3};
  std::vector<AnyValue> values;
  for (const Request& request : requests) values.push_back(made(request));
  static_cast<Window&>(*values.back()).advance(1'000'000);
  for (const AnyValue& value : values) insert(*value, hashes_of(*value, 0, 100));
  return values;
}

Fields saved(const Value& value, bool redisbloom) {
  Fields fields;
  redisbloom ? save_redisbloom(value, fields) : save_native(value, fields);
  return fields;
}

TEST(Rdb, WhatIsSavedIsLoaded) {
  CountedMemory memory;
  bool redisbloom = true;
  for (const AnyValue& value : filled()) {
    Fields fields = saved(*value, redisbloom);
    const AnyValue loaded = redisbloom ? load_redisbloom(fields, kRedisBloomEncoding)
                                       : load_native(fields, kNativeEncoding);
    EXPECT_EQ(whole(*loaded), whole(*value));
    EXPECT_EQ(loaded->kind(), value->kind());
    EXPECT_EQ(fields.next, fields.fields.size());
    EXPECT_EQ(whole(*copy(*value)), whole(*value));
    redisbloom = false;
  }
}

AnyValue saved_and_loaded(const Value& value) {
  const bool redisbloom = value.family() == Family::redisbloom;
  Fields fields = saved(value, redisbloom);
  return redisbloom ? load_redisbloom(fields, kRedisBloomEncoding)
                    : load_native(fields, kNativeEncoding);
}

// Two filters that are merged into each other again and again, as two sites would do it to have each other's items,
// count items twice, and reach any number soon. A server that saves them must be able to start again.
TEST(Rdb, FiltersThatCountedAsManyItemsAsTheyCanAreLoaded) {
  CountedMemory memory;
  for (const Family family : {Family::redisbloom, Family::native}) {
    const auto a = made<Scalable>({.fpr = 0.01, .capacity = 10, .family = family});
    const auto items = hashes_of(*a, 0, 25);
    insert(*a, items);
    const AnyValue b = copy(*a);
    std::uint64_t before = 0;
    for (int i = 0; i < 100; ++i) {
      a->merge(static_cast<Scalable&>(*b));
      static_cast<Scalable&>(*b).merge(*a);
      EXPECT_GE(a->totals().items, before);
      before = a->totals().items;
      ASSERT_NO_THROW(EXPECT_EQ(whole(*saved_and_loaded(*a)), whole(*a))) << i;
    }
    EXPECT_EQ(before, UINT64_MAX);
    EXPECT_EQ(found(*saved_and_loaded(*a), items), std::vector<bool>(items.size(), true));
  }
}

// Any client may load a header that says so.
TEST(Rdb, AFilterWhoseHeaderClaimsAsManyItemsAsPossibleTakesMoreAndIsLoaded) {
  CountedMemory memory;
  for (const AnyValue& value : filled()) {
    Header header = value->header();
    header.sub_filters[0].size += UINT64_MAX - header.size;
    header.size = header.state.inserted = UINT64_MAX;
    if (header.kind == Kind::window)
      header.state.inserted_in_slices[header.state.newest] = UINT64_MAX - 60;
    const AnyValue made = make_empty(decode_header(encode_header(header)));
    insert(*made, hashes_of(*made, 1000, 70));
    EXPECT_EQ(made->totals().items, UINT64_MAX);
    AnyValue loaded;
    ASSERT_NO_THROW(loaded = saved_and_loaded(*made)) << static_cast<int>(header.kind);
    EXPECT_EQ(whole(*loaded), whole(*made));
  }
}

// Where the ratio is, and which there are: neither may ever change.
TEST(Rdb, AHeaderHasItsTighteningRatioBeforeTheKey) {
  CountedMemory memory;
  Header header = plan_header({.fpr = 0.01, .capacity = 10, .tightening = *Tightening::of(8000)});
  EXPECT_DOUBLE_EQ(header.sub_filters[0].error, 0.01 * 0.2);
  EXPECT_EQ(header.asked_fpr(), 0.01);
  const AnyValue filter = make_empty(header);
  Bytes bytes = encode_header(filter->header());
  ASSERT_EQ(bytes.size(), 80U);
  EXPECT_EQ(bytes[28], std::byte{64});
  EXPECT_EQ(bytes[76], std::byte{0x40});  // 8000
  EXPECT_EQ(bytes[77], std::byte{0x1F});
  EXPECT_EQ(decode_header(bytes).tightening, *Tightening::of(8000));
  header.key = bloomery::Seed{1, 2};
  EXPECT_EQ(decode_header(encode_header(header)).key, header.key);
  // 1/2 is not written, 0 and 1 are no ratios, and a filter that does not grow has none.
  for (const std::uint16_t units : {0, 5000, 10000, 65535}) {
    Bytes other = bytes;
    other[76] = std::byte(units & 0xFF);
    other[77] = std::byte(units >> 8);
    EXPECT_THROW((void)decode_header(other), Error) << units;
  }
  bytes[28] |= std::byte{8};
  EXPECT_THROW((void)decode_header(bytes), Error);
  EXPECT_EQ(encode_header(plan_header({.fpr = 0.01, .capacity = 10})).size(), 76U);
  EXPECT_EQ(
      plan_header(
          {.fpr = 0.01, .capacity = 10, .scaling = false, .tightening = *Tightening::of(8000)})
          .tightening,
      Tightening());
}

// Where the key is, and that items are hashed with it: neither may ever change.
TEST(Rdb, AKeyedHeaderEndsWithTheKey) {
  CountedMemory memory;
  const bloomery::Seed key{0x0807060504030201, 0x100F0E0D0C0B0A09};
  Header header = plan_header({.fpr = 0.01, .capacity = 10});
  const AnyValue plain = make_empty(header);
  Bytes expected = encode_header(header);
  expected[28] |= std::byte{16};
  for (int i = 1; i <= 16; ++i) expected.push_back(std::byte(i));
  header.key = key;
  const AnyValue keyed = make_empty(header);
  EXPECT_EQ(encode_header(keyed->header()), expected);
  EXPECT_EQ(keyed->hash("item"), bloomery::detail::siphash_bytes("item", 4, key));
  EXPECT_EQ(make_empty(decode_header(expected))->hash("item"), keyed->hash("item"));
  header.key = bloomery::Seed{1, 2};
  const AnyValue other = make_empty(header);
  for (const Value* differs : {plain.get(), other.get()})
    EXPECT_FALSE(
        static_cast<Scalable&>(*keyed).has_sub_filters_of(static_cast<const Scalable&>(*differs)));
}

redisbloom::SubFilter with_size(redisbloom::SubFilter sub_filter, std::uint64_t size) {
  sub_filter.size = size;
  return sub_filter;
}

// Encodings 0 to 3 leave out fields, and their filters have 32-bit hashes and a number of bits that
// is no multiple of 64 (0) or a power of two, which the file does not say (1 to 3).
TEST(Rdb, OlderEncodingsOfRedisBloomAreRead) {
  CountedMemory memory;
  for (int encoding = 0; encoding <= 3; ++encoding) {
    SCOPED_TRACE(encoding);
    redisbloom::SubFilter sub_filter;
    if (encoding == 0) {
      sub_filter = redisbloom::plan_sub_filter(70, 0.01, redisbloom::kNoRound).value();
      sub_filter.bits = static_cast<std::uint64_t>(70 * sub_filter.bits_per_entry);
      sub_filter.bytes = (sub_filter.bits + 7) / 8;
    } else {
      sub_filter = redisbloom::plan_sub_filter(70, 0.01, 0).value();
    }
    ASSERT_NE(sub_filter.modulus() % 64 == 0, encoding == 0);
    Bytes bits(sub_filter.bytes);
    for (int i = 0; i < 70; ++i)
      redisbloom::insert({bits.data(), sub_filter.modulus(), sub_filter.hashes},
                         redisbloom::hash("item" + std::to_string(i), 0));
    Fields fields;
    fields.number(70);
    fields.number(1);
    if (encoding >= 2) fields.number(0);
    fields.number(sub_filter.entries);
    fields.real(sub_filter.error);
    fields.number(sub_filter.hashes);
    fields.real(sub_filter.bits_per_entry);
    if (encoding >= 1) {
      fields.number(0);
      fields.number(sub_filter.exponent);
    }
    fields.string(bits.data(), bits.size());
    fields.number(70);
    const AnyValue filter = load_redisbloom(fields, encoding);
    EXPECT_EQ(filter->header().growth, 2U);
    EXPECT_EQ(filter->header().sub_filters[0], with_size(sub_filter, 70));
    EXPECT_EQ(filter->totals().items, 70U);
    for (int i = 0; i < 70; ++i)
      EXPECT_TRUE(found(*filter, filter->hash("item" + std::to_string(i))));
    // It goes through a dump, as in an AOF.
    const AnyValue empty = make_empty(decode_header(encode_header(filter->header())));
    EXPECT_EQ(whole(*empty).size(), whole(*filter).size());
  }
}

// The number is that of the bits of an item; neither it nor the exponent is cut to the type that holds it later.
TEST(Rdb, AFilterHasAsManyHashesAsItsBitsAskFor) {
  CountedMemory memory;
  const Bytes bits(1'024);
  const auto load = [&](double bits_per_entry, std::uint64_t hashes, std::uint64_t exponent = 0) {
    Fields fields;
    for (const std::uint64_t number : {0, 1, 0, 2, 5}) fields.number(number);
    fields.real(0.01);
    fields.number(hashes);
    fields.real(bits_per_entry);
    fields.number(bits.size() * 8);
    fields.number(exponent);
    fields.string(bits.data(), bits.size());
    fields.number(0);
    return load_redisbloom(fields, kRedisBloomEncoding);
  };
  for (const std::uint64_t most : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1'100}}) {
    const double bits_per_entry = (static_cast<double>(most) - 0.5) / std::numbers::ln2;
    EXPECT_EQ(load(bits_per_entry, most)->header().sub_filters[0].hashes, most);
    for (const std::uint64_t wrong : {most - 1, most + 1, most + (std::uint64_t{1} << 32)})
      EXPECT_THROW((void)load(bits_per_entry, wrong), Error) << wrong;
  }
  EXPECT_THROW((void)load(1'100.5 / std::numbers::ln2, 1'101), Error);
  for (const std::uint64_t exponent : {std::uint64_t{14}, std::uint64_t{256}, std::uint64_t{269}})
    EXPECT_THROW((void)load(6.5 / std::numbers::ln2, 7, exponent), Error) << exponent;
  EXPECT_NO_THROW((void)load(6.5 / std::numbers::ln2, 7, 13));
}

TEST(Rdb, EncodingsFromTheFutureAreRefusedByName) {
  Fields fields;
  EXPECT_EQ(error_of([&] { (void)load_redisbloom(fields, 5); }, ErrorCode::newer_format),
            "MBbloom-- has encoding 5; this module reads 0 to 4");
  EXPECT_THROW((void)load_native(fields, 2), Error);
  EXPECT_THROW((void)load_native(fields, 0), Error);
}

// Loads, and uses whatever comes out. Takes at most twice the memory of the bytes that came.
void load_and_use(const Fields& original, bool redisbloom, std::size_t most) {
  Fields fields = original;
  fields.next = 0;
  CountedMemory::largest = 0;
  const std::size_t held = CountedMemory::held;
  try {
    const AnyValue value = redisbloom ? load_redisbloom(fields, kRedisBloomEncoding)
                                      : load_native(fields, kNativeEncoding);
    for (int i = 0; i < 20; ++i)
      (void)found(*value, value->hash(std::to_string(i)), 1'000'000 + 3 * i);
    (void)whole(*value);
  } catch (const Error&) {
  }
  EXPECT_EQ(CountedMemory::held, held);
  EXPECT_LE(CountedMemory::largest, most);
}

// Every field replaced by what lies, every byte of every string changed, every end cut off.
TEST(Rdb, HostileFieldsAreAnErrorOrAFilter) {
  CountedMemory memory;
  bool redisbloom = true;
  for (const AnyValue& value : filled()) {
    const Fields whole_value = saved(*value, redisbloom);
    // What a header is trusted with, and room to align it.
    constexpr std::size_t kMost = (std::size_t{64} << 20) + 64;
    for (std::size_t i = 0; i < whole_value.fields.size(); ++i) {
      Fields changed = whole_value;
      changed.fields.resize(i);
      load_and_use(changed, redisbloom, kMost);
      for (const std::uint64_t lie :
           {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{1} << 31,
            std::uint64_t{1} << 40, std::uint64_t{1} << 63, UINT64_MAX}) {
        changed = whole_value;
        if (std::holds_alternative<std::uint64_t>(changed.fields[i])) changed.fields[i] = lie;
        load_and_use(changed, redisbloom, kMost);
      }
      for (const double lie : {0.0, -1.0, 1.0, 1e300, -1e300, 0.0 / 0.0, 1e-310}) {
        changed = whole_value;
        if (std::holds_alternative<double>(changed.fields[i])) changed.fields[i] = lie;
        load_and_use(changed, redisbloom, kMost);
      }
      if (!std::holds_alternative<Bytes>(whole_value.fields[i])) continue;
      const Bytes bytes = std::get<Bytes>(whole_value.fields[i]);
      for (std::size_t at = 0; at < bytes.size(); ++at) {
        for (const int change : {1, 0x80, 0xFF}) {
          changed = whole_value;
          std::get<Bytes>(changed.fields[i])[at] ^= std::byte(change);
          load_and_use(changed, redisbloom, kMost);
        }
        changed = whole_value;
        std::get<Bytes>(changed.fields[i]).resize(at);
        load_and_use(changed, redisbloom, kMost);
      }
    }
    redisbloom = false;
  }
}

TEST(Rdb, WhatIsNotOfTheTypeIsRefused) {
  CountedMemory memory;
  const auto refuses = [](Header header, bool cut) {
    Bytes bytes = encode_header(header);
    if (!cut) bytes.push_back({});
    Fields fields;
    fields.string(bytes.data(), bytes.size());
    const Bytes bits(header.bit_bytes());
    fields.string(bits.data(), bits.size());
    EXPECT_THROW((void)load_native(fields, kNativeEncoding), Error);
    fields.next = 0;
    fields.fields[0] = Bytes(bytes.begin(), bytes.end() - !cut);
    return fields;
  };
  const Header native = plan_header({.fpr = 0.01, .capacity = 10});
  EXPECT_NO_THROW(
      (void)load_native(*std::make_unique<Fields>(refuses(native, false)), kNativeEncoding));
  (void)refuses(plan_header({.fpr = 0.01, .capacity = 10, .family = Family::redisbloom}), true);
  Header two = plan_header({.kind = Kind::counting, .fpr = 0.01, .capacity = 10});
  two.sub_filters.push_back(two.sub_filters[0]);
  (void)refuses(two, true);
  // Encoding 0 has no number of bits, and its product may be too large for one.
  for (const double bits_per_entry : {1e300, -1.0}) {
    Fields fields;
    for (const std::uint64_t number : {0, 1, 70}) fields.number(number);
    fields.real(0.01);
    fields.number(7);
    fields.real(bits_per_entry);
    fields.string("", 1);
    fields.number(0);
    EXPECT_THROW((void)load_redisbloom(fields, 0), Error) << bits_per_entry;
  }
}

TEST(Rdb, AnArrayWithoutMemoryIsRefused) {
  CountedMemory memory;
  const AnyValue value = made({.fpr = 0.01, .capacity = 1'000'000});
  Fields fields = saved(*value, false);
  CountedMemory::refuse_above =
      (std::size_t{1} << 20) + 64;  // the parts in which it comes are smaller
  EXPECT_THROW((void)load_native(fields, kNativeEncoding), Error);
}

// Its memory is trusted to come up to 64 MiB, and doubles then.
TEST(Rdb, AnArrayThatIsTakenInSeveralStepsIsLoaded) {
  CountedMemory memory;
  const AnyValue value = made({.fpr = 0.01, .capacity = 60'000'000, .scaling = false});
  ASSERT_GT(value->bit_bytes(), std::size_t{65} << 20);
  insert(*value, hashes_of(*value, 0, 10'000));
  const AnyValue loaded = saved_and_loaded(*value);
  EXPECT_TRUE(std::ranges::equal(loaded->array(0), value->array(0)));
}

// A native header that promises a gigabyte, without any bits.
TEST(Rdb, AHeaderAloneIsTrustedWithLittle) {
  CountedMemory memory;
  const Bytes header =
      encode_header(plan_header({.fpr = 0.001, .capacity = 500'000'000, .scaling = false}));
  Fields fields;
  fields.string(header.data(), header.size());
  load_and_use(fields, false, std::size_t{65} << 20);
}

}  // namespace
