// The permissions of a file that is made from others, against everybody who could ask for it.
#include "store/disk/rights.hpp"

#include <bloomery/bloomery.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "store/every_call.hpp"
#include "store/fake_os.hpp"
#include "store/scratch.hpp"

namespace bloomery::test {
namespace {

using namespace detail;

struct Person {
  std::uint32_t user;
  std::set<std::uint32_t> groups;
};

// What the kernel lets a person do with a file: the first class counts that they belong to.
std::uint32_t may(const Person& who, std::uint32_t user, std::uint32_t group, std::uint32_t mode) {
  if (who.user == user) return mode >> 6 & 7;
  if (who.groups.contains(group)) return mode >> 3 & 7;
  return mode & 7;
}

// Owners and groups 1 and 2, people who are one of them or neither, in any of the groups: whether one who does not own
// the new file may do more with it than with the old one of 1:1.
bool admits(std::uint32_t mode, std::uint32_t old, std::uint32_t user, std::uint32_t group) {
  for (const std::uint32_t person : {1U, 2U, 3U})
    for (const std::set<std::uint32_t>& groups :
         {std::set<std::uint32_t>{}, {1U}, {2U}, {1U, 2U}}) {
      const Person who{person, groups};
      if (person != user && (may(who, user, group, mode) & ~may(who, 1, 1, old)) != 0) return true;
    }
  return false;
}

TEST(Rights, ModeFromAdmitsNobodyElse) {
  for (std::uint32_t mode = 0; mode <= 0777; ++mode)
    for (const std::uint32_t user : {1U, 2U})
      for (const std::uint32_t group : {1U, 2U}) {
        const Os::Stat from{.mode = mode, .user = 1, .group = 1};
        const std::uint32_t made = mode_from(from, user, group);
        EXPECT_EQ(made & 0700U, mode & 0700U);
        EXPECT_FALSE(admits(made, mode, user, group))
            << std::oct << mode << " became " << made << " of " << user << ":" << group;
      }
}

// Nor does anybody lose what they could keep: one bit more would admit somebody who was not.
TEST(Rights, ModeFromTakesNoMoreThanItHasTo) {
  for (std::uint32_t old = 0; old <= 0777; ++old)
    for (const std::uint32_t user : {1U, 2U})
      for (const std::uint32_t group : {1U, 2U}) {
        const std::uint32_t made = mode_from({.mode = old, .user = 1, .group = 1}, user, group);
        for (std::uint32_t bit = 1; bit <= 0400; bit <<= 1)
          EXPECT_TRUE((made & bit) != 0 || (bit > 0070 && (old & bit) == 0) ||
                      admits(made | bit, old, user, group))
              << std::oct << old << " became " << made << " of " << user << ":" << group;
      }
}

TEST(Rights, ModeFromKeepsWhatItCan) {
  const Os::Stat from{.mode = 02640, .user = 1, .group = 1};
  EXPECT_EQ(mode_from(from, 1, 1), 02640U);
  EXPECT_EQ(mode_from(from, 2, 1), 0640U);
  EXPECT_EQ(mode_from(from, 1, 2), 0600U);
  EXPECT_EQ(mode_from({.mode = 0664, .user = 1, .group = 1}, 2, 2), 0644U);
  EXPECT_EQ(mode_from({.mode = 0775, .user = 1, .group = 1}, 1, 2), 0755U);
  EXPECT_EQ(mode_from({.mode = 0775, .user = 1, .group = 1}, 2, 1), 0775U);
}

// Nobody can open such a path. Whatever else the system says, there may be a file that denies something.
TEST(Rights, OfPathsThatNobodyCanOpenAreNone) {
  FakeOs os;
  const std::string path = kFakePath;
  Files(os).create(path, plan_of(Layout::blocked)).close();
  os.give(path, 1, 1, 0640);
  const auto found = [&](int error) {
    os.inject({.at = os.calls() + 1, .error = error});
    return rights_of(os, {&path, 1});
  };
  for (const int error : {ENOENT, ENOTDIR, EACCES, ENAMETOOLONG})
    EXPECT_TRUE(found(error).empty()) << error;
  for (const int error : {EIO, ELOOP}) EXPECT_THROW((void)found(error), Error) << error;
  const auto there = rights_of(os, {&path, 1});
  ASSERT_EQ(there.size(), 1U);
  EXPECT_EQ(there[0].mode, 0640U);
  EXPECT_FALSE(there[0].has_acl);
}

// A new file of no sources has what the system gives it; one of a source that only its path names cannot have its list.
TEST(Rights, AreTakenFromWhatThereIs) {
  FakeOs os;
  File file(os, kFakePath, Os::Open::create);
  const Os::Stat before = file.stat();
  take_rights(file, nullptr, {});
  EXPECT_EQ(file.stat().mode, 0666U & ~os.umask());
  EXPECT_EQ(file.stat().user, before.user);
  EXPECT_EQ(file.stat().group, before.group);
  for (const bool has_list : {false, true}) {
    const Os::Stat replaced{.mode = 0640, .user = 1, .group = 1, .has_acl = has_list};
    take_rights(file, &replaced, {});
    EXPECT_EQ(file.stat().mode, has_list ? 0600U : 0640U);
  }
}

TEST(Ownership, IsKeptByRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  Scratch scratch;
  const std::string path = scratch / "f";
  FilterFile::create(path, plan_of(Layout::blocked)).close();
  ASSERT_EQ(::chown(path.c_str(), 12345, 23456), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  const auto expect_kept = [&](const char* what) {
    struct stat now {};
    ASSERT_EQ(::stat(path.c_str(), &now), 0);
    EXPECT_EQ(now.st_uid, 12345U) << what;
    EXPECT_EQ(now.st_gid, 23456U) << what;
    EXPECT_EQ(now.st_mode & 07777U, 0640U) << what;
  };
  FilterFile::open(path, {.access = Access::write, .durability = Durability::none}).insert(1);
  expect_kept("a new image");
  FilterFile::create(path, plan_of(Layout::blocked), {.replace = true}).close();
  expect_kept("create");
  salvage(path, path, true);
  expect_kept("salvage");
}

// Where owner or group cannot be kept, nobody may do what he could not do before.
TEST(Ownership, ThatCannotBeKeptWidensNothing) {
  struct Case {
    std::uint32_t user, group, mode, wanted;
    const char* what;
  };
  for (const Case& c : std::initializer_list<Case>{
           {1, 1, 0640, 0640, "its own"},
           {1, 2, 0664, 0664, "a group that it is in"},
           {1, 3, 0664, 0644, "a group that it is not in: its own group was among the others"},
           {1, 3, 0606, 0600, "a group that was shut out is now among the others"},
           {1, 3, 02666, 0666, "a group that it is not in, with its mark"},
           {9, 2, 0664, 0664, "another user, a group that it is in"},
           {9, 2, 0466, 0444, "a user with fewer rights than others"},
           {9, 3, 0660, 0600, "nothing of it"},
       }) {
    FakeOs os;
    Files(os).create("/dir/f", plan_of(Layout::blocked)).close();
    os.give("/dir/f", c.user, c.group, c.mode);
    os.join(2);
    {
      auto file =
          Files(os).open("/dir/f", {.access = Access::write, .durability = Durability::none});
      file.insert(1);
    }
    Os::Stat now;
    ASSERT_EQ(os.stat_path("/dir/f", now), 0);
    EXPECT_EQ(now.user, 1U) << c.what;
    EXPECT_EQ(now.group, c.group == 3 ? 1U : c.group) << c.what;
    EXPECT_EQ(now.mode, c.wanted) << c.what;
  }
}

// Of those that exist: nobody may read from it what they may not read from each.
TEST(NewFile, HasTheRightsThatAllItsSourcesHave) {
  struct Case {
    std::vector<Os::Stat> sources;
    std::uint32_t group, mode;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{}, 1, 0644},
           {{{.mode = 0640, .user = 1, .group = 1}}, 1, 0640},
           {{{.mode = 0640, .user = 1, .group = 1}, {.mode = 0604, .user = 1, .group = 1}},
            1,
            0600},
           {{{.mode = 0640, .user = 1, .group = 2}, {.mode = 0644, .user = 1, .group = 2}},
            2,
            0640},
           {{{.mode = 0644, .user = 1, .group = 2}, {.mode = 0640, .user = 1, .group = 1}},
            1,
            0640},
           {{{.mode = 0660, .user = 1, .group = 2}, {.mode = 0660, .user = 1, .group = 1}},
            1,
            0600}}) {
    FakeOs os;
    os.join(2);
    std::vector<std::string> paths = {"/dir/none"};
    for (const Os::Stat& source : c.sources) {
      paths.push_back("/dir/" + std::to_string(paths.size()));
      Files(os).create(paths.back(), plan_of(Layout::blocked)).close();
      os.give(paths.back(), source.user, source.group, source.mode);
    }
    Files(os).rebuild("/dir/f", plan_of(Layout::blocked), {}, rights_of(os, paths)).close();
    Os::Stat now;
    ASSERT_EQ(os.stat_path("/dir/f", now), 0);
    EXPECT_EQ(now.group, c.group) << c.sources.size();
    EXPECT_EQ(now.mode, c.mode) << std::oct << now.mode;
  }
}

// Whichever call fails: also those that look for the list and take it over.
TEST(NewFile, AdmitsNobodyWhereItsSourceHasAListThatItHasNot) {
  const std::string old = "/dir/old";
  FakeOs os;
  Files(os).create(old, plan_of(Layout::blocked)).close();
  os.give(old, 1, 1, 0640, true);
  for (const std::string& made : {old, std::string("/dir/new")}) {
    const auto make = [&](FakeOs& on) {
      std::vector<Os::Stat> inputs;
      if (made != old) inputs = rights_of(on, {&old, 1});
      Files(on).rebuild(made, plan_of(Layout::blocked), {}, inputs).close();
    };
    const auto expect_closed = [&](FakeOs& after) {
      Os::Stat there;
      if (after.stat_path(made.c_str(), there) != 0) return;
      const bool has_list = after.has_acl(made.c_str()) == 1;
      EXPECT_EQ(has_list, made == old);
      EXPECT_EQ(there.mode, has_list ? 0640U : 0600U);
    };
    const auto sane = os.after_kill();
    make(*sane);
    EXPECT_EQ(sane->contents(made).empty(), false);
    expect_closed(*sane);
    EXPECT_GT(fail_at_every_call(os, make, expect_closed), 20U);
  }
}

TEST(NewFile, IsForNobodyElseUntilItHasItsPermissions) {
  FakeOs os;
  Files(os).create("/dir/f", plan_of(Layout::blocked)).close();
  os.give("/dir/f", 1, 1, 0600);
  for (std::uint64_t call = 1;; ++call) {
    const auto stopped = os.after_kill();
    stopped->stop_before(call);
    try {
      Files(*stopped).create("/dir/f", plan_of(Layout::blocked), {.replace = true});
    } catch (const Error&) {
    }
    if (!stopped->stopped()) break;
    const auto after = stopped->after_kill();
    Os::Stat there;
    if (after->stat_path("/dir/.f.new", there) == 0) {
      EXPECT_EQ(there.mode, 0600U) << "call " << call;
    }
  }
}

// A list that its owner, its group or its permissions do not go with admits nobody.
TEST(NewFile, TakesTheListOfTheOldFileOnlyWithAllItsRights) {
  struct Case {
    std::uint32_t user, group, mode, input;
    bool keeps;
  };
  for (const Case& c : std::initializer_list<Case>{{1, 2, 0660, 0660, true},
                                                   {9, 1, 0660, 0660, false},
                                                   {1, 3, 0660, 0660, false},
                                                   {1, 1, 0660, 0640, false}}) {
    FakeOs os;
    os.join(2);
    Files(os).create(kFakePath, plan_of(Layout::blocked)).close();
    os.give(kFakePath, c.user, c.group, c.mode, true);
    const Os::Stat input{.mode = c.input, .user = c.user, .group = c.group};
    Files(os).rebuild(kFakePath, plan_of(Layout::blocked), {}, {&input, 1}).close();
    Os::Stat now;
    ASSERT_EQ(os.stat_path(kFakePath, now), 0);
    EXPECT_EQ(os.has_acl(kFakePath), c.keeps ? 1 : 0);
    EXPECT_EQ(now.mode, c.keeps ? 0660U : 0600U) << c.user << ':' << c.group << std::oct << c.input;
  }
}

}  // namespace
}  // namespace bloomery::test
