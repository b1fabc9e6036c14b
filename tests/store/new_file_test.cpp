// Files that take a path's place: where they are, and what else they remove.
#include <bloomery/bloomery.hpp>

#include "store/disk/rights.hpp"
#include "store/fake_os.hpp"
#include "store/files.hpp"
#include "store/scratch.hpp"
#include "support/expect_error.hpp"

#include <optional>

namespace bloomery::test {
namespace {

class WorkingDirectory {
 public:
  explicit WorkingDirectory(const std::string& path) { std::filesystem::current_path(path); }
  ~WorkingDirectory() { std::filesystem::current_path(before_); }
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
};

TEST(RelativePath, StaysWhereItWas) {
  for (const Durability durability : kDurabilities) {
    Scratch home, elsewhere;
    const WorkingDirectory here(home / ".");
    auto file = FilterFile::create("f", plan_of(Layout::blocked), {.durability = durability});
    auto reader = FilterFile::open("f");
    file.insert(1);
    const WorkingDirectory there(elsewhere / ".");
    file.close();
    EXPECT_TRUE(FilterFile::open(home / "f").may_contain(1));
    EXPECT_EQ(elsewhere.files(), 0U);
    reader.reload();
    EXPECT_TRUE(reader.may_contain(1));
  }
}

TEST(RelativePath, InTheRootHasOneSlash) {
  FakeOs os;
  EXPECT_EQ(Files(os).create("/f", plan_of(Layout::blocked)).path(), "/f");
  const Scratch scratch;
  const std::string path = scratch / "f";
  FilterFile::create(path, plan_of(Layout::blocked)).close();
  const WorkingDirectory root("/");
  auto reader = FilterFile::open(path.substr(1));
  EXPECT_FALSE(reader.reload());
  std::filesystem::remove(path);
  const std::string text = error_of([&] { reader.reload(); }, ErrorCode::missing);
  EXPECT_TRUE(text.starts_with(path)) << text;
}

// Then it is what it was as long as the process does not move.
TEST(RelativePath, IsKeptWhereTheWorkingDirectoryIsUnknown) {
  FakeOs os;
  Files(os).create("dir/f", plan_of(Layout::blocked)).close();
  os.inject({.at = os.calls() + 1, .error = EACCES});
  auto reader = Files(os).open("dir/f");
  EXPECT_NO_THROW(reader.reload());
}

TEST(Leftover, IsRemovedIfItIsOurs) {
  Scratch scratch;
  const std::string path = scratch / "f", leftover = scratch / ".f.new";
  FilterFile::create(path, plan_of(Layout::blocked)).close();
  const auto whole = read_bytes(path);
  for (const std::size_t size : {std::size_t{0}, std::size_t{512}, whole.size()}) {
    write_bytes(leftover, std::span(whole).first(size));
    FilterFile::create(path, plan_of(Layout::blocked), {.replace = true}).close();
    EXPECT_EQ(scratch.files(), 1U) << size;
  }
  // The power was lost when it had no more than its room.
  write_bytes(leftover, std::vector<std::byte>(512));
  FilterFile::create(path, plan_of(Layout::blocked), {.replace = true}).close();
  EXPECT_EQ(scratch.files(), 1U);
}

TEST(Leftover, IsAnErrorIfItIsAStrangers) {
  Scratch scratch;
  const std::string path = scratch / "f", stranger = scratch / ".f.new";
  FilterFile::create(path, plan_of(Layout::blocked), {.durability = Durability::none}).insert(1);
  for (const std::string& text :
       {std::string("Dear reader"), std::string(512, 'x'), std::string(5000, 'x'),
        std::string(513, '\0'), std::string(4096, '\0'), std::string(511, '\0') + "x"}) {
    std::ofstream(stranger) << text;
    for (const auto& attempt : std::vector<std::function<void()>>{
             [&] { FilterFile::create(path, plan_of(Layout::blocked), {.replace = true}); },
             [&] { salvage(path, path, true); },
             [&] {
               auto file = FilterFile::open(
                   path, {.access = Access::write, .durability = Durability::none});
               file.insert(2);
               file.close();
             }}) {
      expect_error(ErrorCode::not_a_filter, {stranger}, attempt);
      EXPECT_EQ(read_bytes(stranger).size(), text.size());
      EXPECT_TRUE(FilterFile::open(path).may_contain(1));
    }
  }
}

// Neither the link nor what it leads to is touched.
TEST(Leftover, IsAnErrorIfItIsALink) {
  Scratch scratch, elsewhere;
  const std::string path = scratch / "f", link = scratch / ".f.new", target = elsewhere / "t";
  FilterFile::create(target, plan_of(Layout::blocked)).close();
  for (const std::string& to : {target, elsewhere / "nothing", elsewhere / "."}) {
    std::filesystem::create_symlink(to, link);
    expect_error(ErrorCode::not_a_filter, {link, "is not a filter; move it away"},
                 [&] { FilterFile::create(path, plan_of(Layout::blocked)); });
    EXPECT_TRUE(std::filesystem::remove(link)) << to;
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_EQ(elsewhere.files(), 1U);
  FilterFile::open(target).close();
}

TEST(Exists, NamesNoFlagOfATool) {
  Scratch scratch;
  FilterFile::create(scratch / "f", plan_of(Layout::blocked)).close();
  const std::string text = error_of(
      [&] { FilterFile::create(scratch / "f", plan_of(Layout::blocked)); }, ErrorCode::exists);
  EXPECT_EQ(text.find("--"), std::string::npos) << text;
  EXPECT_NE(text.find("replace"), std::string::npos) << text;
}

TEST(NewFile, ThatAnotherProcessMakesIsNamedAsItWillBe) {
  Scratch scratch;
  const std::string path = scratch / "f";
  detail::File other(real_os(), scratch / ".f.new", Os::Open::create);
  ASSERT_TRUE(other.try_lock());
  expect_error(ErrorCode::locked, {path + ": another process is making it"},
               [&] { FilterFile::create(path, plan_of(Layout::blocked)); });
}

// It may be that of another process, which is just published, and the name may have a third one's by then: whatever
// they do before any one of our calls, no file of theirs is removed.
TEST(NewFile, ThatAnotherProcessPublishesMeanwhileIsNoLeftover) {
  const Plan plan = plan_of(Layout::blocked);
  for (const bool makes_another : {false, true}) {
    bool reached = true;
    for (std::uint64_t call = 1; reached; ++call) {
      SCOPED_TRACE(call);
      FakeOs os(96 * 1024);
      auto theirs = Files(os).rebuild(kFakePath, plan);
      theirs.insert(1);
      std::optional<FilterFile> another;
      reached = false;
      os.interrupt_before(os.calls() + call, [&] {
        reached = true;
        theirs.close();
        if (!makes_another) return;
        os.unlink(kFakePath);
        another = Files(os).rebuild(kFakePath, plan);
        another->insert(2);
      });
      const ErrorCode refused = code_of([&] { Files(os).create(kFakePath, plan).close(); });
      os.interrupt_before(0, {});
      EXPECT_TRUE(refused == ErrorCode::exists || refused == ErrorCode::locked);
      theirs.close();
      if (another) another->close();
      EXPECT_TRUE(Files(os).open(kFakePath).may_contain(another ? 2 : 1));
      EXPECT_EQ(os.names(), 1U);
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST(NewFile, WhereNamesCannotBeExchangedIsThereOrSaysThatItIsNot) {
  FakeOs before(96 * 1024);
  Files(before).create(kFakePath, plan_of(Layout::blocked)).close();
  std::uint64_t last = 1, failed = 0;
  for (std::uint64_t call = 1; call <= last; ++call) {
    const auto os = before.after_kill();
    os->cannot_exchange();
    os->inject({.at = call, .error = EIO});
    bool done = false;
    try {
      auto file = Files(*os).rebuild(kFakePath, plan_of(Layout::blocked));
      file.insert(1);
      file.close();
      done = true;
    } catch (const Error&) {
      ++failed;
    }
    last = std::max(last, os->calls());
    EXPECT_TRUE(!done || Files(*os->after_kill()).open(kFakePath).may_contain(1)) << call;
  }
  EXPECT_GT(failed, 20U);
}

// Another file has the name when this one is to get it, and is gone when this process looks what it is.
TEST(NewFile, ThatFindsItsNameTakenAndThenFreeTakesTheOtherOneForNoLink) {
  const Plan plan = plan_of(Layout::blocked);
  std::uint64_t refused = 0;
  bool reached = true;
  for (std::uint64_t call = 1; reached; ++call) {
    FakeOs os(96 * 1024);
    auto file = Files(os).rebuild(kFakePath, plan);
    const std::uint64_t at = os.calls() + call;
    reached = false;
    os.interrupt_before(at, [&] {
      reached = true;
      os.put(kFakePath, std::vector<std::byte>(10));
      os.interrupt_before(at + 1, [&] { os.unlink(kFakePath); });
    });
    try {
      file.close();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::exists) << error.what();
      ++refused;
    }
    os.interrupt_before(0, {});
  }
  EXPECT_GT(refused, 0U);
}

// The directory could not be synced, and the name could not be taken back: the next close makes it last.
TEST(NewFile, ThatHasItsNameAfterAnErrorIsNotNamedAgain) {
  const Plan plan = plan_of(Layout::blocked);
  std::uint64_t named = 0;
  bool failed = true;
  for (std::uint64_t call = 1; failed; ++call) {
    FakeOs os(96 * 1024);
    auto file = Files(os).rebuild(kFakePath, plan);
    file.insert(1);
    os.inject({.at = os.calls() + call, .always = true, .error = EIO});
    failed = false;
    try {
      file.close();
    } catch (const Error&) {
      failed = true;
    }
    os.inject({});
    Os::Stat there;
    if (!failed || os.stat_path(kFakePath, there) != 0) continue;
    ++named;
    EXPECT_NO_THROW(file.close());
    EXPECT_TRUE(Files(*os.after_power_loss(0, 0)).open(kFakePath).may_contain(1)) << call;
  }
  EXPECT_GT(named, 0U);
}

TEST(SavedFilter, IsOnTheDeviceWithTheRightsOfItsSources) {
  FakeOs os(96 * 1024);
  const Files files(os);
  Filter one(plan_of(Layout::blocked)), two(plan_of(Layout::blocked2));
  two.insert(1);
  const auto bytes = encode(two);
  files.save(kFakePath, encode(one));
  files.save(kFakePath, bytes);
  EXPECT_EQ(os.after_power_loss(0, 0)->contents(kFakePath), bytes);
  EXPECT_EQ(os.names(), 1U);
  EXPECT_EQ(os.open_files(), 0U);
  const Os::Stat source{.mode = 0640, .user = 1, .group = 1};
  files.save(kFakePath, bytes, {&source, 1});
  auto file = files.open(kFakePath, {.access = Access::write});
  EXPECT_TRUE(file.may_contain(1));
  EXPECT_EQ(Files::rights(file).value_or(Os::Stat{}).mode, 0640U);
  expect_error(ErrorCode::locked, {kFakePath}, [&] { files.save(kFakePath, bytes); });
  file.close();
  EXPECT_FALSE(Files::rights(file)) << "nobody has it open any more";
  os.put("/dir/letter", std::vector<std::byte>(100));
  expect_error(ErrorCode::not_a_filter, {"/dir/letter"}, [&] { files.save("/dir/letter", bytes); });
}

}  // namespace
}  // namespace bloomery::test
