// The verbs over filter files, from creation to salvage, as a user goes through them.
#include "tool.hpp"

#include <sys/mount.h>
#include <bloomery/filter_file.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace bloomery {
namespace {

using nlohmann::json;
using test::is_error;
using test::Ran;
using test::run;
using test::Running;

std::string numbers(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) text += std::to_string(i) + "\n";
  return text;
}

class Files : public test::ToolTest {
 protected:
  // A filter for 100,000 keys at 1e-6 with the lines of `text`.
  [[nodiscard]] std::string made(const std::string& name, const std::string& text) const {
    EXPECT_EQ(run({"create", path(name), "-n", "100K", "-p", "1e-6"}).code, 0);
    EXPECT_EQ(run({"add", "-q", path(name)}, text).code, 0);
    return path(name);
  }
  [[nodiscard]] static json info(const std::string& filter) {
    return json::parse(run({"info", "--json", filter}).out);
  }
};

TEST_F(Files, CreateAddCheckInfo) {
  const std::string filter = path("seen.bloom");
  const Ran created = run({"create", filter, "-n", "100K", "-p", "0.1%"});
  EXPECT_EQ(created.code, 0);
  EXPECT_EQ(created.out, "");
  EXPECT_NE(created.err.find("100,000 keys at 0.1 %"), std::string::npos) << created.err;

  const Ran added = run({"add", filter}, numbers(0, 1000) + numbers(0, 500));
  EXPECT_EQ(added.code, 0);
  EXPECT_EQ(added.out, "");
  EXPECT_NE(added.err.find("1,500 lines, 1,000 new, 500 there before"), std::string::npos)
      << added.err;

  EXPECT_EQ(run({"check", "-q", filter}, "7\n").code, 0);
  EXPECT_EQ(run({"check", "-q", filter}, "x7\n").code, 1);
  EXPECT_EQ(run({"check", filter}, "7\nx7\n8\n").out, "7\n8\n");
  EXPECT_EQ(run({"check", "-v", filter}, "7\nx7\n8\n").out, "x7\n");
  EXPECT_EQ(run({"check", "-c", filter}, "7\nx7\n8\n").out, "2\n");
  const json counted = json::parse(run({"check", "-c", "--json", filter}, "7\nx7\n8\n").out);
  EXPECT_EQ(counted["lines"], 3);
  EXPECT_EQ(counted["found"], 2);
  EXPECT_EQ(counted["absent"], 1);

  const json state = info(filter);
  EXPECT_EQ(state["inserted"], 1000);
  EXPECT_NEAR(state["estimated_items"], 1000, 20);
  EXPECT_EQ(state["capacity"], 100'000);
  EXPECT_EQ(state["layout"], "line");
  EXPECT_EQ(state["state"], "whole");
  EXPECT_NEAR(state["room_left"], 99'000, 20);
  const std::string text = run({"info", filter}).out;
  for (const std::string word :
       {"layout", "inserted", "1,000", "estimated items", "fill", "rate now", "room left", "whole"})
    EXPECT_NE(text.find(word), std::string::npos) << word;
}

TEST_F(Files, NoLineThatWasAddedIsEverMissed) {
  const std::string text = numbers(0, 100'000);
  const std::string filter = made("f", text), in = file("in", text);
  EXPECT_EQ(run({"check", "-q", "-v", filter, in}).code, 1);
  EXPECT_EQ(run({"check", "-q", filter, in}).code, 0);
  EXPECT_EQ(run({"check", filter, in}).out, text);
}

TEST_F(Files, CheckQuietStopsAtTheFirst) {
  const std::string filter = made("f", "7\n");
  Running tool({"check", "-q", filter});
  tool.write("7\n");  // the input stays open: only stopping early can end it
  EXPECT_EQ(tool.finish(false).code, 0);
}

TEST_F(Files, FieldsAndNulWorkAlike) {
  using namespace std::string_literals;
  const std::string filter = path("f");
  ASSERT_EQ(run({"create", filter, "-n", "1K", "-p", "1e-6"}).code, 0);
  ASSERT_EQ(run({"add", filter, "-0", "-k", "2", "-d", " "}, "a b\0c d\0"s).code, 0);
  EXPECT_EQ(run({"check", filter}, "a\nb\nc\nd\n").out, "b\nd\n");
  EXPECT_EQ(run({"check", filter, "-k", "1", "-d", ":"}, "b:1\nx:d\nd:2\n").out, "b:1\nd:2\n");
}

TEST_F(Files, CreateTakesLayoutSeedAndHash) {
  ASSERT_EQ(
      run({"create", path("a"), "-n", "1K", "-p", "1%", "--layout", "classic", "--seed", "7"}).code,
      0);
  EXPECT_EQ(info(path("a"))["layout"], "classic");
  EXPECT_EQ(info(path("a"))["seed"], "0x7");
  ASSERT_EQ(run({"create", path("b"), "-n", "1K", "-p", "1%", "--hash", "siphash"}).code, 0);
  EXPECT_EQ(info(path("b"))["hash"], "siphash");
  EXPECT_EQ(info(path("b"))["seed"], "secret");
  ASSERT_EQ(run({"create", path("c"), "--bits", "1MiB", "-p", "1%", "--seed", "random"}).code, 0);
  EXPECT_EQ(info(path("c"))["bits"], 8u << 20);
  EXPECT_NE(info(path("c"))["seed"], "0x0");
}

TEST_F(Files, CreateReplacesOnlyFiltersAndOnlyByForce) {
  const std::string filter = made("f", "a\n"), text = file("text", "precious\n");
  EXPECT_TRUE(
      is_error(run({"create", filter, "-n", "1K", "-p", "1%"}), {filter, "exists", "--force"}));
  EXPECT_EQ(run({"check", filter}, "a\n").out, "a\n");
  EXPECT_EQ(run({"create", filter, "-n", "1K", "-p", "1%", "--force"}).code, 0);
  EXPECT_EQ(run({"check", filter}, "a\n").out, "");
  EXPECT_TRUE(is_error(run({"create", text, "-n", "1K", "-p", "1%", "--force"}), {text}));
  EXPECT_EQ(text_of(text), "precious\n");
}

TEST_F(Files, EveryDurabilityKeepsWhatWasAdded) {
  for (const std::string level : {"none", "process", "sync"}) {
    const std::string filter = made(level, "");
    EXPECT_EQ(run({"add", "--durability", level, filter}, numbers(0, 5000)).code, 0);
    EXPECT_EQ(run({"check", "-c", filter}, numbers(0, 5000)).out, "5000\n");
    EXPECT_EQ(info(filter)["state"], "whole");
  }
}

TEST_F(Files, AnInterruptedAddLeavesAWholeFile) {
  for (const std::string level : {"none", "process", "sync"}) {
    const std::string filter = made(level, "");
    Running tool({"add", "--durability", level, filter});
    tool.write("one\ntwo\nthr");
    // Nothing tells from outside that the lines were read; a second is ample.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    tool.signal(SIGINT);
    EXPECT_EQ(tool.finish(false).code, 130);
    EXPECT_EQ(run({"verify", filter}).code, 0);
    EXPECT_EQ(run({"check", filter}, "one\ntwo\nthr\n").out, "one\ntwo\n");
    EXPECT_EQ(info(filter)["state"], "whole");
  }
}

TEST_F(Files, AddBeyondTheCapacitySaysSo) {
  ASSERT_EQ(run({"create", path("f"), "-n", "100", "-p", "1%"}).code, 0);
  const Ran ran = run({"add", path("f")}, numbers(0, 1000));
  EXPECT_NE(ran.err.find("warning: the filter holds about"), std::string::npos) << ran.err;
  EXPECT_NE(run({"info", path("f")}).err.find("warning"), std::string::npos);
}

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
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path(""))) ++files;
  EXPECT_EQ(files, 3u);  // a, b, text: no OUT, and nothing half made
}

