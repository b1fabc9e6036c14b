// A filter as bytes: what encode writes, decode gives back, and nothing else gets through.
#include <bloomery/bloomery.hpp>

#include "store/kinds.hpp"
#include "store/scratch.hpp"
#include "support/effort.hpp"

#include <algorithm>

namespace bloomery::test {
namespace {

class EncodeEvery : public testing::TestWithParam<Layout> {};
INSTANTIATE_TEST_SUITE_P(, EncodeEvery, testing::ValuesIn(kLayouts), kNameOfOne);

TEST_P(EncodeEvery, RoundTrips) {
  for (const std::uint64_t blocks : {1, 100, 1023, 1024, 1025, 5000}) {
    Filter filter(plan_of(GetParam(), 512 * blocks),
                  Hasher(HashFamily::siphash, {.low = 1, .high = 2}));
    for (std::uint64_t key = 0; key < 300; ++key) filter.insert(key);
    const auto bytes = encode(filter);
    EXPECT_EQ(bytes.size(), 8192 + blocks * 64 + (blocks + 1023) / 1024 * 8);
    const Filter back = decode(bytes);
    EXPECT_EQ(back.plan(), filter.plan());
    EXPECT_EQ(back.hasher().seed(), filter.hasher().seed());
    EXPECT_TRUE(std::ranges::equal(back.bytes(), filter.bytes()));
    EXPECT_EQ(encode(back), bytes);
  }
}

TEST_P(EncodeEvery, RefusesAFilterThatWasMovedFrom) {
  Filter filter(plan_of(GetParam()));
  const Filter taken = std::move(filter);
  EXPECT_EQ(code_of([&] { (void)encode(filter); }),  // NOLINT(bugprone-use-after-move)
            ErrorCode::invalid_argument);
}

TEST(Encode, RefusesAFrozenFilterThatWasMovedFrom) {
  for (const std::uint64_t keys : {0, 1'000}) {
    FrozenBuilder builder(0.01);
    for (std::uint64_t key = 0; key < keys; ++key) builder.insert(key);
    FrozenFilter filter = builder.build();
    const FrozenFilter taken = std::move(filter);
    EXPECT_EQ(code_of([&] { (void)encode(filter); }),  // NOLINT(bugprone-use-after-move)
              ErrorCode::invalid_argument);
    EXPECT_EQ(decode_frozen(encode(taken)).keys(), keys);
  }
}

TEST_P(EncodeEvery, IsAFilterFile) {
  Scratch scratch;
  Filter filter(plan_of(GetParam()));
  for (std::uint64_t key = 0; key < 300; ++key) filter.insert(key);
  const std::string path = scratch / "f";
  write_bytes(path, encode(filter));
  EXPECT_TRUE(verify(path).ok());
  for (const Durability durability : kDurabilities) {
    auto file = FilterFile::open(path, {.access = Access::write, .durability = durability});
    file.insert(1000 + static_cast<int>(durability));
  }
  const Filter back = decode(read_bytes(path));
  EXPECT_EQ(missing(back, 0, 300), 0U);
  EXPECT_EQ(missing(back, 1000, 3), 0U);
}

// The header's fields, the edges of blocks and the end, and under a sanitizer a part of the rest, for which the code is
// the same.
bool is_worth_a_test(std::size_t byte, std::size_t size) {
  return !hurried() || byte < 512 || byte % 512 < 2 || byte + 20 > size || byte % 5 == 0;
}

TEST_P(EncodeEvery, EveryFlippedBitIsHarmlessOrRefused) {
  Filter filter(plan_of(GetParam(), 512 * 8));
  for (std::uint64_t key = 0; key < 50; ++key) filter.insert(key);
  auto bytes = encode(filter);
  std::uint64_t refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!is_worth_a_test(i, bytes.size())) continue;
    for (const unsigned flip : {0x01U, 0x80U, 0xFFU}) {
      bytes[i] ^= static_cast<std::byte>(flip);
      try {
        const Filter back = decode(bytes);
        ASSERT_TRUE(back.plan() == filter.plan() &&
                    std::ranges::equal(back.bytes(), filter.bytes()))
            << "byte " << i;
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::corrupt) << "byte " << i << ": " << error.what();
        ++refused;
      }
      bytes[i] ^= static_cast<std::byte>(flip);
    }
  }
  if (hurried())
    EXPECT_GE(refused, 3 * (filter.bytes().size() / 5));
  else
    EXPECT_EQ(refused, 3 * filter.bytes().size()) << "the bits have no spare, the rest has";
}

TEST_P(EncodeEvery, EveryTruncationIsRefused) {
  Filter filter(plan_of(GetParam(), 512 * 8));
  const auto bytes = encode(filter);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    if (!is_worth_a_test(size, bytes.size())) continue;
    const ErrorCode code = code_of([&] { (void)decode(std::span(bytes).first(size)); });
    ASSERT_EQ(code, size < 8 ? ErrorCode::not_a_filter : ErrorCode::corrupt) << size;
  }
}

