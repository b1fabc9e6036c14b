// Frozen filters in a module: loaded from a file, asked there, kept by the server in all of its ways, and taken back.
#include <bloomery/any_filter.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "redis/server.hpp"
#include "support/expect_error.hpp"

#ifdef BLOOMERY_MODULE

namespace bloomery::test {
namespace {

class FrozenOnServer : public testing::Test {
 protected:
  static Server& server() {
    static Server one({"--loadmodule", module_file(), "--enable-debug-command", "yes"});
    return one;
  }
  void SetUp() override { server().ask({"FLUSHALL"}); }
  [[nodiscard]] static std::string at(const Server& where, const std::string& key) {
    return "redis+module+unix://" + where.path() + "?key=" + key;
  }
  [[nodiscard]] static std::string at(const std::string& key) { return at(server(), key); }
  void build(const std::string& path, const FilterSpec& spec,
             const AnyOptions& options = {}) const {
    AnyFilter file = AnyFilter::create(path, spec, options);
    file.insert_many(keys_);
    file.close();
  }
  // It has every key, and the false positives of the file.
  void expect_there(const std::string& location, const std::string& path) const {
    AnyFilter there = AnyFilter::open(location);
    AnyFilter file = AnyFilter::open(path);
    EXPECT_EQ(there.may_contain_many(keys_), keys_.size()) << location;
    const std::size_t size = others_.size();
    const auto mine = std::make_unique<bool[]>(size), its = std::make_unique<bool[]>(size);
    (void)there.may_contain_many(others_, std::span(mine.get(), size));
    (void)file.may_contain_many(others_, std::span(its.get(), size));
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(mine[i], its[i]) << others_[i];
    EXPECT_TRUE(there.may_contain(keys_[3])) << "one by one";
  }
  static std::string said(const detail::Reply& reply) {
    return reply->str == nullptr ? "" : std::string(reply->str, reply->len);
  }
  // What it says, or why it refuses.
  static std::string answer(std::initializer_list<std::string_view> words) {
    try {
      return said(server().ask(words));
    } catch (const Error& error) {
      return error.what();
    }
  }

