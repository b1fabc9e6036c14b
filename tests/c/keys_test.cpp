// Keys in every form: each function does to the bits what the C++ call does.
#include <gtest/gtest.h>
#include <bloomery/bloomery.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "c/handles.hpp"
#include "store/scratch.hpp"

namespace bloomery::test {
namespace {

// More than two parts of a filter elsewhere than in memory.
constexpr std::size_t kKeys = 140'000;
constexpr std::size_t kWidth = 12;

struct Keys {
  Keys() {
    for (std::size_t i = 0; i < kKeys; ++i) {
      const std::string number = std::to_string(i);
      fixed += std::string(kWidth - number.size(), '0') + number;
      texts.push_back(number + std::string(i % 23, '.'));
    }
    offsets32.push_back(0);
    offsets64.push_back(0);
    for (const std::string& text : texts) {
      pointers.push_back(text.data());
      sizes.push_back(text.size());
      joined += text;
      offsets32.push_back(static_cast<std::int32_t>(joined.size()));
      offsets64.push_back(static_cast<std::int64_t>(joined.size()));
      integers.push_back(std::uint64_t{0x9E3779B97F4A7C15} * integers.size());
    }
  }
  std::vector<std::string> texts;
  std::string fixed, joined;
  std::vector<const void*> pointers;
  std::vector<std::size_t> sizes;
  std::vector<std::int32_t> offsets32;
  std::vector<std::int64_t> offsets64;
  std::vector<std::uint64_t> integers;
};

const Keys& keys() {
  static const Keys kept;
  return kept;
}

enum class Form { many, offsets32, offsets64, fixed, u64s };
constexpr std::array kForms = {Form::many, Form::offsets32, Form::offsets64, Form::fixed,
                               Form::u64s};
enum class Verb { insert, contains, remove };

std::int64_t apply(bloomery_filter* filter, Verb verb, Form form, std::size_t first,
                   std::size_t count, bool* answers, bloomery_error* error = nullptr) {
  const Keys& k = keys();
#define BY_VERB(form, ...)                                         \
  verb == Verb::insert     ? bloomery_insert_##form(__VA_ARGS__)   \
  : verb == Verb::contains ? bloomery_contains_##form(__VA_ARGS__) \
                           : bloomery_remove_##form(__VA_ARGS__)
  switch (form) {
    case Form::many:
      return BY_VERB(many, filter, &k.pointers[first], &k.sizes[first], count, answers, error);
    case Form::offsets32:
      return BY_VERB(offsets32, filter, k.joined.data(), &k.offsets32[first], count, answers,
                     error);
    case Form::offsets64:
      return BY_VERB(offsets64, filter, k.joined.data(), &k.offsets64[first], count, answers,
                     error);
    case Form::fixed:
      return BY_VERB(fixed, filter, k.fixed.data() + first * kWidth, kWidth, count, answers, error);
    case Form::u64s:
      return BY_VERB(u64s, filter, &k.integers[first], count, answers, error);
  }
#undef BY_VERB
  return 0;
}

// The same keys, in C++.
void insert_all(AnyFilter& filter, Form form, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (form == Form::u64s)
      filter.insert(keys().integers[i]);
    else if (form == Form::fixed)
      filter.insert(std::string_view(keys().fixed).substr(i * kWidth, kWidth));
    else
      filter.insert(keys().texts[i]);
  }
}

class CKeys : public testing::TestWithParam<std::uint32_t> {
 protected:
  [[nodiscard]] bloomery_spec spec() const { return spec_of(GetParam(), kKeys, 0.01); }
  [[nodiscard]] bool counts() const { return GetParam() == BLOOMERY_COUNTING; }
};
INSTANTIATE_TEST_SUITE_P(, CKeys,
                         testing::Values(BLOOMERY_PLAIN, BLOOMERY_COUNTING, BLOOMERY_SCALABLE,
                                         BLOOMERY_WINDOW));

TEST_P(CKeys, AreTheSameInEveryForm) {
  const bloomery_spec made = spec();
  for (const Form form : kForms) {
    const Handle c(bloomery_new(&made, nullptr, nullptr));
    FilterSpec same{.kind = static_cast<Kind>(GetParam()), .capacity = kKeys, .fpr = 0.01};
    if (GetParam() == BLOOMERY_WINDOW) same.window = Window{WindowUnit::seconds, 3600};
    AnyFilter cpp{plan(same)};
    const auto answers = std::make_unique<bool[]>(kKeys);
    EXPECT_EQ(bloomery_acknowledged(c.get()), 0U);
    const std::int64_t fresh = apply(c.get(), Verb::insert, form, 0, kKeys / 2, answers.get());
    EXPECT_EQ(bloomery_acknowledged(c.get()), kKeys / 2);
    EXPECT_EQ(fresh, std::count(answers.get(), answers.get() + kKeys / 2, true));
    insert_all(cpp, form, kKeys / 2);
    EXPECT_EQ(encoded(c), cpp.encode());
    const std::int64_t found = apply(c.get(), Verb::contains, form, 0, kKeys, answers.get());
    EXPECT_EQ(std::count(answers.get(), answers.get() + kKeys / 2, false), 0);
    EXPECT_EQ(found, std::count(answers.get(), answers.get() + kKeys, true));
    if (GetParam() !=
        BLOOMERY_WINDOW) {  // all keys are in one of its slices, which is then too full
      EXPECT_LT(found, static_cast<std::int64_t>(kKeys / 2 + kKeys / 50));
    }
    EXPECT_EQ(apply(c.get(), Verb::contains, form, 0, kKeys, nullptr), found);
    bloomery_error error{};
    const std::int64_t removed = apply(c.get(), Verb::remove, form, 0, kKeys / 4, nullptr, &error);
    if (counts()) {
      EXPECT_EQ(removed, static_cast<std::int64_t>(kKeys / 4));
      EXPECT_EQ(apply(c.get(), Verb::contains, form, kKeys / 4, kKeys / 4, nullptr),
                static_cast<std::int64_t>(kKeys / 4));
      EXPECT_LT(apply(c.get(), Verb::contains, form, 0, kKeys / 4, nullptr),
                static_cast<std::int64_t>(kKeys / 40));
    } else {
      EXPECT_EQ(removed, -BLOOMERY_WRONG_KIND);
      EXPECT_EQ(error.code, BLOOMERY_WRONG_KIND);
      EXPECT_EQ(bloomery_acknowledged(c.get()), 0U);
    }
    EXPECT_EQ(apply(c.get(), Verb::insert, form, 0, 0, nullptr), 0);
  }
}

TEST_P(CKeys, AreTheSameOneByOne) {
  const bloomery_spec made = spec();
  const Handle c(bloomery_new(&made, nullptr, nullptr));
  EXPECT_EQ(bloomery_insert(c.get(), "a\0b", 3, nullptr), 1);
  EXPECT_EQ(bloomery_acknowledged(c.get()), 1U);
  EXPECT_EQ(bloomery_contains(c.get(), "a\0b", 3, nullptr), 1);
  EXPECT_EQ(bloomery_contains(c.get(), "a\0c", 3, nullptr), 0);
  EXPECT_EQ(bloomery_insert(c.get(), nullptr, 0, nullptr), 1);
  EXPECT_EQ(bloomery_contains(c.get(), "", 0, nullptr), 1);
  EXPECT_EQ(bloomery_insert_u64(c.get(), 97, nullptr), 1);
  EXPECT_EQ(bloomery_contains_u64(c.get(), 97, nullptr), 1);
  EXPECT_EQ(bloomery_contains(c.get(), "a", 1, nullptr), 0);
  EXPECT_EQ(bloomery_contains_u64(c.get(), 98, nullptr), 0);
  if (counts()) {
    EXPECT_EQ(bloomery_remove(c.get(), "a\0b", 3, nullptr), 1);
    EXPECT_EQ(bloomery_remove(c.get(), "a\0b", 3, nullptr), 0);
    EXPECT_EQ(bloomery_remove_u64(c.get(), 97, nullptr), 1);
    EXPECT_EQ(bloomery_contains_u64(c.get(), 97, nullptr), 0);
  } else {
    expect_code(BLOOMERY_WRONG_KIND, "remove keys",
                [&](bloomery_error* error) { return bloomery_remove(c.get(), "a", 1, error); });
    expect_code(BLOOMERY_WRONG_KIND, "remove keys",
                [&](bloomery_error* error) { return bloomery_remove_u64(c.get(), 1, error); });
  }
  auto stats = sized<bloomery_stats>();
  ASSERT_EQ(bloomery_get_stats(c.get(), true, &stats, nullptr), 0);
  EXPECT_EQ(stats.inserted, 3U);
}

TEST_P(CKeys, AreTheSameInAFile) {
  Scratch scratch;
  const std::string path = scratch / "f.bloom";
  const bloomery_spec made = spec();
  auto options = sized<bloomery_options>();
  options.durability = BLOOMERY_PROCESS;
  const Handle memory(bloomery_new(&made, nullptr, nullptr));
  const Handle file(bloomery_create(path.c_str(), &made, &options, nullptr));
  for (const Form form : kForms)
    EXPECT_EQ(apply(file.get(), Verb::insert, form, 0, kKeys, nullptr),
              apply(memory.get(), Verb::insert, form, 0, kKeys, nullptr));
  EXPECT_EQ(bloomery_acknowledged(file.get()), kKeys);
  ASSERT_EQ(bloomery_close(file.get(), nullptr), 0);
  const Handle reader(bloomery_open(path.c_str(), BLOOMERY_READ, nullptr, nullptr));
  for (const Form form : kForms)
    EXPECT_EQ(apply(reader.get(), Verb::contains, form, 0, kKeys, nullptr),
              static_cast<std::int64_t>(kKeys));
}

TEST(CKeysOf, AnArrowSliceBeginAnywhere) {
  const Handle c = in_memory();
  const std::string bytes = "skippedonetwothree";
  const std::int32_t offsets[] = {7, 10, 13, 18};
  EXPECT_EQ(bloomery_insert_offsets32(c.get(), bytes.data(), offsets, 3, nullptr, nullptr), 3);
  for (const char* key : {"one", "two", "three"}) EXPECT_EQ(contains(c, key), 1);
  EXPECT_EQ(contains(c, "skipped"), 0);
  const std::int64_t empty[] = {4, 4};
  EXPECT_EQ(bloomery_insert_offsets64(c.get(), bytes.data(), empty, 1, nullptr, nullptr), 1);
  EXPECT_EQ(contains(c, ""), 1);
}

TEST(CKeysOf, OffsetsThatFallAreRefusedBeforeAnyIsUsed) {
  const Handle c = in_memory();
  const std::int32_t falling[] = {0, 3, 2, 5}, negative[] = {-1, 3, 4, 5};
  for (const auto& offsets : {falling, negative})
    expect_code(BLOOMERY_INVALID_ARGUMENT, "offsets", [&](bloomery_error* error) {
      return bloomery_insert_offsets32(c.get(), "abcde", offsets, 3, nullptr, error);
    });
  const std::int64_t last[] = {0, 3, 5, 4};
  expect_code(BLOOMERY_INVALID_ARGUMENT, "offsets", [&](bloomery_error* error) {
    return bloomery_contains_offsets64(c.get(), "abcde", last, 3, nullptr, error);
  });
  EXPECT_EQ(contains(c, "abc"), 0);
}

// A filter that refuses a call for one key refuses it for none, in every form.
TEST(CKeysOf, NoneAreRefusedAsOneIs) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  const bloomery_spec spec = spec_of(BLOOMERY_PLAIN);
  const Handle closed(bloomery_create(path.c_str(), &spec, nullptr, nullptr));
  ASSERT_EQ(bloomery_close(closed.get(), nullptr), 0);
  const Handle reader(bloomery_open(path.c_str(), BLOOMERY_READ, nullptr, nullptr));
  const Handle memory = in_memory();
  int refused = 0;
  for (const Handle* each : {&closed, &reader, &memory})
    for (const Verb verb : {Verb::insert, Verb::contains, Verb::remove})
      for (const Form form : kForms) {
        const std::int64_t one = apply(each->get(), verb, form, 0, 1, nullptr);
        EXPECT_EQ(apply(each->get(), verb, form, 0, 0, nullptr), std::min<std::int64_t>(one, 0));
        refused += one < 0;
      }
  // Each fails to remove, two fail to insert.
  EXPECT_EQ(refused, 5 * static_cast<int>(kForms.size()));
}

