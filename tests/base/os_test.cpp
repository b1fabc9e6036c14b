// The calls of the real system: what they make, find and refuse.
#include "base/os.hpp"

#include "base/file.hpp"
#include "store/scratch.hpp"
#include "support/umask.hpp"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
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

// Runs the check in a process of its own, which may take from itself what no test may lose; ends with the number of the
// first expectation that fails, counted from 1.
int failed_in_child(const std::function<int()>& check) {
  const pid_t child = fork();
  if (child == 0) _exit(check());
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// As a file system without flags of renames answers, or a system without the call.
TEST(RealOs, RenamesWithoutTheFlagsOfTheSystem) {
  constexpr int kNoFilter = 99;
  for (const int answer : {EINVAL, ENOSYS}) {
    Scratch scratch;
    const std::string one = scratch / "one", two = scratch / "two";
    File(real_os(), one, Os::Open::create).close();
    File(real_os(), two, Os::Open::create).close();
    const int failed = failed_in_child([&] {
      std::array<sock_filter, 4> program{{
          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 1),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(answer)),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      }};
      const sock_fprog filter{program.size(), program.data()};
      if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
          prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        return kNoFilter;
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

// What must stay secret is never open to others, not even before its rights are set.
TEST(RealOs, MakesPrivateFilesForTheirUserOnly) {
  Scratch scratch;
  const Umask none(0);
  const auto mode_of = [&](const std::string& path, Os::Open how) {
    const File file(real_os(), path, how);
    return file.stat().mode;
  };
  EXPECT_EQ(mode_of(scratch / "public", Os::Open::create), 0666U);
  EXPECT_EQ(mode_of(scratch / "private", Os::Open::create_private), 0600U);
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
  const int input = ::fcntl(0, F_DUPFD_CLOEXEC, 3);
  ::close(0);
  std::array<int, 2> opened{};
  opened[0] = real_os().open((scratch / "f").c_str(), Os::Open::create);
  opened[1] = real_os().open((scratch / "f").c_str(), Os::Open::write);
  const int free_again = ::fcntl(0, F_GETFD);
  if (input >= 0) {
    ::dup2(input, 0);
    ::close(input);
  }
  EXPECT_EQ(free_again, -1);
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
}

}  // namespace
}  // namespace bloomery::test
