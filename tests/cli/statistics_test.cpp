// What is printed of a filter whose place says little of it: nothing is made up.
#include "output/statistics.hpp"

#include <gtest/gtest.h>
#include <bloomery/filter_stats.hpp>

#include <string>

#include "output/metrics.hpp"

namespace bloomery::cli {
namespace {

std::string names(const Rows& rows) {
  std::string all;
  for (const auto& [name, value] : rows) all += name + ": " + value + "; ";
  return all;
}

std::string warning(const FilterStats& stats) {
  testing::internal::CaptureStderr();
  warn_if_over_capacity(stats, "ADVICE");
  return testing::internal::GetCapturedStderr();
}

std::string metrics_of(const FilterStats& stats) {
  Metrics metrics;
  metrics.add("f", stats, false);
  return metrics.text();
}
constexpr const char* kOnlyIfKnown[] = {"kind=", "capacity_keys{", "inserted_keys{", "stated_fpr{",
                                        "size_bytes{"};

TEST(Statistics, OfAModuleThatSaysNothing) {
  FilterStats stats;
  stats.fill_known = false;
  stats.module_arrays = 1;
  EXPECT_EQ(filter_json(stats, nullptr).dump(), R"({"over_capacity":false,"sub_filter_count":1})");
  EXPECT_EQ(names(made_rows(stats, nullptr)), "kind: of a Redis module; ");
  EXPECT_EQ(names(fill_rows(stats)), "sub-filters: 1; growth: none; ");
  EXPECT_EQ(filter_text(stats), "filter: of a module, 0 B, for 0 keys; 0 inserted");
  for (const char* const name : kOnlyIfKnown)
    EXPECT_EQ(metrics_of(stats).find(name), std::string::npos) << metrics_of(stats);
}

TEST(Statistics, OfAModuleThatSaysAll) {
  FilterStats stats;
  stats.fill_known = false;
  stats.module_arrays = 2;
  stats.kind = Kind::scalable;
  stats.capacity = 1'000;
  stats.inserted = 1'500;
  stats.fpr = 0.01;
  stats.bytes = 2'048;
  stats.growth = 2;
  stats.over_capacity = true;
  EXPECT_EQ(filter_json(stats, nullptr).dump(),
            R"({"kind":"scalable","bytes":2048,"capacity":1000,"fpr":0.01,"inserted":1500,)"
            R"("over_capacity":true,"sub_filter_count":2,"growth":2})");
  EXPECT_EQ(names(made_rows(stats, nullptr)),
            "kind: scalable, of a Redis module; bytes: 2.0 KiB; made for: 1,000 keys at 1 %; ");
  EXPECT_EQ(names(fill_rows(stats)),
            "inserted: 1,500; sub-filters: 2; growth: 2 times per sub-filter; ");
  EXPECT_EQ(filter_text(stats),
            "filter: of a module, 2.0 KiB, for 1,000 keys at 1 %; 1,500 inserted");
  EXPECT_EQ(warning(stats),
            "bloomery: warning: 1,500 keys were inserted into a filter for 1,000; if they are all "
            "still in it, ADVICE\n");
  stats.shards = FilterStats::Shards{};
  EXPECT_EQ(warning(stats),
            "bloomery: warning: 1,500 keys were inserted into a filter for 1,000; ADVICE\n");
  for (const char* const name : kOnlyIfKnown)
    EXPECT_NE(metrics_of(stats).find(name), std::string::npos) << metrics_of(stats);
  EXPECT_NE(metrics_of(stats).find("kind=\"scalable\""), std::string::npos);
}

TEST(Statistics, OfTwoGenerationsThatAreTooFullAdviseToRotate) {
  FilterStats stats;
  stats.plan = plan(1'000, 0.01);
  stats.capacity = 1'000;
  stats.fpr = 0.01;
  stats.estimated_items = 2'000;
  stats.current_fpr = 0.1;
  EXPECT_EQ(warning(stats), "");
  stats.over_capacity = true;
  EXPECT_NE(warning(stats).find("its false-positive rate is now 10 %, not 1 %; ADVICE"),
            std::string::npos);
  stats.generations = FilterStats::Generations{};
  EXPECT_NE(warning(stats).find("not 1 %; rotate it, or create a larger one"), std::string::npos);
}

}  // namespace
}  // namespace bloomery::cli
