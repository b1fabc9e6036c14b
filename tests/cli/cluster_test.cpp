// The tool and filters in shards, over a real cluster: strings, and a module's filters.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "cli/tool.hpp"
#include "redis/nodes.hpp"

namespace bloomery {
namespace {

using nlohmann::json;
using test::Ran;
using test::run;

std::string numbers(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) text += std::to_string(i) + "\n";
  return text;
}

std::string url(const std::string& kind, const std::string& rest, std::size_t node = 0) {
  return "redis" + kind + "+cluster://127.0.0.1:" + std::to_string(test::three_nodes().port(node)) +
         "?key=" + rest;
}

class ClusterTool : public test::ToolTest {};

// What is the same for strings and for the module.
void take_through(const std::string& kind) {
  const std::string name = "seen" + std::to_string(kind.size());
  const Ran created = run({"create", url(kind, name), "-n", "50K", "-p", "0.1%"});
  ASSERT_EQ(created.code, 0) << created.err;
  EXPECT_NE(created.err.find("for 50,000 keys at 0.1 %"), std::string::npos) << created.err;
  const Ran added = run({"add", url(kind, name, 1)}, numbers(0, 5'000) + numbers(0, 1'000));
  EXPECT_EQ(added.code, 0) << added.err;
  EXPECT_NE(added.err.find("6,000 lines, 5,000 new"), std::string::npos) << added.err;
  EXPECT_EQ(run({"check", url(kind, name, 2)}, "7\nx7\n8\n").out, "7\n8\n");
  EXPECT_EQ(run({"check", "-v", url(kind, name)}, numbers(0, 5'000)).out, "");
  const Ran filtered = run({"dedup", "--filter", url(kind, name)}, "x\n7\nx\ny\n");
  EXPECT_EQ(filtered.out, "x\ny\n") << filtered.err;

  const json info = json::parse(run({"info", "--json", url(kind, name)}).out);
  EXPECT_EQ(info.at("shards"), 12);
  EXPECT_EQ(info.at("nodes"), 3);
  EXPECT_NE(run({"info", url(kind, name)}).out.find("12 on 3 nodes"), std::string::npos);

  const auto refused = [&](const std::vector<std::string>& words, const std::string& part) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
  };
  refused({"create", url(kind, name), "-n", "5K", "-p", "1%"}, "exists already");
  refused({"add", url(kind, name + "&shards=5")}, "it has 12 shards");
  refused({"add", url(kind, "never")}, "is not there");
  refused({"create", url(kind, "a{b"), "-n", "5K", "-p", "1%"}, "has a brace");
  refused({"rotate", url(kind, name)}, "a filter in shards takes keys");
  refused({"convert", url(kind, name), "out.bloom"}, "a filter in shards takes keys");
  refused({"create", "--force", url(kind, name), "-n", "5K", "-p", "1%"}, "is not replaced");
  const Ran few = run({"create", url(kind, name + "few&shards=2"), "-n", "5K", "-p", "1%"});
  EXPECT_EQ(few.code, 0) << few.err;
  EXPECT_EQ(json::parse(run({"info", "--json", url(kind, name + "few")}).out).at("shards"), 2);
}

TEST_F(ClusterTool, StringsAreCreatedFedAndAsked) { take_through(""); }

#ifdef BLOOMERY_MODULE
TEST_F(ClusterTool, ModuleFiltersAreCreatedFedAndAsked) { take_through("+module"); }
#endif

TEST_F(ClusterTool, OneServerWillDo) {
  const test::Server server;
  const std::string address = "redis+cluster+unix://" + server.path() + "?key=one&shards=3";
  EXPECT_EQ(run({"dedup", "--filter", address, "-n", "1K"}, "a\nb\na\n").out, "a\nb\n");
  EXPECT_EQ(run({"dedup", "--filter", address, "-n", "1K"}, "b\nc\n").out, "c\n");
  EXPECT_EQ(server.ask({"DBSIZE"})->integer, 3);
}

}  // namespace
}  // namespace bloomery
