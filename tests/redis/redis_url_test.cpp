// Addresses say what they say, and nothing that is not understood is overlooked.
#include <bloomery/redis_url.hpp>

#include <gtest/gtest.h>

#include "redis/server.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

TEST(RedisUrl, HasItsParts) {
  const RedisUrl url = parse_redis_url("redis://me:se%3Acret@10.0.0.7:7000/3?key=a%20%26%00b+c");
  EXPECT_FALSE(url.module);
  EXPECT_EQ(url.address.host, "10.0.0.7");
  EXPECT_EQ(url.address.port, 7000);
  EXPECT_EQ(url.address.database, 3U);
  EXPECT_EQ(url.address.user, "me");
  EXPECT_EQ(url.address.password, "se:cret");
  EXPECT_EQ(url.key, std::string("a &\0b+c", 7));
  EXPECT_EQ(url.address.socket, "");
}

TEST(RedisUrl, LeavesOutWhatIsUsual) {
  const RedisUrl url = parse_redis_url("redis://localhost?key=k");
  EXPECT_EQ(url.address.port, 6379);
  EXPECT_EQ(url.address.database, 0U);
  EXPECT_EQ(url.address.user, "");
  EXPECT_EQ(url.address.password, "");
  EXPECT_EQ(parse_redis_url("redis://localhost/?key=k").address.database, 0U);
  const RedisUrl bare = parse_redis_url("redis://:p@ss:word@h?key=k");
  EXPECT_EQ(bare.address.user, "");
  EXPECT_EQ(bare.address.password, "p@ss:word");
  EXPECT_EQ(parse_redis_url("redis://me@h?key=k").address.user, "me");
}

TEST(RedisUrl, NamesHostsOfEveryForm) {
  for (const char* host : {"A-b_c.Z9", "z", "a", "A", "Z", "0", "9", "-", "_", ".", "[::1%eth0]"})
    EXPECT_NE(parse_redis_url(std::string("redis://") + host + "?key=k").address.host, "") << host;
  for (const char* host : {"a`", "a{", "a^", "a~", "a\x7F", "a\xC3\xA4", "a%41", "a;b"}) {
    const auto parse = [&] { (void)parse_redis_url(std::string("redis://") + host + "?key=k"); };
    const std::string said = error_of(parse, ErrorCode::invalid_argument);
    for (const char each : said) EXPECT_TRUE(each >= ' ' && each <= '~') << host;
  }
}

TEST(RedisUrl, KnowsEveryHexadecimalDigit) {
  EXPECT_EQ(parse_redis_url("redis://h?key=%01%23%45%67%89%AB%CD%EF%ab%cd%ef").key,
            "\x01\x23\x45\x67\x89\xAB\xCD\xEF\xAB\xCD\xEF");
  for (const char* digit : {"/", ":", "@", "G", "`", "g"})
    for (const std::string& digits : {std::string("0") + digit, digit + std::string("0")})
      error_of([&] { (void)parse_redis_url("redis://h?key=%" + digits); },
               ErrorCode::invalid_argument);
}

TEST(RedisUrl, LeavesAnAtInAKey) { EXPECT_EQ(parse_redis_url("redis://u:p@h?key=a@b").key, "a@b"); }

