// The verbs over filter files, from creation to salvage, as a user goes through them.
#include "files.hpp"
#include "support/effort.hpp"

#include <bloomery/filter_file.hpp>

#include <sys/mount.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>

namespace bloomery::test {
namespace {

using nlohmann::json;

// So many lines are a load at `sync`.
TEST_F(Files, ManyLinesAreTheSameFilterAtEveryDurability) {
  const int count = hurried() ? 150'000 : 300'000;  // more than one block of text
  const std::string lines = file("lines", numbers(0, count));
  std::string bits;
  for (const std::string durability : {"none", "process", "sync"}) {
    const std::string filter = path(durability);
    ASSERT_EQ(run({"create", filter, "-n", "300K", "-p", "1%"}).code, 0);
    const Ran ran = run({"add", "--json", "--durability", durability, filter, lines});
    ASSERT_EQ(ran.code, 0);
    EXPECT_TRUE(says(ran.err, "\"acknowledged\":" + std::to_string(count)));
    EXPECT_EQ(run({"check", "-c", filter, lines}).out, std::to_string(count) + "\n");
    EXPECT_EQ(run({"verify", filter}).code, 0);
    const std::string all = text_of(filter).substr(8192);
    EXPECT_EQ(bits.empty() ? all : bits, all) << durability;
    bits = all;
  }
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
      run({"create", path("a"), "-n", "1K", "-p", "1%", "--layout", "standard", "--seed", "7"})
          .code,
      0);
  EXPECT_EQ(info(path("a"))["layout"], "standard");
  EXPECT_EQ(info(path("a"))["seed"], "0x7");
  ASSERT_EQ(run({"create", path("b"), "-n", "1K", "-p", "1%", "--hash", "siphash"}).code, 0);
  EXPECT_EQ(info(path("b"))["hash"], "siphash");
  EXPECT_EQ(info(path("b"))["seed"], "secret");
  ASSERT_EQ(run({"create", path("c"), "--bits", "1MiB", "-p", "1%", "--seed", "random"}).code, 0);
  EXPECT_EQ(info(path("c"))["bits"], 8u << 20);
  EXPECT_NE(info(path("c"))["seed"], "0x0");
}

TEST_F(Files, EveryDurabilityKeepsWhatWasAdded) {
  for (const std::string level : {"none", "process", "sync"}) {
    const std::string filter = made(level, "");
    EXPECT_EQ(run({"add", "--durability", level, filter}, numbers(0, 5000)).code, 0);
    EXPECT_EQ(run({"check", "-c", filter}, numbers(0, 5000)).out, "5000\n");
    EXPECT_EQ(info(filter)["state"], "whole");
  }
}

TEST_F(Files, InfoTellsThatAFileIsInUse) {
  const std::string filter = made("f", "a\n");
  {
    FilterFile writer =
        FilterFile::open(filter, {.access = Access::write, .durability = Durability::process});
    writer.insert("b");
    EXPECT_EQ(info(filter)["state"], "in use");
    EXPECT_TRUE(says(run({"info", filter}).out, "\nstate            in use"));
  }
  EXPECT_EQ(info(filter)["state"], "whole");
}

TEST_F(Files, AnInterruptedAddLeavesAWholeFile) {
  for (const std::string level : {"none", "process", "sync"}) {
    const std::string filter = made(level, "");
    Running tool({"add", "--durability", level, filter});
    tool.write("one\ntwo\nthr");
    tool.wait_until_read();
    // Nothing tells from outside that the lines were taken in.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    tool.signal(SIGINT);
    EXPECT_EQ(tool.finish(false).code, 130);
    EXPECT_EQ(run({"verify", filter}).code, 0);
    EXPECT_EQ(run({"check", filter}, "one\ntwo\nthr\n").out, "one\ntwo\n");
    EXPECT_EQ(info(filter)["state"], "whole");
  }
}

TEST_F(Files, VerifyFindsAFlippedBitAndSalvageKeepsEveryKey) {
  const std::string filter = made("f", numbers(0, 50'000)), out = path("out");
  const Ran whole = run({"verify", filter});
  EXPECT_EQ(whole.code, 0);
  EXPECT_TRUE(says(whole.out, "whole"));
  put(filter, {200'000}, static_cast<char>(text_of(filter)[200'000] ^ 1));
  EXPECT_TRUE(is_error(run({"verify", filter}), {filter, "damaged", "salvage", "number 2"}));
  EXPECT_EQ(info(filter)["state"], "damaged");
  const Ran salvaged = run({"salvage", filter, out});
  EXPECT_EQ(salvaged.code, 0);
  EXPECT_TRUE(says(salvaged.err, "1 of 6 chunks"));
  EXPECT_EQ(run({"verify", out}).code, 0);
  EXPECT_EQ(run({"check", "-c", out}, numbers(0, 50'000)).out, "50000\n");
  EXPECT_TRUE(is_error(run({"salvage", filter, out}), {out, "--force"}));
  EXPECT_EQ(run({"salvage", "--force", filter, out}).code, 0);
}

TEST_F(Files, OneOfAThingIsSingular) {
  const std::string filter = path("f"), out = path("out"), window = path("w");
  run({"create", filter, "-n", "1", "-p", "1%"});
  EXPECT_EQ(run({"verify", filter}).out, filter + ": whole, its only chunk is what was written\n");
  const std::string info = run({"info", filter}).out;
  for (const char* row : {"layout           blocked, 1 hash\n", "bits             512 (64 B)\n",
                          "made for         1 key at 1 %\n"})
    EXPECT_TRUE(says(info, row));
  put(filter, {8200}, 1);
  EXPECT_TRUE(is_error(run({"verify", filter}), {"1 of 1 chunk of the bits is damaged"}));
  EXPECT_TRUE(says(run({"salvage", filter, out}).err, "1 of 1 chunk was damaged and is all ones"));
  EXPECT_TRUE(says(run({"salvage", out, path("again")}).err, "0 of 1 chunk was damaged; current"));
  run({"create", window, "--kind", "window", "--window", "1", "-p", "1%", "--slices", "1"});
  EXPECT_TRUE(says(run({"info", window}).out, "1 line in 1 slice\n"));
}

TEST_F(Files, InfoPrintsMetrics) {
  const std::string plain = path("a.bloom"), odd = path("b\"\\\n.bloom"), broken = path("c.bloom");
  ASSERT_EQ(run({"create", "-q", plain, "-n", "1000", "-p", "1%"}).code, 0);
  ASSERT_EQ(run({"add", "-q", plain}, numbers(1, 500)).code, 0);
  ASSERT_EQ(run({"create", "-q", odd, "--kind", "scalable", "-n", "10", "-p", "1%"}).code, 0);
  ASSERT_EQ(run({"add", "-q", odd}, numbers(1, 100)).code, 0);
  std::filesystem::copy_file(plain, broken);
  std::fstream(broken, std::ios::in | std::ios::out).seekp(8'200).put('x');
  const Ran ran = run({"info", "--format", "prometheus", plain, odd, broken, path("none"),
                       "redis://me:secret@127.0.0.1:1?key=k"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(says(ran.err, "cannot open"));
  const auto value = [&](const std::string& metric, const std::string& labels) {
    const std::string line = "\nbloomery_filter_" + metric + "{filter=\"" + labels + "} ";
    const std::size_t at = ran.out.find(line);
    return at == std::string::npos ? -1.0 : std::stod(ran.out.substr(at + line.size()));
  };
  const std::string a = plain + "\",kind=\"plain\"";
  EXPECT_EQ(value("readable", plain + '"'), 1);
  EXPECT_EQ(value("readable", path("none") + '"'), 0);
  EXPECT_EQ(value("readable", "redis://***@127.0.0.1:1?key=k\""), 0);
  EXPECT_EQ(value("capacity_keys", a), 1'000);
  EXPECT_NEAR(value("inserted_keys", a), 500, 5);
  EXPECT_EQ(value("over_capacity", a), 0);
  EXPECT_EQ(value("stated_fpr", a), 0.01);
  EXPECT_GT(value("fill_ratio", a), 0.1);
  EXPECT_EQ(value("damaged", a), 0);
  EXPECT_EQ(value("damaged", broken + "\",kind=\"plain\""), 1);
  // Quotes and backslashes are escaped, and nothing ends a line but its end.
  const std::string b = path("b") + "\\\"\\\\";
  EXPECT_TRUE(says(ran.out, "readable{filter=\"" + b));
  std::istringstream lines(ran.out);
  std::map<std::string, int> types;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      EXPECT_EQ(++types[line], 1) << line;
    }
    EXPECT_TRUE(line.starts_with("# ") || line.starts_with("bloomery_filter_")) << line;
  }
  EXPECT_EQ(types.size(), 11U);
  EXPECT_EQ(run({"info", "--format", "json", plain}).out, run({"info", "--json", plain}).out);
  EXPECT_TRUE(is_error(run({"info", "--format", "xml", plain}), {"not one of json, prometheus"}));
  EXPECT_TRUE(
      is_error(run({"info", "--format", "prometheus", "--plot", plain}), {"leave out --plot"}));
}

TEST_F(Files, InfoAndVerifyTakeSeveral) {
  const std::string one = made("one", "a\n"), two = made("two", "b\n"), none = path("none");
  const Ran both = run({"info", one, two});
  EXPECT_TRUE(says(both.out, "filter           " + one + "\n"));
  EXPECT_TRUE(says(both.out, "\n\nfilter           " + two + "\n"));
  const Ran verified = run({"verify", one, none, two});
  EXPECT_EQ(verified.code, 2);
  EXPECT_TRUE(says(verified.out, one + ": whole"));
  EXPECT_TRUE(says(verified.out, two + ": whole"));
  EXPECT_TRUE(says(verified.err, none));
  EXPECT_EQ(run({"verify", one, two}).code, 0);
}

TEST_F(Files, AFilterIsNotReadAsText) {
  const std::string one = made("one", "a\n"), two = made("two", "b\n");
  for (const char* verb : {"check", "add", "rebuild"}) {
    EXPECT_TRUE(is_error(run({verb, one, two}), {two + " is a filter, not text"})) << verb;
    EXPECT_TRUE(is_error(run({verb, one}, "", {.in = two}), {"input is a filter, not text"}))
        << verb;
    EXPECT_EQ(run({"check", "-q", one}, "a\n").code, 0) << verb;
  }
  EXPECT_TRUE(is_error(run({"dedup", two}), {two + " is a filter, not text", "dedup --filter"}));
  // The first bytes of a pipe are seen only when it is read.
  const std::string bytes = text_of(two);
  for (const char* verb : {"check", "add", "rebuild"})
    EXPECT_TRUE(is_error(run({verb, one}, bytes), {"input is a filter, not text"})) << verb;
  EXPECT_TRUE(is_error(run({"dedup"}, bytes), {"input is a filter, not text"}));
  EXPECT_EQ(run({"check", "-q", one}, "a\n").code, 0);
  EXPECT_EQ(run({"check", "-q", "-c", "--raw", one}, "a\n" + bytes).code, 0);
  const std::string lines = run({"dedup", "-q", "--raw"}, bytes).out;
  EXPECT_NE(lines, "");
  EXPECT_EQ(run({"dedup", "-q", "--raw", two}).out, lines);
  EXPECT_EQ(run({"dedup", "-q", "--raw"}, "", {.in = two}).out, lines);
}

TEST_F(Files, QuietIsForEveryVerb) {
  const std::string f = path("f"), all = path("all"), text = file("text", "a\nb\n");
  const auto is_silent = [&](const std::vector<std::string>& arguments) {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.code, 0) << arguments[0] << ran.err;
    EXPECT_EQ(ran.err, "") << arguments[0];
    return ran.out;
  };
  EXPECT_EQ(is_silent({"create", "-q", f, "-n", "100", "-p", "1%", "--kind", "counting"}), "");
  EXPECT_EQ(is_silent({"add", "-q", f, text}), "");
  EXPECT_EQ(is_silent({"check", "-q", f, text}), "");
  EXPECT_EQ(is_silent({"remove", "-q", f, text}), "");
  EXPECT_EQ(is_silent({"rebuild", "-q", f, text}), "");
  EXPECT_EQ(is_silent({"merge", "-q", all, f, f}), "");
  EXPECT_EQ(is_silent({"verify", "-q", f, all}), "");
  EXPECT_EQ(is_silent({"salvage", "-q", f, path("repaired")}), "");
  EXPECT_NE(is_silent({"info", "-q", f}), "");
  EXPECT_NE(is_silent({"plan", "-q", "-n", "1", "-p", "1%"}), "");
  EXPECT_EQ(is_silent({"dedup", "-q", text}), "a\nb\n");
  // What was asked for in JSON is printed.
  EXPECT_EQ(json::parse(is_silent({"check", "-q", "-c", "--json", f, text}))["found"], 2);
  const Ran said = run({"dedup", "-q", "--json", text});
  EXPECT_EQ(json::parse(said.err)["new"], 2);
}

TEST_F(Files, SlowRunsSayLinesPerSecond) {
  const std::string said = run({"dedup"}, "a\n").err;
  EXPECT_TRUE(says(said, " lines/s)"));
  EXPECT_FALSE(says(said, "M lines/s"));
  EXPECT_TRUE(says(said, "bloomery: 1 line, 1 new"));
}

TEST_F(Files, AnEmptyFilterHasNoFprBelowZero) {
  const std::string window = path("w"), scalable = path("s");
  run({"create", window, "--window", "100", "-p", "1%"});
  run({"create", scalable, "--kind", "scalable", "-n", "100", "-p", "1%"});
  for (const std::string& each : {window, scalable})
    EXPECT_TRUE(says(run({"info", each}).out, "current fpr      0 %"));
}

TEST_F(Files, WhatIsNoFilterIsRefused) {
  const std::string text = file("text", "just text\n"), empty = file("empty", "");
  const std::string newer = made("newer", "a\n"), directory = path("directory");
  std::filesystem::create_directory(directory);
  put(newer, {8, 4096 + 8}, 99);
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
  for (const Arguments& verb : std::initializer_list<Arguments>{{"dedup", "--filter", filter},
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
  // The lock is taken once a line is there.
  writer.write("b\n");
  await(filter, "b\n");
  EXPECT_TRUE(is_error(run({"add", "-q", filter}, "x\n"), {filter, "writer"}));
  EXPECT_EQ(run({"check", filter}, "a\nb\nx\n").out, "a\nb\n");  // readers go on
  const Ran checked = run({"verify", filter});
  EXPECT_EQ(checked.code, 1);
  EXPECT_TRUE(says(checked.out, "writer"));
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
}  // namespace bloomery::test