// The bits of a PHP class take the keys' bytes, in parts of 65,536; each key has its own answer.
TEST(CKeysOf, APhpClassAnswersForEach) {
  const Scratch scratch;
  auto options = sized<bloomery_options>();
  options.php_bits = 1 << 24;
  options.php_items = 1 << 20;
  auto none = sized<bloomery_spec>();
  const Handle bits(bloomery_create((scratch / "bits").c_str(), &none, &options, nullptr));
  ASSERT_NE(bits, nullptr);
  std::vector<std::uint64_t> keys(kKeys), odd;
  for (std::size_t i = 0; i < kKeys; ++i) {
    keys[i] = i * 0x9E3779B97F4A7C15;
    if (i % 2 == 1) odd.push_back(keys[i]);
  }
  ASSERT_GT(bloomery_insert_fixed(bits.get(), odd.data(), 8, odd.size(), nullptr, nullptr), 0);
  const std::unique_ptr<bool[]> fixed(new bool[kKeys]);
  const std::int64_t found =
      bloomery_contains_fixed(bits.get(), keys.data(), 8, kKeys, fixed.get(), nullptr);
  EXPECT_EQ(found, std::count(fixed.get(), fixed.get() + kKeys, true));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kKeys; ++i) {
    const bool one = bloomery_contains(bits.get(), &keys[i], 8, nullptr) == 1;
    ASSERT_TRUE(one || i % 2 == 0) << i;
    ASSERT_EQ(fixed[i], one) << i;
    wrong += i % 2 == 0 && one;
  }
  EXPECT_LT(wrong, kKeys / 20);
}