TEST(RedisUrl, NamesSocketsModulesAndSixes) {
  const RedisUrl socket = parse_redis_url("redis+unix:///run/a%20b/c@d.sock?key=k&db=2");
  EXPECT_EQ(socket.address.socket, "/run/a b/c@d.sock");
  EXPECT_EQ(socket.address.database, 2U);
  const RedisUrl user = parse_redis_url("redis+unix://me:pass@/run/redis.sock?key=k");
  EXPECT_EQ(user.address.socket, "/run/redis.sock");
  EXPECT_EQ(user.address.password, "pass");
  EXPECT_TRUE(parse_redis_url("redis+module://h?key=k").module);
  const RedisUrl module_socket = parse_redis_url("redis+module+unix:///s?key=k");
  EXPECT_TRUE(module_socket.module);
  EXPECT_EQ(module_socket.address.socket, "/s");
  const RedisUrl shards = parse_redis_url("redis+module+cluster://h?key=k&shards=12");
  EXPECT_TRUE(shards.module);
  EXPECT_EQ(shards.shards, 12U);
  EXPECT_EQ(parse_redis_url("redis+cluster+unix:///s?key=k").shards, 0U);
  EXPECT_EQ(module_socket.shards, std::nullopt);
  EXPECT_EQ(parse_redis_url("redis://[::1]:7/1?key=k").address.host, "::1");
  EXPECT_EQ(parse_redis_url("redis://[fe80::1%eth0]?key=k").address.port, 6379);
}

TEST(RedisUrl, IsWrittenWithoutItsSecrets) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"redis://u:p@h?key=a%20b", "redis://h:6379/0?key=a%20b"},
           {"redis://[a%25]?key=k", "redis://[a%25]:6379/0?key=k"},
           {"redis://[::1]/4?key={x}:y", "redis://[::1]:6379/4?key={x}:y"},
           {"redis+unix://u:p@/s%3Fx?key=k&db=1", "redis+unix:///s%3Fx?key=k&db=1"},
           {"redis+cluster://u:p@h?shards=7&key=k", "redis+cluster://h:6379/0?key=k&shards=7"},
           {"redis+module+cluster+unix:///s?key=k", "redis+module+cluster+unix:///s?key=k"},
           {"valkey://u:p@h/2?key=k", "redis://h:6379/2?key=k"},
           {"valkey+module+cluster+unix://u:p@/s?key=k", "redis+module+cluster+unix:///s?key=k"},
           {"valkeys+module+cluster://u:p@h?key=k&shards=2&cert=%26c",
            "rediss+module+cluster://h:6379/0?key=k&shards=2&cert=%26c"},
           {"rediss://u:p@h?insecure=yes&sni=n&certkey=/k&cert=/c&cacert=/a&key=k",
            "rediss://h:6379/0?key=k&cacert=/a&cert=/c&certkey=/k&sni=n&insecure=yes"},
           {"redis+module+sentinel://u:p@a,[::1]:7,b:8/2?master=m%20m&key=k",
            "redis+module+sentinel://a:26379,[::1]:7,b:8/2?key=k&master=m%20m"},
           {"redis://u:p@h?timeout=0.20&key=k", "redis://h:6379/0?key=k&timeout=0.2"},
           {"redis://h?timeout=5&key=k", "redis://h:6379/0?key=k"},
           {"redis+unix:///s?key=k&db=2&timeout=30", "redis+unix:///s?key=k&db=2&timeout=30"},
           {"redis://h?key=k&timeout=1.050", "redis://h:6379/0?key=k&timeout=1.05"},
           {"redis://h?key=k&timeout=3599.001", "redis://h:6379/0?key=k&timeout=3599.001"},
           {"redis://h?key=09AZaz%40%5b%60%7f", "redis://h:6379/0?key=09AZaz%40%5B%60%7F"},
           {"redis+module://h:1?key=%FF", "redis+module://h:1/0?key=%FF"}}) {
    EXPECT_EQ(parse_redis_url(from).text(), to);
    EXPECT_EQ(parse_redis_url(to).text(), to);
  }
}

TEST(RedisUrl, HasATimeout) {
  using std::chrono::milliseconds;
  const auto timeout = [](const std::string& text) {
    return parse_redis_url("redis+cluster://h?key=k" + text).address.timeout;
  };
  EXPECT_EQ(timeout(""), milliseconds(5000));
  EXPECT_EQ(timeout("&timeout=0.001"), milliseconds(1));
  EXPECT_EQ(timeout("&timeout=0.2004"), milliseconds(200));
  EXPECT_EQ(timeout("&timeout=3600"), milliseconds(3'600'000));
}

