// Nodes that have left their cluster, or never belonged to it: the others know who has the slots.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "redis/node_pair.hpp"

namespace bloomery::test {
namespace {

using Pair = NodePair;
using Words = Scripted::Words;
using Said = std::optional<std::string>;

// A new server in the place of a node that is gone, before it joins.
TEST(LeftNodes, AServerThatKnowsNoClusterIsNotBelievedWhileNodesDo) {
  for (const char* slots : {"*0\r\n", "-ERR This instance has cluster support disabled\r\n"}) {
    Pair pair;
    pair.first_says(pair.to_second("MOVED"));
    EXPECT_TRUE(pair.all_there());
    bool hangs_up = true;
    pair.second.say([&](const Words& words) -> Said {
      if (words[0] == "CLUSTER") return all_slots_at(pair.second.port());
      return std::exchange(hangs_up, false) ? Said("") : std::nullopt;
    });
    pair.first.say([&](const Words& words) -> Said {
      return words[0] == "CLUSTER" ? slots : "-CLUSTERDOWN Hash slot not served\r\n";
    });
    error_of([&] { pair.all_there(); }, ErrorCode::unavailable);
    EXPECT_TRUE(pair.all_there());
    // And if nobody else is left, that is an error, and nothing is absent.
    hangs_up = true;
    pair.second.say([&](const Words&) -> Said { return ""; });
    error_of([&] { pair.all_there(); }, ErrorCode::unavailable);
    expect_error(ErrorCode::unavailable, {"no node of the cluster any more"},
                 [&] { pair.all_there(); });
  }
}

// It would cost the timeout, each time.
TEST(LeftNodes, ANodeThatHadSlotsLongAgoIsAskedLast) {
  Pair pair;
  Scripted former(pair.real.path());
  pair.first_says("-MOVED 13907 127.0.0.1:" + std::to_string(former.port()) + "\r\n");
  EXPECT_TRUE(pair.all_there());
  former.say([](const Words&) -> Said { return ""; });
  error_of([&] { pair.all_there(); }, ErrorCode::unavailable);
  pair.first_says(pair.to_second("MOVED"));
  EXPECT_TRUE(pair.all_there());
  // The first node dies.
  pair.first.say([](const Words&) -> Said { return ""; });
  bool hangs_up = true;
  pair.second.say([&](const Words& words) -> Said {
    if (words[0] == "CLUSTER") return all_slots_at(pair.second.port());
    return std::exchange(hangs_up, false) ? Said("") : std::nullopt;
  });
  error_of([&] { pair.all_there(); }, ErrorCode::unavailable);
  const int before = former.asked();
  EXPECT_TRUE(pair.all_there());
  EXPECT_EQ(former.asked(), before);
}

// It was taken out of the cluster, and keeps its connections.
TEST(LeftNodes, ANodeThatServesNoSlotIsLeft) {
  Pair pair;
  pair.first.say([&](const Words& words) -> Said {
    return words[0] == "CLUSTER" ? all_slots_at(pair.second.port())
                                 : "-CLUSTERDOWN Hash slot not served\r\n";
  });
  error_of([&] { pair.all_there(); }, ErrorCode::unavailable);
  EXPECT_TRUE(pair.all_there());
}

}  // namespace
}  // namespace bloomery::test
