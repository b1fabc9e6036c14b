// A real file system without room: clean errors, no signal, and nothing harmed.
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>
#include <bloomery/bloomery.hpp>

#include "store/scratch.hpp"

#include <cerrno>

namespace bloomery::test {
namespace {

class FullDisk : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(place_);
    if (::mount("tmpfs", place_.c_str(), "tmpfs", 0, "size=1m") != 0)
      GTEST_SKIP() << "a tmpfs cannot be mounted here: " << std::strerror(errno);
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount2(place_.c_str(), MNT_DETACH);
  }
  // Takes all but `rest` bytes of what is free.
  void fill(std::uint64_t rest) const {
    const std::uint64_t free = std::filesystem::space(place_).available;
    const int fd = ::open((place_ + "/ballast").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(::posix_fallocate(fd, 0, static_cast<off_t>(free - rest)), 0);
    ::close(fd);
  }
  void empty() const { std::filesystem::remove(place_ + "/ballast"); }

  Scratch scratch_;
  std::string place_ = scratch_ / "small";
  std::string path_ = place_ + "/seen.bloom";
  bool mounted_ = false;
  const Plan small_ = plan_of(Layout::line, 512 * 1000);
};

TEST_F(FullDisk, HasNoRoomForANewFilter) {
  for (const Durability durability : kDurabilities) {
    EXPECT_EQ(code_of([&] {
                FilterFile::create(path_, plan_of(Layout::line, 512 * 20'000),
                                   {.durability = durability});
              }),
              ErrorCode::no_space);
    EXPECT_TRUE(std::filesystem::is_empty(place_));
  }
}

TEST_F(FullDisk, StoresIntoAMappingThatHasItsRoom) {
  auto file = FilterFile::create(path_, small_, {.durability = Durability::process});
  fill(0);
  for (std::uint64_t key = 0; key < 5000; ++key) file.insert(key);
  file.close();
  empty();
  EXPECT_TRUE(verify(path_).ok());
  EXPECT_EQ(missing(FilterFile::open(path_).view(), 0, 5000), 0U);
}

TEST_F(FullDisk, HasNoRoomForTheHolesOfASparseCopy) {
  FilterFile::create(path_, small_).close();
  const auto bytes = read_bytes(path_);
  const std::string sparse = place_ + "/sparse";
  write_bytes(sparse, std::span(bytes).first(8192));
  std::filesystem::resize_file(sparse, bytes.size());
  {
    const int fd = ::open(sparse.c_str(), O_WRONLY | O_CLOEXEC);
    const auto sums = std::span(bytes).subspan(8192 + small_.bytes());
    ASSERT_EQ(::pwrite(fd, sums.data(), sums.size(), static_cast<off_t>(8192 + small_.bytes())),
              static_cast<ssize_t>(sums.size()));
    ::close(fd);
  }
  ASSERT_TRUE(verify(sparse).ok());
  fill(0);
  for (const Durability durability : {Durability::process, Durability::sync})
    EXPECT_EQ(code_of([&] {
                FilterFile::open(sparse, {.access = Access::write, .durability = durability});
              }),
              ErrorCode::no_space);
  EXPECT_TRUE(verify(sparse).ok());
}

TEST_F(FullDisk, HasNoRoomForAJournal) {
  FilterFile::create(path_, small_).close();
  fill(4096);
  EXPECT_EQ(code_of([&] { FilterFile::open(path_, {.access = Access::write}); }),
            ErrorCode::no_space);
  EXPECT_TRUE(verify(path_).ok());
  empty();
  FilterFile::open(path_, {.access = Access::write}).insert(1);
  EXPECT_TRUE(FilterFile::open(path_).may_contain(1));
}

TEST_F(FullDisk, HasNoRoomForANewImageAndThenHas) {
  auto file = FilterFile::create(path_, small_, {.durability = Durability::none});
  file.insert(1);
  file.sync();
  fill(4096);
  file.insert(2);
  EXPECT_EQ(code_of([&] { file.sync(); }), ErrorCode::no_space);
  EXPECT_TRUE(FilterFile::open(path_).may_contain(1));
  EXPECT_TRUE(verify(path_).ok());
  EXPECT_EQ(code_of([&] { file.close(); }), ErrorCode::no_space);
  file.insert(3);
  empty();
  file.close();
  EXPECT_EQ(missing(FilterFile::open(path_).view(), 1, 3), 0U);
}

}  // namespace
}  // namespace bloomery::test
