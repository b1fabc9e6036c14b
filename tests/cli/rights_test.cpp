// An output gives no user access that one of its inputs denies: every verb that writes, over the permissions
// of every input.
#include "tool.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "support/access_list.hpp"
#include "support/dumps.hpp"
#include "support/effort.hpp"
#include "support/refused_calls.hpp"
#include "support/umask.hpp"

namespace bloomery::test {
namespace {

struct RightsCase {
  std::string name;
  Arguments words;  // @name is a file of the test's directory
  std::vector<std::string> inputs;
  std::string output;
  bool lines = false;  // the output is made of lines: only the rights of group and others count
};
void PrintTo(const RightsCase& what, std::ostream* out) { *out << what.name; }

const std::vector<RightsCase>& rights_cases() {
  static const std::vector<RightsCase> all = {
      {"merge", {"merge", "@out", "@one", "@two"}, {"one", "two"}, "out"},
      {"merge_counting",
       {"merge", "@out", "@counting", "@counting2"},
       {"counting", "counting2"},
       "out"},
      {"merge_over", {"merge", "--force", "@old", "@one", "@two"}, {"one", "two", "old"}, "old"},
      {"merge_into_one", {"merge", "--force", "@one", "@one", "@two"}, {"one", "two"}, "one"},
      {"convert", {"convert", "@one", "@out"}, {"one"}, "out"},
      {"convert_over", {"convert", "--force", "@one", "@old"}, {"one", "old"}, "old"},
      {"convert_bits",
       {"convert", "--scheme", "php-crc32-mt", "--bits", "8K", "-n", "100", "@bits", "@out"},
       {"bits"},
       "out"},
      {"convert_to_dump", {"convert", "@dump", "@out"}, {"dump"}, "out"},
      {"convert_over_dump", {"convert", "--force", "@dump", "@dump2"}, {"dump", "dump2"}, "dump2"},
      {"convert_from_dump", {"convert", "@dump", "@out.bloom"}, {"dump"}, "out.bloom"},
      {"salvage", {"salvage", "@one", "@out"}, {"one"}, "out"},
      {"salvage_counting", {"salvage", "@counting", "@out"}, {"counting"}, "out"},
      {"salvage_scalable", {"salvage", "@scalable", "@out"}, {"scalable"}, "out"},
      {"salvage_window", {"salvage", "@window", "@out"}, {"window"}, "out"},
      {"salvage_frozen", {"salvage", "@frozen", "@out"}, {"frozen"}, "out"},
      {"salvage_over", {"salvage", "--force", "@one", "@old"}, {"one", "old"}, "old"},
      {"salvage_itself", {"salvage", "--force", "@one", "@one"}, {"one"}, "one"},
      {"create_over", {"create", "--force", "@old", "-n", "1K", "-p", "1%"}, {"old"}, "old"},
      {"create_frozen",
       {"create", "--kind", "frozen", "-p", "1%", "@out", "@lines", "@lines2"},
       {"lines", "lines2"},
       "out",
       true},
      {"create_frozen_over",
       {"create", "--force", "--kind", "frozen", "-p", "1%", "@old", "@lines"},
       {"old"},
       "old"},
      {"rebuild", {"rebuild", "@one", "@lines"}, {"one"}, "one"},
      {"rebuild_frozen", {"rebuild", "@frozen", "@lines"}, {"frozen"}, "frozen"},
      {"rebuild_kind", {"rebuild", "--kind", "scalable", "@one", "@lines"}, {"one"}, "one"},
      {"rebuild_new",
       {"rebuild", "@out", "-n", "1K", "-p", "1%", "@lines"},
       {"lines"},
       "out",
       true},
      {"dedup_new",
       {"dedup", "--filter", "@out", "-n", "1K", "@lines", "@lines2"},
       {"lines", "lines2"},
       "out",
       true},
      {"dedup_output",
       {"dedup", "-o", "@out", "@lines", "@lines2"},
       {"lines", "lines2"},
       "out",
       true},
      {"dedup_output_over",
       {"dedup", "-o", "@printed", "@lines"},
       {"lines", "printed"},
       "printed",
       true},
      {"dedup_output_beside_a_filter",
       {"dedup", "--filter", "@one", "-o", "@out", "@lines2"},
       {"one", "lines2"},
       "out",
       true},
      {"dedup_output_in_place",
       {"dedup", "--filter", "@one", "-o", "@printed", "@lines2"},
       {"one", "lines2", "printed"},
       "printed",
       true},
      {"check_output",
       {"check", "-v", "-o", "@out", "@one", "@lines", "@lines2"},
       {"one", "lines", "lines2"},
       "out",
       true},
      {"check_output_over",
       {"check", "-v", "-o", "@printed", "@one", "@lines2"},
       {"one", "lines2", "printed"},
       "printed",
       true},
      {"add_none", {"add", "--durability", "none", "@one", "@lines"}, {"one"}, "one"},
      {"add_process",
       {"add", "--durability", "process", "@counting", "@lines"},
       {"counting"},
       "counting"},
      {"remove_none",
       {"remove", "--durability", "none", "@counting", "@lines"},
       {"counting"},
       "counting"},
  };
  return all;
}

class Rights : public ToolTest, public testing::WithParamInterface<RightsCase> {
 protected:
  void SetUp() override {
    const Umask open(0);
    const auto made = [&](const std::string& name, const Arguments& kind) {
      Arguments words = {"create", "-q", path(name), "-n", "1K", "-p", "1%", "--seed", "7"};
      words.insert(words.end(), kind.begin(), kind.end());
      ASSERT_EQ(run(words).code, 0);
      ASSERT_EQ(run({"add", "-q", path(name)}, numbers(0, 50)).code, 0);
    };
    for (const char* name : {"one", "two", "old"}) made(name, {});
    for (const char* name : {"counting", "counting2"}) made(name, {"--kind", "counting"});
    made("scalable", {"--kind", "scalable"});
    made("window", {"--kind", "window", "--window", "1K"});
    ASSERT_EQ(
        run({"create", "-q", "--kind", "frozen", "-p", "1%", path("frozen")}, numbers(0, 50)).code,
        0);
    for (const char* name : {"dump", "dump2"}) write_dump(path(name), Filter(1000, 0.01), 0);
    ASSERT_EQ(
        run({"create", "-q", path("bits"), "--scheme", "php-crc32-mt", "--bits", "8K", "-n", "100"})
            .code,
        0);
    file("lines", numbers(0, 20));
    file("lines2", numbers(20, 80));
    file("printed", "precious\n");
    ASSERT_EQ(::mkdir(path("kept").c_str(), 0700), 0);
    for (const auto& entry : std::filesystem::directory_iterator(path("")))
      if (entry.is_regular_file())
        std::filesystem::copy_file(entry, path("kept/" + entry.path().filename().string()));
  }
  // Runs it over fresh files with these permissions, which begin with those of the inputs in their order.
  [[nodiscard]] struct stat output_of(const RightsCase& what,
                                      const std::vector<mode_t>& modes) const {
    for (const auto& entry : std::filesystem::directory_iterator(path("")))
      if (entry.is_regular_file()) std::filesystem::remove(entry);
    for (const auto& entry : std::filesystem::directory_iterator(path("kept"))) {
      const std::string name = path(entry.path().filename().string());
      std::filesystem::copy_file(entry, name);
      EXPECT_EQ(::chmod(name.c_str(), 0666), 0);
    }
    for (std::size_t i = 0; i < what.inputs.size(); ++i) {
      EXPECT_EQ(::chmod(path(what.inputs[i]).c_str(), modes[i]), 0);
    }
    if (before_run_) before_run_();
    Arguments words = what.words;
    if (words[0] != "check") words.insert(words.begin() + 1, "-q");
    for (std::string& word : words)
      if (word.starts_with("@")) word = path(word.substr(1));
    const auto ran = run(words);
    struct stat found {};
    if (ran.code != 0 && may_fail_) return found;
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(::stat(path(what.output).c_str(), &found), 0);
    return found;
  }
  std::function<void()> before_run_;
  bool may_fail_ = false;
};

TEST_P(Rights, AreTheNarrowestOfAllInputs) {
  const RightsCase& what = GetParam();
  const bool is_new = what.output.starts_with("out");
  const std::vector<mode_t> kModes = {0600, 0640, 0604, 0644, 0660, 0666};
  const std::size_t all = what.inputs.size() == 1 ? 6 : what.inputs.size() == 2 ? 36 : 216;
  // No multiple of six, so that every input has every mode.
  const std::size_t step = nightly() || all == 6 ? 1 : all == 36 ? 5 : 31;
  for (const mode_t mask : {0000, 0022, 0027, 0077})
    for (std::size_t i = 0; i < all; i += step) {
      if (hurried() && (mask == 0022 || mask == 0077 || (all == 6 && i % 5 != 0))) continue;
      const std::vector<mode_t> modes = {kModes[i % 6], kModes[i / 6 % 6], kModes[i / 36 % 6]};
      mode_t expected = is_new ? 0666 & ~mask : 0666;
      for (std::size_t input = 0; input < what.inputs.size(); ++input) expected &= modes[input];
      const Umask umask(mask);
      const mode_t mode = output_of(what, modes).st_mode & 07777;
      EXPECT_EQ(mode, expected) << std::oct << "inputs " << modes[0] << " " << modes[1] << " "
                                << modes[2] << ", umask " << mask;
    }
}

// What only its owner may read stays so for every writer: here for root.
TEST_P(Rights, AreNotWidenedByAnotherOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const RightsCase& what = GetParam();
  constexpr uid_t kNobody = 65534, kOther = 65533;
  for (const std::size_t other : {std::size_t{0}, what.inputs.size() - 1}) {
    before_run_ = [&] {
      for (std::size_t i = 0; i < what.inputs.size(); ++i) {
        const uid_t user = i == other ? kNobody : kOther;
        EXPECT_EQ(::chown(path(what.inputs[i]).c_str(), user, user), 0);
      }
    };
    const Umask umask(0);
    const struct stat found = output_of(what, {0640, 0640, 0640});
    EXPECT_EQ(found.st_mode & 0007, 0U);
    // It is the input's, or root's alone.
    if (found.st_gid != kNobody && found.st_gid != kOther) {
      EXPECT_EQ(found.st_mode & 0070, 0U) << std::oct << found.st_mode;
    }
    if (what.inputs.size() == 1 && !what.lines) {
      EXPECT_EQ(found.st_uid, kNobody);
      EXPECT_EQ(found.st_gid, kNobody);
      EXPECT_EQ(found.st_mode & 07777, 0640U);
    }
    if (what.inputs.size() > 1 && !what.lines) {
      EXPECT_EQ(found.st_mode & 0077, 0U) << "two groups have nobody in common";
    }
  }
}

// An output without the list would let the group read.
TEST_P(Rights, GiveNothingThatAnAccessControlListDenies) {
  const RightsCase& what = GetParam();
  for (std::size_t listed = 0; listed < what.inputs.size(); ++listed) {
    SCOPED_TRACE(what.inputs[listed]);
    int failed = 0;
    before_run_ = [&] {
      if (::setxattr(path(what.inputs[listed]).c_str(), kAccessListName, kAccessList.data(),
                     kAccessList.size(), 0) != 0)
        failed = errno;
    };
    const Umask umask(0);
    const mode_t mode = output_of(what, {0644, 0644, 0644}).st_mode & 0777;
    if (failed != 0) GTEST_SKIP() << "a list cannot be set here: " << std::strerror(failed);
    std::string kept(kAccessList.size(), '\0');
    const bool has_list =
        ::getxattr(path(what.output).c_str(), kAccessListName, kept.data(), kept.size()) > 0;
    if (has_list) {
      EXPECT_EQ(kept, kAccessList);
      EXPECT_EQ(what.inputs[listed], what.output);
    }
    EXPECT_EQ(mode, has_list ? 0640U : 0600U);
    // A filter that is written again keeps its list.
    if (what.inputs == std::vector{what.output} && what.words[0] != "salvage") {
      EXPECT_TRUE(has_list);
    }
  }
}

// Whatever list the directory gives to new files, and whatever it is that they replace.
TEST_P(Rights, GiveNothingThatTheListOfTheDirectoryGives) {
  const std::string directory = path("");
  const auto set = [&] {
    return ::setxattr(directory.c_str(), kDefaultListName, kAccessList.data(), kAccessList.size(),
                      0) == 0;
  };
  if (!set()) GTEST_SKIP() << "a list cannot be set here: " << std::strerror(errno);
  ASSERT_EQ(::removexattr(directory.c_str(), kDefaultListName), 0);
  before_run_ = [&] { ASSERT_TRUE(set()); };
  const Umask umask(0);
  for (const mode_t mode : {0640, 0660}) {
    SCOPED_TRACE(mode);
    const mode_t made = output_of(GetParam(), {mode, mode, mode}).st_mode & 0777;
    // Nobody knows what its directory would give a new filter of lines without the list.
    const bool is_new_filter = GetParam().lines && GetParam().output.starts_with("out") &&
                               std::ranges::count(GetParam().words, "-o") == 0;
    EXPECT_EQ(made, is_new_filter ? 0600U : mode);
    EXPECT_LT(::getxattr(path(GetParam().output).c_str(), kAccessListName, nullptr, 0), 0);
    ASSERT_EQ(::removexattr(directory.c_str(), kDefaultListName), 0);
  }
}

// Where the system does not tell of a list, a run is refused, or treats the file as one with a list.
TEST_P(Rights, GiveNothingThatAnUnknownListMayDeny) {
  may_fail_ = true;
  const int failed = failed_in_child([&] {
    if (!refuse_from_now_on(SYS_getxattr, EIO) || !refuse_from_now_on(SYS_fgetxattr, EIO))
      return kNoFilter;
    const Umask umask(0);
    return (output_of(GetParam(), {0644, 0644, 0644}).st_mode & 0077) == 0 ? 0 : 1;
  });
  if (failed == kNoFilter) GTEST_SKIP() << "no filter of system calls";
  EXPECT_EQ(failed, 0);
}

using OutputRights = ToolTest;

// A run that is refused leaves the rights of the file that it would have written.
TEST_F(OutputRights, AreNotNarrowedByARefusedRun) {
  const std::string filter = path("f"), lines = file("lines", numbers(0, 5)),
                    out = file("out", "precious\n");
  ASSERT_EQ(run({"create", "-q", filter, "-n", "1K", "-p", "1%"}).code, 0);
  const auto mode_of = [](const std::string& name) {
    struct stat found {};
    return ::stat(name.c_str(), &found) == 0 ? found.st_mode & 07777 : 0;
  };
  ASSERT_EQ(::chmod(filter.c_str(), 0600), 0);
  for (const std::string& name : {lines, out}) ASSERT_EQ(::chmod(name.c_str(), 0644), 0);
  EXPECT_EQ(run({"dedup", "--filter", filter, "-o", lines, lines}).code, 2);
  EXPECT_EQ(mode_of(lines), 0644U);
  EXPECT_EQ(run({"dedup", "--filter", filter, "-n", "99999", "-o", out, lines}).code, 2);
  EXPECT_EQ(mode_of(out), 0644U);
  EXPECT_EQ(run({"dedup", "-q", "--filter", filter, "-o", out, lines}).code, 0);
  EXPECT_EQ(mode_of(out), 0600U);
}

TEST_F(OutputRights, AreThoseOfTheStandardInput) {
  const std::string lines = file("lines", numbers(0, 5)), out = path("out");
  for (const mode_t mode : {0640U, 0604U, 0600U}) {
    ASSERT_EQ(::chmod(lines.c_str(), mode), 0);
    EXPECT_EQ(run({"dedup", "-q", "-o", out}, "", {.in = lines}).code, 0);
    struct stat found {};
    ASSERT_EQ(::stat(out.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, mode) << std::oct << mode;
    std::filesystem::remove(out);
    EXPECT_EQ(run({"create", "-q", "--kind", "frozen", "-p", "1%", out}, "", {.in = lines}).code,
              0);
    ASSERT_EQ(::stat(out.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, mode) << std::oct << mode;
    std::filesystem::remove(out);
  }
  // A pipe has none.
  const Umask usual(0022);
  EXPECT_EQ(run({"create", "-q", "--kind", "frozen", "-p", "1%", out}, "a\n").code, 0);
  EXPECT_EQ(run({"dedup", "-q", "--filter", path("new"), "-n", "10"}, "a\n").code, 0);
  for (const std::string& made : {out, path("new")}) {
    struct stat found {};
    ASSERT_EQ(::stat(made.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, 0644U) << std::oct << found.st_mode;
  }
}

// A directory may give its group to new files.
TEST_F(OutputRights, AreThoseOfTheGroupThatAFilterGets) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  constexpr gid_t kGroup = 65534, kOther = 65533;
  const std::string lines = file("lines", numbers(0, 5)), made = path("of/f");
  ASSERT_EQ(::mkdir(path("of").c_str(), 0755), 0);
  ASSERT_EQ(::chown(lines.c_str(), 0, kGroup), 0);
  ASSERT_EQ(::chmod(lines.c_str(), 0640), 0);
  for (const gid_t group : {kGroup, kOther}) {
    ASSERT_EQ(::chown(path("of").c_str(), 0, group), 0);
    ASSERT_EQ(::chmod(path("of").c_str(), 02755), 0);
    EXPECT_EQ(run({"create", "-q", "--kind", "frozen", "-p", "1%", made, lines}).code, 0);
    struct stat found {};
    ASSERT_EQ(::stat(made.c_str(), &found), 0);
    EXPECT_EQ(found.st_gid, group);
    EXPECT_EQ(found.st_mode & 07777, group == kGroup ? 0640U : 0600U);
    std::filesystem::remove(made);
  }
}

// The group of an output that is there is the one that counts.
TEST_F(OutputRights, AreThoseOfTheGroupThatTheOutputHas) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  constexpr gid_t kGroup = 65534;
  const std::string lines = file("lines", numbers(0, 5)), out = file("out", "");
  struct Case {
    bool same_group;
    mode_t mode, expected;
  };
  // Others of the output may be in the group of the lines.
  for (const auto& [same, mode, expected] : {Case{false, 0640, 0600},
                                             {true, 0640, 0640},
                                             {false, 0604, 0600},
                                             {true, 0604, 0604},
                                             {false, 0664, 0644}}) {
    ASSERT_EQ(::chown(lines.c_str(), 0, same ? kGroup : 0), 0);
    ASSERT_EQ(::chmod(lines.c_str(), mode), 0);
    ASSERT_EQ(::chown(out.c_str(), 0, kGroup), 0);
    ASSERT_EQ(::chmod(out.c_str(), 0666), 0);
    EXPECT_EQ(run({"dedup", "-q", "-o", out, lines}).code, 0);
    struct stat found {};
    ASSERT_EQ(::stat(out.c_str(), &found), 0);
    EXPECT_EQ(found.st_gid, kGroup);
    EXPECT_EQ(found.st_mode & 07777, expected) << std::oct << mode;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryVerbThatWrites, Rights, testing::ValuesIn(rights_cases()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace bloomery::test
