// A bucket that PHP and we write together: real PHP, real Redis.
#include <bloomery/redis_filter.hpp>
#include <bloomery/redis_php_filter.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "legacy/random_keys.hpp"
#include "redis/scripted.hpp"
#include "redis/server.hpp"
#include "support/hex.hpp"

namespace bloomery::test {
namespace {

// What the PHP class prints for keys, a block a key.
std::string php(const Server& server, const std::string& hashes, const std::string& verb,
                const Keys& keys) {
  const std::string input = server.scratch() / "keys";
  std::ofstream file(input);
  for (const std::string& key : keys.texts) file << to_hex(key) << '\n';
  file.close();
  std::string command = "php '" BLOOMERY_PHP_BUCKET "' '";
  command.append(server.path()).append("' rptc ").append(hashes).append(" ").append(verb);
  command.append(" < '").append(input).append("'");
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4'096> part;
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe))
    text.append(part.data(), size);
  EXPECT_EQ(pclose(pipe), 0) << "PHP failed; are php-cli and php-redis installed?";
  return text;
}

// Short keys, whose bits by these hashes are among the first 2^23: a small string.
constexpr const char* kHashes = "BKDR,ELF,DEK";

TEST(PhpBucket, IsSharedWithPhp) {
  const Server server;
  const auto scheme = PhpScheme::string_hashes(kHashes);
  const Keys theirs = random_keys(300, 3, 1);
  const Keys ours = random_keys(300, 3, 2);
  const Keys nobodys = random_keys(2'000, 3, 3);
  php(server, kHashes, "add", theirs);
  auto bucket = RedisPhpFilter::open({server.address(), "rptc"}, scheme);
  EXPECT_EQ(bucket.may_contain_many(theirs.views), theirs.views.size());
  EXPECT_GT(bucket.insert_many(ours.views), 290U);
  EXPECT_EQ(bucket.insert_many(ours.views), 0U);

  std::string all;
  for (std::size_t i = 0; i < ours.views.size(); ++i) all += "1\n";
  EXPECT_EQ(php(server, kHashes, "contains", ours), all);

  const auto answers = std::make_unique<bool[]>(nobodys.views.size());
  bucket.may_contain_many(nobodys.views, std::span<bool>(answers.get(), nobodys.views.size()));
  std::istringstream blocks(php(server, kHashes, "contains", nobodys));
  for (std::size_t i = 0; i < nobodys.views.size(); ++i) {
    int answer = 2;
    blocks >> answer;
    EXPECT_EQ(answer, answers[i] ? 1 : 0) << i;
  }

  std::vector<std::string> texts(nobodys.views.begin(), nobodys.views.end());
  std::vector<bool> found(texts.size());
  bucket.may_contain_many(texts, found);
  EXPECT_TRUE(std::equal(found.begin(), found.end(), answers.get()));

  found.resize(ours.views.size() - 1);
  error_of([&] { bucket.insert_many(ours.views, found); }, ErrorCode::invalid_argument);
  EXPECT_EQ(bucket.acknowledged(), 0U);

  const std::span<bool> too_few(answers.get(), ours.views.size() - 1);
  for (const auto& views : {ours.views, nobodys.views}) {
    error_of([&] { bucket.insert_many(views, too_few); }, ErrorCode::invalid_argument);
    error_of([&] { bucket.may_contain_many(views, too_few); }, ErrorCode::invalid_argument);
  }

  // And the string is what PhpFilter reads and makes.
  const std::string string = server.get("rptc");
  const auto bytes = std::as_bytes(std::span(string.data(), string.size()));
  const PhpFilter loaded = PhpFilter::load(scheme, bytes);
  EXPECT_TRUE(loaded.may_contain_all(theirs.views));
  EXPECT_TRUE(loaded.may_contain_all(ours.views));
  PhpFilter made(scheme);
  made.insert_many(theirs.views);
  made.insert_many(ours.views);
  EXPECT_TRUE(std::ranges::equal(made.bytes().first(bytes.size()), bytes));
}

TEST(PhpBucket, TellsTheBitsThatAKeyHadAsSetbitDoes) {
  const Server server;
  const auto scheme = PhpScheme::string_hashes(kHashes);
  const Keys keys = random_keys(600, 2, 4);  // short ones, so that keys share bits
  auto bucket = RedisPhpFilter::create({server.address(), "rptc"}, scheme);
  std::array<bool, 3> before{};
  std::size_t old_bits = 0;
  for (const std::string_view key : keys.views) {
    std::array<std::uint64_t, 3> offsets{};
    scheme.positions(key, offsets);
    EXPECT_EQ(bucket.insert_bits(key, before), 3U);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const auto reply = server.ask({"SETBIT", "theirs", std::to_string(offsets[i]), "1"});
      EXPECT_EQ(before[i], reply->integer == 1) << i;
      old_bits += before[i] ? 1 : 0;
    }
  }
  EXPECT_GT(old_bits, 20U) << "something was tried";
  EXPECT_EQ(server.get("rptc"), server.get("theirs"));
  EXPECT_TRUE(bucket.may_contain(keys.views[0]));
  EXPECT_EQ(bucket.acknowledged(), 1U);
  error_of([&] { bucket.insert_bits("a key", std::span(before).first(2)); },
           ErrorCode::invalid_argument);
  EXPECT_EQ(bucket.acknowledged(), 0U);
  const std::string whole = server.get("rptc");
  server.ask({"SET", "rptc", whole.substr(0, whole.size() / 2)});
  error_of([&] { bucket.insert_bits("a key", before); }, ErrorCode::corrupt);
  server.ask({"DEL", "rptc"});
  error_of([&] { bucket.insert_bits("a key", before); }, ErrorCode::missing);
  EXPECT_EQ(server.ask({"EXISTS", "rptc"})->integer, 0);
}

