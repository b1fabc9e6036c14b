// The calls of the real system: what they make, find and refuse.
#include "base/os.hpp"

#include "base/file.hpp"
#include "store/scratch.hpp"
#include "support/access_list.hpp"
#include "support/refused_calls.hpp"
#include "support/umask.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomery::test {
namespace {

using detail::File;

// It writes the bytes again; what it could not write is not synced, although the file can be.
TEST(RealOs, SyncsWhatItCanWrite) {
  Scratch scratch;
  const std::string path = scratch / "f";
  File file(real_os(), path, Os::Open::create);
  const std::vector<std::byte> bytes = std::vector<std::byte>(100, std::byte{7});
  file.write(bytes, 0);
  const auto sync = [&](int flags) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
    const int result = real_os().sync_written(fd, bytes.data(), bytes.size(), 0);
    ::close(fd);
    return result;
  };
  EXPECT_EQ(sync(O_RDWR), 0);
  if (::pwritev2(-1, nullptr, 0, 0, RWF_DSYNC) < 0 && errno != EBADF)
    GTEST_SKIP() << "an emulated CPU has no such call; then the whole file is synced";
  EXPECT_EQ(sync(O_RDONLY), -EBADF);
}

TEST(RealOs, FindsDataBetweenHoles) {
  Scratch scratch;
  const std::string path = scratch / "f";
  File file(real_os(), path, Os::Open::create);
  file.write(std::vector<std::byte>(4096, std::byte{7}), 1 << 20);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::uint64_t from = 0, to = 0;
  EXPECT_EQ(real_os().next_data(fd, 0, from, to), 0);
  EXPECT_LE(from, std::uint64_t{1} << 20);
  EXPECT_EQ(to, (std::uint64_t{1} << 20) + 4096);
  EXPECT_EQ(real_os().next_data(fd, to, from, to), -ENXIO);
  ::close(fd);
}

TEST(RealOs, FindsDataAtTheBegin) {
  Scratch scratch;
  const std::string path = scratch / "f";
  File file(real_os(), path, Os::Open::create);
  file.write(std::vector<std::byte>(4096, std::byte{7}), 0);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::uint64_t from = 1, to = 0;
  EXPECT_EQ(real_os().next_data(fd, 0, from, to), 0);
  EXPECT_EQ(from, 0U);
  EXPECT_EQ(to, 4096U);
  ::close(fd);
}

TEST(RealOs, RenamesOntoWhatIsThere) {
  Scratch scratch;
  write_bytes(scratch / "a", std::vector<std::byte>(1));
  write_bytes(scratch / "b", std::vector<std::byte>(2));
  EXPECT_EQ(real_os().rename((scratch / "a").c_str(), (scratch / "b").c_str()), 0);
  EXPECT_EQ(read_bytes(scratch / "b").size(), 1U);
  EXPECT_EQ(::access((scratch / "a").c_str(), F_OK), -1);
}

TEST(RealOs, RenamesOntoNothingOnly) {
  Scratch scratch;
  const std::string one = scratch / "one", two = scratch / "two";
  File(real_os(), one, Os::Open::create).close();
  File(real_os(), two, Os::Open::create).close();
  EXPECT_EQ(real_os().rename_new(one.c_str(), two.c_str()), -EEXIST);
  EXPECT_EQ(real_os().unlink(two.c_str()), 0);
  EXPECT_EQ(real_os().rename_new(one.c_str(), two.c_str()), 0);
  EXPECT_EQ(scratch.files(), 1U);
}

