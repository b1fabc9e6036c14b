// Numbers, durations and errors of the system as people read them, and what writes them.
#include "output/text.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <bloomery/error.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "output/system.hpp"

namespace bloomery::cli {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Text, OfNumbers) {
  EXPECT_EQ(group_digits(std::uint64_t{999}), "999");
  EXPECT_EQ(group_digits(std::uint64_t{1'000}), "1,000");
  EXPECT_EQ(group_digits(12'345'678.6), "12,345,679");
  for (const double number : {-1.0, kInfinity, -kInfinity, 0 * kInfinity, 1.8e19})
    EXPECT_EQ(group_digits(number), "unknown") << number;
  EXPECT_EQ(counted(1, "key"), "1 key");
  EXPECT_EQ(counted(2'000, "key"), "2,000 keys");
}

TEST(Text, OfBytes) {
  for (const auto& [bytes, text] :
       std::vector<std::pair<double, std::string>>{{0, "0 B"},
                                                   {1023, "1023 B"},
                                                   {1024, "1.0 KiB"},
                                                   {1.5 * 1024 * 1024, "1.5 MiB"},
                                                   {0x1p60, "1.0 EiB"},
                                                   {0x1p72, "4096.0 EiB"}})
    EXPECT_EQ(bytes_text(bytes), text);
}

TEST(Text, OfTimesAndSpeeds) {
  for (const auto& [seconds, text] :
       std::vector<std::pair<double, std::string>>{{0.5, "0.50 s"},
                                                   {9.99, "9.99 s"},
                                                   {10, "10 s"},
                                                   {59.4, "59 s"},
                                                   {60, "1 min 0 s"},
                                                   {3599.4, "59 min 59 s"},
                                                   {3600, "1 h 0 min"},
                                                   {90'061, "25 h 1 min"},
                                                   {3.6e8, "very long"},
                                                   {kInfinity, "very long"},
                                                   {0 * kInfinity, "very long"}})
    EXPECT_EQ(duration_text(seconds), text) << seconds;
  EXPECT_EQ(speed_text(99'999), "99,999 lines/s");
  EXPECT_EQ(speed_text(1e5), "0.1 M lines/s");
}

TEST(Text, OfTheLengthsOfWindows) {
  EXPECT_EQ(length_text(WindowUnit::insertions, 1), "1 line");
  EXPECT_EQ(length_text(WindowUnit::insertions, 86'400), "86,400 lines");
  for (const auto& [seconds, text] :
       std::vector<std::pair<std::uint64_t, std::string>>{{59, "59 s"},
                                                          {60, "1 min"},
                                                          {90, "90 s"},
                                                          {3'600, "1 h"},
                                                          {5'400, "90 min"},
                                                          {86'400, "1 d"},
                                                          {90'000, "25 h"}})
    EXPECT_EQ(length_text(WindowUnit::seconds, seconds), text);
}

TEST(Text, OfErrorsOfTheSystemSaysWhatToDo) {
  struct Case {
    int number;
    ErrorCode code;
    std::string remedy;
  };
  EXPECT_THROW(throw_system("cannot read it", ENOENT, "file"), Error);
  try {
    throw_system("cannot read it", ENOENT, "file");
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).ends_with("; check the path")) << error.what();
  }
  for (const auto& [number, code, remedy] :
       {Case{ENOSPC, ErrorCode::no_space, "; make room and run it again"},
        Case{EDQUOT, ErrorCode::no_space, "; make room and run it again"},
        Case{ENOMEM, ErrorCode::no_memory, "memory"},
        Case{EACCES, ErrorCode::io, "; check the permissions"},
        Case{EFBIG, ErrorCode::io, "; raise the limit of file sizes"},
        Case{EMFILE, ErrorCode::io, "; raise the limit of open files (ulimit -n)"},
        Case{ENOENT, ErrorCode::io, "; the directory /none does not exist"},
        Case{EIO, ErrorCode::io, "error"}}) {
    try {
      throw_system("cannot write it", number, "/none/file");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << number;
      EXPECT_TRUE(std::string(error.what()).starts_with("cannot write it: ")) << error.what();
      EXPECT_TRUE(std::string(error.what()).ends_with(remedy)) << error.what();
    }
  }
}

// Another process may have made the pipe one that does not wait.
TEST(Text, IsWrittenWholeIntoAPipeThatDoesNotWait) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  const std::string text(300'000, 'x');
  std::string read;
  std::thread reader([&] {
    std::array<char, 4096> part{};
    for (ssize_t got = 0; (got = ::read(ends[0], part.data(), part.size())) > 0;)
      read.append(part.data(), static_cast<std::size_t>(got));
  });
  EXPECT_NO_THROW(write_all(ends[1], text, "cannot write"));
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  EXPECT_EQ(read.size(), text.size());
}

TEST(Text, ThatNobodyReadsIsNoError) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  ::close(ends[0]);
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  EXPECT_THROW(write_all(ends[1], std::string("x"), "cannot write"), BrokenPipe);
  std::signal(SIGPIPE, before);
  ::close(ends[1]);
  EXPECT_THROW(write_all(ends[1], std::string("x"), "cannot write"), Error);
}

// What the system cannot tell counts as a list; a file system without lists has none.
TEST(AccessList, IsThereUnlessTheSystemSaysOtherwise) {
  EXPECT_TRUE(has_access_list("/none/file"));
  EXPECT_FALSE(has_access_list("/proc/self/status"));
}

TEST(FileDescriptor, IsClosedOnce) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  {
    FileDescriptor one(ends[1]);
    const FileDescriptor other(std::move(one));
    EXPECT_EQ(one.get(), -1);  // NOLINT(bugprone-use-after-move): that is what is tried
    EXPECT_EQ(other.get(), ends[1]);
  }
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0) << "nobody can write any more";
  ::close(ends[0]);
}

}  // namespace
}  // namespace bloomery::cli
