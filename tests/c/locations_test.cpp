// Whole filters by their locations.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>
#include <bloomery/bloomery.hpp>

#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "c/handles.hpp"
#include "redis/listener.hpp"
#include "store/scratch.hpp"

namespace bloomery::test {
namespace {

void create(const std::string& path, const std::string& key, std::uint32_t kind = BLOOMERY_PLAIN) {
  const bloomery_spec spec = spec_of(kind);
  const Handle filter(bloomery_create(path.c_str(), &spec, nullptr, nullptr));
  ASSERT_NE(filter, nullptr);
  ASSERT_EQ(insert(filter, key), 1);
  ASSERT_EQ(bloomery_close(filter.get(), nullptr), 0);
}

Handle open(const std::string& path, const bloomery_options* options = nullptr) {
  bloomery_error error{};
  Handle filter(bloomery_open(path.c_str(), BLOOMERY_READ, options, &error));
  EXPECT_NE(filter, nullptr) << error.text;
  return filter;
}

TEST(CLocations, RotatesOnlyGenerations) {
  Scratch scratch;
  const std::string path = scratch / "f.bloom";
  const bloomery_spec spec = spec_of(BLOOMERY_PLAIN);
  ASSERT_NE(Handle(bloomery_create(path.c_str(), &spec, nullptr, nullptr)), nullptr);
  const auto refuses = [](bloomery_code code, const char* location, const char* names,
                          const bloomery_options* options = nullptr) {
    bloomery_error error{};
    EXPECT_EQ(bloomery_rotate(location, options, &error), -code);
    EXPECT_EQ(error.code, code);
    EXPECT_NE(std::string_view(error.text).find(names), std::string_view::npos) << error.text;
  };
  refuses(BLOOMERY_WRONG_KIND, path.c_str(), path.c_str());
  refuses(BLOOMERY_UNAVAILABLE, "redis://127.0.0.1:1?key=k", "127.0.0.1:1");
  refuses(BLOOMERY_INVALID_ARGUMENT, nullptr, "NULL");
  refuses(BLOOMERY_INVALID_ARGUMENT, "", "empty");
  bloomery_options options{};
  refuses(BLOOMERY_INVALID_ARGUMENT, path.c_str(), "size", &options);
}

TEST(CLocations, ConvertsAndReplacesOnlyIfAsked) {
  Scratch scratch;
  const std::string from = scratch / "from.bloom", to = scratch / "to.bloom";
  create(from, "one");
  bloomery_error error{};
  ASSERT_EQ(bloomery_convert(from.c_str(), to.c_str(), nullptr, &error), 0) << error.text;
  EXPECT_EQ(contains(open(to), "one") * 2 + contains(open(to), "two"), 2);
  create(from + "2", "two");
  const auto again = [&](const bloomery_options* options) {
    return [&, options](bloomery_error* told) {
      return bloomery_convert((from + "2").c_str(), to.c_str(), options, told);
    };
  };
  expect_code(BLOOMERY_EXISTS, to, again(nullptr));
  EXPECT_EQ(contains(open(to), "one"), 1);
  bloomery_options options{};
  expect_code(BLOOMERY_INVALID_ARGUMENT, "size", again(&options));
  options.size = sizeof options;
  options.flags = BLOOMERY_REPLACE;
  EXPECT_EQ(again(&options)(nullptr), 0);
  EXPECT_EQ(contains(open(to), "one") * 2 + contains(open(to), "two"), 1);
  for (const char* nowhere : {static_cast<const char*>(nullptr), ""}) {
    const std::string word = nowhere == nullptr ? "NULL" : "empty";
    expect_code(BLOOMERY_INVALID_ARGUMENT, word, [&](bloomery_error* told) {
      return bloomery_convert(nowhere, to.c_str(), nullptr, told);
    });
    expect_code(BLOOMERY_INVALID_ARGUMENT, word, [&](bloomery_error* told) {
      return bloomery_convert(to.c_str(), nowhere, nullptr, told);
    });
  }
}

TEST(CLocations, ConvertsTheBitsOfAPhpClassAsTheyAre) {
  Scratch scratch;
  const std::string from = scratch / "from.bits", to = scratch / "to.bits";
  auto options = sized<bloomery_options>();
  options.php_bits = 1000;
  options.php_items = 100;
  auto none = sized<bloomery_spec>();
  const Handle bits(bloomery_create(from.c_str(), &none, &options, nullptr));
  ASSERT_NE(bits, nullptr);
  ASSERT_EQ(insert(bits, "one"), 1);
  bloomery_error error{};
  ASSERT_EQ(bloomery_convert(from.c_str(), to.c_str(), &options, &error), 0) << error.text;
  EXPECT_EQ(contains(open(to, &options), "one") * 2 + contains(open(to, &options), "two"), 2);
  EXPECT_EQ(bloomery_verify(to.c_str(), &options, &error), 1) << error.text;
  options.flags = BLOOMERY_ROTATING;
  expect_code(BLOOMERY_WRONG_KIND, to, [&](bloomery_error* told) {
    return bloomery_open(to.c_str(), BLOOMERY_WRITE, &options, told);
  });
  expect_code(BLOOMERY_NOT_A_FILTER, from, [&](bloomery_error* told) {
    return bloomery_convert(from.c_str(), (to + "2").c_str(), nullptr, told);
  });
}

// A server whose string has the second of the three bits of a key, and which answers a word once at a time.
TEST(CLocations, AnswersForEachBitOnAServer) {
  if (!BLOOMERY_HAS_REDIS) GTEST_SKIP() << "needs the Redis client";
  const Listener listener;
  std::thread server([&] {
    const int client = accept(listener.fd(), nullptr, nullptr);
    std::string asked(4096, '\0');
    for (ssize_t size = 0; (size = recv(client, asked.data(), asked.size(), 0)) > 0;)
      for (const auto& [word, reply] : {std::pair("STRLEN", ":536870912\r\n"),
                                        {"GETRANGE", "$0\r\n\r\n"},
                                        {"BITFIELD", "*3\r\n:0\r\n:1\r\n:0\r\n"}})
        if (std::string_view(asked.data(), static_cast<std::size_t>(size)).find(word) !=
            std::string_view::npos)
          (void)send(client, reply, std::string_view(reply).size(), MSG_NOSIGNAL);
    close(client);
  });
  auto options = sized<bloomery_options>();
  options.php_hashes = "JS,BKDR,SDBM";
  bloomery_error error{};
  Handle bits(bloomery_open(
      ("redis://127.0.0.1:" + std::to_string(listener.port()) + "?key=k&timeout=2").c_str(),
      BLOOMERY_WRITE, &options, &error));
  bool before[] = {true, false, true, true};
  EXPECT_EQ(bloomery_insert_bits(bits.get(), "key", 3, before, 4, &error), 3) << error.text;
  EXPECT_EQ(std::to_array(before), (std::array{false, true, false, true}));
  EXPECT_EQ(bloomery_acknowledged(bits.get()), 1U);
  // Of several keys the first is answered, and then no more.
  EXPECT_EQ(bloomery_insert_fixed(bits.get(), "abcdef", 2, 3, nullptr, &error),
            -BLOOMERY_UNAVAILABLE);
  EXPECT_EQ(bloomery_acknowledged(bits.get()), 1U) << error.text;
  // Nor is there a server, when they are looked up: that is no call that changes the filter.
  shutdown(listener.fd(), SHUT_RDWR);
  EXPECT_EQ(bloomery_contains_fixed(bits.get(), "abcdef", 2, 3, nullptr, &error),
            -BLOOMERY_UNAVAILABLE);
  EXPECT_EQ(bloomery_acknowledged(bits.get()), 1U) << error.text;
  bits.reset();
  server.join();
}

// A server with RedisBloom, which tells of a filter only what BF.INFO says.
TEST(CLocations, SaysWhatAServerDoesNotTell) {
  if (!BLOOMERY_HAS_REDIS) GTEST_SKIP() << "needs the Redis client";
  const Listener listener;
  std::thread server([&] {
    const int client = accept(listener.fd(), nullptr, nullptr);
    std::string asked(4096, '\0');
    for (ssize_t size = 0; (size = recv(client, asked.data(), asked.size(), 0)) > 0;) {
      const std::string_view command(asked.data(), static_cast<std::size_t>(size));
      const std::string_view reply =
          command.starts_with("*3") ? "-Invalid information value\r\n"  // what a new module tells
          : command.find("BF.INFO") == command.npos
              ? "-ERR unknown command\r\n"
              : "*6\r\n+Capacity\r\n:100\r\n+Number of items inserted\r\n:7\r\n"
                "+Expansion rate\r\n$-1\r\n";
      (void)send(client, reply.data(), reply.size(), MSG_NOSIGNAL);
    }
    close(client);
  });
  Handle there =
      open("redis+module://127.0.0.1:" + std::to_string(listener.port()) + "?key=k&timeout=2");
  auto stats = sized<bloomery_stats>();
  EXPECT_EQ(bloomery_get_stats(there.get(), false, &stats, nullptr), 0);
  EXPECT_EQ(stats.unknown, std::uint32_t{BLOOMERY_NO_FILL});
  EXPECT_EQ(stats.capacity, 100U);
  EXPECT_EQ(stats.inserted, 7U);
  EXPECT_EQ(stats.fill, 0);
  there.reset();
  shutdown(listener.fd(), SHUT_RDWR);
  server.join();
}

TEST(CLocations, MergesEveryKeyOfTheSources) {
  Scratch scratch;
  std::string names[3];
  for (int i = 0; i < 3; ++i) create(names[i] = scratch / std::to_string(i), std::to_string(i));
  const char* const sources[] = {names[0].c_str(), names[1].c_str(), names[2].c_str()};
  const std::string to = scratch / "to.bloom";
  const auto merge = [&](std::size_t count, bool replace, const char* const* from) {
    return [&, count, replace, from](bloomery_error* told) {
      return bloomery_merge_locations(from, count, to.c_str(), replace, told);
    };
  };
  const auto keys = [&] {
    const Handle merged = open(to);
    std::string found;
    for (const char* key : {"0", "1", "2", "3"})
      if (contains(merged, key) == 1) found += key;
    return found;
  };
  EXPECT_EQ(merge(2, false, sources)(nullptr), 0);
  EXPECT_EQ(keys(), "01");
  expect_code(BLOOMERY_EXISTS, to, merge(3, false, sources));
  EXPECT_EQ(merge(3, true, sources)(nullptr), 0);
  EXPECT_EQ(keys(), "012");
  expect_code(BLOOMERY_INVALID_ARGUMENT, "nothing to merge", merge(0, true, sources));
  expect_code(BLOOMERY_INVALID_ARGUMENT, "NULL", merge(1, true, nullptr));
  const char* const no_name[] = {names[0].c_str(), nullptr};
  expect_code(BLOOMERY_INVALID_ARGUMENT, "NULL", merge(2, true, no_name));
  create(names[0] + "c", "0", BLOOMERY_COUNTING);
  const std::string other = names[0] + "c";
  const char* const two_kinds[] = {names[0].c_str(), other.c_str()};
  expect_code(BLOOMERY_MISMATCH, other, merge(2, true, two_kinds));
  EXPECT_EQ(keys(), "012");
}

TEST(CLocations, VerifyTellsDamageFromAWriter) {
  Scratch scratch;
  const std::string path = scratch / "f.bloom";
  create(path, "one");
  const auto verify = [&](bloomery_error* told) {
    return bloomery_verify(path.c_str(), nullptr, told);
  };
  EXPECT_EQ(verify(nullptr), 1);
  {
    const Handle writer(bloomery_open(path.c_str(), BLOOMERY_WRITE, nullptr, nullptr));
    ASSERT_EQ(insert(writer, "two"), 1);
    EXPECT_EQ(verify(nullptr), 0);
  }
  EXPECT_EQ(verify(nullptr), 1);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(8192 + 5);
  const int byte = file.peek();
  file.seekp(8192 + 5).put(static_cast<char>(byte ^ 4));
  file.close();
  expect_code(BLOOMERY_CORRUPT,
              path + ": 1 of 1 chunk of the bits is damaged, number 0; salvage it", verify);
  expect_code(BLOOMERY_MISSING, path + "2", [&](bloomery_error* told) {
    return bloomery_verify((path + "2").c_str(), nullptr, told);
  });
}

}  // namespace
}  // namespace bloomery::test
