// What the verbs do wherever the filter is. This file is in two programs: in the one with servers its filters are in
// Redis strings and in a module, in the other one in files.
#include <nlohmann/json.hpp>

#include <string>

#include "tool.hpp"
#ifdef BLOOMERY_REDIS_SERVER
#include "redis/server.hpp"
#endif

namespace bloomery::test {
namespace {

using nlohmann::json;

struct Where {
  const char* name;
  const char* made;  // what `create` says of a filter for 100,000 keys at 0.1 %
  // Of an address: before and behind its key; and what a server puts behind that in the name of the first string.
  const char *scheme = "", *rest = "", *first = "";
};
void PrintTo(const Where& where, std::ostream* out) { *out << where.name; }

class Verbs : public ToolTest, public testing::WithParamInterface<Where> {
 protected:
#ifdef BLOOMERY_REDIS_SERVER
  Verbs() { server().ask({"FLUSHALL"}); }
  static const Server& server() {
    static const Server one(module_options());
    return one;
  }
  [[nodiscard]] std::string at(const std::string& name) const {
    return GetParam().scheme + ("+unix://" + server().path()) + "?key=" + name + GetParam().rest;
  }
  void put_text(const std::string& name) const {
    server().ask({"SET", name + GetParam().first, "precious\n"});
  }
  [[nodiscard]] std::string text_at(const std::string& name) const {
    return server().get(name + GetParam().first);
  }
#else
  [[nodiscard]] std::string at(const std::string& name) const { return path(name); }
  void put_text(const std::string& name) const { file(name, "precious\n"); }
  [[nodiscard]] std::string text_at(const std::string& name) const { return text_of(path(name)); }
#endif
  // The filter that a test has one of.
  [[nodiscard]] std::string filter() const { return at("f"); }
  [[nodiscard]] json info() const { return json::parse(run({"info", "--json", filter()}).out); }
  [[nodiscard]] Ran create(Arguments size) const {
    size.insert(size.begin(), {"create", filter()});
    return run(size);
  }
};
// What only plain filters do, which a module's are not unless that is asked for.
class PlainVerbs : public Verbs {};

std::string name_of(const testing::TestParamInfo<Where>& info) { return info.param.name; }

constexpr const char* kBlocked = ": blocked, 190.7 KiB, for 100,000 keys at 0.1 %\n";
#ifdef BLOOMERY_REDIS_SERVER
const auto kPlain =
    testing::Values(Where{"AString", kBlocked, "redis"},
                    Where{"Shards", ": blocked, 190.7 KiB in 3 shards, for 100,000 keys at 0.1 %\n",
                          "redis+cluster", "&shards=3", ":{0}"});
#ifdef BLOOMERY_MODULE
INSTANTIATE_TEST_SUITE_P(
    OfAModule, Verbs,
    testing::Values(Where{"AKey", ": of a module, 213.6 KiB, for 100,000 keys at 0.1 %\n",
                          "redis+module"},
                    Where{"Shards", ": of a module, in 3 shards, for 100,000 keys at 0.1 %\n",
                          "redis+module+cluster", "&shards=3", ":{0}:shards"}),
    name_of);
#endif
#else
const auto kPlain = testing::Values(Where{"AFile", kBlocked});
#endif
INSTANTIATE_TEST_SUITE_P(In, Verbs, kPlain, name_of);
INSTANTIATE_TEST_SUITE_P(In, PlainVerbs, kPlain, name_of);

TEST_P(Verbs, CreateAddCheckInfo) {
  const Ran created = create({"-n", "100K", "-p", "0.1%"});
  EXPECT_EQ(created.code, 0);
  EXPECT_EQ(created.out, "");
  EXPECT_EQ(created.err, "bloomery: created " + filter() + GetParam().made);

  const Ran added = run({"add", filter()}, numbers(0, 1000) + numbers(0, 500));
  EXPECT_EQ(added.code, 0);
  EXPECT_EQ(added.out, "");
  EXPECT_TRUE(says(added.err, "1,500 lines, 1,000 new, 500 there before"));
  EXPECT_TRUE(says(added.err, "\nbloomery: filter: "));

  EXPECT_EQ(run({"check", "-q", filter()}, "7\n").code, 0);
  EXPECT_EQ(run({"check", "-q", filter()}, "x7\n").code, 1);
  const Ran checked = run({"check", filter()}, "7\nx7\n8\n");
  EXPECT_EQ(checked.out, "7\n8\n");
  EXPECT_TRUE(says(checked.err, "2 probably seen, 1 certainly new"));
  EXPECT_TRUE(says(checked.err, "\nbloomery: filter: "));
  EXPECT_EQ(run({"check", "-v", filter()}, "7\nx7\n8\n").out, "x7\n");
  EXPECT_EQ(run({"check", "-c", filter()}, "7\nx7\n8\n").out, "2\n");
  EXPECT_EQ(run({"check", "-k", "2", "-d", ",", filter()}, "a,7\n7,a\n").out, "a,7\n");
  const json counted = json::parse(run({"check", "-c", "--json", filter()}, "7\nx7\n8\n").out);
  EXPECT_EQ(counted["lines"], 3);
  EXPECT_EQ(counted["found"], 2);
  EXPECT_EQ(counted["absent"], 1);
  EXPECT_EQ(counted["filter"]["capacity"], 100'000);

  const json state = info();
  EXPECT_EQ(state["filter"], filter());
  EXPECT_EQ(state["capacity"], 100'000);
  EXPECT_EQ(state["over_capacity"], false);
  if (state.contains("inserted")) {
    EXPECT_EQ(state["inserted"], 1000);
  }
  EXPECT_TRUE(says(run({"info", filter()}).out, "100,000 keys at 0.1 %"));
  EXPECT_EQ(run({"verify", filter()}).code, 0);
}

TEST_P(PlainVerbs, InfoSaysHowFullItIs) {
  EXPECT_EQ(create({"-n", "100K", "-p", "0.1%", "--hash", "siphash"}).code, 0);
  EXPECT_EQ(run({"add", "-q", filter()}, numbers(0, 1000)).code, 0);
  EXPECT_EQ(run({"check", "-c", filter()}, numbers(0, 1000)).out, "1000\n");
  const json state = info();
  EXPECT_EQ(state["hash"], "siphash");
  EXPECT_EQ(state["layout"], "blocked");
  EXPECT_EQ(state["fill_is_sampled"], false);
  EXPECT_NEAR(state["estimated_items"], 1000, 20);
  EXPECT_NEAR(state["room_left"], 99'000, 20);
  const std::string text = run({"info", filter()}).out;
  for (const std::string word :
       {"plain", "blocked, 9 hashes", "estimated items", "fill", "current fpr", "room left"})
    EXPECT_TRUE(says(text, word));
}

TEST_P(Verbs, NoLineThatWasAddedIsEverMissed) {
  const std::string text = numbers(0, 100'000), in = file("in", text);
  EXPECT_EQ(create({"-n", "100K", "-p", "1%"}).code, 0);
  EXPECT_EQ(run({"add", "-q", filter()}, text).code, 0);
  EXPECT_EQ(run({"check", "-q", "-v", filter(), in}).code, 1);
  EXPECT_EQ(run({"check", "-q", filter(), in}).code, 0);
  EXPECT_EQ(run({"check", filter(), in}).out, text);
}

TEST_P(Verbs, AreAnErrorWhereNothingIs) {
  for (const char* verb : {"add", "check", "info", "verify"})
    EXPECT_TRUE(is_error(run({verb, filter()}, "a\n"), {"f"})) << verb;
  put_text("text");
  for (const char* verb : {"add", "check", "info", "verify"})
    EXPECT_TRUE(is_error(run({verb, at("text")}, "a\n"), {"text"})) << verb;
  EXPECT_EQ(text_at("text"), "precious\n");
}

TEST_P(Verbs, CreateReplacesNoOtherThings) {
  EXPECT_EQ(create({"-n", "1K", "-p", "1%"}).code, 0);
  EXPECT_TRUE(is_error(create({"-n", "1K", "-p", "1%"}), {"exists"}));
  put_text("text");
  EXPECT_TRUE(is_error(run({"create", "--force", at("text"), "-n", "1K", "-p", "1%"}), {"text"}));
  EXPECT_EQ(text_at("text"), "precious\n");
}

TEST_P(PlainVerbs, CreateReplacesAFilterByForce) {
  EXPECT_EQ(create({"-n", "1K", "-p", "1%"}).code, 0);
  EXPECT_EQ(run({"add", "-q", filter()}, "a\n").code, 0);
  EXPECT_TRUE(is_error(create({"-n", "1K", "-p", "1%"}), {filter(), "exists", "--force"}));
  EXPECT_EQ(run({"check", filter()}, "a\n").out, "a\n");
  EXPECT_EQ(create({"--force", "-n", "1K", "-p", "1%"}).code, 0);
  EXPECT_EQ(run({"check", "-q", filter()}, "a\n").code, 1);
}

TEST_P(PlainVerbs, AddBeyondTheCapacitySaysSo) {
  EXPECT_EQ(create({"-n", "100", "-p", "1%"}).code, 0);
  const Ran added = run({"add", "-q", filter()}, numbers(0, 1000));
  EXPECT_EQ(added.code, 0);
  EXPECT_TRUE(added.err.starts_with("bloomery: warning: the filter holds about ")) << added.err;
  EXPECT_TRUE(says(run({"info", filter()}).err, "warning"));
  EXPECT_EQ(info()["over_capacity"], true);
}

TEST_P(Verbs, DedupRemembersAcrossRuns) {
  const auto dedup = [&](Arguments words, const std::string& lines) {
    words.insert(words.begin(), {"dedup", "--filter", filter()});
    return run(words, lines);
  };
  EXPECT_TRUE(is_error(dedup({}, "a\n"), {"f", "-n"}));
  // A bad input is found before anything is created.
  EXPECT_TRUE(is_error(dedup({"-n", "1K", path("none")}, ""), {}));
  EXPECT_TRUE(is_error(dedup({}, "a\n"), {"-n"}));
  EXPECT_EQ(dedup({"-q", "-n", "1K"}, "a\nb\na\n").out, "a\nb\n");
  EXPECT_EQ(dedup({"-q"}, "b\nc\na\nc\n").out, "c\n");
  const Ran none = dedup({}, "a\nb\nc\n");
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(dedup({"-q", "-v", "-n", "1K"}, "c\nd\nd\n").out, "c\nd\n");
  EXPECT_EQ(dedup({"-q"}, "d\n").out, "");
  EXPECT_EQ(dedup({"-c"}, "a\nd\n").code, 1);
  EXPECT_TRUE(is_error(dedup({"-n", "2K"}, "a\n"), {"1,000 keys"}));
  EXPECT_TRUE(is_error(dedup({"-p", "0.1"}, "a\n"), {"-p"}));
  const json last = json::parse(dedup({"-c", "--json"}, "a\nz\n").out);
  EXPECT_EQ(last["new"], 1);
  EXPECT_EQ(last["filter"]["capacity"], 1000);
  EXPECT_EQ(run({"check", "-c", filter()}, "a\nb\nc\nd\nz\n").out, "5\n");
}

TEST_P(PlainVerbs, RebuildForgetsWhatDidNotComeAgain) {
  EXPECT_EQ(create({"-n", "100K", "-p", "1e-6", "--seed", "7"}).code, 0);
  EXPECT_EQ(run({"add", "-q", filter()}, numbers(0, 2000)).code, 0);
  const json before = info();
  const Ran ran = run({"rebuild", filter()}, numbers(1000, 3000) + "1000\n");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(says(ran.err, "2,001 lines, 2,000 new, 1 repeats"));
  EXPECT_TRUE(says(ran.err, "\nbloomery: filter: "));
  EXPECT_EQ(run({"check", filter()}, numbers(0, 3500)).out, numbers(1000, 3000));
  const json after = info();
  for (const char* same : {"bits", "hashes", "capacity", "fpr", "layout", "hash", "seed"})
    EXPECT_EQ(before[same], after[same]) << same;
  EXPECT_EQ(run({"verify", filter()}).code, 0);
  EXPECT_TRUE(says(run({"rebuild", "-q", filter()}, numbers(0, 150'000)).err,
                   "rebuild it with a larger -n"));
  EXPECT_EQ(run({"rebuild", "-q", filter(), "-n", "200K"}, "x\n").code, 0);
  EXPECT_EQ(info()["capacity"], 200'000);
  EXPECT_EQ(run({"check", "-c", filter()}, numbers(1000, 3000) + "x\n").out, "1\n");
}

TEST_P(PlainVerbs, RebuildMakesWhatIsNotThere) {
  EXPECT_TRUE(is_error(run({"rebuild", filter()}, "a\n"), {"f", "-n"}));
  EXPECT_EQ(run({"check", filter()}, "a\n").code, 2) << "something was made";
  EXPECT_EQ(run({"rebuild", "-q", filter(), "-n", "1K", "-p", "1%"}, "a\n").code, 0);
  EXPECT_EQ(run({"check", filter()}, "a\n").out, "a\n");
  put_text("text");
  EXPECT_TRUE(is_error(run({"rebuild", at("text"), "-n", "1K", "-p", "1%"}, "a\n"), {"text"}));
  EXPECT_EQ(text_at("text"), "precious\n");
}

}  // namespace
}  // namespace bloomery::test
