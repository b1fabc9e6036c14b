// A file is verified, and copied with every key or not at all: damaged, sparse, beside its writers, without a name.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bloomery/bloomery.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "handle/any_kind.hpp"
#include "store/scratch.hpp"
#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

TEST_P(AnyKind, VerifiesTheFile) {
  AnyFilter::create(path(), spec()).insert("a");
  EXPECT_TRUE(AnyFilter::verify(path()).ok());
  EXPECT_GT(AnyFilter::verify(path()).chunks, 0U);
  damage();
  EXPECT_FALSE(AnyFilter::verify(path()).ok());
}

TEST_P(AnyKind, VerifiesItsOwnFileWhateverIsAtItsOldPath) {
  AnyFilter filter = AnyFilter::create(path(), spec());
  filter.insert("a");
  std::filesystem::rename(path(), path() + ".moved");
  std::ofstream(path()) << "not a filter";
  filter.keep_alive();
  EXPECT_TRUE(filter.verify().ok());
  filter.close();
  EXPECT_TRUE(filter.verify().ok());
}

TEST_P(AnyKind, IsVerifiedWithoutAName) {
  AnyFilter::create(path(), spec()).close();
  const int fd = ::open(path().c_str(), O_RDONLY | O_CLOEXEC);
  std::filesystem::remove(path());
  const VerifyReport report = AnyFilter::verify("/proc/self/fd/" + std::to_string(fd));
  ::close(fd);
  EXPECT_EQ(report.state, VerifyReport::State::clean) << report.detail;
}

