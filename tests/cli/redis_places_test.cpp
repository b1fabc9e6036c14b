// Rotating filters, PHP's bits and a module's filters: the tool and real servers.
#include "places.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <sstream>
#include <string>

namespace bloomery::test {
namespace {

using nlohmann::json;

// ---- rotate -------------------------------------------------------------------------------------

TEST_F(Places, RotateForgetsTheOlderGeneration) {
  const Ran created = run({"create", "--rotating", url("k"), "-n", "1K", "-p", "1e-6"});
  EXPECT_EQ(created.code, 0) << created.err;
  EXPECT_TRUE(says(created.err, "two generations of"));
  EXPECT_EQ(run({"add", "-q", url("k")}, numbers(0, 100)).code, 0);
  const Ran rotated = run({"rotate", url("k")});
  EXPECT_EQ(rotated.code, 0);
  EXPECT_EQ(rotated.out, "");
  EXPECT_TRUE(says(rotated.err, "in generation 3 now; generation 1 is forgotten"));
  EXPECT_EQ(absent({url("k")}, numbers(0, 200)), "100\n");
  EXPECT_EQ(run({"dedup", "-q", "--filter", url("k")}, numbers(50, 150)).out, numbers(100, 150));
  EXPECT_EQ(run({"rotate", url("k")}).code, 0);
  EXPECT_EQ(absent({url("k")}, numbers(0, 100)), "100\n");
  EXPECT_EQ(absent({url("k")}, numbers(100, 150)), "0\n");
  const json state = info({url("k")});
  EXPECT_EQ(state["generation"], 4);
  EXPECT_EQ(state["fpr"], 1e-6);
  EXPECT_EQ(state["estimated_items"], 0);
  EXPECT_NEAR(state["older"]["estimated_items"], 50, 1);
  EXPECT_TRUE(says(run({"info", url("k")}).out, "plain, in two generations"));
  EXPECT_EQ(run({"verify", url("k")}).code, 0);
  EXPECT_TRUE(is_error(run({"create", "--force", url("k"), "-n", "1K", "-p", "1%"}),
                       {"not a plain filter in one string"}));
  EXPECT_EQ(run({"create", "--force", "--rotating", url("k"), "-n", "1K", "-p", "1%"}).code, 0);
  EXPECT_EQ(absent({url("k")}, numbers(100, 150)), "50\n");
}

TEST_F(Places, ForceSaysWhyItDoesNotReplace) {
  server().ask({"SET", "text", "x"});
  for (const std::string rotating : {"--rotating", "--layout=blocked"}) {
    const Ran ran = run({"create", "--force", rotating, url("text"), "-n", "1K", "-p", "1%"});
    EXPECT_TRUE(is_error(ran, {"exists and is not", "choose another key"}));
    EXPECT_FALSE(says(ran.err, "--force"));
  }
  EXPECT_EQ(server().get("text"), "x");
  EXPECT_EQ(run({"create", module("m"), "-n", "1K", "-p", "1%"}).code, 0);
  const Ran ran = run({"create", module("m"), "-n", "1K", "-p", "1%"});
  EXPECT_TRUE(is_error(ran, {"exists already", "choose another key"}));
  EXPECT_FALSE(says(ran.err, "--force"));
  EXPECT_TRUE(is_error(run({"create", "--force", module("m"), "-n", "1K", "-p", "1%"}),
                       {"is not replaced", "UNLINK"}));
}

TEST_F(Places, RotateSaysWhatItCannot) {
  EXPECT_EQ(run({"create", url("plain"), "-n", "1K", "-p", "1%"}).code, 0);
  EXPECT_TRUE(is_error(run({"rotate", url("plain")}), {"does not rotate"}));
  EXPECT_TRUE(is_error(run({"rotate", url("none")}), {"is not there"}));
  EXPECT_TRUE(is_error(run({"rotate", path("file")}), {"a file does not rotate", "--window"}));
  EXPECT_TRUE(is_error(run({"rotate", module("m")}), {"does not rotate", "--window"}));
  EXPECT_TRUE(
      is_error(run({"create", "--rotating", url("k"), "-n", "1K"}), {"two generations take -n"}));
  EXPECT_TRUE(is_error(run({"create", "--rotating", path("f"), "-n", "1K", "-p", "1%"}),
                       {"two generations are for filters in Redis"}));
  EXPECT_EQ(run({"create", "--rotating", url("k"), "-n", "1K", "-p", "1%"}).code, 0);
  EXPECT_TRUE(
      is_error(run({"merge", url("out"), url("k"), url("plain")}), {"rotates", "two generations"}));
  EXPECT_TRUE(is_error(run({"convert", url("k"), path("f")}), {"rotates", "two generations"}));
}

// ---- PHP ----------------------------------------------------------------------------------------

TEST_F(Places, SchemeSharesTheBucketOfAPhpClass) {
  const Arguments scheme{"--scheme", "php-hashes=BKDR,SDBM,JS", url("rptc") + "&timeout=60"};
  const auto with = [&](Arguments words) {
    words.insert(words.end(), scheme.begin(), scheme.end());
    return words;
  };
  EXPECT_TRUE(is_error(run(with({"add"}), "a\n"), {"'rptc' is not there"}));
  EXPECT_EQ(run(with({"create"})).code, 0);
  EXPECT_TRUE(is_error(run(with({"create"})), {"exists"}));
  EXPECT_EQ(run(with({"add", "-q"}), "a\n").code, 0);
  // What PHP's BKDRHash says of "a".
  EXPECT_EQ(server().ask({"GETBIT", "rptc", "97"})->integer, 1);
  EXPECT_EQ(run(with({"check"}), "a\nb\n").out, "a\n");
  EXPECT_EQ(run({"dedup", "-q", "--scheme", scheme[1], "--filter", url("rptc")}, "a\nc\nc\n").out,
            "c\n");
  const json state = info(scheme);
  EXPECT_EQ(state["bits"], 4294967296);
  EXPECT_EQ(state["fill_is_sampled"], true);
  EXPECT_TRUE(is_error(run(with({"info", "-n", "5"})), {"leave -n and --bits out"}));
  EXPECT_TRUE(is_error(run({"info", "--scheme", "php-hashes=X", url("rptc")}), {"X"}));
  EXPECT_TRUE(is_error(run({"info", "--scheme", "perl", url("rptc")}), {"php-crc32-mt"}));
  EXPECT_TRUE(is_error(run(with({"create", "-p", "1%"})), {"-p does not go with --scheme"}));
  EXPECT_TRUE(is_error(run({"dedup", "--scheme", scheme[1]}, "a\n"), {"goes with --filter"}));
  EXPECT_TRUE(is_error(run({"add", "-n", "5", url("rptc")}, "a\n"), {"-n goes with --scheme"}));
  // A filter of ours is no bucket, and a bucket none of ours.
  EXPECT_EQ(run({"create", url("ours"), "-n", "1K", "-p", "1%"}).code, 0);
  EXPECT_TRUE(is_error(run({"check", "--scheme", scheme[1], url("ours")}, "a\n"),
                       {"no PHP bucket", "without a scheme"}));
  EXPECT_TRUE(is_error(run({"check", url("rptc")}, "a\n"), {"without a filter's header"}));
}

TEST_F(Places, SchemeRotatesABucketForClientsThatAskBoth) {
  const Arguments scheme{"--scheme", "php-hashes=FNV", url("rptc") + "&timeout=60"};
  const auto with = [&](Arguments words) {
    words.insert(words.end(), scheme.begin(), scheme.end());
    return words;
  };
  EXPECT_EQ(run(with({"create"})).code, 0);
  EXPECT_EQ(run(with({"add", "-q"}), "a\n").code, 0);
  EXPECT_EQ(run(with({"rotate"})).code, 0);
  EXPECT_EQ(run(with({"check", "-q", "--rotating"}), "a\n").code, 0);
  EXPECT_EQ(run(with({"add", "-q", "--rotating"}), "b\n").code, 0);
  EXPECT_EQ(run(with({"check", "--rotating"}), "a\nb\nc\n").out, "a\nb\n");
  EXPECT_EQ(run(with({"rotate"})).code, 0);
  EXPECT_EQ(run(with({"check", "--rotating"}), "a\nb\nc\n").out, "b\n");
  // Nothing has come since, or the night's job runs twice.
  for (int i = 0; i < 3; ++i) {
    const Ran idle = run(with({"rotate"}));
    EXPECT_EQ(idle.code, 0) << idle.err;
    EXPECT_TRUE(says(idle.err, "nothing was added to"));
    EXPECT_EQ(run(with({"check", "--rotating"}), "a\nb\nc\n").out, "b\n");
  }
  EXPECT_EQ(run(with({"add", "-q", "--rotating"}), "c\n").code, 0);
  EXPECT_EQ(run(with({"rotate"})).code, 0);
  EXPECT_EQ(run(with({"check", "--rotating"}), "a\nb\nc\n").out, "c\n");
  // A key with a typing error, and what is no generation.
  EXPECT_TRUE(
      is_error(run({"rotate", "--scheme", scheme[1], url("rpct")}), {"'rpct' is not there"}));
  server().ask({"DEL", "{rptc}:older"});
  server().ask({"RPUSH", "{rptc}:older", "x"});
  EXPECT_TRUE(is_error(run(with({"rotate"})), {"{rptc}:older"}));
  EXPECT_EQ(run(with({"create"})).code, 0);
  EXPECT_TRUE(is_error(run(with({"rotate"})), {"{rptc}:older"}));
  EXPECT_EQ(server().ask({"LLEN", "{rptc}:older"})->integer, 1);
}

TEST_F(Places, SchemeReadsAndWritesFiles) {
  const Arguments scheme{"--scheme", "php-crc32-mt", "-n", "1000", "--bits", "10001"};
  const auto with = [&](Arguments words, const std::string& name) {
    words.insert(words.end(), scheme.begin(), scheme.end());
    words.push_back(name);
    return words;
  };
  const std::string bits = path("bits");
  EXPECT_TRUE(is_error(run(with({"add"}, bits), "a\n"), {bits, "does not exist", "create"}));
  EXPECT_TRUE(is_error(run({"create", "--scheme", "php-crc32-mt", bits}), {"--bits M and -n N"}));
  EXPECT_FALSE(std::filesystem::exists(bits)) << "a refused create has left a file";
  EXPECT_EQ(run(with({"create"}, bits)).code, 0);
  EXPECT_TRUE(
      run(with({"add", "--json"}, bits), "1\n2\n3\n").err.starts_with("{\"acknowledged\":3}\n"));
  EXPECT_TRUE(is_error(run(with({"create"}, bits)), {bits, "exists"}));
  EXPECT_EQ(run(with({"add", "-q"}, bits), numbers(0, 500)).code, 0);
  EXPECT_EQ(run(with({"dedup", "-q", "--filter"}, bits), "").code, 2);
  Arguments words{"dedup", "-q", "-c", "--filter", bits};
  words.insert(words.end(), scheme.begin(), scheme.end());
  EXPECT_EQ(run(words, numbers(0, 500)).out, "0\n");
  EXPECT_EQ(absent(with({}, bits), numbers(0, 500)), "0\n");
  EXPECT_EQ(std::filesystem::file_size(bits), 1251U);
  const json state = info(with({}, bits));
  EXPECT_EQ(state["hashes"], 7);
  EXPECT_NEAR(state["estimated_items"], 500, 40);
  EXPECT_TRUE(is_error(run(with({"remove"}, bits), "a\n"), {"--scheme is a flag of"}));
  // Into Redis, where PHP goes on with it, and back.
  EXPECT_EQ(
      run({"convert", "--scheme", "php-crc32-mt", "-n", "1000", "--bits", "10001", bits, url("b")})
          .code,
      0);
  EXPECT_EQ(server().get("b"), text_of(bits).substr(0, server().get("b").size()));
  EXPECT_EQ(absent(with({}, url("b")), numbers(0, 500)), "0\n");
  EXPECT_EQ(run({"convert", "--scheme", "php-crc32-mt", "-n", "1000", "--bits", "10001", url("b"),
                 path("again")})
                .code,
            0);
  EXPECT_EQ(absent(with({}, path("again")), numbers(0, 500)), "0\n");
  // What can be checked.
  file("long", std::string(1252, '\0'));
  EXPECT_TRUE(is_error(run(with({"info"}, path("long"))), {"more than the 1251"}));
  file("ones", std::string(1251, '\xFF'));
  EXPECT_EQ(run(with({"info"}, path("ones"))).code, 2) << "ones behind the last bit";
  EXPECT_EQ(run({"create", path("ours"), "-n", "10", "-p", "1%"}).code, 0);
  EXPECT_EQ(run({"info", "--scheme", "php-hashes=JS", path("ours")}).code, 2);
  file("half", std::string(1000, '\xFF'));
  const Ran full = run(with({"info"}, path("half")));
  EXPECT_EQ(full.code, 0);
  EXPECT_TRUE(says(full.err, "more than half"));
}

// ---- modules ------------------------------------------------------------------------------------

TEST_F(Places, ModuleFiltersHaveTheVerbs) {
  EXPECT_TRUE(is_error(run({"add", module("m")}, "a\n"), {"'m' is not there"}));
  EXPECT_EQ(run({"create", module("m"), "-n", "1K", "-p", "0.1%"}).code, 0);
  const Ran added = run({"add", module("m")}, numbers(0, 5000));
  EXPECT_EQ(added.code, 0);
  EXPECT_EQ(absent({module("m")}, numbers(0, 5000)), "0\n");

  const json state = info({module("m")});
  EXPECT_GE(state["capacity"], 5000);
  EXPECT_NEAR(state["inserted"], 5000, 10);
  EXPECT_TRUE(is_error(run({"remove", module("m")}, "7\n"), {"does not count"}));
  EXPECT_TRUE(is_error(run({"merge", path("o"), module("m"), module("m")}), {"BF.MERGE"}));
  EXPECT_TRUE(is_error(run({"rebuild", module("m")}, "a\n"), {"BF.MERGE"}));

  EXPECT_EQ(run({"create", module("c"), "--kind", "counting", "-n", "1K", "-p", "0.1%"}).code, 0);
  EXPECT_EQ(run({"add", "-q", module("c")}, numbers(0, 100)).code, 0);
  EXPECT_EQ(run({"remove", "-q", module("c")}, numbers(0, 50)).code, 0);
  EXPECT_EQ(absent({module("c")}, numbers(0, 100)), "50\n");

  EXPECT_EQ(run({"create", module("f"), "--kind", "plain", "-n", "100", "-p", "1%"}).code, 0);
  EXPECT_TRUE(
      is_error(run({"add", module("f")}, numbers(0, 500)), {"is full", "lines were added"}));

  EXPECT_EQ(run({"create", module("w"), "--window", "7d", "-n", "1K", "-p", "1%"}).code, 0);
  EXPECT_EQ(run({"dedup", "-q", "-c", "--filter", module("w")}, "a\na\n").out, "1\n");
  // A window of lines forgets within one block of lines, and within a slice that an earlier run began.
  const Arguments lines{"dedup", "-q", "--window", "20",       "--slices",
                        "4",     "-p", "1e-12",    "--filter", module("l")};
  EXPECT_EQ(run(lines, numbers(0, 1003) + numbers(0, 1000)).out,
            numbers(0, 1003) + numbers(0, 1000));
  EXPECT_EQ(run(lines, numbers(974, 1000) + numbers(0, 30)).out,
            run({"dedup", "-q", "--window", "20", "--slices", "4", "-p", "1e-12"},
                numbers(0, 1003) + numbers(0, 1000) + numbers(974, 1000) + numbers(0, 30))
                .out.substr(numbers(0, 1003).size() + numbers(0, 1000).size()));

  const Server bare;
  EXPECT_TRUE(is_error(run({"info", "redis+module+unix://" + bare.path() + "?key=k"}),
                       {"no module with BF commands"}));
}

TEST_F(Places, AModuleFilterThatGoesIsNeverAbsent) {
  for (const bool replaced : {false, true}) {
    EXPECT_EQ(run({"create", module("m"), "-n", "1K", "-p", "0.1%"}).code, 0);
    EXPECT_EQ(run({"add", "-q", module("m")}, "a\n").code, 0);
    Running tool({"check", module("m")});
    tool.write("a\n");
    EXPECT_EQ(tool.read(2), "a\n");
    server().ask({"DEL", "m"});
    if (replaced) {
      EXPECT_EQ(run({"create", module("m"), "-n", "1K", "-p", "0.1%"}).code, 0);
    }
    tool.write("a\n");
    const Ran ran = tool.finish();
    EXPECT_EQ(ran.code, 2);
    EXPECT_TRUE(says(ran.err, replaced ? "fewer keys than it had" : "is not there"));
    server().ask({"DEL", "m"});
  }
}

// ---- one scrape of many filters -----------------------------------------------------------------

TEST_F(Places, MetricsOfAllFiltersThatMatch) {
  // 3,000 of all kinds in both layouts, between keys of other types, and filters of another pattern.
  const std::string fill =
      "for i = 0, 2999 do local key = 'bf:' .. i "
      "if i % 4 == 0 then redis.call('BF.RESERVE', key, '0.01', 100, 'NONSCALING') "
      "elseif i % 4 == 1 then redis.call('BF.RESERVE', key, '0.02', 100) "
      "elseif i % 4 == 2 then redis.call('BF.RESERVE', key, '0.03', 100, 'COUNTING') "
      "else redis.call('BF.RESERVE', key, '0.04', 100, 'LAYOUT', 'redisbloom') end "
      "redis.call('BF.ADD', key, 'x') redis.call('SET', 'bf:text' .. i, 'x') "
      "redis.call('CF.ADD', 'bf:cuckoo' .. i, 'x') redis.call('BF.ADD', 'other:' .. i, 'x') end";
  server().ask({"EVAL", fill, "0"});
  server().ask({"BF.INSERT", "bf:t", "TIGHTENING", "0.8", "ERROR", "0.05", "ITEMS", "x"});
  const std::string at = "redis+module+unix://" + server().path();
  const Ran ran = run({"info", "--format", "prometheus", at + "?match=bf:*"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t i = 0; (i = ran.out.find(part, i)) != std::string::npos; ++i) ++found;
    return found;
  };
  EXPECT_EQ(count("\nbloomery_filter_readable{"), 3'001U);
  EXPECT_EQ(count("\nbloomery_filter_inserted_keys{"), 3'001U);
  EXPECT_EQ(count("kind=\"plain\"} 0.01\n"), 750U);
  EXPECT_EQ(count("kind=\"scalable\"} 0.02\n"), 750U);
  EXPECT_EQ(count("kind=\"counting\"} 0.03\n"), 750U);
  EXPECT_EQ(count("kind=\"scalable\"} 0.04\n"), 750U);
  EXPECT_EQ(count("kind=\"scalable\"} 0.05\n"), 1U);
  EXPECT_EQ(count("other:"), 0U);
  for (const char* known : {"fill_ratio", "current_fpr", "estimated_keys"}) {
    const std::string name = std::string("\nbloomery_filter_") + known + "{";
    EXPECT_EQ(count(name), 2'251U) << "all but those that count";
  }
  EXPECT_EQ(count("# TYPE bloomery_filter_readable gauge\n"), 1U);
  // As the filter alone, and the same again.
  for (const std::string key : {"bf:0", "bf:1", "bf:2", "bf:3", "bf:t"}) {
    std::istringstream alone(run({"info", "--format", "prometheus", module(key)}).out);
    for (std::string line; std::getline(alone, line);) {
      EXPECT_EQ(count(line + "\n"), 1U) << line;
    }
  }
  EXPECT_EQ(run({"info", "--format", "prometheus", at + "?match=bf:*"}).out, ran.out);
  const Ran none = run({"info", "--format", "prometheus", at + "?match=none*"});
  EXPECT_EQ(none.code, 0);
  EXPECT_EQ(none.out, "");
  // A pattern is for metrics of a module alone.
  EXPECT_TRUE(
      is_error(run({"info", at + "?match=bf:*"}), {"'match' is for info --format prometheus"}));
  EXPECT_TRUE(is_error(run({"add", at + "?match=bf:*"}, "x\n"), {"'match' is for info"}));
  const Ran both = run({"info", "--format", "prometheus", at + "?match=a&key=b"});
  EXPECT_EQ(both.code, 2);
  EXPECT_TRUE(says(both.err, "'key' is not a part of an address"));
  const Ran strings =
      run({"info", "--format", "prometheus", "redis+unix://" + server().path() + "?match=*"});
  EXPECT_EQ(strings.code, 2);
  EXPECT_TRUE(says(strings.err, "match is for the filters of a module"));
}

TEST_F(Places, MetricsOfTheOthersWhereOneFilterIsRefused) {
  server().ask({"ACL", "SETUSER", "watcher", "on", ">word", "~bf:open*", "+@all"});
  for (const char* key : {"bf:open:1", "bf:secret", "bf:open:2"})
    server().ask({"BF.ADD", key, "x"});
  const std::string host = "redis+module+unix://watcher:word@" + server().path();
  const Ran ran = run({"info", "--format", "prometheus", host + "?match=bf:*"});
  server().ask({"ACL", "DELUSER", "watcher"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(says(ran.err, "'bf:secret': NOPERM"));
  const std::string label =
      "bloomery_filter_readable{filter=\"redis+module+unix://" + server().path() + "?key=bf:";
  EXPECT_TRUE(ran.out.starts_with("# HELP bloomery_filter_readable")) << ran.out;
  for (const char* readable : {"open:1\"} 1\n", "open:2\"} 1\n", "secret\"} 0\n"})
    EXPECT_TRUE(says(ran.out, label + readable));
}

}  // namespace
}  // namespace bloomery::test