TEST_F(Files, AMergeNeverReplacesWhatAWriterHasOpen) {
  const std::string a = made("a", "a\n"), out = made("out", "");
  Running writer({"add", out});
  writer.write("b\n");
  for (int i = 0; i < 200 && run({"check", "-q", out}, "b\n").code != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
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
  const auto names = [&] {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path("")))
      all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  };
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

TEST_F(Files, RebuildForgetsWhatDidNotComeAgain) {
  const std::string filter = path("f");
  ASSERT_EQ(run({"create", filter, "-n", "100K", "-p", "1e-6", "--seed", "7"}).code, 0);
  ASSERT_EQ(run({"add", "-q", filter}, numbers(0, 2000)).code, 0);
  FilterFile reader = FilterFile::open(filter);
  const json before = info(filter);
  const Ran ran = run({"rebuild", filter}, numbers(1000, 3000) + "1000\n");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("2,001 lines, 2,000 new, 1 repeats"), std::string::npos) << ran.err;
  EXPECT_EQ(run({"check", filter}, numbers(0, 3500)).out, numbers(1000, 3000));
  const json after = info(filter);
  for (const char* same : {"bits", "hashes", "capacity", "rate", "layout", "hash", "seed"})
    EXPECT_EQ(before[same], after[same]) << same;
  EXPECT_EQ(after["inserted"], 2000);
  EXPECT_EQ(run({"verify", filter}).code, 0);
  EXPECT_TRUE(reader.may_contain("0"));
  EXPECT_TRUE(reader.reload());
  EXPECT_FALSE(reader.may_contain("0"));
  EXPECT_TRUE(reader.may_contain("2999"));
}

