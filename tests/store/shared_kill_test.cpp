// Writers that share a file are killed at random moments, one by one and all together: every key that any of
// them had acknowledged is there, for the others, for readers and for the next writer.
#include <bloomery/bloomery.hpp>

#include "store/kinds.hpp"
#include "store/real_writer.hpp"
#include "store/scratch.hpp"

#include <array>
#include <memory>
#include <random>
#include <string>

namespace bloomery::test {
namespace {

constexpr std::size_t kWriters = 8;
constexpr std::uint64_t kKeysOfOne = std::uint64_t{1} << 32;

class SharedKill : public testing::Test {
 protected:
  SharedKill() {
    FilterFile::create(path_, plan(5'000'000, 0.001)).close();
    for (std::size_t i = 0; i < kWriters; ++i) acknowledged_[i] = first_key(i);
  }
  static std::uint64_t first_key(std::size_t i) { return i * kKeysOfOne; }
  void start(std::size_t i) {
    writers_[i] = std::make_unique<Writer>(path_, "shared", acknowledged_[i]);
  }
  void listen(std::size_t i, std::chrono::microseconds time) {
    writers_[i]->listen(time);
    acknowledged_[i] = writers_[i]->acknowledged();
  }
  void kill(std::size_t i) {
    writers_[i]->kill();
    acknowledged_[i] = writers_[i]->acknowledged();
  }
  [[nodiscard]] std::uint64_t lost(const FilterFile& file) const {
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i < kWriters; ++i)
      lost += missing(file.view(), first_key(i), acknowledged_[i] - first_key(i));
    return lost;
  }
  [[nodiscard]] std::uint64_t keys() const {
    std::uint64_t keys = 0;
    for (std::size_t i = 0; i < kWriters; ++i) keys += acknowledged_[i] - first_key(i);
    return keys;
  }

  Scratch scratch_;
  std::string path_ = scratch_ / "seen.bloom";
  std::array<std::unique_ptr<Writer>, kWriters> writers_;
  std::array<std::uint64_t, kWriters> acknowledged_{};
};

TEST_F(SharedKill, LosesNothingThatAnyWriterAcknowledged) {
  std::mt19937 random(3);
  const auto before = FilterFile::open(path_);
  for (int round = 0; round < 6; ++round) {
    for (std::size_t i = 0; i < kWriters; ++i) start(i);
    for (std::size_t i = 0; i < kWriters; ++i) {
      // Every other round some die while they open the file.
      if (round % 2 == 0) {
        ASSERT_TRUE(writers_[i]->wait_for_a_key());
      }
      listen(i, std::chrono::microseconds(random() % 3'000));
    }
    for (std::size_t i = 0; i < kWriters / 2; ++i) kill(i);
    ASSERT_EQ(lost(before), 0U) << "for a reader that was there, in round " << round;
    for (std::size_t i = kWriters / 2; i < kWriters; ++i)
      listen(i, std::chrono::microseconds(random() % 3'000));
    ASSERT_EQ(lost(FilterFile::open(path_)), 0U) << "while half of them go on";
    for (std::size_t i = kWriters / 2; i < kWriters; ++i) kill(i);
    const auto reader = FilterFile::open(path_);
    ASSERT_EQ(lost(reader), 0U) << "when all are dead";
    ASSERT_NE(verify(path_).state, VerifyReport::State::in_use);
    expect_recoverable(path_);
  }
  EXPECT_GT(keys(), 1000U) << "something was tried";
  // One that has it alone recovers it.
  auto writer = FilterFile::open(path_, {.access = Access::write});
  EXPECT_EQ(lost(writer), 0U);
  EXPECT_GT(static_cast<double>(writer.inserted()), 0.9 * static_cast<double>(keys()));
  writer.close();
  EXPECT_TRUE(verify(path_).ok()) << verify(path_).detail;
}

}  // namespace
}  // namespace bloomery::test
