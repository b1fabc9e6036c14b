// Files with dumps: whole at their path or not there, and nothing in them that no module makes.
#include <gtest/gtest.h>
#include <bloomery/any_filter.hpp>

#include <sys/syscall.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "handle/dump_file.hpp"
#include "store/scratch.hpp"
#include "support/expect_error.hpp"
#include "support/refused_calls.hpp"

namespace bloomery::test {
namespace {

TEST(Dump, WithoutAChunkIsRefused) {
  const Scratch scratch;
  const std::string dump = scratch / "dump", text = scratch / "text";
  detail::DumpWriter(dump, dump).finish(false);
  expect_error(ErrorCode::corrupt, {dump, "it is empty"}, [&] { (void)AnyFilter::open(dump); });
  write_bytes(text, std::vector<std::byte>(100, std::byte{'x'}));
  expect_error(ErrorCode::corrupt, {text, "it is not a dump"},
               [&] { detail::DumpReader reader(text); });
}

// It is written beside its path, and comes there whole or not at all.
TEST(Dump, ThatCannotComeToItsPathLeavesNothing) {
  const Scratch scratch;
  expect_error(ErrorCode::missing, {"none"},
               [&] { detail::DumpWriter(scratch / "none/dump", scratch / "f"); });
  {
    detail::WholeFile file(scratch / "f", scratch / "f");
    file.write(std::vector<std::byte>(10));
    std::filesystem::create_directory(scratch / "f");
    expect_error(ErrorCode::io, {scratch / "f"}, [&] { file.publish(true); });
    expect_error(ErrorCode::exists, {scratch / "f", "name another"}, [&] { file.publish(false); });
  }
  const std::filesystem::directory_iterator left(scratch / ".");
  EXPECT_EQ(std::distance(begin(left), end(left)), 1);
}

TEST(Dump, ThatGetsNoRightsLeavesNothing) {
  const Scratch scratch;
  write_bytes(scratch / "f", std::vector<std::byte>(6));
  const int failed = failed_in_child([&] {
    if (!refuse_from_now_on(SYS_fchmod, EPERM)) return kNoFilter;
    try {
      const detail::WholeFile file(scratch / "f", scratch / "f");
      return 1;
    } catch (const Error& error) {
      return error.code() == ErrorCode::denied || error.code() == ErrorCode::io ? 0 : 2;
    }
  });
  EXPECT_TRUE(failed == 0 || failed == kNoFilter) << failed;
  EXPECT_EQ(scratch.files(), 1U);
}

// The name beside its path may be another program's from then on.
TEST(Dump, ThatIsAtItsPathLeavesTheNameOfItsMaking) {
  const Scratch scratch;
  const auto only_name = [&] { return std::filesystem::directory_iterator(scratch / ".")->path(); };
  const std::vector<std::byte> another(20, std::byte{1});
  std::filesystem::path beside;
  {
    detail::WholeFile file(scratch / "f", scratch / "f");
    file.write(std::vector<std::byte>(10));
    beside = only_name();
    file.publish(false);
    EXPECT_EQ(only_name().filename(), "f");
    write_bytes(beside, another);
  }
  EXPECT_EQ(read_bytes(beside), another);
}

// Two programs may write a file for the same path at the same time.
TEST(Dump, IsMadeUnderANameOfItsOwn) {
  const Scratch scratch;
  const detail::WholeFile one(scratch / "f", scratch / "f"), other(scratch / "f", scratch / "f");
  EXPECT_EQ(scratch.files(), 2U);
  for (const auto& entry : std::filesystem::directory_iterator(scratch / ".")) {
    const std::string name = entry.path().filename().string();
    ASSERT_EQ(name.size(), std::string_view("f.abcdef").size()) << name;
    EXPECT_TRUE(name.starts_with("f.")) << name;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz", 2), std::string::npos) << name;
  }
}

// A power loss leaves what was at the path before, or all of it: the bytes are on the disk before they get a name, and
// the name before it is said.
TEST(Dump, IsOnTheDiskBeforeItsName) {
  for (const bool replace : {false, true}) {
    const Scratch scratch;
    const std::string path = scratch / "f";
    const std::vector<std::byte> bytes(10, std::byte{7}), before(replace ? 6 : 0, std::byte{1});
    if (replace) write_bytes(path, before);
    // An error of the call, and what is at the path then.
    const auto is_refused = [&](unsigned call, const std::vector<std::byte>& at_path) {
      return failed_in_child([&] {
        try {
          detail::WholeFile file(path, path);
          file.write(bytes);
          if (!refuse_from_now_on(call, EIO)) return kNoFilter;
          file.publish(replace);
        } catch (const Error& error) {
          if (error.code() != ErrorCode::io) return 1;
          return read_bytes(path) == at_path && scratch.files() == (at_path.empty() ? 0U : 1U) ? 0
                                                                                               : 2;
        }
        return 3;
      });
    };
    const int failed = is_refused(SYS_fdatasync, before);
    if (failed == kNoFilter) GTEST_SKIP() << "no filter of system calls";
    EXPECT_EQ(failed, 0) << replace;
    EXPECT_EQ(is_refused(SYS_fsync, bytes), 0) << replace;
  }
}

// Zeros at the end are a hole, and are there.
TEST(Dump, EndsWithTheZerosOfItsEnd) {
  const Scratch scratch;
  const std::vector<std::byte> zeros(std::size_t{1} << 20);
  detail::WholeFile file(scratch / "f", scratch / "f");
  file.write(zeros);
  file.publish(false);
  EXPECT_EQ(std::filesystem::file_size(scratch / "f"), zeros.size());
}

TEST(Dump, AChunkHasAtMost64MiB) {
  const Scratch scratch;
  const std::string path = scratch / "dump";
  constexpr std::uint64_t kMost = std::uint64_t{64} << 20;
  for (const std::uint64_t bytes : {kMost, kMost + 1}) {
    detail::DumpWriter writer(path, path);
    writer.put({1 + bytes, std::string(bytes, '\0')});
    writer.finish(true);
    if (bytes == kMost)
      EXPECT_TRUE(AnyFilter::verify(path).ok());
    else
      expect_error(ErrorCode::corrupt, {path, "that no module makes"},
                   [&] { (void)AnyFilter::verify(path); });
  }
}

}  // namespace
}  // namespace bloomery::test
