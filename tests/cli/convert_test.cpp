// `bloomery convert` between files, Redis strings and a module's filters: the tool and a real server.
#include "places.hpp"

#include <fmt/format.h>
#include <bloomery/any_filter.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <tuple>

#include "redis/scripted.hpp"

namespace bloomery::test {
namespace {

TEST_F(Places, ConvertMovesPlainFiltersEverywhere) {
  const std::string first = path("first.bloom");
  EXPECT_EQ(run({"create", first, "-n", "2K", "-p", "0.1%", "--layout", "blocked2"}).code, 0);
  EXPECT_EQ(run({"add", "-q", first}, numbers(0, 2000)).code, 0);
  std::string from = first;
  for (const std::string& to : {url("s"), module("m"), path("d.bfdump"), module("m2"),
                                path("e.bloom"), path("f.bfdump"), url("t"), path("last.bloom")}) {
    if (to.ends_with("f.bfdump")) continue;  // a plain filter in a file is a filter file
    const Ran ran = run({"convert", from, to});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(is_error(run({"convert", from, to}), {"exists"})) << to;
    EXPECT_EQ(run({"convert", "--force", from, to}).code, 0) << to;
    from = to;
    if (!to.ends_with(".bfdump")) {
      EXPECT_EQ(absent({to}, numbers(0, 2000)), "0\n") << to;
    }
  }
  EXPECT_EQ(run({"check", "-c", path("last.bloom")}, numbers(5000, 9000)).out,
            run({"check", "-c", first}, numbers(5000, 9000)).out);
  EXPECT_EQ(info({path("last.bloom")})["capacity"], 2000);
  EXPECT_EQ(server().ask({"DBSIZE"})->integer, 4) << "something was left behind";
}

// A module knows the fill and the rate of a filter only from its number of items.
TEST_F(Places, ConvertTellsAModuleOfTooManyItems) {
  for (const auto& [key, lines, is_over] :
       {std::tuple{"full", 1000, false}, {"over", 1500, true}, {"ones", 200'000, true}}) {
    const std::string first = path(key), copy = module(key);
    EXPECT_EQ(run({"create", first, "-n", "1K", "-p", "1%"}).code, 0);
    EXPECT_EQ(run({"add", "-q", first}, numbers(0, lines)).code, 0);
    EXPECT_EQ(run({"convert", first, copy}).code, 0);
    EXPECT_EQ(info({first})["over_capacity"], is_over) << key;
    EXPECT_EQ(info({copy})["over_capacity"], is_over) << key;
    if (lines < 2000) {
      EXPECT_NEAR(info({copy})["inserted"].get<double>(), lines, 0.1 * lines) << key;
    }
    const double rate = AnyFilter::open(copy).stats().current_fpr;
    EXPECT_NEAR(rate, AnyFilter::open(first).stats().current_fpr, 0.1 * rate) << key;
  }
}

TEST_F(Places, ConvertMovesLinesThroughShardsAndModules) {
  const std::string first = path("first.bloom");
  const auto shards = [&](const std::string& key) {
    return "redis+cluster+unix://" + server().path() + "?key=" + key + "&shards=3";
  };
  EXPECT_EQ(run({"create", first, "-n", "2K", "-p", "1%"}).code, 0);
  EXPECT_EQ(run({"add", "-q", first}, numbers(0, 2000)).code, 0);
  std::string from = first;
  for (const std::string& to :
       {shards("s"), module("m"), path("d.bfdump"), shards("t"), path("last.bloom")}) {
    const Ran ran = run({"convert", from, to});
    EXPECT_EQ(ran.code, 0) << ran.err;
    from = to;
  }
  EXPECT_EQ(run({"check", "-c", path("last.bloom")}, numbers(0, 9000)).out,
            run({"check", "-c", first}, numbers(0, 9000)).out);
  EXPECT_EQ(server().ask({"DBSIZE"})->integer, 7) << "something was left behind";
}

TEST_F(Places, ConvertMovesModuleFiltersOfEveryKindAndSize) {
  EXPECT_EQ(run({"create", path("filter"), "-n", "10", "-p", "1%"}).code, 0);
  // 40 MB are three chunks of bits.
  EXPECT_EQ(run({"create", module("large"), "-n", "30M", "-p", "1%"}).code, 0);
  EXPECT_EQ(run({"create", module("grown"), "-n", "10", "-p", "1%"}).code, 0);
  EXPECT_EQ(run({"create", module("counts"), "--kind", "counting", "-n", "1K", "-p", "1%"}).code,
            0);
  for (const std::string name : {"large", "grown", "counts"}) {
    EXPECT_EQ(run({"add", "-q", module(name)}, numbers(0, 900)).code, 0);
    EXPECT_EQ(run({"convert", module(name), path(name + ".bfdump")}).code, 0);
    EXPECT_EQ(run({"convert", path(name + ".bfdump"), module(name + "2")}).code, 0);
    EXPECT_EQ(run({"verify", path(name + ".bfdump")}).code, 0);
    EXPECT_TRUE(is_error(run({"check", path("filter"), path(name + ".bfdump")}), {"not text"}));
    if (name == "large")
      EXPECT_EQ(absent({path(name + ".bfdump")}, numbers(0, 900)), "0\n");
    else
      EXPECT_TRUE(is_error(run({"info", path(name + ".bfdump")}),
                           {"more than one array", "bloomery convert"}));
    EXPECT_EQ(run({"convert", module(name), module(name + "3")}).code, 0);
    for (const std::string copy : {"2", "3"})
      EXPECT_EQ(absent({module(name + copy)}, numbers(0, 900)), "0\n") << name;
  }
  EXPECT_EQ(run({"remove", "-q", module("counts2")}, "5\n").code, 0);
  EXPECT_TRUE(is_error(run({"convert", module("grown"), url("x")}), {"has grown", "rebuild"}));
  EXPECT_TRUE(is_error(run({"convert", module("counts"), path("x.bloom")}), {"counts", "rebuild"}));
  EXPECT_TRUE(is_error(run({"convert", path("none"), module("x")}), {path("none")}));
  EXPECT_TRUE(is_error(run({"convert", module("none"), path("x")}), {"is not there"}));
  EXPECT_FALSE(std::filesystem::exists(path("x")));
  EXPECT_FALSE(std::filesystem::exists(path("x.bloom")));
}

// What is on a server has no permissions; a file has them, whatever its form.
TEST_F(Places, ConvertLetsNobodyElseIn) {
  const std::string first = path("first.bloom"), dump = path("d.bfdump"), out = path("out.bloom");
  EXPECT_EQ(run({"create", first, "-n", "2K", "-p", "0.1%"}).code, 0);
  EXPECT_EQ(run({"convert", first, module("m")}).code, 0);
  EXPECT_EQ(run({"convert", first, url("s")}).code, 0);
  const auto mode = [](const std::string& file) {
    return std::filesystem::status(file).permissions() & std::filesystem::perms::mask;
  };
  const auto narrow = [](const std::string& file) {
    std::filesystem::permissions(file, std::filesystem::perms{0600});
  };
  EXPECT_EQ(run({"convert", module("m"), dump}).code, 0);
  EXPECT_EQ(mode(dump), mode(first));
  EXPECT_NE(mode(dump), std::filesystem::perms{0600}) << "the umask of this test hides all";
  narrow(dump);
  EXPECT_EQ(run({"convert", "--force", module("m"), dump}).code, 0);
  EXPECT_EQ(mode(dump), std::filesystem::perms{0600});
  EXPECT_EQ(run({"convert", dump, path("e.bfdump")}).code, 0);
  EXPECT_EQ(mode(path("e.bfdump")), std::filesystem::perms{0600});
  EXPECT_EQ(run({"convert", dump, out}).code, 0);
  EXPECT_EQ(mode(out), std::filesystem::perms{0600});
  narrow(first);
  EXPECT_EQ(run({"merge", path("merged.bloom"), url("s"), first}).code, 0);
  EXPECT_EQ(mode(path("merged.bloom")), std::filesystem::perms{0600});
  EXPECT_EQ(run({"convert", url("s"), path("t.bloom")}).code, 0);
  EXPECT_NE(mode(path("t.bloom")), std::filesystem::perms{0600});
}

TEST_F(Places, ConvertReadsRedisBloom) {
  // Its own RDB file, served by our module; dumps and DUMP payloads of it are RedisBloom's bytes.
  const Server theirs({"--loadmodule", module_file(), "--dir", BLOOMERY_REDISBLOOM, "--dbfilename",
                       "redisbloom.rdb"});
  const detail::Reply keys = theirs.ask({"KEYS", "*"});
  ASSERT_GT(keys->elements, 0U);
  for (std::size_t i = 0; i < keys->elements; ++i) {
    const std::string key = keys->element[i]->str;
    const std::string source = "redis+module+unix://" + theirs.path() + "?key=" + key;
    const detail::Reply dump = theirs.ask({"DUMP", key});
    file("payload", std::string(dump->str, dump->len));
    EXPECT_EQ(run({"convert", path("payload"), module(key + "-payload")}).code, 0);
    std::filesystem::remove(path("dump"));
    EXPECT_EQ(run({"convert", source, path("dump")}).code, 0);
    EXPECT_EQ(run({"convert", path("dump"), module(key)}).code, 0);
    for (const std::string& copy : {key, key + "-payload"}) {
      const detail::Reply again = server().ask({"DUMP", copy});
      EXPECT_EQ(std::string(again->str, again->len), std::string(dump->str, dump->len)) << copy;
    }
    EXPECT_TRUE(
        is_error(run({"convert", source, url("plain")}), {"RedisBloom's layout", "rebuild"}));
  }
}

TEST_F(Places, ConvertBelievesNoDump) {
  EXPECT_EQ(run({"create", module("m"), "-n", "50", "-p", "10%"}).code, 0);
  EXPECT_EQ(run({"add", "-q", module("m")}, numbers(0, 30)).code, 0);
  EXPECT_EQ(run({"convert", module("m"), path("dump")}).code, 0);
  const std::string whole = text_of(path("dump"));
  ASSERT_LT(whole.size(), 400U);
  for (std::size_t i = 0; i < whole.size(); i += 3) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0xFF);
    file("changed", i % 2 == 0 ? changed : whole.substr(0, i));
    const Ran ran = run({"convert", path("changed"), module("x")});
    EXPECT_EQ(ran.code, 2) << i;
    EXPECT_TRUE(is_error(ran, {})) << i;
  }
  EXPECT_EQ(server().ask({"DBSIZE"})->integer, 1) << "something was left behind";
  // A length beyond the file, and one beyond any memory.
  for (const char byte : {'\x7F', '\xFF'}) {
    std::string vast = whole;
    vast[16 + 8 + 7] = byte;
    file("vast", vast);
    EXPECT_TRUE(is_error(run({"convert", path("vast"), module("x")}, "", {.memory = 1u << 30}),
                         {"no module makes"}));
  }
  // Bits beyond the file, in its header, of 8 GiB: nothing is made for them.
  std::string vast = whole;
  vast[16 + 16 + 36 + 4] = 16;
  file("vast", vast);
  const Ran ran = run({"convert", path("vast"), path("x.bloom")}, "", {.memory = 1u << 30});
  EXPECT_TRUE(is_error(ran, {"it ends before its bits do"})) << ran.err;
  // One name, and not twice.
  file("cut", whole.substr(0, 20));
  const Ran cut = run({"convert", path("cut"), path("x.bloom")});
  EXPECT_TRUE(is_error(cut, {path("cut") + ": the dump is cut off"})) << cut.err;
  EXPECT_EQ(cut.err.find(path("cut")), cut.err.rfind(path("cut"))) << cut.err;
  file("text", "no dump");
  EXPECT_TRUE(is_error(run({"convert", path("text"), module("x")}), {"DUMP payload"}));
  EXPECT_TRUE(is_error(run({"convert", path("text"), url("x")}), {"neither a filter file"}));
  EXPECT_TRUE(is_error(run({"convert", path("none.bloom"), path("x.bloom")}),
                       {path("none.bloom") + ": cannot open: No such file"}));
  EXPECT_TRUE(is_error(run({"convert", "--force", module("m"), path("text")}), {"is not a dump"}));
  EXPECT_EQ(text_of(path("text")), "no dump");
}

TEST_F(Places, ConvertLeavesWhatItCannotReplace) {
  EXPECT_EQ(run({"create", path("a.bloom"), "-n", "50", "-p", "10%"}).code, 0);
  EXPECT_EQ(run({"create", path("c"), "--kind", "counting", "-n", "50", "-p", "10%"}).code, 0);
  EXPECT_EQ(run({"create", path("s"), "--seed", "3", "-n", "50", "-p", "10%"}).code, 0);
  EXPECT_TRUE(is_error(run({"convert", path("c"), url("x")}), {"counting", "rebuild"}));
  EXPECT_TRUE(is_error(run({"convert", path("s"), module("x")}), {"no seed"}));
  server().ask({"SET", "text", "x"});
  EXPECT_EQ(run({"convert", "--force", path("a.bloom"), url("text")}).code, 2);
  EXPECT_EQ(run({"convert", "--force", path("a.bloom"), module("text")}).code, 2);
  EXPECT_EQ(server().get("text"), "x");
  EXPECT_EQ(server().ask({"DBSIZE"})->integer, 1) << "something was left behind";
  server().ask({"CONFIG", "SET", "maxmemory", "1"});
  const Ran full = run({"convert", path("a.bloom"), url("x")});
  server().ask({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(is_error(full, {"OOM", "maxmemory"}));
}

// ---- a module's filters in shards -----------------------------------------------------------------

// Names that keep their kind: in two shards on this one server.
std::string shards(const std::string& socket, const std::string& key) {
  return "redis+module+cluster+unix://" + socket + "?key=" + key + "&shards=2";
}

TEST_F(Places, ShardsOfAModuleSayWhatHelpsInstead) {
  const std::string name = shards(server().path(), "s");
  EXPECT_EQ(run({"create", name, "-n", "1K", "-p", "1%"}).code, 0);
  EXPECT_EQ(run({"create", path("f.bloom"), "-n", "1K", "-p", "1%"}).code, 0);
  for (const Arguments& words :
       std::initializer_list<Arguments>{{"convert", name, path("x.bloom")},
                                        {"convert", path("f.bloom"), shards(server().path(), "x")},
                                        {"convert", "--scheme", "php-hashes=JS", url("bits"), name},
                                        {"merge", path("x.bloom"), name, name},
                                        {"rebuild", name}}) {
    const Ran ran = run(words);
    EXPECT_TRUE(is_error(ran, {"create and add"})) << words.front();
    EXPECT_FALSE(says(ran.err, "bloomery rebuild"));
  }
}

// What has been published is: that it cannot be counted afterwards is no failure.
TEST_F(Places, ShardsThatCannotBeCountedAreMoved) {
  for (const std::string key : {"a", "b"}) {
    EXPECT_EQ(run({"create", shards(server().path(), key), "-n", "1K", "-p", "1%"}).code, 0);
    EXPECT_EQ(run({"add", "-q", shards(server().path(), key)}, key + "\n").code, 0);
  }
  Scripted node(server().path());
  node.say([](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] != "BF.INFO" || !words[1].starts_with("both:")) return std::nullopt;
    return "-NOPERM this user has no permissions to run the 'bf.info' command\r\n";
  });
  const auto through_node = [&](const std::string& key) {
    return fmt::format("redis+module+cluster://127.0.0.1:{}?key={}", node.port(), key);
  };
  const Ran moved = run({"convert", through_node("a"), through_node("copy")});
  EXPECT_EQ(moved.code, 0) << moved.err;
  const Ran merged = run({"merge", through_node("both"), through_node("a"), through_node("b")});
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_TRUE(says(merged.err, "merged 2 filters into "));
  EXPECT_TRUE(says(merged.err, "bf.info"));
  EXPECT_EQ(run({"check", shards(server().path(), "copy")}, "a\nb\n").out, "a\n");
  EXPECT_EQ(run({"check", shards(server().path(), "both")}, "a\nb\n").out, "a\nb\n");
  EXPECT_EQ(run({"create", shards(server().path(), "c"), "-n", "1K", "-p", "1%"}).code, 0);
  const Ran counted = run({"merge", "--force", shards(server().path(), "c"),
                           shards(server().path(), "b"), shards(server().path(), "a")});
  EXPECT_TRUE(says(counted.err, " keys; a key in two filters counts twice"));
}

}  // namespace
}  // namespace bloomery::test