TEST_F(Files, RebuildTakesWhatTheFlagsSayAndTheRestFromTheFile) {
  const std::string filter = path("f");
  ASSERT_EQ(run({"create", filter, "-n", "1K", "-p", "1%", "--layout", "pair", "--seed", "7"}).code,
            0);
  ASSERT_EQ(run({"rebuild", "-q", filter, "-n", "5K"}, "a\n").code, 0);
  EXPECT_EQ(info(filter)["capacity"], 5000);
  EXPECT_EQ(info(filter)["rate"], 0.01);
  EXPECT_EQ(info(filter)["layout"], "pair");
  EXPECT_EQ(info(filter)["seed"], "0x7");
  ASSERT_EQ(run({"rebuild", "-q", filter, "-p", "0.1%", "--seed", "8"}, "a\n").code, 0);
  EXPECT_EQ(info(filter)["capacity"], 5000);
  EXPECT_EQ(info(filter)["rate"], 0.001);
  EXPECT_EQ(info(filter)["seed"], "0x8");
  ASSERT_EQ(run({"rebuild", "-q", filter, "--layout", "classic", "--hash", "siphash"}, "a\n").code,
            0);
  EXPECT_EQ(info(filter)["layout"], "classic");
  EXPECT_EQ(info(filter)["hash"], "siphash");
  ASSERT_EQ(run({"rebuild", "-q", filter, "--bits", "1MiB", "--hashes", "3"}, "a\n").code, 0);
  EXPECT_EQ(info(filter)["bits"], 8u << 20);
  EXPECT_EQ(info(filter)["hashes"], 3);
  EXPECT_EQ(info(filter)["capacity"], 5000);
  EXPECT_EQ(run({"check", filter}, "a\n").out, "a\n");
}