// A NULL that would be read is an error; where there is nothing to read it is none.
TEST(CPointers, OfKeysAreNotNull) {
  const Handle filter = in_memory();
  bloomery_filter* const f = filter.get();
  const std::int32_t offsets[] = {0, 3};
  const std::size_t sizes[] = {3};
  const void* const pointers[] = {"key"};
  const auto refused = [](std::int64_t code) { EXPECT_EQ(code, -BLOOMERY_INVALID_ARGUMENT); };
  refused(bloomery_insert(f, nullptr, 3, nullptr));
  refused(bloomery_contains(f, nullptr, 3, nullptr));
  refused(bloomery_remove(f, nullptr, 3, nullptr));
  refused(bloomery_insert_many(f, nullptr, sizes, 1, nullptr, nullptr));
  refused(bloomery_insert_many(f, pointers, nullptr, 1, nullptr, nullptr));
  refused(bloomery_insert_offsets32(f, nullptr, offsets, 1, nullptr, nullptr));
  refused(bloomery_insert_offsets32(f, "key", nullptr, 1, nullptr, nullptr));
  refused(bloomery_insert_offsets64(f, "key", nullptr, 1, nullptr, nullptr));
  refused(bloomery_insert_fixed(f, nullptr, 3, 1, nullptr, nullptr));
  refused(bloomery_insert_u64s(f, nullptr, 1, nullptr, nullptr));
  bool bits[64];
  refused(bloomery_insert_bits(f, nullptr, 3, bits, 64, nullptr));
  EXPECT_EQ(bloomery_insert_many(f, nullptr, nullptr, 0, nullptr, nullptr), 0);
  EXPECT_EQ(bloomery_insert_offsets32(f, nullptr, nullptr, 0, nullptr, nullptr), 0);
  EXPECT_EQ(bloomery_insert_fixed(f, nullptr, 3, 0, nullptr, nullptr), 0);
  EXPECT_EQ(bloomery_insert_u64s(f, nullptr, 0, nullptr, nullptr), 0);
  const std::int32_t empty[] = {0, 0};
  EXPECT_EQ(bloomery_contains(f, nullptr, 0, nullptr), 0);
  EXPECT_EQ(bloomery_insert_offsets32(f, nullptr, empty, 1, nullptr, nullptr), 1);  // one empty key
  const std::int32_t empty_slice[] = {5, 5};
  EXPECT_EQ(bloomery_contains_offsets32(f, nullptr, empty_slice, 1, nullptr, nullptr), 1);
  EXPECT_EQ(bloomery_contains_fixed(f, nullptr, 0, 1, nullptr, nullptr), 1);
}

}  // namespace
}  // namespace bloomery::test
