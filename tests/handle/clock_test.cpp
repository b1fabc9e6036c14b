// The time of a window of seconds is what it is told, in memory and in files, unless a clock is wrong.
#include <gtest/gtest.h>
#include <unistd.h>
#include <bloomery/bloomery.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "store/scratch.hpp"
#include "support/expect_error.hpp"
#include "support/in_child.hpp"

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

// A call for each key costs nothing: only a slice that has passed changes the filter. The first time always does.
TEST(AnyWindow, TakesTheTimeWhenASliceHasPassed) {
  const Scratch scratch;
  AnyFilter file = AnyFilter::create(scratch / "w", kSeconds);
  for (const auto& [told, taken] :
       {std::pair(5, 5), {9, 5}, {10, 10}, {19, 10}, {15, 10}, {23, 23}}) {
    file.advance(static_cast<std::uint64_t>(told));
    EXPECT_EQ(file.file()->window().now(), static_cast<std::uint64_t>(taken)) << told;
  }
}

TEST(AnyWindow, OfInsertionsAndOtherKindsTakeNoTime) {
  FilterSpec lines = kSeconds;
  lines.window = Window{WindowUnit::insertions, 800};
  for (const FilterSpec& spec : {lines, FilterSpec{.capacity = 100, .fpr = 0.01}}) {
    AnyFilter filter(plan(spec));
    filter.insert("a");
    for (const std::uint64_t now : {1'000, 9'000}) filter.advance(now);
    EXPECT_TRUE(filter.may_contain("a"));
    EXPECT_FALSE(filter.needs_time());
    EXPECT_EQ(filter.slice_room().has_value(), spec.window.has_value());
  }
  EXPECT_FALSE(AnyFilter(plan(kSeconds)).slice_room());
}

// Clocks that are set show 2020 or later.
TEST(AnyWindow, KnowsClocksThatAreSetByTheirYear) {
  const std::uint64_t year = 1'577'836'800;
  const Scratch scratch;
  for (const auto& [was, now, follows] : {std::tuple(year + 1'000, year, true),
                                          {year + 1'000, year - 1, false},
                                          {year - 1, std::uint64_t{5}, true},
                                          {year, std::uint64_t{5}, false}}) {
    SCOPED_TRACE(testing::Message() << was << ", " << now);
    AnyFilter file = AnyFilter::create(scratch / "w", kSeconds, {.replace = true});
    file.advance(was);
    file.advance(now);
    EXPECT_EQ(file.file()->window().now(), follows ? now : was);
  }
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

// What the journal brings before its damage goes into bits in which the reader has left out slices for itself.
TEST(AnyWindow, OfAReaderHasWhatCameBeforeDamageOfTheJournal) {
  const Scratch scratch;
  const std::string path = scratch / "w";
  std::array<int, 2> done{}, next{};
  ASSERT_EQ(::pipe(done.data()), 0);
  ASSERT_EQ(::pipe(next.data()), 0);
  char byte = 0;
  const pid_t child = start_child([&] {
    AnyFilter writer = AnyFilter::create(path, kSeconds);
    writer.advance(1'000);
    writer.insert("a");
    if (::write(done[1], "", 1) != 1 || ::read(next[0], &byte, 1) != 1) return false;
    writer.advance(1'010);
    writer.insert("b");
    writer.insert("c");
    ::_exit(0);  // as if it were killed
  });
  ASSERT_EQ(::read(done[0], &byte, 1), 1);
  AnyFilter reader = AnyFilter::open(path);
  reader.advance(1'040);
  ASSERT_EQ(::write(next[1], "", 1), 1);
  ASSERT_TRUE(ended_well(child));
  for (const int fd : {done[0], done[1], next[0], next[1]}) ::close(fd);
  std::vector<std::byte> bytes = read_bytes(path);
  const auto last =
      std::find_if(bytes.rbegin(), bytes.rend(), [](std::byte b) { return b != std::byte{}; });
  *last ^= std::byte{1};
  write_bytes(path, bytes);
  expect_error(ErrorCode::corrupt, {path}, [&] { (void)reader.reload(); });
  EXPECT_TRUE(reader.may_contain("a"));
  EXPECT_TRUE(reader.may_contain("b"));
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