TEST(RedisUrl, HasUpTo32Sentinels) {
  std::string hosts = "h";
  for (int i = 1; i < 32; ++i) hosts += ",h";
  const auto url = [&] { return parse_redis_url("redis+sentinel://" + hosts + "?key=k&master=m"); };
  EXPECT_EQ(url().address.sentinels->places.size(), 32U);
  hosts += ",h";
  expect_error(ErrorCode::invalid_argument, {"at most 32 sentinels"}, [&] { (void)url(); });
}

TEST(RedisUrl, TakesEveryNumberOfItsRanges) {
  for (const std::string port : {"1", "65535"})
    EXPECT_EQ(parse_redis_url("redis://h:" + port + "?key=k").text(),
              "redis://h:" + port + "/0?key=k");
  EXPECT_EQ(parse_redis_url("redis://h/2147483647?key=k").address.database, 2'147'483'647U);
  EXPECT_EQ(parse_redis_url("redis+cluster://h?key=k&shards=1").shards, 1U);
  EXPECT_EQ(parse_redis_url("redis+cluster://h?key=k&shards=1024").shards, 1'024U);
}

TEST(RedisUrl, IsShortInAMessage) {
  const auto refusal = [](const std::string& database) {
    return error_of([&] { (void)parse_redis_url("redis://h/" + database + "?key=k"); },
                    ErrorCode::invalid_argument);
  };
  const std::string whole(64, 'x');
  EXPECT_NE(refusal(whole).find("the database '" + whole + "' is not"), std::string::npos);
  EXPECT_NE(refusal(whole + "x").find("the database '" + whole + "...' is not"), std::string::npos);
  EXPECT_NE(refusal(" ~\x1F\x7F\xFF").find("the database ' ~" + std::string(3, '?') + "' is not"),
            std::string::npos);
}

TEST(RedisUrl, IsToldFromAPath) {
  for (const char* url : {"redis://x", "rediss://", "redis+what://", "redis+module://h",
                          "valkey://x", "valkeys://", "valkey+module+unix://"})
    EXPECT_TRUE(is_redis_url(url)) << url;
  for (const char* path :
       {"redis", "./redis://x", "redis/x://", "http://x", "redis:/x", "valkey", "valkey:/x", ""})
    EXPECT_FALSE(is_redis_url(path)) << path;
}

TEST(RedisUrl, RefusesWhatItDoesNotUnderstand) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"rediss+unix:///s?key=k", "has no TLS; write redis+unix://"},
      {"valkeys+unix:///s?key=k", "has no TLS; write valkey+unix://"},
      {"redis://h?key=k&cacert=f", "'cacert' is for TLS; write rediss or valkeys instead of"},
      {"redis+unix:///s?key=k&insecure=yes", "'insecure' is for TLS"},
      {"rediss://h?key=k&ca=f", "key, timeout, cacert, cert, certkey, sni, insecure"},
      {"rediss://h?key=k&insecure=no", "insecure=yes accepts any server"},
      {"rediss://h?key=k&certkey=f", "name that with cert"},
      {"rediss://h?key=k&sni=", "sni is empty"},
      {"redis+sentinel://h?key=k", "which master; add &master=name"},
      {"redis+sentinel://h?key=k&master=", "which master; add &master=name"},
      {"redis+sentinel://h?key=k&x=1",
       "'x' is not a part of an address; its parts are key, timeout, master"},
      {"redis+cluster://h?key=k&x=1",
       "'x' is not a part of an address; its parts are key, timeout, shards"},
      {"redis+unix:///s?key=k&x=1",
       "'x' is not a part of an address; its parts are key, timeout, db"},
      {"redis+sentinel://h,?key=k&master=m", "there is no host"},
      {"redis+sentinel://h,h:0?key=k&master=m", "the port '0'"},
      {"redis+cluster+sentinel://h?key=k&master=m", "leave one of both out"},
      {"redis+sentinel+unix:///h?key=k&master=m", "is not a kind of address"},
      {"redis://h?key=k&master=m", "'master' is for sentinels; write redis+sentinel://"},
      {"rediss://h?key=k&cacert=a%00b", "a zero byte"},
      {"valkey+tcp://h?key=k", "'valkey+tcp' is not a kind of address"},
      {"redis+tcp://h?key=k", "'redis+tcp' is not a kind of address"},
      {"redis+cluster+module://h?key=k", "'redis+cluster+module' is not a kind of address"},
      {"redis://h?key=k&shards=3", "'shards' is for a filter in shards; write redis+cluster://"},
      {"redis+module://h?match=k*",
       "'match' is for info --format prometheus, and names all filters"},
      {"redis://h?key=k&password=s", "'password' is not a part of an address; write user:password"},
      {"redis+cluster://h?key=k&shards=0", "is not a number from 1 to 1024"},
      {"redis+cluster://h?key=k&shards=1025", "is not a number from 1 to 1024"},
      {"redis+unix+module:///s?key=k", "not a kind of address"},
      {"http://h?key=k", "not a kind of address"},
      {"redis:h", "not a kind of address"},
      {"redis://h", "names no key"},
      {"redis://h?", "names no key"},
      {"redis://h?key=", "names no key"},
      {"redis://h?key", "has no value"},
      {"redis://h?key=a&key=b", "twice"},
      {"redis://h?key=a&", nullptr},
      {"redis://h?kye=a", "'kye' is not a part"},
      {"redis://h?key=a&timeout=", "the timeout '' is not a number of seconds from 0.001 to 3600"},
      {"redis://h?key=a&timeout=0", "the timeout '0' is not"},
      {"redis://h?key=a&timeout=0.0004", "the timeout '0.0004' is not"},
      {"redis://h?key=a&timeout=-1", "the timeout '-1' is not"},
      {"redis://h?key=a&timeout=3601", "the timeout '3601' is not"},
      {"redis://h?key=a&timeout=1e2", "the timeout '1e2' is not"},
      {"redis://h?key=a&timeout=nan", "the timeout 'nan' is not"},
      {"redis://h?key=a&timeout=5s", "the timeout '5s' is not"},
      {"redis://h?key=a&db=1", "as in /2"},
      {"redis://h?key=a&&", "'' is not a part"},
      {"redis://h?key=%", "two hexadecimal"},
      {"redis://h?key=%4", "two hexadecimal"},
      {"redis://h?key=%zz", "two hexadecimal"},
      {"redis://?key=k", "no host"},
      {"redis://:7?key=k", "no host"},
      {"redis:///0?key=k", "no host"},
      {"redis://a b?key=k", "no host has"},
      {"redis://h%41?key=k", "no host has"},
      {"redis://h\n?key=k", "'h?' has a character"},
      {"redis://[::1?key=k", "no ]"},
      {"redis://[::1]7?key=k", "after ]"},
      {"redis://[]:7?key=k", "no host"},
      {"redis://::1?key=k", "no host"},
      {"redis://h:?key=k", "the port ''"},
      {"redis://h:0?key=k", "from 1 to 65535"},
      {"redis://h:65536?key=k", "from 1 to 65535"},
      {"redis://h:+7?key=k", "the port '+7'"},
      {"redis://h:7x?key=k", "the port '7x'"},
      {"redis://h/x",
       "the database 'x' is not a number from 0 to 2147483647; key= names the filter"},
      {"redis://h/-1?key=k", "the database"},
      {"redis://h/1/2?key=k", "the database '1/2'"},
      {"redis://h/4294967296?key=k", "the database"},
      {"redis://h/2147483648?key=k", "from 0 to 2147483647"},
      {"redis+unix://s?key=k", "begins with /"},
      {"redis+unix://?key=k", "begins with /"},
      {"redis+unix:///s%00t?key=k", "%00"},
      {"redis+unix:///s?key=k&db=x", "the database 'x'"},
      {"redis://u%00@h?key=k", "the user has"},
      {"redis://u:p%00@h?key=k", "the password has"},
      {"redis+sentinel://h?key=k&master=m%00", "the name of the master has"},
      {"rediss://h?key=k&cert=", "cert is empty"},
  };
  for (const auto& wrong : kWrong) {
    const auto& url = wrong.first;
    const auto& says = wrong.second;
    if (says == nullptr) {
      EXPECT_NO_THROW((void)parse_redis_url(url)) << url;
      continue;
    }
    const std::string error =
        error_of([&] { (void)parse_redis_url(url); }, ErrorCode::invalid_argument);
    EXPECT_NE(error.find(says), std::string::npos) << url << ": " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << url;
  }
}

