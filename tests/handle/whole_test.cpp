// Two filters behind the handle, and the whole of one: merged, copied, cleared, moved and looked up again.
#include <bloomery/bloomery.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "handle/any_kind.hpp"
#include "store/scratch.hpp"
#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

class AnyWhole : public testing::TestWithParam<Kind> {
 protected:
  [[nodiscard]] FilterSpec spec() const { return spec_of_kind(GetParam(), 1'000); }
  [[nodiscard]] AnyFilter in_memory() const { return AnyFilter(plan(spec())); }
  const std::vector<std::string> keys_ = text_keys("key", 500), others_ = text_keys("other", 500);
  Scratch scratch_;
};
INSTANTIATE_TEST_SUITE_P(, AnyWhole, kKindsOfKeys, name_of_kind);

TEST_P(AnyWhole, IsCleared) {
  AnyFilter filter = in_memory(), fresh = in_memory();
  // A scalable filter grows.
  filter.insert_many(keys_);
  filter.insert_many(text_keys("more", 2'000));
  filter.clear();
  EXPECT_EQ(filter.may_contain_many(keys_), 0U);
  EXPECT_EQ(filter.stats().estimated_items, 0);
  filter.insert_many(others_);
  fresh.insert_many(others_);
  // A window goes on counting its inserts, those of forgotten keys too.
  if (GetParam() != Kind::window) {
    EXPECT_EQ(filter.encode(), fresh.encode());
  }
  EXPECT_EQ(filter.may_contain_many(others_), others_.size());
  EXPECT_EQ(filter.stats().fill, fresh.stats().fill);
  AnyFilter file = AnyFilter::create(scratch_ / "f", spec());
  file.insert_many(keys_);
  expect_error(ErrorCode::wrong_kind, {scratch_ / "f"}, [&] { file.clear(); });
  EXPECT_EQ(file.may_contain_many(keys_), keys_.size());
}

TEST_P(AnyWhole, HasTheBitsOfOneThread) {
  AnyFilter one = in_memory(), many = in_memory();
  many.use_threads(3);
  one.insert_many(keys_);
  many.insert_many(keys_);
  EXPECT_EQ(many.encode(), one.encode());
}

TEST_P(AnyWhole, IsCopied) {
  AnyFilter filter = in_memory();
  filter.insert_many(keys_);
  AnyFilter file = AnyFilter::create(scratch_ / "f", spec());
  file.insert_many(keys_);
  for (AnyFilter* from : {&filter, &file}) {
    AnyFilter copy = from->copy();
    EXPECT_TRUE(copy.in_memory());
    EXPECT_EQ(copy.encode(), from->encode());
    EXPECT_EQ(*copy.hasher(), *from->hasher());
    copy.insert("new");
    EXPECT_TRUE(copy.may_contain("new"));
    EXPECT_FALSE(from->may_contain("new"));
    from->insert("later");
    EXPECT_FALSE(copy.may_contain("later"));
  }
}

// The one that is assigned to is another filter from then on, also for calls that are inlined.
TEST_P(AnyWhole, IsTheOneThatWasAssigned) {
  for (const bool from_file : {false, true})
    for (const bool to_file : {false, true}) {
      SCOPED_TRACE(std::to_string(from_file) + " to " + std::to_string(to_file));
      const auto made = [&](bool in_file, const std::string& name) {
        return in_file ? AnyFilter::create(scratch_ / name, spec(), {.replace = true})
                       : in_memory();
      };
      AnyFilter from = made(from_file, "from"), to = made(to_file, "to");
      from.insert("from");
      to.insert_many(keys_);
      to = std::move(from);
      EXPECT_EQ(to.in_memory(), !from_file);
      EXPECT_EQ(to.acknowledged(), 1U);
      EXPECT_TRUE(to.may_contain("from"));
      EXPECT_FALSE(to.may_contain(keys_[0]));
      EXPECT_EQ(to.may_contain_many(keys_), 0U);
      EXPECT_TRUE(to.insert("new"));
      EXPECT_EQ(to.insert_many(others_), others_.size());
      EXPECT_EQ(to.stats().inserted, 2 + others_.size());
      AnyFilter copy = to.copy();
      EXPECT_TRUE(copy.may_contain("new"));
      EXPECT_EQ(copy.may_contain_many(others_), others_.size());
      expect_error(ErrorCode::invalid_argument, {"moved from"},
                   [&] { (void)from.may_contain("a"); });  // NOLINT(bugprone-use-after-move)
      expect_error(ErrorCode::invalid_argument, {"moved from"}, [&] { from.insert("a"); });
    }
}

TEST_P(AnyWhole, IsMergedIntoItsKind) {
  const bool can = GetParam() == Kind::plain || GetParam() == Kind::counting;
  AnyFilter memory = in_memory(), file = AnyFilter::create(scratch_ / "f", spec());
  memory.insert_many(keys_);
  file.insert_many(others_);
  if (!can) {
    expect_error(ErrorCode::wrong_kind, {"only plain and counting"}, [&] { memory.merge(file); });
    AnyFilter plain(plan(spec_of_kind(Kind::plain)));
    expect_error(ErrorCode::wrong_kind, {}, [&] { memory.merge(plain); });
    expect_error(ErrorCode::wrong_kind, {}, [&] { memory.intersect(plain); });
    EXPECT_EQ(memory.may_contain_many(keys_), keys_.size());
    return;
  }
  memory.merge(file);
  EXPECT_EQ(memory.may_contain_many(others_), others_.size());
  AnyFilter once = in_memory();
  once.insert("once");
  file.merge(once);
  file.close();
  AnyFilter reader = AnyFilter::open(scratch_ / "f");
  EXPECT_TRUE(reader.may_contain("once"));
  EXPECT_EQ(reader.may_contain_many(others_), others_.size());
  EXPECT_EQ(reader.may_contain_many(keys_), 0U);
  // Counters add up: what is removed from the sum as often as it was inserted is gone.
  if (GetParam() == Kind::counting) {
    EXPECT_EQ(memory.remove_many(others_), others_.size());
    EXPECT_EQ(memory.may_contain_many(others_), 0U);
    EXPECT_EQ(memory.may_contain_many(keys_), keys_.size());
  }
  AnyFilter other(plan({.kind = GetParam(), .capacity = 2'000, .fpr = 0.001}));
  expect_error(ErrorCode::mismatch, {}, [&] { memory.merge(other); });
  AnyFilter seeded(plan(spec()), Hasher(HashFamily::xxh3, {7, 0}));
  expect_error(ErrorCode::mismatch, {}, [&] { memory.merge(seeded); });
  const Kind another = GetParam() == Kind::plain ? Kind::counting : Kind::plain;
  AnyFilter foreign(plan(spec_of_kind(another)));
  expect_error(ErrorCode::wrong_kind, {}, [&] { memory.merge(foreign); });
}

TEST_P(AnyWhole, AReaderSeesTheFileThatIsThereNow) {
  AnyFilter::create(scratch_ / "f", spec()).insert("old");
  AnyFilter reader = AnyFilter::open(scratch_ / "f");
  EXPECT_FALSE(reader.reload());
  AnyFilter next = AnyFilter::create(scratch_ / "f", spec(), {.replace = true});
  next.insert("new");
  next.close();
  EXPECT_TRUE(reader.may_contain("old"));
  EXPECT_TRUE(reader.reload());
  EXPECT_FALSE(reader.may_contain("old"));
  EXPECT_TRUE(reader.may_contain("new"));
  EXPECT_EQ(reader.stats().inserted, 1U);
  EXPECT_TRUE(reader.can_be_behind());
  AnyFilter writer = AnyFilter::open(scratch_ / "f", Access::write);
  EXPECT_FALSE(writer.can_be_behind());
  expect_error(ErrorCode::wrong_kind, {scratch_ / "f"}, [&] { (void)writer.reload(); });
}

TEST(AnyPair, OnlyPlainFiltersInMemoryAreIntersected) {
  const Scratch scratch;
  AnyFilter plain(plan(spec_of_kind(Kind::plain))), counting(plan(spec_of_kind(Kind::counting)));
  AnyFilter file = AnyFilter::create(scratch / "f", spec_of_kind(Kind::plain));
  for (AnyFilter* each : {&plain, &counting, &file}) each->insert("a");
  expect_error(ErrorCode::wrong_kind, {"intersected"}, [&] { plain.intersect(counting); });
  expect_error(ErrorCode::wrong_kind, {"a filter in memory"}, [&] { counting.intersect(plain); });
  expect_error(ErrorCode::wrong_kind, {scratch / "f"}, [&] { file.intersect(plain); });
  plain.insert("b");
  plain.intersect(file);
  EXPECT_TRUE(plain.may_contain("a") && counting.may_contain("a") && file.may_contain("a"));
  EXPECT_FALSE(plain.may_contain("b"));
}

// Of what is in so few pieces, a sample of 4 MiB would see nothing.
TEST(AnyPair, OfSparseFilesIsCountedWhole) {
  constexpr std::uint64_t kBytes = std::uint64_t{16} << 20;
  constexpr std::size_t kPage = 4096;
  constexpr std::array<std::byte, kPage> kZeros{};
  const Scratch scratch;
  std::vector<std::string> sources;
  for (const auto& keys : {text_keys("a", 2), text_keys("b", 3)}) {
    AnyFilter filter(FilterPlan(Plan{Layout::blocked, kBytes * 8, 6, kBytes, 0.01}));
    filter.insert_many(keys);
    const std::vector<std::byte> bytes = filter.encode();
    std::ofstream file(sources.emplace_back(scratch / keys[0]), std::ios::binary);
    for (std::size_t at = 0; at < bytes.size(); at += kPage) {
      const std::size_t size = std::min(kPage, bytes.size() - at);
      if (std::memcmp(&bytes[at], kZeros.data(), size) == 0) continue;  // a hole
      file.seekp(static_cast<std::streamoff>(at));
      file.write(reinterpret_cast<const char*>(&bytes[at]), static_cast<std::streamsize>(size));
    }
  }
  const FilterStats merged = AnyFilter::merge(sources, scratch / "out").stats.value();
  EXPECT_NEAR(merged.fill * 8 * kBytes, 5 * 6, 2);
  EXPECT_NEAR(merged.estimated_items, 5, 0.5);
}

}  // namespace
}  // namespace bloomery::test
