// The tool and filters in shards, over a real cluster: strings, and a module's filters.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/tool.hpp"
#include "redis/nodes.hpp"

namespace bloomery::test {
namespace {

using nlohmann::json;

std::string url(const std::string& kind, const std::string& rest, std::size_t node = 0) {
  return "redis" + kind + "+cluster://127.0.0.1:" + std::to_string(three_nodes().port(node)) +
         "?key=" + rest;
}

class ClusterTool : public ToolTest {};

void refused(const Arguments& words, const std::vector<std::string>& parts) {
  const Ran ran = run(words);
  EXPECT_TRUE(is_error(ran, parts)) << ran.err;
}

// What is the same for strings and for the module.
void take_through(const std::string& kind) {
  const std::string name = "seen" + std::to_string(kind.size());
  const Ran created = run({"create", url(kind, name), "-n", "50K", "-p", "0.1%"});
  ASSERT_EQ(created.code, 0) << created.err;
  EXPECT_TRUE(says(created.err, "for 50,000 keys at 0.1 %"));
  const Ran added = run({"add", url(kind, name, 1)}, numbers(0, 5'000) + numbers(0, 1'000));
  EXPECT_EQ(added.code, 0) << added.err;
  EXPECT_TRUE(says(added.err, "6,000 lines, 5,000 new"));
  EXPECT_EQ(run({"check", url(kind, name, 2)}, "7\nx7\n8\n").out, "7\n8\n");
  EXPECT_EQ(run({"check", "-v", url(kind, name)}, numbers(0, 5'000)).out, "");
  const Ran filtered = run({"dedup", "--filter", url(kind, name)}, "x\n7\nx\ny\n");
  EXPECT_EQ(filtered.out, "x\ny\n") << filtered.err;

  const json info = json::parse(run({"info", "--json", url(kind, name)}).out);
  EXPECT_EQ(info.at("shards"), 12);
  EXPECT_EQ(info.at("nodes"), 3);
  EXPECT_TRUE(says(run({"info", url(kind, name)}).out, "12 on 3 nodes"));

  refused({"create", url(kind, name), "-n", "5K", "-p", "1%"}, {"exists"});
  refused({"add", url(kind, name + "&shards=5")}, {"it has 12 shards"});
  refused({"add", url(kind, "never")}, {"is not there"});
  refused({"create", url(kind, "a{b"), "-n", "5K", "-p", "1%"}, {"has a brace"});
  refused({"rotate", url(kind, name)}, {"does not rotate"});
  refused({"create", "--force", url(kind, name), "-n", "5K", "-p", "1%"},
          {kind.empty() ? "would become shorter" : "is not replaced"});
  const Ran few = run({"create", url(kind, name + "few&shards=2"), "-n", "5K", "-p", "1%"});
  EXPECT_EQ(few.code, 0) << few.err;
  EXPECT_EQ(json::parse(run({"info", "--json", url(kind, name + "few")}).out).at("shards"), 2);
}

TEST_F(ClusterTool, StringsAreCreatedFedAndAsked) {
  take_through("");
  EXPECT_EQ(run({"create", "--force", url("", "seen0"), "-n", "50K", "-p", "0.1%"}).code, 0);
  EXPECT_EQ(run({"check", "-q", url("", "seen0")}, "7\n").code, 1) << "it is not empty";
}

TEST_F(ClusterTool, StringsRotate) {
  const std::string two = url("", "two");
  EXPECT_EQ(run({"create", "--rotating", two, "-n", "1K", "-p", "1e-6"}).code, 0);
  EXPECT_EQ(run({"add", "-q", two}, "a\n").code, 0);
  EXPECT_TRUE(says(run({"rotate", two}).err, "in generation 3 now; generation 1 is forgotten"));
  EXPECT_EQ(run({"add", "-q", two}, "b\n").code, 0);
  EXPECT_EQ(run({"check", two}, "a\nb\nc\n").out, "a\nb\n");
  EXPECT_EQ(run({"rotate", "-q", two}).code, 0);
  EXPECT_EQ(run({"check", two}, "a\nb\nc\n").out, "b\n");
  EXPECT_EQ(run({"verify", two}).code, 0);
  const json info = json::parse(run({"info", "--json", two}).out);
  EXPECT_EQ(info.at("shards"), 12);
  EXPECT_EQ(info.at("generation"), 4);
  EXPECT_EQ(run({"create", "--force", "--rotating", two, "-n", "1K", "-p", "1%"}).code, 2);
}

#ifdef BLOOMERY_MODULE
TEST_F(ClusterTool, ModuleFiltersAreCreatedFedAndAsked) { take_through("+module"); }
#endif

// How many of the lines a filter has not seen.
std::string absent(const std::string& name, const std::string& lines) {
  return run({"check", "-q", "-c", "-v", name}, lines).out;
}

std::size_t keys_there() {
  std::size_t keys = 0;
  for (std::size_t i = 0; i < 3; ++i)
    keys += static_cast<std::size_t>(three_nodes()[i].ask({"DBSIZE"})->integer);
  return keys;
}

void forget_all() {
  for (std::size_t i = 0; i < 3; ++i) three_nodes()[i].ask({"FLUSHALL"});
}

TEST_F(ClusterTool, ConvertMovesBitsBetweenFilesStringsAndShards) {
  forget_all();
  const Server single;
  const std::string string = "redis+unix://" + single.path() + "?key=s";
  const std::string first = path("first.bloom");
  // 1,200 blocks: each of 12, 6 or 4 shards has whole blocks.
  ASSERT_EQ(
      run({"create", first, "--bits", "614400", "-p", "1%", "--seed", "7", "--layout", "blocked"})
          .code,
      0);
  ASSERT_EQ(run({"add", "-q", first}, numbers(0, 20'000)).code, 0);
  std::string from = first;
  for (const std::string& to :
       {url("", "a"), url("", "b&shards=4", 1), string, url("", "c&shards=1200000"),
        url("", "c&shards=6"), path("last.bloom")}) {
    const Ran ran = run({"convert", from, to});
    if (to.ends_with("1200000")) {
      EXPECT_EQ(ran.code, 2) << ran.err;
      continue;
    }
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(is_error(run({"convert", from, to}), {"exists", "--force"})) << to;
    EXPECT_EQ(run({"convert", "--force", from, to}).code, 0) << to;
    EXPECT_EQ(absent(to, numbers(0, 20'000)), "0\n") << to;
    from = to;
  }
  EXPECT_EQ(json::parse(run({"info", "--json", url("", "a")}).out).at("shards"), 12);
  EXPECT_EQ(keys_there(), 12U + 4 + 6) << "something was left behind";
  // The bits behind the header, which has an identity of its own.
  EXPECT_TRUE(text_of(path("last.bloom")).substr(8192, 76'800) ==
              text_of(first).substr(8192, 76'800));
  EXPECT_EQ(run({"verify", path("last.bloom")}).code, 0);
  const json info = json::parse(run({"info", "--json", path("last.bloom")}).out);
  EXPECT_NEAR(info.at("inserted").get<double>(), 20'000, 400);

  refused({"convert", first, url("", "d&shards=7")},
          {"1200 blocks of bits do not divide into 7 shards", "1, 2, 3, 4"});
  refused({"convert", "--force", first, url("", "a&shards=6")}, {"has 12 shards"});
  refused({"convert", url("", "none"), path("x.bloom")}, {"is not there"});
  refused({"convert", url("", "a&shards=5"), path("x.bloom")}, {"it has 12 shards"});
  refused({"convert", "--scheme", "php-hashes=JS", url("", "a"), path("x")}, {"PHP class"});
  EXPECT_FALSE(std::filesystem::exists(path("x.bloom")));
}

TEST_F(ClusterTool, ConvertSaysWhichBitsAreOthersInShards) {
  forget_all();
  for (const std::string layout : {"blocked2", "standard"}) {
    const std::string name = url("", layout);
    ASSERT_EQ(run({"create", name, "-n", "5K", "-p", "0.1%", "--layout", layout}).code, 0);
    ASSERT_EQ(run({"add", "-q", name}, numbers(0, 5'000)).code, 0);
    const auto refused = [&](const std::vector<std::string>& words) {
      const Ran ran = run(words);
      EXPECT_TRUE(is_error(ran, {layout, "other bits", "rebuild"})) << ran.err;
    };
    refused({"convert", name, path("x.bloom")});
    refused({"convert", name, url("", layout + "4&shards=4")});
    const Ran moved = run({"convert", name, url("", layout + "12")});
    EXPECT_EQ(moved.code, 0) << moved.err;
    EXPECT_EQ(absent(url("", layout + "12"), numbers(0, 5'000)), "0\n");
    // In one shard it is the filter in one piece.
    const std::string one = url("", layout + "1&shards=1");
    ASSERT_EQ(run({"create", one, "-n", "5K", "-p", "0.1%", "--layout", layout}).code, 0);
    ASSERT_EQ(run({"add", "-q", one}, numbers(0, 5'000)).code, 0);
    EXPECT_EQ(run({"convert", one, path(layout + ".bloom")}).code, 0);
    EXPECT_EQ(absent(path(layout + ".bloom"), numbers(0, 5'000)), "0\n");
    EXPECT_EQ(run({"convert", path(layout + ".bloom"), url("", layout + "again")}).code, 0);
    EXPECT_EQ(absent(url("", layout + "again"), numbers(0, 5'000)), "0\n");
    EXPECT_TRUE(is_error(run({"merge", path("x.bloom"), path(layout + ".bloom"), name}),
                         {path(layout + ".bloom") + " and redis"}));
  }
}

TEST_F(ClusterTool, MergeTakesAndMakesShards) {
  forget_all();
  const Server single;
  const std::string string = "redis+unix://" + single.path() + "?key=s";
  const auto make = [](const std::string& name, int from, int to) {
    ASSERT_EQ(run({"create", name, "--bits", "614400", "-p", "1%"}).code, 0) << name;
    ASSERT_EQ(run({"add", "-q", name}, numbers(from, to)).code, 0) << name;
  };
  make(path("a.bloom"), 0, 5'000);
  make(string, 5'000, 10'000);
  make(url("", "c"), 10'000, 15'000);
  make(url("", "d&shards=4"), 15'000, 20'000);
  const std::vector<std::string> sources = {path("a.bloom"), string, url("", "c"), url("", "d")};
  for (const std::string& out :
       {url("", "out"), url("", "few&shards=6"), path("out.bloom"), string + "2"}) {
    std::vector<std::string> words = {"merge", out};
    words.insert(words.end(), sources.begin(), sources.end());
    const Ran ran = run(words);
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(says(ran.err, "merged 4 filters into"));
    EXPECT_TRUE(says(ran.err, ": about 20,"));
    EXPECT_EQ(absent(out, numbers(0, 20'000)), "0\n") << out;
    EXPECT_TRUE(is_error(run(words), {"exists"})) << out;
    words.insert(words.begin() + 1, "--force");
    EXPECT_EQ(run(words).code, 0) << out;
  }
  // Into one of them.
  EXPECT_EQ(run({"merge", "--force", url("", "c"), url("", "c"), path("a.bloom")}).code, 0);
  EXPECT_EQ(absent(url("", "c"), numbers(0, 5'000) + numbers(10'000, 15'000)), "0\n");
  EXPECT_EQ(keys_there(), 12U + 4 + 12 + 6) << "something was left behind";

  ASSERT_EQ(
      run({"create", path("other.bloom"), "--bits", "614400", "-p", "1%", "--seed", "3"}).code, 0);
  EXPECT_TRUE(is_error(run({"merge", url("", "e"), url("", "c"), path("other.bloom")}),
                       {"differ in seed"}));
  ASSERT_EQ(run({"create", path("counts"), "--kind", "counting", "-n", "1K", "-p", "1%"}).code, 0);
  EXPECT_TRUE(is_error(run({"merge", url("", "e"), path("counts"), path("counts")}),
                       {"counting", "rebuild"}));
}

TEST_F(ClusterTool, RebuildReplacesShards) {
  forget_all();
  for (const std::string layout : {"blocked", "standard"}) {
    const std::string name = url("", layout);
    ASSERT_EQ(run({"create", name, "-n", "10K", "-p", "0.1%", "--layout", layout}).code, 0);
    ASSERT_EQ(run({"add", "-q", name}, numbers(0, 10'000)).code, 0);
    Running open({"check", "-v", name});
    open.write("x1\n");
    EXPECT_EQ(open.read(3), "x1\n");
    const Ran ran = run({"rebuild", name}, numbers(5'000, 15'000) + numbers(5'000, 5'500));
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(says(ran.err, "10,500 lines"));
    EXPECT_EQ(absent(name, numbers(5'000, 15'000)), "0\n");
    EXPECT_GT(std::stoi(absent(name, numbers(0, 5'000))), 4'900);
    const json info = json::parse(run({"info", "--json", name}).out);
    EXPECT_EQ(info.at("capacity"), 10'000);
    EXPECT_EQ(info.at("shards"), 12);
    // Who has had the old one open is told so.
    open.write("6000\n");
    const Ran told = open.finish();
    EXPECT_EQ(told.code, 2);
    EXPECT_EQ(told.out, "");
    EXPECT_TRUE(says(told.err, "was replaced by another filter"));

    EXPECT_EQ(run({"rebuild", "-q", name, "-n", "30K"}, numbers(0, 30'000)).code, 0);
    EXPECT_EQ(absent(name, numbers(0, 30'000)), "0\n");
    EXPECT_EQ(json::parse(run({"info", "--json", name}).out).at("capacity"), 30'000);
    EXPECT_TRUE(is_error(run({"rebuild", name, "-n", "10K"}, "a\n"), {"become shorter"}));
    EXPECT_EQ(absent(name, numbers(0, 30'000)), "0\n");
    // A shard is lost: the header says the plan no more, and the flags do.
    three_nodes()[three_nodes().holder(layout + ":{3}")].ask({"DEL", layout + ":{3}"});
    EXPECT_TRUE(is_error(run({"rebuild", name}, "a\n"), {"no longer there", "-n and -p"}));
    EXPECT_EQ(run({"rebuild", "-q", name, "-n", "30K", "-p", "0.1%", "--layout", layout},
                  numbers(0, 30'000))
                  .code,
              0);
    EXPECT_EQ(absent(name, numbers(0, 30'000)), "0\n");
  }
  EXPECT_EQ(run({"rebuild", "-q", url("", "new"), "-n", "1K", "-p", "1%"}, "a\n").code, 0);
  EXPECT_EQ(absent(url("", "new"), "a\nb\n"), "1\n");
  EXPECT_EQ(keys_there(), 12U * 3) << "something was left behind";
}

TEST_F(ClusterTool, AKilledWriterLeavesTheOldFilterAndWhatExpires) {
  forget_all();
  const std::string name = url("", "k");
  ASSERT_EQ(run({"create", name, "-n", "10K", "-p", "0.1%"}).code, 0);
  ASSERT_EQ(run({"add", "-q", name}, numbers(0, 10'000)).code, 0);
  {
    Running tool({"rebuild", name, "-n", "20K"});
    tool.write(numbers(0, 5'000));
    Nodes::until([] { return keys_there() == 24; });
    tool.signal(SIGKILL);
    EXPECT_EQ(tool.finish().signal, SIGKILL);
  }
  EXPECT_EQ(absent(name, numbers(0, 10'000)), "0\n");
  for (std::size_t i = 0; i < 3; ++i) {
    const detail::Reply keys = three_nodes()[i].ask({"KEYS", "*:new-*"});
    EXPECT_EQ(keys->elements, 4U);
    for (std::size_t j = 0; j < keys->elements; ++j)
      EXPECT_GT(three_nodes()[i].ask({"TTL", keys->element[j]->str})->integer, 500);
  }
  // One that is stopped in time takes back what it has written.
  Running tool({"rebuild", name, "-n", "20K"});
  tool.write(numbers(0, 5'000));
  Nodes::until([] { return keys_there() == 36; });
  tool.signal(SIGINT);
  const Ran ran = tool.finish(false);
  EXPECT_EQ(ran.code, 130);
  EXPECT_TRUE(says(ran.err, "is unchanged"));
  EXPECT_EQ(keys_there(), 24U);
}

#ifdef BLOOMERY_MODULE
TEST_F(ClusterTool, ModuleShardsMoveAndMergeAsTheyAre) {
  forget_all();
  const Server single({"--loadmodule", module_file()});
  const std::string away = "redis+module+cluster+unix://" + single.path() + "?key=away";
  for (const std::string name : {"a", "b"}) {
    ASSERT_EQ(run({"create", url("+module", name), "-n", "20K", "-p", "0.1%"}).code, 0);
    const int first = name == "a" ? 0 : 30'000;  // more than they were made for: they grow
    ASSERT_EQ(run({"add", "-q", url("+module", name)}, numbers(first, first + 30'000)).code, 0);
  }
  for (const std::string& to : {url("+module", "copy", 1), away}) {
    const Ran ran = run({"convert", url("+module", "a"), to});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(absent(to, numbers(0, 30'000)), "0\n");
    // The bits of the source: all of its false positives too, and few more, by the markers of the copy.
    const auto found_in = [&](const std::string& address) {
      std::istringstream lines(run({"check", address}, numbers(100'000, 200'000)).out);
      std::set<std::string> all;
      for (std::string line; std::getline(lines, line);) all.insert(line);
      return all;
    };
    const auto of_copy = found_in(to), of_source = found_in(url("+module", "a"));
    EXPECT_TRUE(std::ranges::includes(of_copy, of_source));
    EXPECT_GT(of_source.size(), 10U);
    EXPECT_LT(of_copy.size(), 1'000U);
    EXPECT_TRUE(is_error(run({"convert", url("+module", "a"), to}), {"exists", "--force"}));
    EXPECT_EQ(run({"convert", "--force", url("+module", "a"), to}).code, 0) << "over a copy";
    EXPECT_EQ(absent(to, numbers(0, 30'000)), "0\n");
    EXPECT_EQ(run({"convert", "--force", url("+module", "b"), to}).code, 0);
    EXPECT_EQ(absent(to, numbers(30'000, 60'000)), "0\n");
  }
  EXPECT_EQ(single.ask({"DBSIZE"})->integer, 13) << "something was left behind";

  const Ran merged = run({"merge", url("+module", "both"), url("+module", "a"), away});
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_TRUE(says(merged.err, "merged 2 filters"));
  EXPECT_EQ(absent(url("+module", "both"), numbers(0, 60'000)), "0\n");
  EXPECT_EQ(run({"add", "-q", url("+module", "both")}, numbers(60'000, 61'000)).code, 0);
  const json info = json::parse(run({"info", "--json", url("+module", "both")}).out);
  EXPECT_NEAR(info.at("inserted").get<double>(), 61'000, 400);
  EXPECT_EQ(keys_there(), 13U * 4) << "something was left behind";

  ASSERT_EQ(run({"create", url("+module", "other"), "-n", "21K", "-p", "0.1%"}).code, 0);
  refused({"merge", url("+module", "x"), url("+module", "a"), url("+module", "other")},
          {"differ in shards, capacity"});
  refused({"merge", path("x.bloom"), url("+module", "a"), url("+module", "b")},
          {"only into as many shards of a module; build a new filter with create and add"});
  refused({"convert", url("+module", "a"), path("x.bloom")},
          {"shards of a module have a hash each"});
  refused({"convert", url("+module", "a"), url("+module", "x&shards=6")}, {"keeps its 12 shards"});
  refused({"rebuild", url("+module", "a")}, {"create and add"});
  refused({"convert", url("+module", "none"), url("+module", "x")}, {"is not there"});
}
#endif

}  // namespace
}  // namespace bloomery::test