TEST(RedisPattern, IsForTheFiltersOfAModuleOnOneServer) {
  for (const char* pattern : {"redis+module://h?match=*", "redis+module://h?timeout=1&match=*",
                              "redis+module+unix:///s?db=1&match=a*", "redis://h?match=*"})
    EXPECT_TRUE(is_redis_pattern(pattern)) << pattern;
  for (const char* other : {"redis+module://h", "redis+module://match=*",
                            "redis+module://h?key=match=", "redis+module://h?key=k?match=*",
                            "http://h?match=*", "h?match=*", ""})
    EXPECT_FALSE(is_redis_pattern(other)) << other;
  EXPECT_EQ(parse_redis_pattern("redis+module://h/2?match=a*").key, "a*");
  for (const char* wrong : {"redis://h?match=*", "redis+module+cluster://h?match=*"}) {
    expect_error(ErrorCode::invalid_argument, {"of a module on one server"},
                 [&] { (void)parse_redis_pattern(wrong); });
  }
}

TEST(RedisUrl, NeverRepeatsAPassword) {
  for (const std::string url :
       {"redis://me:se%cret@h?key=k", "redis://se%cret@h?key=k", "redis://me:secret@?key=k",
        "redis://me:secret@h:x?key=k", "redis://me:secret@h", "redis://me:secret@h/x?key=k",
        "redis://me:secret%00@h?key=k", "redis://me:secret/x@h?key=k",
        "redis+unix://me:x/secret%@/s?key=k", "redis+unix://me:secret/x@/s?key=k",
        "redis://me:x?secret@h?key=k", "redis://me:secret?key=x@h/0",
        "redis://me:secret?key=x&shards=secret@h/0", "redis://me:x@y:secret?z@h?key=k",
        "redis+unix://me:x?db=secret@/s?key=k"}) {
    const std::string error =
        error_of([&] { (void)parse_redis_url(url); }, ErrorCode::invalid_argument);
    EXPECT_EQ(error.find("cret"), std::string::npos) << error;
  }
}

// Whatever the bytes: an error, or an address that its text leads back to.
TEST(RedisUrl, TakesAnyBytes) {
  using namespace std::string_literals;
  const std::string alphabet = "redis+unixmodule:/@?&=%[]#.0129afkey\0\xFF \n"s;  // with the NUL
  std::uint64_t state = 1;
  int taken = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string text = i % 2 == 0 ? "redis://" : "redis+unix:///";
    const std::uint64_t length = mix(state++) % 24;
    for (std::uint64_t j = 0; j < length; ++j) text += alphabet[mix(state++) % alphabet.size()];
    if (i % 3 == 0) text += "?key=" + std::string(1, alphabet[mix(state++) % alphabet.size()]);
    try {
      const RedisUrl url = parse_redis_url(text);
      const RedisUrl again = parse_redis_url(url.text());
      ++taken;
      EXPECT_EQ(again.key, url.key);
      EXPECT_EQ(again.address.host, url.address.host);
      EXPECT_EQ(again.address.socket, url.address.socket);
      EXPECT_EQ(again.address.port, url.address.port);
      EXPECT_EQ(again.address.database, url.address.database);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
    }
  }
  EXPECT_GT(taken, 1'000);
}

}  // namespace
}  // namespace bloomery::test