// As a file system without flags of renames answers, or a system without the call.
TEST(RealOs, RenamesWithoutTheFlagsOfTheSystem) {
  for (const int answer : {EINVAL, ENOSYS}) {
    Scratch scratch;
    const std::string one = scratch / "one", two = scratch / "two";
    File(real_os(), one, Os::Open::create).close();
    File(real_os(), two, Os::Open::create).close();
    const int failed = failed_in_child([&] {
      if (!refuse_from_now_on(SYS_renameat2, answer)) return kNoFilter;
      if (real_os().exchange(one.c_str(), two.c_str()) != -EOPNOTSUPP) return 1;
      if (real_os().rename_new(one.c_str(), two.c_str()) != -EEXIST) return 2;
      if (real_os().unlink(two.c_str()) != 0) return 3;
      if (real_os().rename_new(one.c_str(), two.c_str()) != 0) return 4;
      return real_os().rename_new(one.c_str(), two.c_str()) == -ENOENT ? 0 : 5;
    });
    if (failed == kNoFilter) GTEST_SKIP() << "no filter of system calls";
    EXPECT_EQ(failed, 0) << answer;
    EXPECT_TRUE(std::filesystem::exists(two));
    EXPECT_EQ(scratch.files(), 1U);
  }
}

// Where these bytes cannot be synced alone, all of the file are.
TEST(RealOs, SyncsEverythingWhereItCannotSyncSomeBytes) {
  Scratch scratch;
  for (const int answer : {EOPNOTSUPP, ENOSYS, EINVAL, EIO}) {
    const File file(real_os(), scratch / std::to_string(answer), Os::Open::create);
    const int failed = failed_in_child([&] {
      const int fd = ::open(file.path().c_str(), O_RDWR | O_CLOEXEC);
      const std::array<char, 10> bytes{};
      if (!refuse_from_now_on(SYS_pwritev2, answer)) return kNoFilter;
      const int result = real_os().sync_written(fd, bytes.data(), bytes.size(), 0);
      if (result != (answer == EIO ? -EIO : 0)) return 1;
      // The other call is made, and what it says counts.
      if (!refuse_from_now_on(SYS_fdatasync, ENOSPC)) return kNoFilter;
      const int last = real_os().sync_written(fd, bytes.data(), bytes.size(), 0);
      return last == (answer == EIO ? -EIO : -ENOSPC) ? 0 : 2;
    });
    if (failed == kNoFilter) GTEST_SKIP() << "no filter of system calls";
    EXPECT_EQ(failed, 0) << answer;
  }
}

// A disk that takes only the first of the bytes has them all from before; then all of the file is synced.
TEST(RealOs, SyncsEverythingAfterItCouldWriteOnlySomeBytes) {
  Scratch scratch;
  const std::string path = scratch / "f";
  const std::vector<std::byte> bytes(100, std::byte{7});
  File(real_os(), path, Os::Open::create).write(bytes, 0);
  EXPECT_EQ(failed_in_child([&] {
              const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
              const rlimit half{50, 50};
              if (::setrlimit(RLIMIT_FSIZE, &half) != 0) return 1;
              errno = EIO;  // of an earlier call
              return real_os().sync_written(fd, bytes.data(), bytes.size(), 0) == 0 ? 0 : 2;
            }),
            0);
}

