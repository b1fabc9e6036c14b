// `plan --web` writes the page that was built into the tool, and never over anything else.
#include "tool.hpp"
#include "verbs/verbs.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace bloomery::test {
namespace {

using cli::page;

class PageTest : public ToolTest {
 protected:
  void SetUp() override {
    if (page().empty()) GTEST_SKIP() << "this build has no page";
  }
};

TEST_F(PageTest, WritesItAndNamesIt) {
  const std::string file = path("planner.html");
  const auto ran = run({"plan", "--web", file});
  EXPECT_EQ(ran.code, 0);
  EXPECT_TRUE(ran.out.empty());
  EXPECT_TRUE(says(ran.err, file));
  EXPECT_TRUE(text_of(file) == page());
  EXPECT_TRUE(page().starts_with("<!doctype html>"));
  EXPECT_LT(page().size(), 310'000u);
}

TEST_F(PageTest, ReplacesAPageWithForceAlone) {
  const std::string old = file("old.html", "<!doctype html>an older one");
  EXPECT_TRUE(is_error(run({"plan", "--web", old}), {old, "--force"}));
  EXPECT_EQ(text_of(old), "<!doctype html>an older one");
  EXPECT_EQ(run({"plan", "--web", "--force", old}).code, 0);
  EXPECT_TRUE(text_of(old) == page());
  EXPECT_FALSE(std::filesystem::exists(old + ".new"));
}

TEST_F(PageTest, NeverReplacesWhatIsNoPage) {
  for (const std::string text : {"", "<!doc", "my only copy"}) {
    const std::string other = file("other", text);
    EXPECT_TRUE(is_error(run({"plan", "--web", "--force", other}), {other, "not a page"}));
    EXPECT_EQ(text_of(other), text);
  }
  EXPECT_TRUE(is_error(run({"plan", "--web", path("no/such/place")}), {"cannot write"}));
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(is_error(run({"plan", "--web", "--force", pipe}), {pipe, "not a page"}));
  // What a run that was killed has left is removed; nothing else is, and no page in progress.
  const std::string mine = path("mine.html"), fresh = file("mine.html.new", "mine");
  EXPECT_TRUE(is_error(run({"plan", "--web", mine}), {fresh, "move it away"}));
  file("mine.html.new", "<!doctype");
  const int locked = ::open(fresh.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(locked, LOCK_EX), 0);
  EXPECT_TRUE(is_error(run({"plan", "--web", mine}), {fresh, "try again"}));
  ::close(locked);
  for (const std::string left : {"", "<!doctype"}) {
    file("mine.html.new", left);
    EXPECT_EQ(run({"plan", "--web", "--force", mine}).code, 0);
    EXPECT_FALSE(std::filesystem::exists(fresh));
  }
}

// As where there is no room: nothing half written stays.
TEST_F(PageTest, LeavesNothingHalfWritten) {
  const std::string name = path("planner.html");
  Redirect small;
  small.file_blocks = 8;
  EXPECT_TRUE(is_error(run({"plan", "--web", name}, {}, small), {name}));
  EXPECT_FALSE(std::filesystem::exists(name));
}

// A link that leads nowhere is no file that --force would replace, and the new name is free again.
TEST_F(PageTest, ThatCannotGetItsNameIsRemoved) {
  const std::string name = path("planner.html");
  std::filesystem::create_symlink(path("nowhere"), name);
  for (const bool force : {false, true}) {
    EXPECT_TRUE(
        is_error(run({"plan", "--web", name, force ? "--force" : "-q"}), {"cannot write", name}));
    EXPECT_TRUE(std::filesystem::is_symlink(name));
    EXPECT_FALSE(std::filesystem::exists(name + ".new"));
  }
}

TEST(Page, ABuildWithoutItSaysSo) {
  if (!page().empty()) GTEST_SKIP() << "this build has the page";
  EXPECT_TRUE(is_error(run({"plan", "--web", "/nowhere/planner.html"}),
                       {"built without the page", "./dev build"}));
}

TEST(Page, WebGoesWithAFileAlone) {
  EXPECT_TRUE(is_error(run({"plan", "-n", "1M", "-p", "1%", "planner.html"}), {"--web"}));
  EXPECT_TRUE(is_error(run({"plan", "-n", "1M", "-p", "1%", "--force"}), {"--web"}));
  EXPECT_TRUE(is_error(run({"plan", "--web", "-n", "1M"}), {"--web", "FILE"}));
  EXPECT_TRUE(is_error(run({"plan", "--web", "a", "b"}), {"one argument too many"}));
}

}  // namespace
}  // namespace bloomery::test
