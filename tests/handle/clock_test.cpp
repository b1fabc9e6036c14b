// The time of a window of seconds is what it is told, in memory and in files, unless a clock is wrong.
#include <gtest/gtest.h>
#include <bloomery/bloomery.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/scratch.hpp"
#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

const FilterSpec kSeconds{.kind = Kind::window,
                          .capacity = 100,
                          .fpr = 0.01,
                          .window = Window{WindowUnit::seconds, 80},
                          .slices = 8};

TEST(AnyWindow, ForgetsByTheTimeThatItIsTold) {
  const Scratch scratch;
  AnyFilter memory(plan(kSeconds));
  AnyFilter file = AnyFilter::create(scratch / "w", kSeconds);
  for (AnyFilter* each : {&memory, &file}) {
    EXPECT_TRUE(each->needs_time());
    each->advance(1'000);
    each->insert("a");
    each->advance(1'079);
    EXPECT_TRUE(each->may_contain("a"));
  }
  file.close();
  AnyFilter reader = AnyFilter::open(scratch / "w");  // forgets, and the file stays
  for (AnyFilter* each : {&memory, &file, &reader}) {
    each->close();  // look-ups still work, and go on forgetting
    each->advance(1'079);
    EXPECT_TRUE(each->may_contain("a"));
    each->advance(1'200);
    EXPECT_FALSE(each->may_contain("a"));
    EXPECT_EQ(each->stats().estimated_items, 0);
  }
  EXPECT_TRUE(AnyFilter::open(scratch / "w").may_contain("a"));
  EXPECT_FALSE(AnyFilter(plan({.capacity = 1, .fpr = 0.1})).needs_time());
}

// A wrong clock has been there: the window goes on from the time of now, and forgets as always.
TEST(AnyWindow, IsSetBackWhereItIsAheadOfTheTime) {
  const Scratch scratch;
  AnyFilter memory(plan(kSeconds));
  AnyFilter file = AnyFilter::create(scratch / "w", kSeconds);
  for (AnyFilter* each : {&memory, &file}) {
    each->advance(9'000'000'000);
    each->insert("a");
    each->advance(9'000'000'000 - 80);  // the clock of another machine
    if (each->file() != nullptr) {
      EXPECT_EQ(each->file()->window().now(), 9'000'000'000U);
    }
    each->advance(2'000'000'000);
    EXPECT_TRUE(each->may_contain("a"));
  }
  file.close();
  AnyFilter writer = AnyFilter::open(scratch / "w", Access::write);
  EXPECT_EQ(writer.file()->window().now(), 2'000'000'000U);
  for (AnyFilter* each : {&memory, &writer}) {
    each->advance(2'000'000'079);
    EXPECT_TRUE(each->may_contain("a"));
    each->advance(2'000'000'200);
    EXPECT_FALSE(each->may_contain("a"));
  }
}

// The clock of a machine without a battery starts in 1970 and is set later.
TEST(AnyWindow, DoesNotFollowAClockThatIsNotSetYet) {
  AnyFilter filter(plan(kSeconds));
  const std::uint64_t now = 1'800'000'000;
  filter.advance(now);
  filter.insert("a");
  filter.advance(5);
  filter.insert("b");
  filter.advance(now + 10);
  EXPECT_TRUE(filter.may_contain("a"));
  EXPECT_TRUE(filter.may_contain("b"));
  filter.advance(now + 300);
  EXPECT_FALSE(filter.may_contain("b"));
}

// A clock that counts from its own start is followed as one that is set.
TEST(AnyWindow, IsSetBackAmongTimesBeforeAnyClock) {
  AnyFilter filter(plan(kSeconds));
  filter.advance(9'000);
  filter.insert("a");
  filter.advance(1'000);
  filter.advance(1'079);
  EXPECT_TRUE(filter.may_contain("a"));
  filter.advance(1'200);
  EXPECT_FALSE(filter.may_contain("a"));
}

// A reader sets back what it has in memory, and the file stays.
TEST(AnyWindow, OfAReaderIsSetBackToo) {
  const Scratch scratch;
  AnyFilter file = AnyFilter::create(scratch / "w", kSeconds);
  file.advance(9'000'000'000);
  file.insert("a");
  file.close();
  AnyFilter reader = AnyFilter::open(scratch / "w");
  for (const std::uint64_t now : {2'000'000'000, 2'000'000'040}) {
    reader.advance(now);
    EXPECT_TRUE(reader.may_contain("a")) << now;
  }
  reader.advance(2'000'000'200);
  EXPECT_FALSE(reader.may_contain("a"));
  EXPECT_EQ(AnyFilter::open(scratch / "w").file()->window().now(), 9'000'000'000U);
}

// A reader forgets for itself alone, until it opens the file again.
TEST(AnyWindow, OfAReaderIsThatOfTheFileAfterAReload) {
  const Scratch scratch;
  AnyFilter writer = AnyFilter::create(scratch / "w", kSeconds);
  writer.advance(1'000);
  writer.insert("a");
  writer.sync();
  AnyFilter reader = AnyFilter::open(scratch / "w");
  reader.advance(1'200);
  EXPECT_FALSE(reader.may_contain("a"));
  writer.advance(1'200);
  writer.insert("b");
  writer.close();
  EXPECT_TRUE(reader.reload());
  EXPECT_TRUE(reader.may_contain("b"));
  EXPECT_FALSE(reader.may_contain("a"));
  EXPECT_EQ(reader.stats().live_slices, 1U);
  reader.advance(1'300);
  EXPECT_FALSE(reader.may_contain("b"));
}

// A reader and a closed writer leave out in the bits of the file what a filter in memory clears.
TEST(AnyWindow, OfAReaderSaysWhatOneInMemorySays) {
  for (const Layout layout : {Layout::blocked, Layout::blocked2}) {
    const Scratch scratch;
    FilterSpec spec = kSeconds;
    spec.capacity = 400;
    spec.layout = layout;
    AnyFilter file = AnyFilter::create(scratch / "w", spec);
    std::uint64_t key = 0;
    for (std::uint64_t now = 1'000; now < 1'130; now += 10) {
      file.advance(now);
      for (int i = 0; i < 50; ++i) file.insert(key++);
    }
    file.close();
    const std::vector<std::byte> encoded = AnyFilter::open(scratch / "w").encode();
    for (std::uint64_t over = 0; over <= 10; ++over) {
      AnyFilter memory = AnyFilter::decode(encoded), reader = AnyFilter::open(scratch / "w");
      for (const std::uint64_t now : {1'120 + over * 10, 1'125 + over * 10, 1'150 + over * 10}) {
        SCOPED_TRACE(testing::Message() << to_string(layout) << ", " << over << " over, " << now);
        memory.advance(now);
        reader.advance(now);
        for (const Precision precision : {Precision::sampled, Precision::exact}) {
          const FilterStats ours = reader.stats(precision), theirs = memory.stats(precision);
          EXPECT_EQ(ours.fill, theirs.fill);
          EXPECT_EQ(ours.current_fpr, theirs.current_fpr);
          EXPECT_EQ(ours.estimated_items, theirs.estimated_items);
          EXPECT_EQ(ours.live_slices, theirs.live_slices);
          EXPECT_EQ(ours.inserted, theirs.inserted);
        }
        for (std::uint64_t asked = 0; asked < key + 300; ++asked)
          ASSERT_EQ(reader.may_contain(asked), memory.may_contain(asked)) << asked;
      }
      EXPECT_EQ(reader.encode(), encoded);
    }
  }
}

}  // namespace
}  // namespace bloomery::test