TEST(PhpBucket, IsCheckedForWhatCanBeChecked) {
  const Server server;
  const auto scheme = PhpScheme::crc32_mt(1'000, 100);
  error_of([&] { RedisPhpFilter::open({server.address(), "bucket"}, scheme); }, ErrorCode::missing);
  auto bucket = RedisPhpFilter::create({server.address(), "bucket"}, scheme);
  EXPECT_FALSE(bucket.may_contain("a key"));
  EXPECT_TRUE(bucket.insert("a key"));
  EXPECT_TRUE(bucket.may_contain("a key"));
  EXPECT_GT(bucket.stats().fill, 0.003);
  EXPECT_LE(bucket.stats().fill, 0.007);

  const std::string whole = server.get("bucket");
  server.ask({"SET", "bucket", whole.substr(0, whole.size() - 1)});
  error_of([&] { (void)bucket.may_contain("a key"); }, ErrorCode::corrupt);
  server.ask({"DEL", "bucket"});
  error_of([&] { (void)bucket.may_contain("a key"); }, ErrorCode::missing);
  error_of([&] { bucket.insert("a key"); }, ErrorCode::missing);
  EXPECT_EQ(server.ask({"EXISTS", "bucket"})->integer, 0) << "the insert made an empty bucket";
  server.ask({"SET", "bucket", std::string(126, '\0')});
  expect_error(ErrorCode::mismatch, {}, [&] {
    RedisPhpFilter::open({server.address(), "bucket"}, scheme);
  });
  server.ask({"DEL", "bucket"});
  server.ask({"RPUSH", "bucket", "x"});
  expect_error(ErrorCode::not_a_filter, {}, [&] {
    RedisPhpFilter::open({server.address(), "bucket"}, scheme);
  });
  expect_error(ErrorCode::too_large, {}, [&] {
    RedisPhpFilter::create({server.address(), "vast"},
                           PhpScheme::crc32_mt((std::uint64_t{1} << 32) + 1, 1'000'000'000));
  });
  // A filter of ours that would have room in the bucket.
  RedisFilter::create({server.address(), "filter"}, plan(100, 0.01));
  for (const auto& call : {RedisPhpFilter::open, RedisPhpFilter::create, RedisPhpFilter::make})
    expect_error(ErrorCode::mismatch, {"filter", "a header of its own"}, [&] {
      call({server.address(), "filter"}, PhpScheme::crc32_mt(100'000, 10'000));
    });
}

TEST(PhpBucket, IsMadeOnce) {
  const Server server;
  const auto scheme = PhpScheme::crc32_mt(1'000, 100);
  const RedisPlace place(server.address(), "bucket");
  RedisPhpFilter::make(place, scheme).insert("a key");
  expect_error(ErrorCode::exists, {"bucket", "choose another key"},
               [&] { RedisPhpFilter::make(place, scheme); });
  EXPECT_TRUE(RedisPhpFilter::open(place, scheme).may_contain("a key"));
}

// A key is found in either; it is inserted into the newer one.
TEST(PhpBucket, AsksTheOlderOneIfItIsTold) {
  const Server server;
  const auto scheme = PhpScheme::crc32_mt(100'000, 1'000);
  const RedisPlace place(server.address(), "bucket");
  RedisPhpFilter::make(place, scheme).insert("old");
  ASSERT_TRUE(RedisPhpFilter::rotate(place));
  auto newer = RedisPhpFilter::create(place, scheme), both = RedisPhpFilter::create(place, scheme);
  both.ask_older();
  EXPECT_FALSE(newer.may_contain("old"));
  EXPECT_TRUE(both.may_contain("old"));
  EXPECT_FALSE(both.insert("old"));
  EXPECT_TRUE(both.insert("new"));
  EXPECT_TRUE(newer.may_contain("new") && both.may_contain("new"));
  EXPECT_FALSE(both.may_contain("absent"));
}

// What is in the place of a bucket that has gone may be the next one, with the bits of others.
TEST(PhpBucket, ThatHasGoneMeanwhileIsNotTidiedUp) {
  const Server server;
  Scripted node(server.path());
  auto bucket =
      RedisPhpFilter::create({{.port = node.port()}, "bucket"}, PhpScheme::string_hashes(kHashes));
  bucket.insert("one");
  int lengths = 0;
  node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] == "STRLEN" && ++lengths == 2) server.ask({"DEL", "bucket"});
    return std::nullopt;
  });
  error_of([&] { bucket.insert("abc"); }, ErrorCode::missing);
  EXPECT_EQ(lengths, 2);
  EXPECT_EQ(server.ask({"EXISTS", "bucket"})->integer, 1);
}

