// A frozen filter that comes piece by piece: the file is what encode() gives, or what was there before.
#include "store/disk/new_frozen_file.hpp"

#include <bloomery/bloomery.hpp>

#include "store/every_call.hpp"
#include "store/session_script.hpp"
#include "support/expect_error.hpp"
#include "support/frozen.hpp"

#include <algorithm>

namespace bloomery::test {
namespace {

constexpr std::size_t kRoomForTwo = 1 << 20;

// Several chunks of sums, and several partitions.
const FrozenFilter& streamed() {
  static const FrozenFilter filter = [] {
    FrozenBuilder builder(0.01);
    builder.insert_hashes(hashes_of(builder.hasher(), 0, 150'000));
    return builder.build();
  }();
  return filter;
}

// One that was built, and is on the device.
void build_old(FakeOs& os) {
  auto file = Files(os).rebuild(kPath, frozen_plan(1, 0.01));
  add(file, 0, 1'000);
  file.close();
}

void stream(FakeOs& os, const std::vector<std::byte>& bits, std::uint64_t keys) {
  detail::NewFrozenFile file(os, kPath, streamed().plan(), keys, streamed().hasher());
  for (std::size_t at = 0; at < bits.size(); at += 50'000)
    file.write(at, std::span(bits).subspan(at, std::min<std::size_t>(50'000, bits.size() - at)));
  file.publish();
}

TEST(NewFrozenFile, HasTheBytesOfTheFilter) {
  FakeOs os(kRoomForTwo);
  stream(os, bytes_of(streamed()), streamed().keys());
  EXPECT_EQ(os.contents(kPath), encode(streamed()));
  EXPECT_EQ(os.names(), 1U);
  stream(os, bytes_of(streamed()), streamed().keys());  // over itself
  EXPECT_EQ(os.contents(kPath), encode(streamed()));
  EXPECT_EQ(os.open_files(), 0U);
}

TEST(NewFrozenFile, WithAnotherTableIsNotThere) {
  for (const std::size_t at : {0UL, 9UL, 24UL, 28UL, 29UL}) {
    FakeOs os(kRoomForTwo);
    auto bits = bytes_of(streamed());
    bits[at] ^= std::byte{1};
    expect_error(ErrorCode::corrupt, {"build"}, [&] { stream(os, bits, streamed().keys()); });
    EXPECT_EQ(os.names(), 0U);
  }
  FakeOs os(kRoomForTwo);
  expect_error(ErrorCode::corrupt, {},
               [&] { stream(os, bytes_of(streamed()), streamed().keys() + 1); });
  EXPECT_EQ(os.names(), 0U);
}

// A machine with an old filter, over which the new one is streamed.
class StreamedOverAnOldOne : public testing::Test {
 protected:
  StreamedOverAnOldOne() {
    build_old(before_);
    old_ = before_.contents(kPath);
  }
  void work(FakeOs& os) const { stream(os, bits_, streamed().keys()); }
  void expect_old_or_new(const FakeOs& os) const {
    const auto there = os.contents(kPath);
    EXPECT_TRUE(there == old_ || there == fresh_);
  }
  const std::vector<std::byte> bits_ = bytes_of(streamed()), fresh_ = encode(streamed());
  FakeOs before_{kRoomForTwo};
  std::vector<std::byte> old_;
};

TEST_F(StreamedOverAnOldOne, LeavesItWhateverFails) {
  EXPECT_GT(
      fail_at_every_call(
          before_, [&](FakeOs& os) { work(os); }, [&](FakeOs& after) { expect_old_or_new(after); }),
      15U);
}

TEST_F(StreamedOverAnOldOne, IsOldOrNewWhereverItStops) {
  stop_at_every_call(
      before_, 2, 64 << 10, [&](FakeOs& os) { work(os); },
      [&](FakeOs& after, int) {
        expect_old_or_new(after);
        work(after);  // what is left of it is in nobody's way
        EXPECT_EQ(after.contents(kPath), fresh_);
        EXPECT_EQ(after.names(), 1U);
      });
}

}  // namespace
}  // namespace bloomery::test