// A refused call is an error of its own, and what the system does not tell is taken as the safe answer.
TEST(RealOs, SaysWhatTheSystemRefuses) {
  Scratch scratch;
  const File file(real_os(), scratch / "f", Os::Open::create);
  const int fd = ::open(file.path().c_str(), O_RDWR | O_CLOEXEC);
  const struct {
    unsigned call;
    int error;
    std::function<int()> check;
  } cases[] = {
      {SYS_openat, EACCES,
       [&] {
         Os::Id boot{};
         if (real_os().umask() != 0077) return 1;
         if (real_os().boot_id(boot) != -EACCES) return 2;
         if (real_os().sync_directory((scratch / ".").c_str()) != -EACCES) return 3;
         return real_os().open(file.path().c_str(), Os::Open::read) == -EACCES ? 0 : 4;
       }},
      {SYS_read, EIO,
       [&] {
         Os::Id boot{};
         if (real_os().umask() != 0077) return 1;
         return real_os().boot_id(boot) == -EIO ? 0 : 2;
       }},
      // Some systems say of a lock that another has that access is denied.
      {SYS_fcntl, EACCES,
       [&] {
         if (real_os().try_lock(fd) != -EAGAIN) return 1;
         if (real_os().try_share(fd) != -EAGAIN) return 2;
         return real_os().locked(fd) == -EACCES ? 0 : 3;
       }},
      {SYS_fgetxattr, EIO, [&] { return real_os().has_acl(fd) == -EIO ? 0 : 1; }},
      {SYS_fgetxattr, EOPNOTSUPP, [&] { return real_os().has_acl(fd) == 0 ? 0 : 1; }},
      {SYS_getxattr, EIO, [&] { return real_os().has_acl(file.path().c_str()) == -EIO ? 0 : 1; }},
      {SYS_getxattr, ENODATA, [&] { return real_os().has_acl(file.path().c_str()) == 0 ? 0 : 1; }},
      {SYS_fsync, EIO,
       [&] { return real_os().sync_directory((scratch / ".").c_str()) == -EIO ? 0 : 1; }},
      {SYS_lseek, EIO,
       [&] {
         std::uint64_t from = 0, to = 0;
         return real_os().next_data(fd, 0, from, to) == -EIO ? 0 : 1;
       }},
  };
  const int no_hole = failed_in_child([&] {
    if (!refuse_from_now_on(SYS_lseek, EIO, SEEK_HOLE)) return kNoFilter;
    if (::pwrite(fd, "data", 4, 0) != 4) return 1;
    std::uint64_t from = 0, to = 0;
    return real_os().next_data(fd, 0, from, to) == -EIO ? 0 : 2;
  });
  EXPECT_TRUE(no_hole == 0 || no_hole == kNoFilter) << no_hole;
  for (const auto& [call, error, check] : cases) {
    const int failed = failed_in_child([&, call = call, error = error, &check = check] {
      return refuse_from_now_on(call, error) ? check() : kNoFilter;
    });
    if (failed == kNoFilter) GTEST_SKIP() << "no filter of system calls";
    EXPECT_EQ(failed, 0) << call;
  }
  void* address = nullptr;
  EXPECT_EQ(real_os().map(fd, 0, Os::Map::shared_read, address), -EINVAL);
  EXPECT_EQ(address, nullptr);
  ::close(fd);
  std::string path = "unchanged";
  EXPECT_EQ(real_os().path_of(fd, path), -ENOENT);
  EXPECT_EQ(path, "unchanged");
}

