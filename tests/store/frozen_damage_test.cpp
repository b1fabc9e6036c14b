// Every byte of a small file of a frozen filter flipped, every length that it can be cut to, and headers that no writer
// makes: refused with a reason, or exactly right.
#include <bloomery/bloomery.hpp>

#include "format/forged_headers.hpp"
#include "format/header_bytes.hpp"
#include "format/kinds.hpp"
#include "store/session_script.hpp"
#include "support/effort.hpp"

#include <functional>

namespace bloomery::test {
namespace {

using detail::Header;

constexpr std::uint64_t kDamagedKeys = 1'500, kDamagedAdded = 100;

class DamagedFrozen : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    auto file = Files(os_).create(kPath, delta_ ? frozen_plan(1, 0.01, 300) : frozen_plan(1, 0.01));
    add(file, 0, kDamagedKeys);
    file.close();
    if (delta_) {
      file = Files(os_).open(kPath, {.access = Access::write});
      add(file, 1 << 20, kDamagedAdded);
      file.close();
    }
    bytes_ = os_.contents(kPath);
    header_ = header_of(bytes_);
    const auto layout = detail::layout_of(header_);
    sums_at_ = layout.sums_at;
    whole_ = layout.clean_bytes;
  }
  static Header header_of(const std::vector<std::byte>& bytes) {
    return detail::decode_headers(std::span(bytes).first(detail::kBitsAt), bytes.size(), "f")
        .header;
  }
  // What is refused: with one of these codes, and with words.
  static void expect_refusal(const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::corrupt || error.code() == ErrorCode::not_a_filter ||
                error.code() == ErrorCode::newer_format || error.code() == ErrorCode::unclean)
        << error.what();
    EXPECT_GT(std::string_view(error.what()).size(), 20U) << error.what();
  }
  // True: it has every key, and answers as ever.
  bool decodes(const std::vector<std::byte>& bytes) const {
    try {
      AnyFilter filter = AnyFilter::decode(bytes);
      EXPECT_EQ(filter.encode(), encoded_);
      return true;
    } catch (const Error& error) {
      expect_refusal(error);
      return false;
    }
  }
  bool opens(const std::vector<std::byte>& bytes) {
    os_.put(kPath, bytes);
    try {
      const FilterFile file = Files(os_).open(kPath);
      // Whatever a reader lets pass, it can be asked.
      (void)found_in(file, 0, 100);
      return true;
    } catch (const Error& error) {
      expect_refusal(error);
      EXPECT_EQ(os_.mappings(), 0U);
      return false;
    }
  }

  const bool delta_ = GetParam();
  FakeOs os_;
  std::vector<std::byte> bytes_, encoded_;
  Header header_;
  std::uint64_t sums_at_ = 0, whole_ = 0;
};
INSTANTIATE_TEST_SUITE_P(, DamagedFrozen, testing::Bool(), [](const auto& param) {
  return std::string(param.param ? "with_a_delta" : "alone");
});

// By day every byte where fields are, and every 7th of the cells.
TEST_P(DamagedFrozen, EveryFlippedByteIsRefusedOrHarmless) {
  encoded_ = AnyFilter::decode(bytes_).encode();
  std::uint64_t refused = 0;
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const bool page = i < detail::kBitsAt;
    const bool section = i % detail::kHeaderBytes < 400 || i % detail::kHeaderBytes > 4080;
    const bool cell = !page && i >= detail::kBitsAt + 4'096 && i < sums_at_;
    if (!nightly() && (page ? !section && i % 61 != 0 : cell && i % 7 != 0)) continue;
    auto bytes = bytes_;
    bytes[i] ^= static_cast<std::byte>(i % 2 == 0 ? 0xFFU : 1U << (i / 2 % 8));
    const bool whole = decodes(bytes);
    os_.put(kPath, bytes);
    const bool verified = Files(os_).verify(kPath).ok();
    (void)opens(bytes);
    ASSERT_FALSE(HasFailure()) << "byte " << i;
    if (!page && i < sums_at_) {
      ASSERT_FALSE(whole) << "byte " << i << " of the bits";
      ASSERT_FALSE(verified) << "byte " << i << " of the bits";
      ++refused;
    }
  }
  EXPECT_GT(refused, 500U);
  EXPECT_TRUE(decodes(bytes_));
}

TEST_P(DamagedFrozen, EveryTruncationIsRefused) {
  for (std::size_t size = 0; size < whole_; ++size) {
    // Where nothing ends or begins a part of the sizes will do.
    if (!nightly() && size % 512 > 2 && size % 29 != 0 && size + 20 < whole_) continue;
    const std::vector<std::byte> cut(bytes_.begin(),
                                     bytes_.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_FALSE(decodes(cut)) << size;
    ASSERT_FALSE(opens(cut)) << size;
    ASSERT_FALSE(HasFailure()) << size;
  }
}

// Fields that no writer makes, under a checksum that is right.
TEST_P(DamagedFrozen, HeadersAreRefusedBeforeAnythingIsMapped) {
  const auto opening = [&](const std::function<void(FrozenPlan&)>& change) {
    auto bytes = bytes_;
    Header header = header_;
    change(std::get<FrozenPlan>(header.plan));
    put_headers(bytes, header);
    EXPECT_FALSE(opens(bytes));
    EXPECT_FALSE(decodes(bytes));
  };
  opening([](FrozenPlan& plan) { plan.array.bits = std::uint64_t{1} << 45; });
  opening([](FrozenPlan& plan) { plan.array.bits = ~std::uint64_t{0}; });
  opening([](FrozenPlan& plan) { plan.array.bits += 512; });
  opening([](FrozenPlan& plan) { plan.array.capacity += 1; });
  opening([](FrozenPlan& plan) { plan.array.hashes = 4; });
  opening([](FrozenPlan& plan) { plan.array.fpr = 1e-9; });
  opening([](FrozenPlan& plan) { plan.partitions = 0; });
  opening([](FrozenPlan& plan) { plan.partitions = 4'096; });
  opening([](FrozenPlan& plan) { plan.partitions = ~0U; });
  opening([](FrozenPlan& plan) { plan.fingerprint_bits = 0; });
  opening([](FrozenPlan& plan) { plan.fingerprint_bits += 1; });
  opening([](FrozenPlan& plan) { plan.narrow_partitions = plan.partitions; });
  if (!delta_) {
    opening([](FrozenPlan& plan) { plan.delta = bloomery::plan(1'000, 0.0001); });
    return;
  }
  opening([](FrozenPlan& plan) { plan.delta->bits = std::uint64_t{1} << 45; });
  opening([](FrozenPlan& plan) { plan.delta->bits += 512; });
  opening([](FrozenPlan& plan) { plan.delta->layout = Layout::blocked64; });
  opening([](FrozenPlan& plan) { plan.delta->fpr = 0.5; });
  opening([](FrozenPlan& plan) { plan.delta.reset(); });
}

}  // namespace
}  // namespace bloomery::test