  const FilterSpec spec_{.kind = Kind::frozen, .fpr = 0.01};
  const std::vector<std::string> keys_ = text_keys("key", 30'000),
                                 others_ = text_keys("other", 20'000);
  Scratch scratch_;
};

TEST_F(FrozenOnServer, GoesThereAndBack) {
  for (const HashFamily family : {HashFamily::xxh3, HashFamily::siphash}) {
    const std::string path = scratch_ / "f.bloom", back = scratch_ / "back.bloom",
                      dump = scratch_ / "dump";
    build(path, spec_, {.hash = family, .replace = true});
    AnyFilter::convert(path, at("k"), {.replace = true});
    expect_there(at("k"), path);
    AnyFilter there = AnyFilter::open(at("k"));
    const FilterStats stats = there.stats();
    EXPECT_EQ(stats.kind, Kind::frozen);
    EXPECT_EQ(stats.capacity, keys_.size());
    EXPECT_EQ(stats.inserted, keys_.size());
    EXPECT_EQ(stats.fpr, 0.01);
    AnyFilter::convert(at("k"), back, {.replace = true});
    EXPECT_EQ(AnyFilter::open(back).encode(), AnyFilter::open(path).encode());
    EXPECT_TRUE(AnyFilter::verify(back).ok());
    // By a dump, which is kept as it is.
    AnyFilter::convert(at("k"), dump, {.replace = true});
    AnyFilter::convert(dump, at("again"), {.replace = true});
    expect_there(at("again"), path);
    AnyFilter::convert(dump, back, {.replace = true});
    EXPECT_EQ(AnyFilter::open(back).encode(), AnyFilter::open(path).encode());
  }
}

TEST_F(FrozenOnServer, SaysWhatItCannot) {
  const std::string path = scratch_ / "f.bloom";
  build(path, spec_);
  AnyFilter::convert(path, at("k"));
  AnyFilter there = AnyFilter::open(at("k"), Access::write);
  EXPECT_THROW((void)there.insert("new"), Error);
  for (const auto* command : {"BF.ADD", "BF.MADD"})
    EXPECT_NE(answer({command, "k", "new"}).find("frozen"), std::string::npos);
  EXPECT_NE(answer({"BF.INSERT", "k", "ITEMS", "new"}).find("frozen"), std::string::npos);
  EXPECT_NE(answer({"BF.CLEAR", "k"}).find("frozen"), std::string::npos);
  server().ask({"BF.RESERVE", "plain", "0.01", "100"});
  EXPECT_NE(answer({"BF.MERGE", "plain", "k"}).find("frozen"), std::string::npos);
  EXPECT_NE(answer({"BF.MERGE", "k", "plain"}).find("frozen"), std::string::npos);
  expect_there(at("k"), path);
  // Also if other things are missing, which would not help.
  for (const FilterSpec& asked : {FilterSpec{.kind = Kind::frozen, .capacity = 10, .fpr = 0.01},
                                  FilterSpec{.kind = Kind::frozen}})
    expect_error(ErrorCode::wrong_kind, {"file", "convert"},
                 [&] { (void)AnyFilter::create(at("x"), asked); });
  expect_error(ErrorCode::exists, {}, [&] { (void)AnyFilter::convert(path, at("k")); });
  // Keys of a delta would be lost.
  FilterSpec changing = spec_;
  changing.delta = 100;
  build(scratch_ / "d.bloom", changing);
  AnyFilter::convert(scratch_ / "d.bloom", at("d"));
  AnyFilter writer = AnyFilter::open(scratch_ / "d.bloom", Access::write);
  writer.insert("late");
  const auto expect_refused = [&] {
    expect_error(ErrorCode::wrong_kind, {"delta", "rebuild"},
                 [&] { (void)AnyFilter::convert(scratch_ / "d.bloom", at("e")); });
  };
  expect_refused();  // the number of keys in its header is still that of the list
  writer.close();
  expect_refused();
  // A string has the bits of a plain filter.
  AnyFilter::convert(at("k"), scratch_ / "dump");
  for (const std::string& source : {scratch_ / "dump", at("k")})
    expect_error(ErrorCode::wrong_kind, {"holds a plain filter, not a frozen one"}, [&] {
      AnyFilter::convert(source, "redis+unix://" + server().path() + "?key=string");
    });
  // The module's hash has no seed.
  build(scratch_ / "s.bloom", spec_, {.seed = Seed{7, 0}});
  expect_error(ErrorCode::wrong_kind, {"seed"},
               [&] { (void)AnyFilter::convert(scratch_ / "s.bloom", at("s")); });
}

TEST_F(FrozenOnServer, IsKeptInEveryWayOfTheServer) {
  const std::string path = scratch_ / "f.bloom";
  build(path, spec_);
  AnyFilter::convert(path, at("k"));
  EXPECT_EQ(said(server().ask({"DEBUG", "RELOAD"})), "OK");
  expect_there(at("k"), path);
  server().ask({"COPY", "k", "copy"});
  expect_there(at("copy"), path);
  const detail::Reply dump = server().ask({"DUMP", "k"});
  EXPECT_EQ(said(server().ask({"RESTORE", "restored", "0", said(dump)})), "OK");
  expect_there(at("restored"), path);
  for (const char* key : {"k", "copy", "restored"}) {
    const detail::Reply reply = server().ask({"DEBUG", "DIGEST-VALUE", key});
    ASSERT_EQ(reply->elements, 1U);
    EXPECT_EQ(std::string(reply->element[0]->str),
              std::string(server().ask({"DEBUG", "DIGEST-VALUE", "k"})->element[0]->str));
  }
  // An AOF, without an RDB file in front.
  server().ask({"CONFIG", "SET", "aof-use-rdb-preamble", "no"});
  server().ask({"CONFIG", "SET", "appendonly", "yes"});
  for (const char* over : {"aof_rewrite_scheduled:0", "aof_rewrite_in_progress:0"})
    server().wait_for("persistence", over);
  EXPECT_EQ(said(server().ask({"DEBUG", "LOADAOF"})), "OK");
  expect_there(at("k"), path);
  server().ask({"CONFIG", "SET", "appendonly", "no"});
  const detail::Reply info = server().ask({"BF.INFO", "k", "ITEMS"});
  ASSERT_EQ(info->elements, 1U);
  EXPECT_EQ(info->element[0]->integer, 30'000);
  const detail::Reply debug = server().ask({"BF.DEBUG", "k"});
  ASSERT_EQ(debug->elements, 2U);
  EXPECT_NE(std::string(debug->element[1]->str).find("fingerprintbits:"), std::string::npos);
}

// The bits of its delta say whether it has keys, wherever these are and whatever is a hole.
TEST_F(FrozenOnServer, KeysInTheDeltaOfASparseFileAreNotLost) {
  const std::string path = scratch_ / "f.bloom", sparse = scratch_ / "sparse.bloom";
  FilterSpec spec = spec_;
  spec.delta = 400'000;
  build(path, spec);
  ASSERT_EQ(std::system(("cp --sparse=always " + path + " " + sparse).c_str()), 0);
  AnyFilter::convert(sparse, at("k"));
  expect_there(at("k"), path);
  AnyFilter::open(sparse, Access::write).insert("late");
  expect_error(ErrorCode::wrong_kind, {sparse, "delta"},
               [&] { AnyFilter::convert(sparse, at("l")); });
}

TEST_F(FrozenOnServer, OfADamagedFileDoesNotGoThere) {
  const std::string path = scratch_ / "f.bloom";
  build(path, spec_);
  std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(20'000);
  bytes.put('\x5a').put('\x5a').flush();
  expect_error(ErrorCode::corrupt, {path}, [&] { AnyFilter::convert(path, at("k")); });
  EXPECT_EQ(server().ask({"DBSIZE"})->integer, 0);
}

// What it says of itself makes the same filter in another server.
TEST_F(FrozenOnServer, IsLoadedFromItsOwnDump) {
  const std::string path = scratch_ / "f.bloom";
  build(path, spec_);
  AnyFilter::convert(path, at("k"));
  const Server other({"--loadmodule", module_file()});
  std::string iterator = "0";
  for (;;) {
    const detail::Reply chunk = server().ask({"BF.SCANDUMP", "k", iterator});
    ASSERT_EQ(chunk->elements, 2U);
    iterator = std::to_string(chunk->element[0]->integer);
    if (iterator == "0") break;
    EXPECT_EQ(said(other.ask({"BF.LOADCHUNK", "k", iterator,
                              std::string_view(chunk->element[1]->str, chunk->element[1]->len)})),
              "OK");
  }
  expect_there(at(other, "k"), path);
}

// While chunks are missing, the answer is "maybe"; a chunk that is wrong is refused.
TEST_F(FrozenOnServer, BelievesNoChunk) {
  const std::string path = scratch_ / "f.bloom";
  build(path, spec_);
  AnyFilter::convert(path, at("k"));
  const detail::Reply header = server().ask({"BF.SCANDUMP", "k", "0"});
  const std::string head(header->element[1]->str, header->element[1]->len);
  const detail::Reply bits = server().ask({"BF.SCANDUMP", "k", "1"});
  std::string chunk(bits->element[1]->str, bits->element[1]->len);
  const std::string end = std::to_string(bits->element[0]->integer);
  EXPECT_EQ(answer({"BF.LOADCHUNK", "l", "1", head}), "OK");
  EXPECT_EQ(server().ask({"BF.EXISTS", "l", "absent"})->integer, 1);
  std::string wrong = chunk;
  wrong[8] = static_cast<char>(wrong[8] ^ 1);  // the keys of the first partition
  EXPECT_NE(answer({"BF.LOADCHUNK", "l", end, wrong}), "OK");
  EXPECT_EQ(server().ask({"BF.EXISTS", "l", "absent"})->integer, 1);
  server().ask({"DEL", "l"});
  EXPECT_EQ(answer({"BF.LOADCHUNK", "l", "1", head}), "OK");
  EXPECT_EQ(answer({"BF.LOADCHUNK", "l", end, chunk}), "OK");
  expect_there(at("l"), path);
  // Headers that ask for memory that no chunk has.
  for (std::size_t i = 0; i < head.size(); ++i) {
    std::string lie = head;
    lie[i] = static_cast<char>(lie[i] ^ 0x55);
    (void)answer({"BF.LOADCHUNK", "lie" + std::to_string(i), "1", lie});
  }
  EXPECT_EQ(answer({"PING"}), "PONG");
}

}  // namespace
}  // namespace bloomery::test

#endif
