// A new file in the place of another: `bloomery merge` and `rebuild` put it there at once or not at all, and `check`
// sees what is there.
#include "files.hpp"

#include <bloomery/filter_file.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "format/forged_headers.hpp"
#include "store/scratch.hpp"

namespace bloomery::test {
namespace {

using nlohmann::json;

TEST_F(Files, MergeHasTheKeysOfAll) {
  const std::string a = made("a", numbers(0, 1000)), b = made("b", numbers(500, 2000)),
                    c = made("c", "c\n"), out = path("out");
  const Ran ran = run({"merge", out, a, b, c});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(run({"check", "-c", out}, numbers(0, 2000) + "c\n").out, "2001\n");
  EXPECT_NEAR(info(out)["estimated_items"], 2001, 40);
  EXPECT_EQ(run({"verify", out}).code, 0);
  // OUT again: only by force, and then it may be one of the inputs.
  EXPECT_TRUE(is_error(run({"merge", out, a, b}), {out, "--force"}));
  EXPECT_EQ(run({"merge", "--force", a, a, b}).code, 0);
  EXPECT_EQ(run({"check", "-c", a}, numbers(0, 2000)).out, "2000\n");
}

TEST_F(Files, AMergeThatFailsLeavesNothing) {
  const std::string a = made("a", "a\n"), out = path("out"), text = file("text", "precious\n");
  ASSERT_EQ(run({"create", path("b"), "-n", "1K", "-p", "1%"}).code, 0);
  EXPECT_TRUE(is_error(run({"merge", out, a, path("b")}), {a, path("b")}));
  EXPECT_TRUE(is_error(run({"merge", out, a, path("none")}), {path("none")}));
  EXPECT_TRUE(is_error(run({"merge", "--force", text, a, a}), {text}));
  EXPECT_EQ(text_of(text), "precious\n");
  EXPECT_EQ(names(), (std::vector<std::string>{"a", "b", "text"})) << "an OUT, or half of one";
}

TEST_F(Files, AMergeNeverReplacesWhatAWriterHasOpen) {
  const std::string a = made("a", "a\n"), out = made("out", "");
  Running writer({"add", out});
  writer.write("b\n");
  await(out, "b\n");
  EXPECT_TRUE(is_error(run({"merge", "--force", out, a, a}), {out, "writer"}));
  writer.write("c\n");
  EXPECT_EQ(writer.finish().code, 0);
  EXPECT_EQ(run({"check", out}, "a\nb\nc\n").out, "b\nc\n");
}

TEST_F(Files, AMergeReplacesWhatALinkPointsTo) {
  const std::string a = made("a", "a\n"), out = made("out", "b\n"), link = path("link");
  std::filesystem::create_symlink("out", link);
  EXPECT_EQ(run({"merge", "--force", link, a, link}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(run({"check", out}, "a\nb\n").out, "a\nb\n");
}

// A merge that is killed leaves one file, which the next one removes.
TEST_F(Files, AKilledMergeIsInNobodysWay) {
  const std::string a = made("a", "a\n"), b = made("b", "b\n"), out = path("out");
  ASSERT_EQ(run({"create", path("c"), "--bits", "256MiB", "-p", "1%"}).code, 0);
  {
    Running tool({"merge", out, path("c"), path("c")});
    for (int i = 0; i < 2000 && !std::filesystem::exists(path(".out.new")); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    tool.signal(SIGKILL);
    tool.finish(false);
  }
  const auto left = names();
  for (const std::string& name : left)
    EXPECT_TRUE(name == "a" || name == "b" || name == "c" || name == ".out.new" || name == "out")
        << name;
  EXPECT_EQ(run({"merge", "--force", out, a, b}).code, 0);
  EXPECT_EQ(names(), (std::vector<std::string>{"a", "b", "c", "out"}));
  EXPECT_EQ(run({"check", out}, "a\nb\n").out, "a\nb\n");
}

TEST_F(Files, AReaderHasTheOldOneUntilItReloads) {
  const std::string filter = made("f", numbers(0, 2000));
  FilterFile reader = FilterFile::open(filter);
  EXPECT_EQ(run({"rebuild", "-q", filter}, numbers(1000, 3000)).code, 0);
  EXPECT_EQ(info(filter)["inserted"], 2000);
  EXPECT_TRUE(reader.may_contain("0"));
  EXPECT_TRUE(reader.reload());
  EXPECT_FALSE(reader.may_contain("0"));
  EXPECT_TRUE(reader.may_contain("2999"));
}

// A check of a pipe may run for days.
TEST_F(Files, ACheckFindsWhatIsAddedWhileItRuns) {
  using Flags = Arguments;
  for (const Flags& flags :
       {Flags{"-n", "1K"}, Flags{"--kind", "counting", "-n", "1K"},
        Flags{"--kind", "scalable", "-n", "1K"}, Flags{"--window", "1K"},
        Flags{"--window", "1h", "-n", "1K"}, Flags{"--kind", "frozen", "--delta", "100"}}) {
    SCOPED_TRACE(flags.back() + " " + flags[1]);
    const std::string f = path("f");
    Flags create{"create", "-q", "--force", "-p", "1e-6", f};
    create.insert(create.end(), flags.begin(), flags.end());
    ASSERT_EQ(run(create, "first\n").code, 0);
    ASSERT_EQ(run({"add", "-q", f}, "first\n").code, 0);

    Running check({"check", "-v", f});
    const auto finds = [&](const std::string& line) {
      check.write(line + "none\n");
      return check.read(5) == "none\n";
    };
    EXPECT_TRUE(finds("first\n"));
    ASSERT_EQ(run({"add", "-q", f}, "second\n").code, 0);
    EXPECT_TRUE(finds("second\n"));
    ASSERT_EQ(run({"rebuild", "-q", f}, "third\n").code, 0);
    EXPECT_TRUE(finds("third\n"));
    std::filesystem::rename(f, f + "2");
    EXPECT_TRUE(finds("third\n"));
    std::filesystem::rename(f + "2", f);
    Running writer({"add", f});
    writer.write("fourth\n");
    await(f, "fourth\n");
    EXPECT_TRUE(finds("fourth\n"));
    EXPECT_EQ(writer.finish().code, 0);
    ASSERT_EQ(run({"rebuild", "-q", "--seed", "7", f}, "first\nthird\n").code, 0);
    check.write("third\n");
    EXPECT_TRUE(is_error(check.finish(), {f, "another hash or seed"}));
  }
}

TEST_F(Files, ACheckEndsIfAFilterOfAnUnknownKindReplacesItsFilter) {
  const std::string f = made("f", "a\n"), other = made("other", "");
  std::vector<std::byte> bytes = read_bytes(other);
  change_headers(bytes, [](std::byte* page) { page[10] = std::byte{99}; });
  write_bytes(other, bytes);
  Running check({"check", f});
  check.write("a\n");
  EXPECT_EQ(check.read(2), "a\n");
  std::filesystem::rename(other, f);
  check.write("a\n");
  EXPECT_TRUE(is_error(check.finish(), {f, "kind 99"}));
}

TEST_F(Files, RebuildTakesWhatTheFlagsSayAndTheRestFromTheFile) {
  const std::string filter = path("f");
  ASSERT_EQ(
      run({"create", filter, "-n", "1K", "-p", "1%", "--layout", "blocked2", "--seed", "7"}).code,
      0);
  ASSERT_EQ(run({"rebuild", "-q", filter, "-n", "5K"}, "a\n").code, 0);
  EXPECT_EQ(info(filter)["capacity"], 5000);
  EXPECT_EQ(info(filter)["fpr"], 0.01);
  EXPECT_EQ(info(filter)["layout"], "blocked2");
  EXPECT_EQ(info(filter)["seed"], "0x7");
  ASSERT_EQ(run({"rebuild", "-q", filter, "-p", "0.1%", "--seed", "8"}, "a\n").code, 0);
  EXPECT_EQ(info(filter)["capacity"], 5000);
  EXPECT_EQ(info(filter)["fpr"], 0.001);
  EXPECT_EQ(info(filter)["seed"], "0x8");
  ASSERT_EQ(run({"rebuild", "-q", filter, "--layout", "standard", "--hash", "siphash"}, "a\n").code,
            0);
  EXPECT_EQ(info(filter)["layout"], "standard");
  EXPECT_EQ(info(filter)["hash"], "siphash");
  ASSERT_EQ(run({"rebuild", "-q", filter, "--bits", "1MiB", "--hashes", "3"}, "a\n").code, 0);
  EXPECT_EQ(info(filter)["bits"], 8u << 20);
  EXPECT_EQ(info(filter)["hashes"], 3);
  EXPECT_EQ(info(filter)["capacity"], 5000);
  EXPECT_EQ(run({"check", filter}, "a\n").out, "a\n");
}

// Each flag takes the place of what the file has, and the rest stays: the file is the one that `create` makes.
TEST_F(Files, RebuildIsACreateOfTheFileAndTheFlags) {
  struct Case {
    Arguments made, said, same_as;
  };
  const Arguments size{"-n", "10K", "-p", "1%"};
  const auto of = [&](Arguments flags, const Arguments& more) {
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  };
  const Arguments counting = of({"--kind", "counting"}, size),
                  scalable = of({"--kind", "scalable"}, size),
                  frozen{"--kind", "frozen", "-p", "1%"};
  const std::vector<Case> cases = {
      {size, {"--hashes", "4"}, of(size, {"--hashes", "4"})},
      {size, {"--bits", "160K", "-p", "1%"}, {"--bits", "160K", "-p", "1%"}},
      {counting, {"--counter-bits", "8"}, of(counting, {"--counter-bits", "8"})},
      {of(counting, {"--counter-bits", "8"}),
       {"-n", "20K"},
       {"--kind", "counting", "--counter-bits", "8", "-n", "20K", "-p", "1%"}},
      {of(scalable, {"--growth", "3"}), {"--growth", "4"}, of(scalable, {"--growth", "4"})},
      {of(scalable, {"--growth", "3"}),
       {"-p", "0.1%"},
       {"--kind", "scalable", "--growth", "3", "-n", "10K", "-p", "0.1%"}},
      {of(size, {"--window", "7d", "--slices", "4"}),
       {"--slices", "3"},
       of(size, {"--window", "7d", "--slices", "3"})},
      {of(size, {"--window", "7d", "--slices", "4"}),
       {"--window", "3d"},
       of(size, {"--window", "3d", "--slices", "4"})},
      {{"--window", "10K", "-p", "1%"}, {"--window", "5K"}, {"--window", "5K", "-p", "1%"}},
      {of(frozen, {"--delta", "1K"}), {"--delta", "2K"}, of(frozen, {"--delta", "2K"})},
      {of(frozen, {"--delta", "1K"}),
       {"-p", "2%"},
       {"--kind", "frozen", "-p", "2%", "--delta", "1K"}}};
  for (const auto& [made, said, same_as] : cases) {
    SCOPED_TRACE(testing::PrintToString(made) + testing::PrintToString(said));
    const std::string rebuilt = path("rebuilt"), created = path("created");
    ASSERT_EQ(run(of({"create", "--force", rebuilt}, made), "a\n").code, 0);
    ASSERT_EQ(run(of({"rebuild", "-q", rebuilt}, said), "a\nb\n").code, 0);
    ASSERT_EQ(run(of({"create", "--force", created}, same_as), "a\nb\n").code, 0);
    if (same_as[1] != "frozen") {
      ASSERT_EQ(run({"add", "-q", created}, "a\nb\n").code, 0);
    }
    nlohmann::json is = info(rebuilt), wanted = info(created);
    for (const char* const own : {"filter", "identity"}) {
      is.erase(own);
      wanted.erase(own);
    }
    EXPECT_EQ(is, wanted);
  }
  ASSERT_EQ(run({"rebuild", "-q", "--seed", "random", path("rebuilt"), "-n", "10", "-p", "1%",
                 "--kind", "plain"})
                .code,
            0);
  EXPECT_NE(info(path("rebuilt"))["seed"], "0x0");
}

TEST_F(Files, RebuildRepairsWhatIsBroken) {
  const std::string filter = made("f", "a\n");
  put(filter, {40, 4096 + 40}, 99);
  const std::string broken = text_of(filter);
  const auto rebuilt = [&](Arguments flags) {
    file("f", broken);
    flags.insert(flags.begin(), {"rebuild", "-q", filter});
    return run(flags, "b\n");
  };
  for (const Arguments& flags : std::vector<Arguments>{{},
                                                       {"-n", "1K"},
                                                       {"-p", "1%"},
                                                       {"--bits", "16K"},
                                                       {"--window", "1K"},
                                                       {"--kind", "frozen"}})
    EXPECT_TRUE(
        is_error(rebuilt(flags), {filter, "damaged", "or say with -n and -p what to build"}))
        << testing::PrintToString(flags);
  for (const Arguments& flags : std::vector<Arguments>{{"-n", "1K", "-p", "1%"},
                                                       {"-n", "1K", "--bits", "16K"},
                                                       {"--bits", "16K", "-p", "1%"},
                                                       {"--window", "1K", "-p", "1%"},
                                                       {"--kind", "frozen", "-p", "1%"}}) {
    EXPECT_EQ(rebuilt(flags).code, 0) << testing::PrintToString(flags);
    EXPECT_EQ(run({"check", filter}, "a\nb\n").out, "b\n");
  }
  const Ran nowhere = run({"rebuild", filter + "/x"}, "b\n");
  EXPECT_TRUE(is_error(nowhere, {"Not a directory"}));
  EXPECT_FALSE(says(nowhere.err, "or say with"));
}

TEST_F(Files, ARebuildThatDoesNotFinishLeavesTheFilter) {
  const std::string filter = made("f", "a\n");
  const std::string before = text_of(filter);
  EXPECT_TRUE(is_error(run({"rebuild", filter, path("none")}), {path("none")}));
  for (const int number : {SIGINT, SIGKILL}) {
    Running tool({"rebuild", filter});
    tool.write("b\n");
    for (int i = 0; i < 2000 && !std::filesystem::exists(path(".f.new")); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(is_error(run({"add", "-q", filter}, "x\n"), {filter, "writer"}));
    EXPECT_EQ(run({"check", filter}, "a\nb\n").out, "a\n") << "readers see the old one";
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    tool.signal(number);
    const Ran ran = tool.finish(false);
    EXPECT_EQ(number == SIGINT ? ran.code : ran.signal, number == SIGINT ? 130 : SIGKILL);
    EXPECT_EQ(text_of(filter), before);
  }
  EXPECT_EQ(run({"rebuild", "-q", filter}, "b\n").code, 0);
  EXPECT_EQ(run({"check", filter}, "a\nb\n").out, "b\n");
  EXPECT_FALSE(std::filesystem::exists(path(".f.new")));
}

}  // namespace
}  // namespace bloomery::test
