// What a server with a module answers, ours or another: its sense, or an error, and never a guess.
#include "redis/module/module_replies.hpp"

#include <bloomery/module_filter.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redis/parsed.hpp"
#include "redis/server.hpp"

namespace bloomery::test {
namespace {

using Words = std::vector<std::string>;

std::string integer(int value) { return ":" + std::to_string(value) + "\r\n"; }

TEST(ModuleReplies, SayWhatAFilterIs) {
  const auto info = [](const std::vector<std::string>& fields) {
    return detail::info_in(*parsed(raw_array(fields)), "it");
  };
  const ModuleInfo all =
      info({"+Capacity\r\n", integer(1), "+Size\r\n", integer(2), "+Number of filters\r\n",
            integer(3), "+Odd\r\n", integer(9), "+Number of items inserted\r\n", integer(4),
            "+Expansion rate\r\n", integer(5), "+Text\r\n", "+text\r\n", "+Capacity\r\n"});
  EXPECT_EQ(all.capacity, 1U);
  EXPECT_EQ(all.bytes, 2U);
  EXPECT_EQ(all.filters, 3U);
  EXPECT_EQ(all.items, 4U);
  EXPECT_EQ(all.expansion, 5U);
  for (const std::string& none : {integer(0), std::string("$-1\r\n")})
    EXPECT_FALSE(info({"+Capacity\r\n", integer(1), "+Expansion rate\r\n", none}).expansion);
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{},
                                             {"+Size\r\n", integer(5)},
                                             {"+Capacity\r\n", "+5\r\n"},
                                             {"+Capacity\r\n"},
                                             {"+Capacity\r\n", integer(1), integer(2), integer(3)}})
    error_of([&] { (void)info(wrong); }, ErrorCode::io);
  error_of([] { (void)detail::info_in(*parsed("+OK\r\n"), "it"); }, ErrorCode::io);
  error_of([] { (void)detail::info_in(*parsed("-ERR not found\r\n"), "it"); }, ErrorCode::missing);
}

TEST(ModuleReplies, SayNoFillOfWhatIsNoFilter) {
  const std::string head = raw_text("size:3"), good = raw_text("bits:512 hashes:3 size:3");
  EXPECT_TRUE(detail::fill_in(*parsed(raw_array({head, good}))));
  for (const std::string& none :
       {std::string("-ERR unknown\r\n"), raw_array({}), raw_array({head}),
        raw_array({head, integer(5)}), raw_array({head, good, integer(5)}),
        raw_array({head, raw_text("bits:512 hashes:0 size:3")}),
        raw_array({head, raw_text("bits:0 hashes:3 size:3")}),
        raw_array({head, raw_text("bits:512 hashes:3")}),
        raw_array({head, raw_text("bits:512 size:3")})})
    EXPECT_FALSE(detail::fill_in(*parsed(none))) << none;
}

TEST(ModuleReplies, SayHowAFilterWasReserved) {
  const auto reserve = [](const std::vector<std::string>& words) {
    std::vector<std::string> elements;
    for (const std::string& word : words) elements.push_back(raw_text(word));
    return detail::reserve_in(*parsed(raw_array({raw_array(elements)})), "it").value();
  };
  const ModuleReserve counting =
      reserve({"0.25", "7", "COUNTING", "COUNTERBITS", "8", "TIGHTENING", "0.5"});
  EXPECT_EQ(counting.kind, Kind::counting);
  EXPECT_EQ(counting.fpr, 0.25);
  EXPECT_EQ(counting.capacity, 7U);
  EXPECT_EQ(counting.counter_bits, 8U);
  EXPECT_EQ(reserve({"0.25", "7", "FROZEN"}).kind, Kind::frozen);
  const ModuleReserve plain = reserve({"0.25", "7", "NONSCALING", "LAYOUT", "native"});
  EXPECT_EQ(plain.kind, Kind::plain);
  EXPECT_EQ(plain.layout, "native");
  EXPECT_EQ(reserve({"0.25", "7", "EXPANSION", "3"}).expansion, 3U);
  for (const char* unit : {"SECONDS", "ITEMS"}) {
    const ModuleReserve window = reserve({"0.25", "7", "WINDOW", "60", unit, "SLICES", "3"});
    EXPECT_EQ(window.kind, Kind::window);
    EXPECT_EQ(window.window, 60U);
    EXPECT_EQ(window.seconds, unit == std::string("SECONDS"));
    EXPECT_EQ(window.slices, 3U);
  }
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{},
                                             {"1"},
                                             {"1", "1", "TIGHTENING"},
                                             {"1", "1", "LAYOUT"},
                                             {"1", "1", "WINDOW", "60"},
                                             {"1", "1", "WINDOW", "SECONDS"},
                                             {"1", "1", "SLICES"},
                                             {"1", "1", "COUNTERBITS", "x"},
                                             {"x", "1"},
                                             {"1x", "1"},
                                             {"1", "1x"},
                                             {"1", "-1"},
                                             {"1", "1", "ODD"},
                                             {"1", "1", "EXPANSION"},
                                             {"1", "1", "EXPANSION", "2x"}})
    error_of([&] { (void)reserve(wrong); }, ErrorCode::io);
  const auto refused = [](const std::string& raw, ErrorCode code) {
    error_of([&] { (void)detail::reserve_in(*parsed(raw), "it"); }, code);
  };
  refused(raw_array({raw_array({integer(1), raw_text("1")})}), ErrorCode::io);
  refused(raw_array({integer(1)}), ErrorCode::io);
  refused(raw_array({}), ErrorCode::io);
  refused("-ERR not found\r\n", ErrorCode::missing);
  refused("-NOPERM no\r\n", ErrorCode::denied);
  // RedisBloom does not know the question.
  EXPECT_FALSE(detail::reserve_in(*parsed("-Invalid information value\r\n"), "it"));
}