TEST(RealOs, GivesAFileTheListOfAnotherOrNone) {
  Scratch scratch;
  const std::string one = scratch / "one", two = scratch / "two";
  File(real_os(), one, Os::Open::create).close();
  File(real_os(), two, Os::Open::create).close();
  const int from = ::open(one.c_str(), O_RDWR | O_CLOEXEC),
            to = ::open(two.c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_EQ(real_os().take_acl(to, -1), 0) << "it has none yet";
  EXPECT_EQ(real_os().has_acl(from), 0);
  if (::setxattr(one.c_str(), kAccessListName, kAccessList.data(), kAccessList.size(), 0) == 0) {
    EXPECT_EQ(real_os().has_acl(from), 1);
    EXPECT_EQ(real_os().has_acl(one.c_str()), 1);
    EXPECT_EQ(real_os().has_acl(to), 0);
    EXPECT_EQ(real_os().take_acl(to, from), 0);
    std::string taken(100, '\0');
    taken.resize(static_cast<std::size_t>(
        std::max(::getxattr(two.c_str(), kAccessListName, taken.data(), taken.size()), 0L)));
    EXPECT_EQ(taken, kAccessList);
    const int refused = failed_in_child([&] {
      if (!refuse_from_now_on(SYS_fsetxattr, EPERM)) return kNoFilter;
      return real_os().take_acl(to, from) == -EPERM ? 0 : 1;
    });
    EXPECT_TRUE(refused == 0 || refused == kNoFilter) << refused;
    EXPECT_EQ(real_os().take_acl(to, -1), 0);
    EXPECT_EQ(real_os().has_acl(two.c_str()), 0);
    EXPECT_EQ(real_os().take_acl(from, to), -ENODATA);
    EXPECT_EQ(real_os().has_acl(from), 1) << "it keeps its own";
  }
  for (const auto& [answer, result] : {std::pair{EOPNOTSUPP, 0}, {ENODATA, 0}, {EIO, -EIO}}) {
    const int failed = failed_in_child([&, answer = answer, result = result] {
      if (!refuse_from_now_on(SYS_fremovexattr, answer)) return kNoFilter;
      return real_os().take_acl(to, -1) == result ? 0 : 1;
    });
    EXPECT_TRUE(failed == 0 || failed == kNoFilter) << answer;
  }
  ::close(from);
  ::close(to);
}

TEST(RealOs, FollowsALinkOnlyWhereItIsToldTo) {
  Scratch scratch;
  const std::string path = scratch / "f", link = scratch / "link";
  File file(real_os(), path, Os::Open::create);
  file.write(std::vector<std::byte>(100), 0);
  std::filesystem::create_symlink(path, link);
  Os::Stat found, followed, own;
  ASSERT_EQ(real_os().stat_path(path.c_str(), found), 0);
  ASSERT_EQ(real_os().stat_path(link.c_str(), followed), 0);
  ASSERT_EQ(real_os().stat_link(link.c_str(), own), 0);
  EXPECT_TRUE(is_same_file(found, followed));
  followed.device ^= 1;
  EXPECT_FALSE(is_same_file(found, followed)) << "a device has its own numbers of files";
  EXPECT_FALSE(is_same_file(found, own));
  EXPECT_EQ(found.size, 100U);
  EXPECT_TRUE(found.regular);
  EXPECT_FALSE(own.regular);
  EXPECT_EQ(found.user, ::getuid());
  std::string resolved = "unchanged";
  EXPECT_EQ(real_os().resolve((scratch / "none").c_str(), resolved), -ENOENT);
  EXPECT_EQ(resolved, "unchanged");
  ASSERT_EQ(real_os().resolve(link.c_str(), resolved), 0);
  EXPECT_EQ(resolved, std::filesystem::canonical(path).string());
  EXPECT_EQ(real_os().stat_path((scratch / "none").c_str(), found), -ENOENT);
}

// What must stay secret is never open to others, not even before its rights are set.
TEST(RealOs, MakesPrivateFilesForTheirUserOnly) {
  Scratch scratch;
  const Umask none(0);
  EXPECT_EQ(File(real_os(), scratch / "public", Os::Open::create).stat().mode, 0666U);
  const int made = real_os().open((scratch / "private").c_str(), Os::Open::create, 0600);
  EXPECT_EQ(File(real_os(), "private", made).stat().mode, 0600U);
  // Not every file system has files without a name.
  if (const int fd = real_os().open((scratch / ".").c_str(), Os::Open::nameless); fd >= 0) {
    EXPECT_EQ(File(real_os(), "nameless", fd).stat().mode, 0600U);
  }
}

TEST(RealOs, KnowsWhatNewFilesDoNotGet) {
  for (const mode_t mask : {0000, 0022, 0027, 0077, 0640, 0777}) {
    const Umask now(mask);
    EXPECT_EQ(real_os().umask(), mask);
  }
}

// A program may have closed its standard input, so that the next descriptor is 0.
TEST(RealOs, UsesTheFirstDescriptorToo) {
  Scratch scratch;
  const int input = ::fcntl(0, F_DUPFD_CLOEXEC, 3);
  ::close(0);
  Os::Id boot{}, before{};
  errno = ENOENT;
  const int synced = real_os().sync_directory((scratch / ".").c_str());
  const int known = real_os().boot_id(boot);
  const std::uint32_t mask = real_os().umask();
  if (input >= 0) {
    ::dup2(input, 0);
    ::close(input);
  }
  EXPECT_EQ(synced, 0);
  EXPECT_EQ(known, 0);
  EXPECT_EQ(mask, real_os().umask());
  ASSERT_EQ(real_os().boot_id(before), 0);
  EXPECT_EQ(boot, before);
}

// What the program then still prints must not get into a filter.
TEST(RealOs, OpensNoFileInThePlaceOfAStandardStream) {
  Scratch scratch;
  const std::array<int, 2> streams{STDIN_FILENO, STDERR_FILENO};
  std::array<int, 2> kept{}, opened{}, free_again{};
  for (std::size_t i = 0; i < 2; ++i) kept[i] = ::fcntl(streams[i], F_DUPFD_CLOEXEC, 3);
  for (const int stream : streams) ::close(stream);
  opened[0] = real_os().open((scratch / "f").c_str(), Os::Open::create);
  opened[1] = real_os().open((scratch / "f").c_str(), Os::Open::write);
  for (std::size_t i = 0; i < 2; ++i) free_again[i] = ::fcntl(streams[i], F_GETFD);
  for (std::size_t i = 0; i < 2; ++i) {
    if (kept[i] < 0) continue;
    ::dup2(kept[i], streams[i]);
    ::close(kept[i]);
  }
  EXPECT_EQ(free_again, (std::array{-1, -1}));
  for (const int fd : opened) {
    EXPECT_GT(fd, STDERR_FILENO);
    EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC);
    if (fd > STDERR_FILENO) real_os().close(fd);
  }
}

