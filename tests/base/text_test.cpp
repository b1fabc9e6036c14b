// Sentences with values in them.
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace bloomery::detail {
namespace {

TEST(FillIn, PutsEachValueInItsPlace) {
  EXPECT_EQ(fill_in("{} of {} bytes, {}", "a file", std::uint64_t{5}, std::string("-3")),
            "a file of 5 bytes, -3");
  EXPECT_EQ(fill_in("({}{})", -1, 2), "(-12)");
  EXPECT_EQ(fill_in("{}; try {}", "it has {} in it", "again"), "it has {} in it; try again");
}

}  // namespace
}  // namespace bloomery::detail
