// A filter as bytes: what encode writes, decode gives back, and nothing else gets through.
#include <bloomery/bloomery.hpp>

#include "store/scratch.hpp"

#include <algorithm>

namespace bloomery::test {
namespace {

class EncodeEvery : public testing::TestWithParam<Layout> {};
INSTANTIATE_TEST_SUITE_P(, EncodeEvery, testing::ValuesIn(kLayouts),
                         [](const auto& param) { return name_of(param.param); });

TEST_P(EncodeEvery, RoundTrips) {
  for (const std::uint64_t lines : {1, 100, 1023, 1024, 1025, 5000}) {
    Filter filter(plan_of(GetParam(), 512 * lines),
                  Hasher(HashFamily::siphash, {.low = 1, .high = 2}));
    for (std::uint64_t key = 0; key < 300; ++key) filter.insert(key);
    const auto bytes = encode(filter);
    EXPECT_EQ(bytes.size(), 8192 + lines * 64 + (lines + 1023) / 1024 * 8);
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

TEST_P(EncodeEvery, EveryFlippedBitIsHarmlessOrRefused) {
  Filter filter(plan_of(GetParam(), 512 * 8));
  for (std::uint64_t key = 0; key < 50; ++key) filter.insert(key);
  auto bytes = encode(filter);
  std::uint64_t refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
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
  EXPECT_EQ(refused, 3 * filter.bytes().size()) << "the bits have no spare, the rest has";
}

TEST_P(EncodeEvery, EveryTruncationIsRefused) {
  Filter filter(plan_of(GetParam(), 512 * 8));
  const auto bytes = encode(filter);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const ErrorCode code = code_of([&] { (void)decode(std::span(bytes).first(size)); });
    ASSERT_EQ(code, size < 8 ? ErrorCode::not_a_filter : ErrorCode::corrupt) << size;
  }
}

}  // namespace
}  // namespace bloomery::test
