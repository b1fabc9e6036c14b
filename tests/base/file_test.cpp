// Files over the real system: whole transfers, locks, exclusive names, and errors in words.
#include "base/file.hpp"

#include "store/files.hpp"
#include "store/scratch.hpp"

#include "support/expect_error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
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
  EXPECT_EQ(detail::os_error(ENOMEM, "f", "map").code(), ErrorCode::no_memory);
  EXPECT_EQ(detail::os_error(EACCES, "f", "open").code(), ErrorCode::io);
  EXPECT_TRUE(std::string(detail::os_error(EMFILE, "f", "open").what()).ends_with("(ulimit -n)"));
  EXPECT_TRUE(std::string(detail::os_error(ENFILE, "f", "open").what()).ends_with("(fs.file-max)"));
}

TEST(FileErrors, AFileSystemThatCannotReserveIsWrittenTo) {
  class NoReserve final : public Os {
   public:
    int open(const char* p, Open how) override { return real_os().open(p, how); }
    int close(int fd) override { return real_os().close(fd); }
    ssize_t pread(int fd, void* to, std::size_t n, std::uint64_t at) override {
      return real_os().pread(fd, to, n, at);
    }
    ssize_t pwrite(int fd, const void* from, std::size_t n, std::uint64_t at) override {
      return real_os().pwrite(fd, from, n, at);
    }
    int fdatasync(int fd) override { return real_os().fdatasync(fd); }
    int truncate(int fd, std::uint64_t n) override { return real_os().truncate(fd, n); }
    int allocate(int, std::uint64_t, std::uint64_t) override { return -EOPNOTSUPP; }
    int next_data(int fd, std::uint64_t at, std::uint64_t& from, std::uint64_t& to) override {
      return real_os().next_data(fd, at, from, to);
    }
    int stat(int fd, Stat& out) override { return real_os().stat(fd, out); }
    int stat_path(const char* p, Stat& out) override { return real_os().stat_path(p, out); }
    int chmod(int fd, std::uint32_t mode) override { return real_os().chmod(fd, mode); }
    int chown(int fd, std::uint32_t user, std::uint32_t group) override {
      return real_os().chown(fd, user, group);
    }
    int map(int fd, std::size_t n, Map how, void*& out) override {
      return real_os().map(fd, n, how, out);
    }
    int unmap(void* p, std::size_t n) override { return real_os().unmap(p, n); }
    int flush(void* p, std::size_t n) override { return real_os().flush(p, n); }
    int rename(const char* a, const char* b) override { return real_os().rename(a, b); }
    int rename_new(const char* a, const char* b) override { return real_os().rename_new(a, b); }
    int exchange(const char* a, const char* b) override { return real_os().exchange(a, b); }
    int path_of(int fd, std::string& out) override { return real_os().path_of(fd, out); }
    int unlink(const char* p) override { return real_os().unlink(p); }
    int sync_directory(const char* p) override { return real_os().sync_directory(p); }
    int resolve(const char* p, std::string& out) override { return real_os().resolve(p, out); }
    int try_lock(int fd) override { return real_os().try_lock(fd); }
    int unlock(int fd) override { return real_os().unlock(fd); }
    int locked(int fd) override { return real_os().locked(fd); }
    int boot_id(Id& out) override { return real_os().boot_id(out); }
    int random(void* to, std::size_t n) override { return real_os().random(to, n); }
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
