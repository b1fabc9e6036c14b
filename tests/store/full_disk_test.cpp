// A real file system without room: clean errors, no signal, and nothing harmed.
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>
#include <bloomery/bloomery.hpp>

#include "store/kinds.hpp"

#include <cerrno>

namespace bloomery::test {
namespace {

class SmallDisk {
 protected:
  void mount_it() {
    std::filesystem::create_directory(place_);
    if (::mount("tmpfs", place_.c_str(), "tmpfs", 0, "size=1m") != 0)
      GTEST_SKIP() << "a tmpfs cannot be mounted here: " << std::strerror(errno);
    mounted_ = true;
  }
  void unmount_it() {
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
};

class FullDisk : public testing::Test, protected SmallDisk {
 protected:
  void SetUp() override { mount_it(); }
  void TearDown() override { unmount_it(); }
  const Plan small_ = plan_of(Layout::blocked, 512 * 1000);
};

TEST_F(FullDisk, HasNoRoomForANewFilter) {
  for (const Durability durability : kDurabilities) {
    EXPECT_EQ(code_of([&] {
                FilterFile::create(path_, plan_of(Layout::blocked, 512 * 20'000),
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

// ---- the kinds that are replaced whole ------------------------------------------------------------

class KindOnAFullDisk : public testing::TestWithParam<KindCase>, protected SmallDisk {
 protected:
  void SetUp() override { mount_it(); }
  void TearDown() override { unmount_it(); }

  void expect_model(const KindModel& model) const {
    EXPECT_EQ(image_of(FilterFile::open(path_)), model.image());
    const VerifyReport report = verify(path_);
    EXPECT_TRUE(report.damaged_chunks.empty()) << report.detail;
  }
  const FilterPlan& plan_ = GetParam().plan;
};
INSTANTIATE_TEST_SUITE_P(, KindOnAFullDisk, testing::ValuesIn(kind_cases()), kNameOfOne);

TEST_P(KindOnAFullDisk, HasNoRoomForANewFilter) {
  fill(4096);
  for (const Durability durability : kDurabilities) {
    EXPECT_EQ(code_of([&] { FilterFile::create(path_, plan_, {.durability = durability}); }),
              ErrorCode::no_space);
    EXPECT_EQ(code_of([&] { FilterFile::rebuild(path_, plan_); }), ErrorCode::no_space);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(place_), {}), 1) << "the ballast";
  }
}

class AnyKindOnAFullDisk : public KindOnAFullDisk {};
INSTANTIATE_TEST_SUITE_P(, AnyKindOnAFullDisk, testing::ValuesIn(all_kind_cases()), kNameOfOne);

TEST_P(AnyKindOnAFullDisk, HasNoRoomForAJournal) {
  FilterFile::create(path_, plan_).close();
  fill(4096);
  EXPECT_EQ(code_of([&] { FilterFile::open(path_, {.access = Access::write}); }),
            ErrorCode::no_space);
  EXPECT_TRUE(verify(path_).ok());
  empty();
  FilterFile::open(path_, {.access = Access::write}).insert(1);
  EXPECT_TRUE(FilterFile::open(path_).may_contain(1));
}

// The journal has its room, so inserts go on until it is full. Then the file would be replaced.
TEST_P(KindOnAFullDisk, HasNoRoomForAnotherSnapshotAndThenHas) {
  for (const Durability durability : {Durability::process, Durability::sync}) {
    SCOPED_TRACE(name_of(durability));
    auto file = FilterFile::create(path_, plan_, {.durability = durability, .replace = true});
    KindModel model(plan_);
    fill(4096);
    std::uint64_t key = 0;
    const auto insert_until_full = [&] {
      for (;; ++key) {
        file.insert(key);
        model.apply({Operation::insert, key});
        ASSERT_LT(key, 100'000U) << "the journal is never full";
      }
    };
    EXPECT_EQ(code_of(insert_until_full), ErrorCode::no_space);
    EXPECT_GT(key, 10U);
    expect_model(model);
    EXPECT_EQ(image_of(file), model.image());
    EXPECT_EQ(code_of([&] { file.insert(key); }), ErrorCode::no_space) << "and is not poisoned";
    EXPECT_EQ(code_of([&] { file.close(); }), ErrorCode::no_space);
    expect_model(model);
    empty();
    for (const std::uint64_t last = key + 1000; key < last; ++key) {
      file.insert(key);
      model.apply({Operation::insert, key});
    }
    file.close();
    expect_model(model);
    EXPECT_TRUE(verify(path_).ok());
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(place_), {}), 1);
  }
}

TEST_P(KindOnAFullDisk, HasNoRoomToSyncWithoutAJournalAndThenHas) {
  auto file = FilterFile::create(path_, plan_, {.durability = Durability::none});
  KindModel model(plan_);
  file.insert(1);
  model.apply({Operation::insert, 1});
  file.sync();
  fill(4096);
  file.insert(2);
  EXPECT_EQ(code_of([&] { file.sync(); }), ErrorCode::no_space);
  EXPECT_EQ(code_of([&] { file.close(); }), ErrorCode::no_space);
  expect_model(model);
  file.insert(3);
  empty();
  file.close();
  model.apply({Operation::insert, 2});
  model.apply({Operation::insert, 3});
  expect_model(model);
}

}  // namespace
}  // namespace bloomery::test
