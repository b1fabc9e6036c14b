// What nodes say about each other is taken as it is meant, or not at all.
#include "redis/cluster/slots.hpp"

#include <gtest/gtest.h>

#include <string>

#include "redis/parsed.hpp"
#include "redis/server.hpp"

namespace bloomery::test {
namespace {

using detail::Redirection;
using detail::SlotTable;

TEST(RedirectionTest, HasAHostAndAPort) {
  const auto moved = detail::redirection_of(*parsed("-MOVED 3999 10.0.0.7:65535\r\n"));
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->reply, Redirection::Reply::moved);
  EXPECT_EQ(moved->host, "10.0.0.7");
  EXPECT_EQ(moved->port, 65'535);
  const auto ask = detail::redirection_of(*parsed("-ASK 3999 ::1:1\r\n"));
  ASSERT_TRUE(ask);
  EXPECT_EQ(ask->reply, Redirection::Reply::ask);
  EXPECT_EQ(ask->host, "::1");
  EXPECT_EQ(ask->port, 1);
  const auto again = detail::redirection_of(*parsed("-TRYAGAIN soon\r\n"));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->reply, Redirection::Reply::try_again);
  for (const char* none :
       {"-MOVED 3999 h\r\n", "-MOVED 3999 h:\r\n", "-MOVED 3999 h:x\r\n", "-MOVED 3999 h:7x\r\n",
        "-ASK 3999 h:0\r\n", "-ASK 3999 h:65536\r\n", "+MOVED 3999 h:7\r\n", "-ERR MOVED\r\n"})
    EXPECT_FALSE(detail::redirection_of(*parsed(none))) << none;
}

const RedisAddress kAsked{.host = "asked", .port = 7, .user = "me"};

std::string range(int first, int last, const std::string& host, int port) {
  return raw_array({":" + std::to_string(first) + "\r\n", ":" + std::to_string(last) + "\r\n",
                    raw_array({host, ":" + std::to_string(port) + "\r\n"})});
}

TEST(SlotTableTest, LearnsWhoHasWhichSlots) {
  SlotTable table;
  EXPECT_EQ(table.owning(), 0U);
  table.learn(
      *parsed(raw_array({range(0, 9, raw_text("a"), 1), range(11, 16'383, "+b\r\n", 65'535),
                         range(20, 20, raw_text("?"), 8), range(21, 21, raw_text(""), 9),
                         range(22, 22, "$-1\r\n", 10), range(10, 9'999, raw_text("a"), 1)})),
      kAsked);
  const auto owner = [&](std::uint16_t slot) {
    const RedisAddress& node = table.nodes().at(table.owner(slot));
    EXPECT_EQ(node.user, "me");
    return node.host + ":" + std::to_string(node.port);
  };
  EXPECT_EQ(owner(0), "a:1");
  EXPECT_EQ(owner(10), "a:1");
  EXPECT_EQ(owner(16'383), "b:65535");
  EXPECT_EQ(owner(10'000), "b:65535");
  EXPECT_EQ(table.nodes().size(), 5U) << "a node was taken for two";
  EXPECT_EQ(table.owning(), 2U);

  // A node that does not say where it is is where it was asked.
  table.learn(*parsed(raw_array({range(20, 20, raw_text("?"), 8), range(21, 21, raw_text(""), 9),
                                 range(22, 22, "$-1\r\n", 10)})),
              kAsked);
  EXPECT_EQ(owner(20), "asked:8");
  EXPECT_EQ(owner(21), "asked:9");
  EXPECT_EQ(owner(22), "asked:10");
  EXPECT_EQ(table.owner(19), SlotTable::kNobody);
  EXPECT_EQ(table.owning(), 3U) << "those without slots count too";
}

TEST(SlotTableTest, BelievesNothingElse) {
  SlotTable table;
  table.learn(*parsed(raw_array({range(0, 16'383, raw_text("a"), 1)})), kAsked);
  const std::string node = raw_array({raw_text("h"), ":1\r\n"});
  for (const std::string& wrong :
       {std::string("+OK\r\n"), raw_array({":1\r\n"}), raw_array({raw_array({":0\r\n", ":5\r\n"})}),
        raw_array({raw_array({raw_text("0"), ":5\r\n", node})}),
        raw_array({raw_array({":0\r\n", raw_text("5"), node})}),
        raw_array({range(-1, 5, raw_text("h"), 1)}), raw_array({range(9, 5, raw_text("h"), 1)}),
        raw_array({range(0, 16'384, raw_text("h"), 1)}), raw_array({range(0, 5, raw_text("h"), 0)}),
        raw_array({range(0, 5, raw_text("h"), 65'536)}),
        raw_array({raw_array({":0\r\n", ":5\r\n", raw_text("h")})}),
        raw_array({raw_array({":0\r\n", ":5\r\n", raw_array({raw_text("h")})})}),
        raw_array({raw_array({":0\r\n", ":5\r\n", raw_array({raw_text("h"), raw_text("1")})})}),
        // What is right before it is not taken either.
        raw_array({range(0, 5, raw_text("h"), 1), ":1\r\n"})}) {
    error_of([&] { table.learn(*parsed(wrong), kAsked); }, ErrorCode::io);
    EXPECT_EQ(table.nodes().at(table.owner(3)).host, "a") << wrong;
    EXPECT_EQ(table.nodes().size(), 1U);
  }
}

}  // namespace
}  // namespace bloomery::test
