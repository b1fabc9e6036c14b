// Files over the real system: whole transfers, locks, exclusive names, and errors in words.
#include "base/file.hpp"

#include "over_real.hpp"
#include "store/files.hpp"
#include "store/scratch.hpp"

#include "support/expect_error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace bloomery::test {
namespace {

using detail::File;
using detail::Files;
using detail::Gate;
using detail::Mapping;

std::vector<std::byte> some_bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = std::byte(i * 31 + i / 256);
  return bytes;
}

TEST(RealFile, ReadsWhatItWrote) {
  Scratch scratch;
  const auto bytes = some_bytes(100'000);
  File file(real_os(), scratch / "f", Os::Open::create);
  file.write(bytes, 50);
  file.sync();
  std::vector<std::byte> back(bytes.size());
  file.read(back, 50);
  EXPECT_EQ(back, bytes);
  EXPECT_EQ(file.stat().size, 100'050U);
  EXPECT_EQ(code_of([&] { file.read(back, 51); }), ErrorCode::corrupt);
  EXPECT_EQ(file.try_read(back, 51), -ENODATA);
}

TEST(RealFile, SaysWhetherItShouldHaveBeenThere) {
  Scratch scratch;
  for (const Os::Open how : {Os::Open::read, Os::Open::write})
    expect_error(ErrorCode::missing, {"cannot open", "missing"},
                 [&] { const File file(real_os(), scratch / "missing", how); });
  const File there(real_os(), scratch / "there", Os::Open::create);
  expect_error(ErrorCode::io, {"cannot create", "there"},
               [&] { const File again(real_os(), scratch / "there", Os::Open::create); });
}

TEST(RealFile, CanBeGivenToItsOwner) {
  Scratch scratch;
  File file(real_os(), scratch / "f", Os::Open::create);
  EXPECT_TRUE(file.try_own(getuid(), getgid()));
  EXPECT_TRUE(file.try_own(std::nullopt, getgid()));
}

TEST(RealFile, ReservesRoomAndChangesNothing) {
  Scratch scratch;
  File file(real_os(), scratch / "f", Os::Open::create);
  const auto bytes = some_bytes(5000);
  file.write(bytes, 0);
  file.reserve(0, 9000);
  EXPECT_EQ(file.stat().size, 9000U);
  std::vector<std::byte> back(9000), wanted = bytes;
  wanted.resize(9000);
  file.read(back, 0);
  EXPECT_EQ(back, wanted);
}

TEST(RealFile, IsLockedByOneHandle) {
  Scratch scratch;
  File one(real_os(), scratch / "f", Os::Open::create);
  one.reserve(0, 4096);
  File two(real_os(), scratch / "f", Os::Open::write);
  const File reader(real_os(), scratch / "f", Os::Open::read);
  EXPECT_TRUE(one.try_lock());
  EXPECT_FALSE(two.try_lock());
  EXPECT_TRUE(reader.locked());
  // A mapping keeps an open file, and its lock, unless the lock is given back.
  const Mapping mapping = one.map(4096, Os::Map::shared_write);
  one.close();
  EXPECT_FALSE(reader.locked());
  EXPECT_TRUE(two.try_lock());
}

TEST(RealFile, ItsLockIsSharedByThoseWhoSaySo) {
  Scratch scratch;
  File one(real_os(), scratch / "f", Os::Open::create);
  File two(real_os(), scratch / "f", Os::Open::write);
  const File reader(real_os(), scratch / "f", Os::Open::read);
  EXPECT_TRUE(one.try_lock());
  EXPECT_FALSE(two.try_share());
  EXPECT_TRUE(one.try_share()) << "of one that has it alone";
  EXPECT_TRUE(two.try_share());
  EXPECT_TRUE(reader.locked());
  EXPECT_FALSE(one.try_lock());
  {
    // The gate is another lock, of either or none of them.
    const Gate gate(two);
    EXPECT_FALSE(one.try_lock());
    two.unlock();
    EXPECT_TRUE(one.try_lock()) << "the last one has it alone again";
    EXPECT_FALSE(two.try_share());
  }
  one.close();
  EXPECT_FALSE(reader.locked());
  EXPECT_TRUE(two.try_lock());
}

// The second handle waits for the first one's gate, so what the first one writes within comes first.
TEST(RealFile, TheGateIsWaitedFor) {
  Scratch scratch;
  File one(real_os(), scratch / "f", Os::Open::create);
  File two(real_os(), scratch / "f", Os::Open::write);
  std::atomic<bool> done{false};
  std::thread waiting;
  {
    const Gate gate(one);
    waiting = std::thread([&] {
      const Gate its(two);
      EXPECT_TRUE(done.load());
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    done = true;
  }
  waiting.join();
}

TEST(RealFile, MapsWhatOthersSeeOrAPrivateCopy) {
  Scratch scratch;
  File file(real_os(), scratch / "f", Os::Open::create);
  file.write(some_bytes(8192), 0);
  const Mapping shared = file.map(8192, Os::Map::shared_write);
  const Mapping own = file.map(8192, Os::Map::private_write);
  shared.bytes()[5000] = std::byte{77};
  own.bytes()[6000] = std::byte{88};
  file.flush(shared);
  std::array<std::byte, 1> seen;
  file.read(seen, 5000);
  EXPECT_EQ(seen[0], std::byte{77});
  file.read(seen, 6000);
  EXPECT_EQ(seen[0], some_bytes(8192)[6000]);
}

TEST(RealFile, AMappingThatIsAssignedKeepsItsSize) {
  EXPECT_TRUE(Mapping().bytes().empty());
  Scratch scratch;
  File file(real_os(), scratch / "f", Os::Open::create);
  file.write(some_bytes(16384), 0);
  Mapping kept = file.map(4096, Os::Map::shared_read);
  Mapping next = file.map(16384, Os::Map::shared_read);
  const std::byte* const data = next.bytes().data();
  kept = std::move(next);
  EXPECT_EQ(kept.bytes().data(), data);
  EXPECT_EQ(kept.bytes().size(), 16384U);
  const Mapping last = std::move(kept);
  EXPECT_EQ(last.bytes().data(), data);
  EXPECT_EQ(last.bytes().size(), 16384U);
}

TEST(FileErrors, NameTheFileTheReasonAndTheRemedy) {
  const Error error = detail::os_error(ENOSPC, "dir/f", "write");
  EXPECT_EQ(error.code(), ErrorCode::no_space);
  EXPECT_STREQ(error.what(),
               "dir/f: cannot write: No space left on device; free some space and try again");
  const struct {
    int error;
    const char* operation;
    ErrorCode code;
    const char* remedy;
  } rows[] = {
      {ENOENT, "open", ErrorCode::missing, "check the path, or create the filter first"},
      {EACCES, "open", ErrorCode::io, "check the permissions"},
      {EPERM, "open", ErrorCode::io, "check the permissions"},
      {EACCES, "create", ErrorCode::io, "check the permissions of its directory"},
      {EPERM, "create", ErrorCode::io, "check the permissions of its directory"},
      {EROFS, "create", ErrorCode::io, "the file system is read-only; use another place"},
      {EDQUOT, "write", ErrorCode::no_space, "free some space and try again"},
      {EFBIG, "write", ErrorCode::io,
       "raise the limit of file sizes (ulimit -f), or use another file system"},
      {ENOMEM, "map", ErrorCode::no_memory, "free some memory or use a smaller filter"},
      {EISDIR, "open", ErrorCode::io, "give the path of a file"},
      {ENOTDIR, "open", ErrorCode::io, "give the path of a file"},
      {ENAMETOOLONG, "create", ErrorCode::io,
       "give a shorter name (a new file is .NAME.new at first)"},
      {EMFILE, "open", ErrorCode::io, "raise the limit of open files (ulimit -n)"},
      {ENFILE, "open", ErrorCode::io, "raise the system's limit of open files (fs.file-max)"},
      {EIO, "read", ErrorCode::io, "check the device and its file system"},
  };
  for (const auto& [number, operation, code, remedy] : rows) {
    const Error each = detail::os_error(number, "f", operation);
    EXPECT_EQ(each.code(), code) << each.what();
    EXPECT_EQ(std::string(each.what()), "f: cannot " + std::string(operation) + ": " +
                                            std::generic_category().message(number) + "; " +
                                            remedy);
  }
}

TEST(FileErrors, MemoryThatRunsOutIsNamedAtTheEdge) {
  expect_error(ErrorCode::no_memory, {"dir/f: out of memory", "a smaller filter"},
               [] { detail::at_edge("dir/f", [] { throw std::bad_alloc(); }); });
  EXPECT_EQ(detail::at_edge("dir/f", [] { return 7; }), 7);
}

TEST(FileErrors, ACallIsRepeatedUntilNoSignalInterruptsIt) {
  int calls = 0;
  EXPECT_EQ(detail::uninterrupted([&] { return ++calls < 4 ? -EINTR : 7; }), 7);
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(detail::uninterrupted([&] { return ++calls, -EIO; }), -EIO);
  EXPECT_EQ(calls, 5);
}

TEST(DirectoryOf, IsWhatIsBeforeTheLastSlash) {
  EXPECT_EQ(detail::directory_of("f"), ".");
  EXPECT_EQ(detail::directory_of("/f"), "/");
  EXPECT_EQ(detail::directory_of("/a/f"), "/a");
  EXPECT_EQ(detail::directory_of("a/b/f"), "a/b");
}

// Also after renames; a symbolic link to it is not itself.
TEST(RealFile, KnowsWhetherItIsAtAPath) {
  Scratch scratch;
  File file(real_os(), scratch / "f", Os::Open::create);
  const File other(real_os(), scratch / "g", Os::Open::create);
  std::filesystem::create_symlink(scratch / "f", scratch / "link");
  EXPECT_TRUE(file.is_at(scratch / "f"));
  EXPECT_FALSE(file.is_at(scratch / "g"));
  EXPECT_FALSE(file.is_at(scratch / "link"));
  EXPECT_FALSE(file.is_at(scratch / "none"));
  expect_error(ErrorCode::io, {scratch / "f/in", "look at it", "give the path of a file"},
               [&] { (void)file.is_at(scratch / "f/in"); });
  EXPECT_EQ(file.present_path(), std::filesystem::canonical(scratch / "f").string());
  std::filesystem::rename(scratch / "f", scratch / "moved");
  EXPECT_FALSE(file.is_at(scratch / "f"));
  EXPECT_TRUE(file.is_at(scratch / "moved"));
  EXPECT_EQ(file.present_path(), std::filesystem::canonical(scratch / "moved").string());
}

// Answers one kind of call with an error, as other systems and file systems do.
class Refusing final : public OverReal {
 public:
  int next_data(int fd, std::uint64_t at, std::uint64_t& from, std::uint64_t& to) override {
    return answer_ != 0 ? answer_ : OverReal::next_data(fd, at, from, to);
  }
  int chown(int fd, std::uint32_t user, std::uint32_t group) override {
    return answer_ != 0 ? answer_ : OverReal::chown(fd, user, group);
  }
  int try_lock(int fd) override { return answer_ != 0 ? answer_ : OverReal::try_lock(fd); }
  int try_share(int fd) override { return answer_ != 0 ? answer_ : OverReal::try_share(fd); }
  int path_of(int fd, std::string& out) override {
    return answer_ != 0 ? answer_ : OverReal::path_of(fd, out);
  }
  ssize_t pread(int fd, void* to, std::size_t n, std::uint64_t at) override {
    return answer_ != 0 ? answer_ : OverReal::pread(fd, to, n, at);
  }
  ssize_t pwrite(int fd, const void* from, std::size_t n, std::uint64_t at) override {
    return nothing_ ? 0 : OverReal::pwrite(fd, from, n, at);
  }
  void answer(int error) { answer_ = -error; }
  void write_nothing() { nothing_ = true; }

 private:
  int answer_ = 0;
  bool nothing_ = false;
};

TEST(FileErrors, BytesThatTheDeviceDoesNotGiveAreNoZeros) {
  Scratch scratch;
  Refusing os;
  File file(os, scratch / "f", Os::Open::create);
  file.write(some_bytes(10), 0);
  os.answer(EIO);
  std::vector<std::byte> bytes(10);
  expect_error(ErrorCode::io, {file.path(), "read", std::strerror(EIO)},
               [&] { file.read(bytes, 0); });
  EXPECT_EQ(file.try_read(bytes, 0), -EIO);
}

TEST(FileErrors, AFileSystemThatDoesNotTellItsHolesHasNone) {
  Scratch scratch;
  Refusing os;
  File file(os, scratch / "f", Os::Open::create);
  file.write(some_bytes(5000), 0);
  const auto first = [&] { return file.next_data(100); };
  ASSERT_TRUE(first());
  EXPECT_EQ(first()->from, 100U);
  EXPECT_EQ(first()->to, 5000U);
  EXPECT_FALSE(file.next_data(5000));
  for (const int error : {EINVAL, EOPNOTSUPP}) {
    os.answer(error);
    ASSERT_TRUE(first());
    EXPECT_EQ(first()->from, 100U);
    EXPECT_EQ(first()->to, UINT64_MAX);
  }
  os.answer(ENXIO);
  EXPECT_FALSE(first());
  os.answer(EIO);
  expect_error(ErrorCode::io, {scratch / "f", "look for its holes"}, [&] { (void)first(); });
}

TEST(FileErrors, AnOwnerThatCannotBeSetIsNoError) {
  Scratch scratch;
  Refusing os;
  File file(os, scratch / "f", Os::Open::create);
  for (const int error : {EPERM, EINVAL, ENOTSUP}) {
    os.answer(error);
    EXPECT_FALSE(file.try_own(getuid(), getgid())) << error;
  }
  os.answer(EIO);
  expect_error(ErrorCode::io, {"set the owner"}, [&] { (void)file.try_own({}, getgid()); });
}

TEST(FileErrors, ALockThatCannotBeAskedForIsNotTaken) {
  Scratch scratch;
  Refusing os;
  File file(os, scratch / "f", Os::Open::create);
  os.answer(ENOLCK);
  expect_error(ErrorCode::io, {"cannot lock"}, [&] { (void)file.try_lock(); });
  expect_error(ErrorCode::io, {"share the lock"}, [&] { (void)file.try_share(); });
  EXPECT_EQ(file.present_path(), "");
  os.answer(EAGAIN);
  EXPECT_FALSE(file.try_lock());
  EXPECT_FALSE(file.try_share());
  os.answer(0);
  File other(real_os(), scratch / "f", Os::Open::write);
  EXPECT_TRUE(other.try_lock());
  file.close();
  EXPECT_TRUE(File(real_os(), scratch / "f", Os::Open::read).locked());
}

TEST(FileErrors, ADeviceThatTakesNothingIsAnError) {
  Scratch scratch;
  Refusing os;
  File file(os, scratch / "f", Os::Open::create);
  os.write_nothing();
  expect_error(ErrorCode::io, {"cannot write: Input/output error"},
               [&] { file.write(some_bytes(10), 0); });
}

TEST(FileErrors, AFileThatNoMachineCanAddressIsNotMapped) {
  Scratch scratch;
  const File file(real_os(), scratch / "f", Os::Open::create);
  expect_error(ErrorCode::no_memory, {scratch / "f", "larger than this machine can address"},
               [&] { (void)file.map(UINT64_MAX, Os::Map::shared_read); });
}

// Neither what the system reserved before it gave up, nor the zeros that were written, stay on a full disk.
TEST(FileErrors, RoomThatIsNotThereIsGivenBack) {
  class Full final : public OverReal {
   public:
    int allocate(int fd, std::uint64_t, std::uint64_t size) override {
      if (!reserves) return -EOPNOTSUPP;
      return real_os().allocate(fd, 0, size / 2) == 0 ? -ENOSPC : -EIO;
    }
    ssize_t pwrite(int fd, const void* from, std::size_t n, std::uint64_t at) override {
      return at < 200'000 ? real_os().pwrite(fd, from, n, at) : -ENOSPC;
    }
    bool reserves = true;
  } os;
  Scratch scratch;
  File file(os, scratch / "f", Os::Open::create);
  const auto bytes = some_bytes(5000);
  file.write(bytes, 0);
  for (const bool reserves : {true, false}) {
    os.reserves = reserves;
    expect_error(ErrorCode::no_space, {scratch / "f"}, [&] { file.reserve(0, 400'000); });
    EXPECT_EQ(file.stat().size, 5000U) << reserves;
  }
  std::vector<std::byte> back(5000);
  file.read(back, 0);
  EXPECT_EQ(back, bytes);
}

TEST(FileErrors, AFileSystemThatCannotReserveIsWrittenTo) {
  class NoReserve final : public OverReal {
   public:
    int allocate(int, std::uint64_t, std::uint64_t) override { return -EOPNOTSUPP; }
  } os;
  Scratch scratch;
  // Room at the end, behind it, over it, and within: what is there stays, and there is as much as asked.
  const auto bytes = some_bytes(5000);
  for (const auto& [offset, size] : {std::pair{5000U, 70'000U},
                                     {9000U, 200'000U},
                                     {3000U, 2001U},
                                     {0U, 65'537U},
                                     {0U, 5000U},
                                     {100U, 50U}}) {
    File file(os, scratch / "room", Os::Open::create);
    file.write(bytes, 0);
    file.reserve(offset, size);
    const std::size_t end = std::max(5000U, offset + size);
    EXPECT_EQ(file.stat().size, end) << offset << "+" << size;
    std::vector<std::byte> back(end), wanted = bytes;
    wanted.resize(end);
    file.read(back, 0);
    EXPECT_EQ(back, wanted) << offset << "+" << size;
    os.unlink((scratch / "room").c_str());
  }
  for (const Durability durability : kDurabilities) {
    const std::string path = scratch / name_of(durability);
    Files(os)
        .create(path, plan_of(Layout::blocked, 512 * 3000), {.durability = durability})
        .insert(1);
    Files(os).open(path, {.access = Access::write, .durability = durability}).insert(2);
    EXPECT_EQ(missing(FilterFile::open(path).view(), 1, 2), 0U);
    EXPECT_TRUE(verify(path).ok());
  }
}

}  // namespace
}  // namespace bloomery::test