TEST(PhpBucket, IsUnderOneKey) {
  const auto scheme = PhpScheme::crc32_mt(1'000, 100);
  const RedisPlace shards({.port = 1}, "bucket", 2);  // where nobody is
  for (const std::function<void()>& call :
       std::vector<std::function<void()>>{[&] { RedisPhpFilter::open(shards, scheme); },
                                          [&] { RedisPhpFilter::create(shards, scheme); },
                                          [&] { RedisPhpFilter::make(shards, scheme); },
                                          [&] { RedisPhpFilter::store(shards, PhpFilter(scheme)); },
                                          [&] { RedisPhpFilter::rotate(shards); }})
    error_of(call, ErrorCode::wrong_kind);
}

TEST(PhpBucket, ThatIsFullHasAnyNumberOfKeys) {
  const Server server;
  server.ask({"SET", "bucket", std::string(125, '\xFF')});
  const Stats stats =
      RedisPhpFilter::open({server.address(), "bucket"}, PhpScheme::crc32_mt(1'000, 100)).stats();
  EXPECT_EQ(stats.fill, 1);
  EXPECT_EQ(stats.current_fpr, 1);
  EXPECT_TRUE(std::isinf(stats.estimated_items));
  EXPECT_TRUE(stats.over_capacity);
}

// The last bit of 1,001 is in a byte of its own.
TEST(PhpBucket, IsStoredWhole) {
  const Server server;
  const auto scheme = PhpScheme::crc32_mt(1'001, 100);
  server.ask({"SETBIT", "bucket", "1000", "1"});
  auto bucket = RedisPhpFilter::open({server.address(), "bucket"}, scheme);
  bucket.insert_many(std::vector<std::string_view>{"a", "b"});
  RedisPhpFilter::store({server.address(), "copy"}, bucket.load());
  EXPECT_EQ(server.get("copy"), server.get("bucket"));
  EXPECT_EQ(server.get_info("commandstats").find("cmdstat_unlink"), std::string::npos)
      << "what is in its place is taken back";
  expect_error(ErrorCode::exists, {}, [&] {
    RedisPhpFilter::store({server.address(), "copy"}, bucket.load());
  });
}

// Nothing in a bucket tells what is missing from it.
TEST(PhpBucket, IsNotStoredIfTheServerEvictsItMeanwhile) {
  const Server server;
  const auto scheme =
      PhpScheme::crc32_mt(std::uint64_t{12} << 23, 1'000'000);  // 12 pieces of 1 MiB
  PhpFilter filter(scheme);
  filter.insert_many(random_keys(20'000, 10, 5).views);
  Scripted proxy(server.path());
  // Three writes are of the ends.
  for (const int evicted_before : {4, 7, 15, 99}) {
    SCOPED_TRACE(evicted_before);
    int written = 0;
    proxy.say([&](const Scripted::Words& words) {
      if (words[0] == "SETRANGE" && ++written == evicted_before) server.ask({"DEL", words[1]});
      return std::optional<std::string>();
    });
    const auto store = [&] { RedisPhpFilter::store({{.port = proxy.port()}, "copy"}, filter); };
    if (evicted_before == 99) {
      store();
      const auto bytes = filter.string_bytes();
      EXPECT_EQ(server.get("copy"),
                std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    } else {
      error_of(store, ErrorCode::no_space);
      EXPECT_EQ(server.ask({"EXISTS", "copy"})->integer, 0);
    }
  }
}

TEST(PhpBucket, IsOpenedWhileAnotherClientRotatesIt) {
  const Server server;
  const auto scheme = PhpScheme::crc32_mt(10'000, 1'000);
  RedisPhpFilter::create({server.address(), "rptc"}, scheme).insert("a key");
  Scripted between(server.path());
  between.say([&](const Scripted::Words& words) {
    if (words[0] == "GETRANGE") RedisPhpFilter::rotate({server.address(), "rptc"});
    return std::nullopt;
  });
  auto bucket = RedisPhpFilter::open({{.port = between.port()}, "rptc"}, scheme);
  EXPECT_EQ(server.ask({"EXISTS", "rptc"})->integer, 0);
  error_of([&] { (void)bucket.may_contain("a key"); }, ErrorCode::missing);
}

TEST(PhpBucket, IsRotatedByARename) {
  const Server server;
  EXPECT_FALSE(RedisPhpFilter::rotate({server.address(), "rptc"}));
  server.ask({"SETBIT", "rptc", "97", "1"});
  EXPECT_TRUE(RedisPhpFilter::rotate({server.address(), "rptc"}));
  EXPECT_EQ(server.ask({"EXISTS", "rptc"})->integer, 0);
  EXPECT_EQ(server.ask({"GETBIT", "{rptc}:older", "97"})->integer, 1);
  EXPECT_FALSE(RedisPhpFilter::rotate({server.address(), "rptc"}));
  EXPECT_EQ(server.ask({"GETBIT", "{rptc}:older", "97"})->integer, 1);
  server.ask({"SETBIT", "rptc", "98", "1"});
  EXPECT_TRUE(RedisPhpFilter::rotate({server.address(), "rptc"}));
  EXPECT_EQ(server.ask({"GETBIT", "{rptc}:older", "97"})->integer, 0);
  EXPECT_EQ(server.ask({"GETBIT", "{rptc}:older", "98"})->integer, 1);
  server.ask({"RPUSH", "list", "x"});
  error_of([&] { RedisPhpFilter::rotate({server.address(), "list"}); }, ErrorCode::not_a_filter);
  server.ask({"RENAME", "list", "{rptc}:older"});
  server.ask({"SETBIT", "rptc", "98", "1"});
  error_of([&] { RedisPhpFilter::rotate({server.address(), "rptc"}); }, ErrorCode::not_a_filter);
  EXPECT_EQ(server.ask({"LLEN", "{rptc}:older"})->integer, 1);
}

}  // namespace
}  // namespace bloomery::test
