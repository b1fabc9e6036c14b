// The permissions of a file that is made from others, against everybody who could ask for it.
#include "store/disk/rights.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "store/fake_os.hpp"
#include "store/scratch.hpp"

namespace bloomery::detail {
namespace {

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
  test::FakeOs os;
  const std::string path = test::kFakePath;
  Files(os).create(path, test::plan_of(Layout::blocked)).close();
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
  test::FakeOs os;
  File file(os, test::kFakePath, Os::Open::create);
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

}  // namespace
}  // namespace bloomery::detail