// A copy has checksums of its own, which would call what is damaged whole.
TEST_P(AnyKind, OfADamagedFileIsNotCopied) {
  const auto keys = text_keys("key", 5'000);
  const std::string whole = scratch_ / "whole", out = scratch_ / "out";
  for (const std::string& each : {path(), whole}) {
    AnyFilter filter = AnyFilter::create(each, spec());
    filter.insert_many(keys);
    filter.close();
  }
  damage();
  const auto refused = [&](const std::function<void()>& call) {
    expect_error(ErrorCode::corrupt, {path(), "salvage"}, call);
  };
  AnyFilter damaged = AnyFilter::open(path());
  refused([&] { (void)damaged.encode(); });
  refused([&] { (void)damaged.copy(); });
  refused([&] { damaged.save(out); });
  if (GetParam() == Kind::plain || GetParam() == Kind::counting) {
    AnyFilter memory{plan(spec())};
    refused([&] { memory.merge(damaged); });
    EXPECT_FALSE(memory.may_contain(keys[0]));
    refused([&] { (void)AnyFilter::merge(std::vector{whole, path()}, out); });
  }
  if (GetParam() == Kind::plain) {
    AnyFilter memory{plan(spec())};
    memory.insert_many(keys);
    refused([&] { memory.intersect(damaged); });
    EXPECT_EQ(memory.may_contain_many(keys), keys.size());
    refused([&] { AnyFilter::convert(path(), out); });
    // A writer that adds to other chunks has not looked at this one.
    refused([&] { (void)AnyFilter::open(path(), Access::write).encode(); });
  }
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_EQ(AnyFilter::open(whole).encode(), AnyFilter::open(whole, Access::write).encode());
}

// The sums in the file are not those of what its writer has changed since.
TEST_P(AnyKind, OfAnOpenWriterIsCopiedWithItsKeys) {
  const auto keys = text_keys("key", 3'000);
  for (const Durability durability : {Durability::none, Durability::process, Durability::sync}) {
    AnyFilter writer =
        AnyFilter::create(path(), spec(), {.durability = durability, .replace = true});
    writer.insert_many(keys);
    EXPECT_EQ(AnyFilter::decode(writer.encode()).may_contain_many(keys), keys.size());
    writer.insert("one more");
    EXPECT_TRUE(AnyFilter::decode(writer.encode()).may_contain("one more"));
    EXPECT_TRUE(writer.copy().may_contain("one more"));
    writer.close();
    AnyFilter before = AnyFilter::open(path());
    AnyFilter next = AnyFilter::open(path(), Access::write, {.durability = durability});
    next.insert_many(text_keys("next", 1'000));
    AnyFilter beside = AnyFilter::open(path());
    for (AnyFilter* const reader : {&before, &beside})
      EXPECT_EQ(AnyFilter::decode(reader->encode()).may_contain_many(keys), keys.size());
  }
}

// The room for a piece of the file still has the bits of the piece before, and holes are not read.
TEST(AnyPlain, OfASparseFileIsCopied) {
  const Scratch scratch;
  const std::string path = scratch / "f", sparse = scratch / "sparse";
  const FilterSpec spec{.capacity = 10'000'000, .fpr = 0.01};
  AnyFilter file = AnyFilter::create(path, spec);
  file.insert_many(text_keys("key", 20));
  file.close();
  ASSERT_GT(std::filesystem::file_size(path), std::uint64_t{2} << 22);  // several pieces of 4 MiB
  ASSERT_EQ(std::system(("cp --sparse=always " + path + " " + sparse).c_str()), 0);
  EXPECT_FALSE(AnyFilter::open(path).stats(Precision::exact).sampled);
  EXPECT_TRUE(AnyFilter::open(sparse).stats(Precision::exact).sampled)
      << "its holes take no memory";
  AnyFilter::convert(sparse, scratch / "copy");
  const FilterFile copy = FilterFile::open(scratch / "copy"), original = FilterFile::open(path);
  const std::span<const std::byte> bytes = copy.view().bytes(), wanted = original.view().bytes();
  ASSERT_EQ(bytes.size(), wanted.size());
  EXPECT_EQ(std::memcmp(bytes.data(), wanted.data(), bytes.size()), 0);
}

std::uint64_t allocated(const std::string& path) {
  struct stat file {};
  EXPECT_EQ(::stat(path.c_str(), &file), 0);
  return static_cast<std::uint64_t>(file.st_blocks) * 512;
}

// A file is sparse if it takes less than half of its size; what is made from files is sparse if all of them are.
TEST(AnyPlain, OfMergedFilesHasAllOfItsRoomUnlessAllAreSparse) {
  const Scratch scratch;
  const std::string whole = scratch / "whole", out = scratch / "out";
  AnyFilter::create(whole, {.capacity = 1'000'000, .fpr = 0.01}).insert("key");
  const std::uint64_t size = std::filesystem::file_size(whole);
  ASSERT_GE(allocated(whole), size);
  const auto with_room = [&](const std::string& name, std::uint64_t bytes) {
    const std::string path = scratch / name;
    EXPECT_EQ(std::system(("cp --sparse=always " + whole + " " + path).c_str()), 0);
    EXPECT_LT(allocated(path), size / 8) << "no holes in this file system";
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    EXPECT_EQ(::posix_fallocate(fd, 0, static_cast<off_t>(bytes)), 0);
    ::close(fd);
    return path;
  };
  const std::string sparse = with_room("sparse", 1), third = with_room("third", size / 3),
                    most = with_room("most", size / 3 * 2);
  using Sources = std::vector<std::string>;
  for (const auto& [sources, is_sparse] : {std::pair(Sources{sparse, sparse}, true),
                                           {{third, sparse}, true},
                                           {{sparse, most}, false},
                                           {{most, sparse}, false},
                                           {{whole, sparse}, false},
                                           {{whole, whole}, false}}) {
    AnyFilter::merge(sources, out, true);
    SCOPED_TRACE(sources[0] + " " + sources[1]);
    if (is_sparse)
      EXPECT_LT(allocated(out), size / 2);
    else
      EXPECT_GE(allocated(out), size);
    EXPECT_TRUE(AnyFilter::open(out).may_contain("key"));
  }
}

// What another writer has done since is no damage.
TEST_P(AnyKind, OfAFileThatIsClosedAndChangedIsCopied) {
  for (const Durability durability : {Durability::process, Durability::sync, Durability::none}) {
    AnyFilter first =
        AnyFilter::create(path(), spec(), {.durability = durability, .replace = true});
    first.insert("a");
    first.close();
    AnyFilter second = AnyFilter::open(path(), Access::write);
    second.insert_many(text_keys("key", 1'000));
    second.close();
    AnyFilter copy = first.copy();
    EXPECT_TRUE(copy.may_contain("a"));
    EXPECT_FALSE(first.encode().empty());
  }
}

}  // namespace
}  // namespace bloomery::test