// The other kinds: what is encoded comes back, is a file, and is named where it is not wanted.
class EncodeKind : public testing::TestWithParam<KindCase> {
 protected:
  EncodeKind() {
    model_.apply(RandomOperations(GetParam(), 3, 300)(700));
    bytes_ = model_.encode();
  }
  static Image decoded(std::span<const std::byte> bytes) {
    switch (kind_of(bytes)) {
      case Kind::plain:
        break;
      case Kind::counting:
        return image_of(decode_counting(bytes));
      case Kind::scalable:
        return image_of(decode_scalable(bytes));
      case Kind::window:
        return image_of(decode_window(bytes));
      case Kind::frozen:
        return image_of(decode_frozen(bytes));
    }
    return {};
  }
  KindModel model_{GetParam().plan, Hasher(HashFamily::siphash, {.low = 1, .high = 2})};
  std::vector<std::byte> bytes_;
};
INSTANTIATE_TEST_SUITE_P(, EncodeKind, testing::ValuesIn(kind_cases()), kNameOfOne);

TEST_P(EncodeKind, RoundTripsAndIsAFile) {
  EXPECT_EQ(decoded(bytes_), model_.image());
  EXPECT_EQ(model_.copy().encode(), bytes_) << "equal filters are equal bytes";
  Scratch scratch(fast_place());
  write_bytes(scratch / "f", bytes_);
  EXPECT_TRUE(verify(scratch / "f").ok());
  EXPECT_EQ(image_of(FilterFile::open(scratch / "f")), model_.image());
  FilterFile::open(scratch / "f", {.access = Access::write}).insert(1);
  model_.apply({Operation::insert, 1});
  EXPECT_EQ(decoded(read_bytes(scratch / "f")), model_.image());
}

TEST_P(EncodeKind, IsNoOtherKind) {
  const Kind kind = kind_of(bytes_);
  EXPECT_EQ(code_of([&] { (void)decode(bytes_); }), ErrorCode::wrong_kind);
  const auto wrong = [](const auto& call) { return code_of(call) == ErrorCode::wrong_kind; };
  EXPECT_TRUE(kind == Kind::counting || wrong([&] { (void)decode_counting(bytes_); }));
  EXPECT_TRUE(kind == Kind::scalable || wrong([&] { (void)decode_scalable(bytes_); }));
  EXPECT_TRUE(kind == Kind::window || wrong([&] { (void)decode_window(bytes_); }));
}

TEST_P(EncodeKind, EveryFlippedByteAndEveryTruncationIsRefusedOrHarmless) {
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (!is_worth_a_test(i, bytes_.size())) continue;
    bytes_[i] ^= static_cast<std::byte>(1U << i % 8);
    try {
      ASSERT_EQ(decoded(bytes_), model_.image()) << i;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::corrupt) << error.what();
    }
    bytes_[i] ^= static_cast<std::byte>(1U << i % 8);
    const ErrorCode cut = code_of([&] { (void)decoded(std::span(bytes_).first(i)); });
    ASSERT_EQ(cut, i < 8 ? ErrorCode::not_a_filter : ErrorCode::corrupt) << i;
  }
}

// What its journal has would be missing.
TEST_P(EncodeKind, RefusesTheFileOfAWriterThatIsOpen) {
  Scratch scratch(fast_place());
  const std::string path = scratch / "f";
  for (const Durability durability : {Durability::process, Durability::sync}) {
    write_bytes(path, bytes_);
    auto file = FilterFile::open(path, {.access = Access::write, .durability = durability});
    file.insert(100'001);
    EXPECT_EQ(code_of([&] { (void)decoded(read_bytes(path)); }), ErrorCode::unclean);
    file.close();
    EXPECT_EQ(decoded(read_bytes(path)), image_of(FilterFile::open(path)));
  }
}

TEST_P(EncodeEvery, RefusesTheFileOfAWriterThatIsOpen) {
  Scratch scratch(fast_place());
  const std::string path = scratch / "f";
  for (const Durability durability : {Durability::process, Durability::sync}) {
    write_bytes(path, encode(Filter(plan_of(GetParam()))));
    auto file = FilterFile::open(path, {.access = Access::write, .durability = durability});
    file.insert(1);
    EXPECT_EQ(code_of([&] { (void)decode(read_bytes(path)); }), ErrorCode::unclean);
    file.close();
    EXPECT_TRUE(decode(read_bytes(path)).may_contain(1));
  }
}

TEST(EncodeKinds, RefusesWhatWasMovedFrom) {
  const auto refused = [](auto filter) {
    const auto taken = std::move(filter);
    // NOLINTNEXTLINE(bugprone-use-after-move): that is what is tried
    return code_of([&] { (void)encode(filter); }) == ErrorCode::invalid_argument;
  };
  EXPECT_TRUE(refused(CountingFilter(100, 0.01)));
  EXPECT_TRUE(refused(ScalableFilter(100, 0.01)));
  EXPECT_TRUE(refused(WindowFilter(window_plan(WindowUnit::insertions, 100, 100, 0.01))));
}

}  // namespace
}  // namespace bloomery::test
