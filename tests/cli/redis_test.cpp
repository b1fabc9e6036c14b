// The verbs over filters in a real Redis server, where FILE is an address.
#include "files.hpp"

#include <bloomery/any_filter.hpp>
#include <bloomery/redis_php_filter.hpp>
#include <bloomery/rotating_redis_filter.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "redis/scripted.hpp"
#include "redis/server.hpp"

namespace bloomery::test {
namespace {

using nlohmann::json;

class RedisTool : public Files {
 protected:
  static const Server& server() {
    static const Server one;
    return one;
  }
  void SetUp() override { server().ask({"FLUSHALL"}); }
  [[nodiscard]] static std::string url(const std::string& key) {
    return "redis+unix://" + server().path() + "?key=" + key;
  }
};

TEST_F(RedisTool, DedupRemembersNothingThatWasNotPrinted) {
  EXPECT_EQ(run({"create", url("d"), "-n", "1K", "-p", "1%"}).code, 0);
  const Ran full = run({"dedup", "--filter", url("d")}, "a\nb\n", {.out = "/dev/full"});
  EXPECT_EQ(full.code, 2);
  EXPECT_EQ(info(url("d"))["estimated_items"], 0);
  // A server that goes away costs repeats, never lines.
  Server other;
  const std::string address = "redis+unix://" + other.path() + "?key=d";
  EXPECT_EQ(run({"create", address, "-n", "1K", "-p", "1%"}).code, 0);
  Running tool({"dedup", "--filter", address});
  tool.write("a\nb\n");
  EXPECT_EQ(tool.read(4), "a\nb\n");
  other.stop();
  tool.write("c\n");
  const Ran ran = tool.finish();
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(says(ran.err, "bloomery: redis"));
}

TEST_F(RedisTool, MergesFilesAndStrings) {
  const std::vector<std::string> size{"-n", "10K", "-p", "1%"};
  const auto make = [&](const std::string& name, const std::string& lines) {
    std::vector<std::string> words{"create", name};
    words.insert(words.end(), size.begin(), size.end());
    EXPECT_EQ(run(words).code, 0);
    EXPECT_EQ(run({"add", "-q", name}, lines).code, 0);
  };
  make(url("one"), numbers(0, 100));
  make(path("two"), numbers(100, 200));
  EXPECT_EQ(run({"merge", url("all"), url("one"), path("two")}).code, 0);
  EXPECT_EQ(run({"check", "-q", "-v", url("all")}, numbers(0, 200)).code, 1);
  EXPECT_EQ(run({"merge", path("all"), url("one"), path("two")}).code, 0);
  EXPECT_EQ(run({"check", "-q", "-v", path("all")}, numbers(0, 200)).code, 1);
  EXPECT_TRUE(is_error(run({"merge", url("all"), url("one"), path("two")}), {"exists", "--force"}));
  EXPECT_EQ(run({"merge", "--force", url("all"), url("one"), url("one")}).code, 0);
  EXPECT_EQ(run({"check", "-c", "-v", url("all")}, numbers(100, 110)).out, "10\n");
  EXPECT_EQ(run({"create", url("other"), "-n", "20K", "-p", "1%"}).code, 0);
  EXPECT_TRUE(is_error(run({"merge", url("no"), url("one"), url("other")}), {"key=other"}));
  EXPECT_TRUE(is_error(run({"merge", url("no"), url("one"), url("none")}), {"is not there"}));
  EXPECT_EQ(server().ask({"DBSIZE"})->integer, 3) << "something was left behind";
}

TEST_F(RedisTool, SaysWhatItCannotDo) {
  EXPECT_EQ(run({"create", url("k"), "-n", "1K", "-p", "1%"}).code, 0);
  EXPECT_TRUE(is_error(run({"remove", url("k")}, "a\n"), {"cannot be removed", "counting"}));
  EXPECT_TRUE(is_error(run({"create", url("c"), "-n", "1", "-p", "1%", "--kind", "counting"}),
                       {"is plain, not counting; name"}));
  EXPECT_TRUE(is_error(run({"create", url("w"), "-n", "1", "-p", "1%", "--window", "7d"}),
                       {"is plain, not window; make it rotating", "redis+module://"}));
  server().ask({"RPUSH", "list", "x"});
  EXPECT_TRUE(is_error(run({"create", "--force", url("list"), "-n", "1K", "-p", "1%"}), {"list"}));
  EXPECT_TRUE(is_error(run({"salvage", url("k"), path("out")}), {"salvage repairs files"}));
  EXPECT_TRUE(is_error(run({"add", "--durability", "none", url("k")}, "a\n"),
                       {"--durability", "the server's"}));
  EXPECT_TRUE(is_error(run({"add", url("none")}, "a\n"), {"'none' is not there"}));
  EXPECT_TRUE(is_error(run({"info", "rediss+unix:///h?key=k"}), {"has no TLS"}));
  EXPECT_TRUE(is_error(run({"info", "redis://h?kye=k"}), {"'kye'"}));
  EXPECT_TRUE(is_error(run({"info", "redis://me@h?key=k"}),
                       {"write it after the user and a colon", "BLOOMERY_REDIS_PASSWORD"}));
  EXPECT_TRUE(is_error(run({"info", "redis://127.0.0.1:1?key=k"}), {"cannot be reached"}));
  EXPECT_TRUE(is_error(run({"info", "redis+unix:///nowhere?key=k"}), {"cannot be reached"}));
  const Ran away = run({"rebuild", "redis+unix:///nowhere?key=k"}, "a\n");
  EXPECT_TRUE(is_error(away, {"cannot be reached"}));
  EXPECT_FALSE(says(away.err, "-n and -p")) << "a size makes no server run";
}

TEST_F(RedisTool, MakesAFilterWhoseStatisticsItMayNotRead) {
  server().ask({"ACL", "SETUSER", "maker", "on", ">word", "~*", "+@all", "-bitcount"});
  const Ran made = run({"create", "redis+unix://maker:word@" + server().path() + "?key=made", "-n",
                        "1K", "-p", "1%"});
  server().ask({"ACL", "DELUSER", "maker"});
  EXPECT_EQ(made.code, 0);
  EXPECT_TRUE(says(made.err, "created"));
  EXPECT_TRUE(says(made.err, "its size is unknown: "));
  EXPECT_TRUE(says(made.err, "bitcount"));
  EXPECT_EQ(run({"info", url("made")}).code, 0);
}

TEST_F(RedisTool, TakesPasswordsFromTheEnvironment) {
  const Server guarded({"--requirepass", "open sesame"});
  const std::string rest = guarded.path() + "?key=k";
  EXPECT_TRUE(is_error(run({"info", "redis+unix://" + rest}), {"NOAUTH", "give a password"}));
  EXPECT_EQ(run({"create", "redis+unix://:open%20sesame@" + rest, "-n", "1K", "-p", "1%"}).code, 0);
  const Ran wrong = run({"info", "redis+unix://:secret@" + rest});
  EXPECT_TRUE(is_error(wrong, {"check user and password"}));
  EXPECT_FALSE(says(wrong.err, "secret"));
  ::setenv("BLOOMERY_REDIS_PASSWORD", "open sesame", 1);
  const Ran info = run({"info", "redis+unix://default@" + rest});
  ::unsetenv("BLOOMERY_REDIS_PASSWORD");
  EXPECT_EQ(info.code, 0) << info.err;
  EXPECT_FALSE(says(info.out, "sesame"));
  ::setenv("BLOOMERY_REDIS_PASSWORD_FILE", path("secret").c_str(), 1);
  const auto ask = [&] { return run({"info", "redis+unix://" + rest}); };
  const Ran none = ask();
  EXPECT_TRUE(is_error(none, {"BLOOMERY_REDIS_PASSWORD_FILE", "cannot be read"}));
  for (const std::string& line : {std::string("open sesame"), std::string("open sesame\n"),
                                  "open sesame\r\n" + std::string(5'000, '#') + "\n"}) {
    file("secret", line);
    EXPECT_EQ(ask().code, 0) << line;
  }
  for (const std::string& line : {std::string(), std::string("\nopen sesame"), std::string("\r\n"),
                                  std::string("open\0sesame", 11), std::string(5'000, 'x'),
                                  std::string(5'000, 'x') + "\nopen sesame\n"}) {
    file("secret", line);
    EXPECT_TRUE(is_error(ask(), {"BLOOMERY_REDIS_PASSWORD_FILE"}));
  }
  ::unsetenv("BLOOMERY_REDIS_PASSWORD_FILE");
}

TEST_F(RedisTool, TakesValkeyForRedis) {
  const std::string valkey = "valkey" + url("k").substr(5);
  EXPECT_EQ(run({"create", valkey, "-n", "1K", "-p", "1%"}).code, 0);
  EXPECT_EQ(run({"add", valkey}, "a\nb\n").code, 0);
  EXPECT_EQ(run({"check", "-c", "-q", url("k")}, "a\nb\n").out, "2\n");
  EXPECT_EQ(run({"convert", valkey, path("file")}).code, 0);
  EXPECT_TRUE(is_error(run({"create", valkey, "-n", "1K", "-p", "1%"}), {"--force"}));
  EXPECT_TRUE(is_error(run({"info", "valkeys+unix:///h?key=k"}), {"has no TLS", "valkey+unix://"}));
}

// A server may say anything, in an error and in the description of a filter.
TEST_F(RedisTool, ObeysNoServer) {
  Scripted server(RedisTool::server().path());
  server.say([](const auto&) {
    return std::string(
        "-ERR \033]0;pwned\a\033[2J \x9b\xc2\x9b"
        "1m \xe2\x80\xae\v x://u:secret@h \x7f\r\n");
  });
  const std::string there = "127.0.0.1:" + std::to_string(server.port()) + "/0?key=k";
  for (const std::string scheme : {"redis://", "redis+module://", "redis+cluster://"})
    for (const Arguments& words :
         std::initializer_list<Arguments>{{"info", scheme + there},
                                          {"create", scheme + there, "-n", "1K", "-p", "1%"},
                                          {"add", scheme + there},
                                          {"check", scheme + there},
                                          {"verify", scheme + there, scheme + there},
                                          {"convert", scheme + there, path("out")}}) {
      const Ran ran = run(words, "a\n");
      EXPECT_EQ(ran.code, 2);
      EXPECT_EQ(ran.out, "");
      EXPECT_TRUE(says(ran.err, "\\x1b]0;pwned\\x07\\x1b[2J \\x9b\\xc2\\x9b1m"));
      EXPECT_FALSE(says(ran.err, "secret"));
      for (const char c : ran.err) EXPECT_TRUE((c >= ' ' && c <= '~') || c == '\n') << int{c};
    }
}

TEST_F(RedisTool, SaysHowManyLinesWereAdded) {
  EXPECT_EQ(run({"create", url("k"), "-n", "1K", "-p", "1%"}).code, 0);
  server().ask({"CONFIG", "SET", "maxmemory", "1"});
  const Ran refused = run({"add", url("k")}, "a\nb\n");
  server().ask({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(is_error(refused, {"OOM", "maxmemory", "the first 0 lines were added"}));
}

// Those of the batches before count too.
TEST_F(RedisTool, SaysHowManyLinesWereAddedInAllBatches) {
  EXPECT_EQ(run({"create", url("k"), "-n", "1K", "-p", "1%"}).code, 0);
  Running tool({"add", url("k")});
  int written = 0;
  for (const int batch : {3, 2}) {
    tool.write(numbers(written, written + batch));
    written += batch;
    while (run({"check", "-c", url("k")}, numbers(0, written)).out !=
           std::to_string(written) + "\n")
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  server().ask({"CONFIG", "SET", "maxmemory", "1"});
  tool.write(numbers(100, 104));
  const Ran refused = tool.finish();
  server().ask({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(is_error(refused, {"OOM", "maxmemory", "the first 5 lines were added"}));
}

// Callers that want the numbers alone give no room for answers.
TEST_F(RedisTool, CountsInBothGenerationsOfABucket) {
  const AnyOptions options{.rotating = true, .scheme = PhpScheme::string_hashes("FNV")};
  using Keys = std::vector<std::string_view>;
  const auto open = [&] {
    return AnyFilter::open(url("rptc") + "&timeout=60", Access::write, options);
  };
  EXPECT_EQ(open().insert_many(Keys{"a", "b"}), 2U);
  EXPECT_TRUE(RedisPhpFilter::rotate({server().address(), "rptc"}));
  AnyFilter filter = open();
  EXPECT_EQ(filter.insert_many(Keys{"b", "c"}), 1U);
  EXPECT_EQ(filter.may_contain_many(Keys{"a", "b", "c", "d"}), 3U);
}

}  // namespace
}  // namespace bloomery::test
