// A frozen filter that comes piece by piece: the file is what encode() gives, or what was there before.
#include "store/disk/new_frozen_file.hpp"

#include <bloomery/bloomery.hpp>

#include "store/session_script.hpp"
#include "support/expect_error.hpp"

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

std::vector<std::byte> bits_of(const FrozenFilter& filter) {
  std::vector<std::byte> bits;
  for (const auto piece : filter.pieces()) bits.insert(bits.end(), piece.begin(), piece.end());
  return bits;
}

// One that was built, and is on the device.
void build_old(FakeOs& os) {
  auto file = Files(os).rebuild(kPath, frozen_plan(1, 0.01));
  file.insert_hashes(hashes_of(file.hasher(), 0, 1'000));
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
  stream(os, bits_of(streamed()), streamed().keys());
  EXPECT_EQ(os.contents(kPath), encode(streamed()));
  EXPECT_EQ(os.names(), 1U);
  stream(os, bits_of(streamed()), streamed().keys());  // over itself
  EXPECT_EQ(os.contents(kPath), encode(streamed()));
  EXPECT_EQ(os.open_files(), 0U);
}

TEST(NewFrozenFile, WithAnotherTableIsNotThere) {
  for (const std::size_t at : {0UL, 9UL, 24UL, 28UL, 29UL}) {
    FakeOs os(kRoomForTwo);
    auto bits = bits_of(streamed());
    bits[at] ^= std::byte{1};
    expect_error(ErrorCode::corrupt, {"build"}, [&] { stream(os, bits, streamed().keys()); });
    EXPECT_EQ(os.names(), 0U);
  }
  FakeOs os(kRoomForTwo);
  expect_error(ErrorCode::corrupt, {},
               [&] { stream(os, bits_of(streamed()), streamed().keys() + 1); });
  EXPECT_EQ(os.names(), 0U);
}

TEST(NewFrozenFile, LeavesTheOldOneWhateverFails) {
  const auto bits = bits_of(streamed());
  FakeOs before(kRoomForTwo);
  build_old(before);
  const auto old = before.contents(kPath), fresh = encode(streamed());
  const auto sane = before.after_kill();
  stream(*sane, bits, streamed().keys());
  std::size_t failed = 0;
  for (const int error : {ENOSPC, EIO})
    for (std::uint64_t call = 1; call <= sane->calls(); ++call) {
      SCOPED_TRACE("call " + std::to_string(call));
      const auto os = before.after_kill();
      os->inject({.at = call, .error = error});
      try {
        stream(*os, bits, streamed().keys());
      } catch (const Error&) {
        ++failed;
      }
      const auto there = os->after_kill()->contents(kPath);
      ASSERT_TRUE(there == old || there == fresh);
    }
  EXPECT_GT(failed, 15U);
}

TEST(NewFrozenFile, IsOldOrNewWhereverItStops) {
  const auto bits = bits_of(streamed());
  FakeOs before(kRoomForTwo);
  build_old(before);
  const auto old = before.contents(kPath), fresh = encode(streamed());
  for (std::uint64_t call = 1;; ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    const auto os = before.after_kill();
    os->stop_before(call);
    try {
      stream(*os, bits, streamed().keys());
    } catch (const Error&) {
    }
    if (!os->stopped()) break;
    for (int seed = -1; seed < 2; ++seed) {
      const auto after =
          seed < 0 ? os->after_kill() : os->after_power_loss(static_cast<unsigned>(seed), 64 << 10);
      const auto there = after->contents(kPath);
      ASSERT_TRUE(there == old || there == fresh) << seed;
      stream(*after, bits, streamed().keys());  // what is left of it is in nobody's way
      ASSERT_EQ(after->contents(kPath), fresh);
      ASSERT_EQ(after->names(), 1U);
    }
  }
}

}  // namespace
}  // namespace bloomery::test