TEST(ModuleReserve, HasTheWordsOfItsKind) {
  const auto words = [](ModuleReserve reserve) {
    reserve.fpr = 0.25;
    return detail::reserve_words(reserve, 7);
  };
  EXPECT_EQ(words({.kind = Kind::plain, .layout = "native"}),
            (Words{"0.25", "7", "NONSCALING", "LAYOUT", "native"}));
  EXPECT_EQ(words({.expansion = 3}), (Words{"0.25", "7", "EXPANSION", "3"}));
  EXPECT_EQ(words({.kind = Kind::counting, .counter_bits = 8}),
            (Words{"0.25", "7", "COUNTING", "COUNTERBITS", "8"}));
  EXPECT_EQ(words({.kind = Kind::window, .window = 60, .seconds = true, .slices = 3}),
            (Words{"0.25", "7", "WINDOW", "60", "SECONDS", "SLICES", "3"}));
  EXPECT_EQ(words({.kind = Kind::window, .window = 60}),
            (Words{"0.25", "7", "WINDOW", "60", "ITEMS", "SLICES", "8"}));
  error_of([&] { (void)words({.expansion = 0}); }, ErrorCode::invalid_argument);
  error_of([&] { (void)words({.kind = Kind::frozen}); }, ErrorCode::wrong_kind);
}

TEST(ModuleReplies, HaveErrorsWithCodes) {
  const struct {
    const char* reply;
    ErrorCode code;
    const char* says;
  } errors[] = {
      {"-ERR unknown command 'BF.MDEL'\r\n", ErrorCode::wrong_kind, "cannot remove keys"},
      {"-ERR unknown command 'BF.ADD'\r\n", ErrorCode::io, "no module with BF commands"},
      {"-ERR BF.MDEL is odd\r\n", ErrorCode::io, "is odd"},
      {"-ERR item exists\r\n", ErrorCode::exists, "choose another key"},
      {"-ERR the filter is full\r\n", ErrorCode::no_space, "make a larger filter"},
      {"-ERR the filter does not count\r\n", ErrorCode::wrong_kind, "does not count"},
  };
  for (const auto& each : errors) {
    const Error error = detail::module_meaning(*parsed(each.reply), "it");
    EXPECT_EQ(error.code(), each.code) << each.reply;
    EXPECT_NE(std::string(error.what()).find(each.says), std::string::npos) << error.what();
  }
  for (const char* unknown : {"-ERR unknown command 'x'\r\n", "-ERR Unknown command x\r\n",
                              "-ERR Unknown Redis command called from script\r\n"})
    EXPECT_TRUE(detail::is_unknown_command(*parsed(unknown))) << unknown;
  EXPECT_FALSE(detail::is_unknown_command(*parsed("-ERR command\r\n")));
}

// A server repeats the words of a command that it does not know; these may be any.
TEST(ModuleReplies, AreDamageOnlyWhereTheBytesAreRefused) {
  const auto refused = [](const char* reply, ErrorCode code, const char* says) {
    expect_error(code, {says},
                 [&] { detail::require_chunk_reply(*parsed(reply), REDIS_REPLY_STATUS, "it"); });
  };
  refused("-ERR invalid offset\r\n", ErrorCode::corrupt, "has grown or was replaced");
  refused("-ERR invalid chunk\r\n", ErrorCode::corrupt, "has grown or was replaced");
  refused("-ERR received bad data\r\n", ErrorCode::corrupt, "what was sent is damaged");
  refused("-ERR Bad data format\r\n", ErrorCode::corrupt, "what was sent is damaged");
  refused("-ERR DUMP payload version\r\n", ErrorCode::corrupt, "what was sent is damaged");
  refused("-ERR unknown command 'BF.LOADCHUNK', with args 'invalid'\r\n", ErrorCode::io,
          "no module");
  refused(":1\r\n", ErrorCode::io, "not how a module");
}

// No server is asked for what none can make.
TEST(ModuleReserveTest, HasOnlyWhatAModuleTakes) {
  const auto refused = [](std::optional<std::uint32_t> shards, const ModuleReserve& reserve,
                          ErrorCode code, const char* says) {
    expect_error(code, {says}, [&] {
      (void)ModuleFilter::create({{.port = 1}, "k", shards}, reserve);
    });
  };
  refused({}, {.kind = Kind::scalable, .capacity = 9, .expansion = 0}, ErrorCode::invalid_argument,
          "a factor of 1 or more");
  refused({}, {.kind = Kind::frozen, .capacity = 9}, ErrorCode::wrong_kind, "built in a file");
  for (const Kind kind : {Kind::counting, Kind::window, Kind::frozen})
    refused(3, {.kind = kind, .capacity = 9}, ErrorCode::wrong_kind, "are plain or scalable");
  refused(3, {.kind = Kind::scalable, .capacity = 9, .expansion = 0}, ErrorCode::invalid_argument,
          "a factor of 1 or more");
  refused(3, {.kind = Kind::plain, .capacity = 9, .layout = "native"}, ErrorCode::invalid_argument,
          "choose the layout");
}

}  // namespace
}  // namespace bloomery::test