TEST(RealOs, KnowsItsBootAndIsRandom) {
  Os::Id one{}, two{};
  ASSERT_EQ(real_os().boot_id(one), 0);
  ASSERT_EQ(real_os().boot_id(two), 0);
  EXPECT_EQ(one, two);
  // Every digit of it, as the system writes it.
  std::string digits;
  for (const std::byte byte : one) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    digits += kDigits[std::to_integer<unsigned>(byte) / 16];
    digits += kDigits[std::to_integer<unsigned>(byte) % 16];
  }
  std::string said;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> said;
  said.erase(std::remove(said.begin(), said.end(), '-'), said.end());
  EXPECT_EQ(digits, said);
  ASSERT_EQ(real_os().random(one.data(), one.size()), 0);
  ASSERT_EQ(real_os().random(two.data(), two.size()), 0);
  EXPECT_NE(one, two);
  std::array<std::byte, 257> more;
  EXPECT_EQ(real_os().random(more.data(), more.size()), -EIO)
      << "more than the system gives at once";
}

// What the system says may be of another form: what is no digit is passed over, and there are as many as it has room for.
TEST(RealOs, TakesTheDigitsOfItsBoot) {
  constexpr int kNoMounts = 98;
  Scratch scratch;
  const std::string all = "01-23:45`67g89abcdef00112233445566zz77";
  const struct {
    std::string text;
    int result;
  } rows[] = {{all, 0}, {all + "89", 0}, {all.substr(0, all.size() - 1), -ENODATA}, {"", -ENODATA}};
  for (const auto& [text, result] : rows) {
    const std::string path = scratch / "boot_id";
    std::ofstream(path) << text;
    const int failed = failed_in_child([&, result = result] {
      if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return kNoMounts;
      if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return kNoMounts;
      if (::mount(path.c_str(), "/proc/sys/kernel/random/boot_id", nullptr, MS_BIND, nullptr) != 0)
        return kNoMounts;
      struct {
        Os::Id boot{}, behind{};
      } room;
      if (real_os().boot_id(room.boot) != result) return 1;
      if (room.behind != Os::Id{}) return 2;
      if (result != 0) return 0;
      constexpr std::array<unsigned, 16> kWanted{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                                                 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77};
      for (std::size_t i = 0; i < kWanted.size(); ++i)
        if (room.boot[i] != std::byte(kWanted[i])) return 3;
      return 0;
    });
    if (failed == kNoMounts) GTEST_SKIP() << "no mounts of its own";
    EXPECT_EQ(failed, 0) << text;
  }
}

}  // namespace
}  // namespace bloomery::test