TEST_F(Files, RebuildMakesWhatIsNotThereAndMendsWhatIsBroken) {
  const std::string fresh = path("fresh"), text = file("text", "precious\n");
  EXPECT_TRUE(is_error(run({"rebuild", fresh}, "a\n"), {fresh, "-n"}));
  EXPECT_FALSE(std::filesystem::exists(fresh));
  EXPECT_EQ(run({"rebuild", "-q", fresh, "-n", "1K", "-p", "1%"}, "a\n").code, 0);
  EXPECT_EQ(run({"check", fresh}, "a\n").out, "a\n");
  {
    std::fstream bytes(fresh, std::ios::in | std::ios::out | std::ios::binary);
    for (const int header : {0, 4096}) {
      bytes.seekp(header + 40);
      bytes.put(99);
    }
  }
  EXPECT_TRUE(is_error(run({"rebuild", fresh}, "b\n"), {fresh, "damaged", "-n"}));
  EXPECT_EQ(run({"rebuild", "-q", fresh, "-n", "1K", "-p", "1%"}, "b\n").code, 0);
  EXPECT_EQ(run({"check", fresh}, "a\nb\n").out, "b\n");
  EXPECT_TRUE(is_error(run({"rebuild", text, "-n", "1K", "-p", "1%"}, "a\n"), {text}));
  EXPECT_EQ(text_of(text), "precious\n");
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

TEST_F(Files, VerifyFindsAFlippedBitAndSalvageKeepsEveryKey) {
  const std::string filter = made("f", numbers(0, 50'000)), out = path("out");
  const Ran whole = run({"verify", filter});
  EXPECT_EQ(whole.code, 0);
  EXPECT_NE(whole.out.find("whole"), std::string::npos);
  {
    std::fstream bytes(filter, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(200'000);
    const char old = static_cast<char>(bytes.get());
    bytes.seekp(200'000);
    bytes.put(static_cast<char>(old ^ 1));
  }
  EXPECT_TRUE(is_error(run({"verify", filter}), {filter, "damaged", "salvage", "number 2"}));
  EXPECT_EQ(info(filter)["state"], "damaged");
  const Ran salvaged = run({"salvage", filter, out});
  EXPECT_EQ(salvaged.code, 0);
  EXPECT_NE(salvaged.err.find("1 of 6 chunks"), std::string::npos) << salvaged.err;
  EXPECT_EQ(run({"verify", out}).code, 0);
  EXPECT_EQ(run({"check", "-c", out}, numbers(0, 50'000)).out, "50000\n");
  EXPECT_TRUE(is_error(run({"salvage", filter, out}), {out, "--force"}));
  EXPECT_EQ(run({"salvage", "--force", filter, out}).code, 0);
}

TEST_F(Files, WhatIsNoFilterIsRefused) {
  const std::string text = file("text", "just text\n"), empty = file("empty", "");
  const std::string newer = made("newer", "a\n"), directory = path("directory");
  std::filesystem::create_directory(directory);
  {
    std::fstream bytes(newer, std::ios::in | std::ios::out | std::ios::binary);
    for (const int header : {0, 4096}) {
      bytes.seekp(header + 8);
      bytes.put(99);
    }
  }
  for (const std::string verb : {"add", "check", "info", "verify"}) {
    EXPECT_TRUE(is_error(run({verb, path("none")}, "a\n"), {path("none")})) << verb;
    EXPECT_TRUE(is_error(run({verb, directory}, "a\n"), {directory})) << verb;
    EXPECT_TRUE(is_error(run({verb, text}, "a\n"), {text})) << verb;
    EXPECT_TRUE(is_error(run({verb, empty}, "a\n"), {empty})) << verb;
    EXPECT_TRUE(is_error(run({verb, newer}, "a\n"), {newer, "newer"})) << verb;
  }
  EXPECT_EQ(text_of(text), "just text\n");
  EXPECT_TRUE(is_error(run({"salvage", text, path("out")}), {text}));
  EXPECT_TRUE(is_error(run({"merge", path("out"), text, text}), {text}));
}

TEST_F(Files, ABadInputLeavesTheFilterUnharmed) {
  const std::string filter = made("f", "a\n");
  const std::string before = text_of(filter);
  EXPECT_TRUE(is_error(run({"add", filter, path("none")}), {path("none")}));
  EXPECT_TRUE(is_error(run({"add", filter, path("")}), {"is a directory"}));
  EXPECT_TRUE(is_error(run({"add", filter}, "b\n", {.close_out = true}), {"closed"}));
  EXPECT_TRUE(is_error(run({"check", filter}, "a\n", {.out = "/dev/full"}), {"No space left"}));
  EXPECT_EQ(text_of(filter), before);
}

TEST_F(Files, TheOutputIsNeverTheFilter) {
  const std::string filter = made("f", "a\n"), link = path("link"), fresh = path("fresh");
  std::filesystem::create_symlink("f", link);
  const std::string before = text_of(filter);
  for (const test::Arguments& verb :
       std::initializer_list<test::Arguments>{{"dedup", "--filter", filter},
                                              {"dedup", "--filter", link},
                                              {"dedup", "-c", "--filter", filter},
                                              {"check", filter},
                                              {"check", link},
                                              {"check", "-c", filter},
                                              {"info", filter},
                                              {"verify", filter}}) {
    EXPECT_TRUE(is_error(run(verb, "a\nb\n", {.out = filter}), {verb.back(), "output as well"}))
        << verb.front();
    EXPECT_EQ(text_of(filter), before) << verb.front();
  }
  // A shell makes the file of its redirection first.
  EXPECT_TRUE(is_error(run({"dedup", "--filter", fresh, "-n", "1K"}, "a\n", {.out = fresh}),
                       {fresh, "output as well"}));
}

TEST_F(Files, OneWriterAtATime) {
  const std::string filter = made("f", "a\n");
  Running writer({"add", filter});
  // The lock is taken once a line is there, which is within a second of its being read.
  writer.write("b\n");
  for (int i = 0; i < 200 && run({"check", "-q", filter}, "b\n").code != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(is_error(run({"add", "-q", filter}, "x\n"), {filter, "writer"}));
  EXPECT_EQ(run({"check", filter}, "a\nb\nx\n").out, "a\nb\n");  // readers go on
  const Ran checked = run({"verify", filter});
  EXPECT_EQ(checked.code, 1);
  EXPECT_NE(checked.out.find("writer"), std::string::npos);
  writer.write("c\n");
  EXPECT_EQ(writer.finish().code, 0);
  EXPECT_EQ(run({"check", filter}, "c\n").out, "c\n");
}

TEST_F(Files, NoRoomOnTheDisk) {
  const std::string disk = path("disk");
  std::filesystem::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=4m") != 0)
    GTEST_SKIP() << "only root can make a small disk";
  // 2 MB fit; 8 MB do not, nor does a second filter of 3 MB beside the first.
  const std::string filter = disk + "/f", other = disk + "/g";
  EXPECT_EQ(run({"create", filter, "--bits", "2M", "-p", "1%"}).code, 0);
  EXPECT_EQ(run({"add", "-q", filter}, "a\n").code, 0);
  EXPECT_TRUE(is_error(run({"create", other, "--bits", "64M", "-p", "1%"}), {other, "room"}));
  EXPECT_FALSE(std::filesystem::exists(other));
  EXPECT_TRUE(is_error(run({"create", "--force", filter, "--bits", "64M", "-p", "1%"}), {"room"}));
  // A journal that does not fit: the filter has what it had.
  file("disk/ballast", std::string(4 << 20, 'x'));
  const Ran added = run({"add", "-q", filter}, numbers(0, 1'000'000));
  EXPECT_TRUE(is_error(added, {filter, "room"}));
  EXPECT_EQ(run({"check", filter}, "a\n").out, "a\n");
  ASSERT_EQ(::umount(disk.c_str()), 0);
}

TEST_F(Files, NumbersThatNoFilterHas) {
  EXPECT_TRUE(is_error(run({"create", path("f")}), {}));
  EXPECT_TRUE(is_error(run({"create", path("f"), "-n", "1M"}), {}));
  EXPECT_TRUE(is_error(run({"create", path("f"), "-n", "1M", "-p", "1e-16"}), {}));
  EXPECT_TRUE(is_error(run({"create", path("f"), "-n", "1T", "-p", "1e-10"}), {}));
  EXPECT_FALSE(std::filesystem::exists(path("f")));
}

}  // namespace
}  // namespace bloomery
