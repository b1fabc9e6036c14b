// What is printed of a filter: all that its kind has. Of one whose place says little, nothing is made up.
#include "output/statistics.hpp"

#include <gtest/gtest.h>
#include <bloomery/filter_stats.hpp>
#include <nlohmann/json.hpp>

#include <optional>
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

TEST(Statistics, OfAModuleThatSaysNoRate) {
  FilterStats stats;
  stats.fill_known = false;
  stats.module_arrays = 1;
  stats.capacity = 1;
  EXPECT_EQ(names(made_rows(stats, nullptr)), "kind: of a Redis module; made for: 1 key; ");
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

FilterStats stats_of_kind(std::optional<Kind> kind) {
  FilterStats stats;
  stats.kind = kind;
  stats.bytes = 1'024;
  stats.plan = Plan{Layout::blocked, 8'192, 6, 1'000, 0.01};
  stats.capacity = 1'000;
  stats.fpr = 0.01;
  stats.fill = 0.25;
  stats.estimated_items = 400;
  stats.current_fpr = 0.002;
  return stats;
}
const std::string kMade =
    "layout: blocked, 6 hashes; bits: 8,192 (1.0 KiB); made for: 1,000 keys at 1 %; ";
const std::string kFilled =
    "estimated items: 400; fill: 25.0 %; current fpr: 0.2 %; room left: 600; ";
const std::string kAtItsFpr = ", 1.0 KiB, for 1,000 keys at 1 %";
const std::string kBitsAreOnes = "; 25.0 % of the bits are ones, current fpr 0.2 %";

// `more`: in JSON beside what all of them have.
void expect_all(const FilterStats& stats, const std::string& rows, const std::string& text,
                const std::string& more) {
  EXPECT_EQ(names(made_rows(stats, nullptr)) + names(fill_rows(stats)), rows);
  EXPECT_EQ(filter_text(stats), "filter: " + text);
  auto wanted = nlohmann::json::parse(
      R"({"layout":"blocked","bits":8192,"bytes":1024,"hashes":6,"capacity":1000,"fpr":0.01,)"
      R"("bits_per_key":8.192,"fill":0.25,"fill_is_sampled":false,"fill_standard_error":0.0,)"
      R"("current_fpr":0.002,"estimated_items":400.0,"room_left":600.0,"over_capacity":false})");
  wanted["kind"] = to_string(*stats.kind);
  wanted.update(nlohmann::json::parse(more));
  EXPECT_EQ(nlohmann::json::parse(filter_json(stats, nullptr).dump()), wanted);
}

TEST(Statistics, OfTwoGenerationsAreOfBoth) {
  FilterStats stats = stats_of_kind(Kind::plain);
  stats.generations = FilterStats::Generations{.newer = 7,
                                               .older = {.fill = 0.5,
                                                         .fill_error = 0.001,
                                                         .sampled = true,
                                                         .estimated_items = 900,
                                                         .current_fpr = 0.009}};
  expect_all(
      stats,
      "kind: plain, in two generations; layout: blocked, 6 hashes; bits: 2 x 8,192 (2.0 KiB); "
      "made for: 1,000 keys per generation at 1 %; generation: 7; newer: about 400 keys, fill 25.0 "
      "%; "
      "older: about 900 keys, fill 50.0 % (+- 0.2 %, from a sample); current fpr: 0.2 %; ",
      "two generations of blocked" + kAtItsFpr +
          "; 25.0 % of the bits of the newer are ones, current fpr 0.2 %",
      R"({"generation":7,"older":{"estimated_items":900.0,"current_fpr":0.009,"fill":0.5,)"
      R"("fill_is_sampled":true,"fill_standard_error":0.001}})");
}

TEST(Statistics, OfAFrozenFilterAreOfItsDeltaToo) {
  FilterStats stats = stats_of_kind(Kind::frozen);
  stats.inserted = 950;
  stats.frozen = FrozenPlan{
      .array = *stats.plan, .partitions = 4, .fingerprint_bits = 7, .narrow_partitions = 3};
  const std::string made =
      "bits: 8,192 (1.0 KiB); made for: 1,000 keys at 1 %; keys: 950; current fpr: 0.2 %; ";
  expect_all(
      stats, "kind: frozen; layout: binary fuse, fingerprints of 6 and 7 bits; " + made,
      "frozen, fingerprints of 6 and 7 bits" + kAtItsFpr + ", current fpr 0.2 %",
      R"({"layout":"fuse","inserted":950,"fingerprint_bits":7,"partitions":4,"narrow_partitions":3})");
  stats.frozen->narrow_partitions = 0;
  stats.delta = FilterStats::Delta{.plan = {Layout::standard, 4'096, 5, 512, 0.005},
                                   .inserted = 50,
                                   .estimated_items = 49,
                                   .current_fpr = 0.0001};
  expect_all(
      stats,
      "kind: frozen; layout: binary fuse, fingerprints of 7 bits; " + made +
          "delta: 50 of 512 keys, 512 B, current fpr 0.01 %; ",
      "frozen with a delta, fingerprints of 7 bits" + kAtItsFpr + ", current fpr 0.2 %",
      R"({"layout":"fuse","inserted":950,"fingerprint_bits":7,"partitions":4,"narrow_partitions":0,)"
      R"("delta":{"layout":"standard","bits":4096,"bytes":512,"hashes":5,"capacity":512,"fpr":0.005,)"
      R"("bits_per_key":8.0,"inserted":50,"estimated_items":49.0,"current_fpr":0.0001}})");
}

TEST(Statistics, OfACountingFilterAreOfItsCounters) {
  FilterStats stats = stats_of_kind(Kind::counting);
  stats.counters = FilterStats::Counters{.bits = 4, .saturated = 2};
  expect_all(stats,
             "kind: counting; " + kMade + kFilled + "counters: 8,192 of 4 bits, 2 saturated; ",
             "counting, counters of 4 bits" + kAtItsFpr +
                 "; 25.0 % of the counters are in use, current fpr 0.2 %",
             R"({"counters":8192,"counter_bits":4,"saturated_counters":2})");
}

TEST(Statistics, OfAScalableFilterAreOfItsSubFilters) {
  FilterStats stats = stats_of_kind(Kind::scalable);
  stats.growth = 2;
  stats.sub_filters = {
      {.plan = {Layout::standard, 4'096, 5, 512, 0.005}, .inserted = 450, .current_fpr = 0.001},
      {.plan = {Layout::standard, 8'192, 6, 1'024, 0.0025}, .inserted = 1, .current_fpr = 0}};
  expect_all(
      stats,
      "kind: scalable; " + kMade + kFilled +
          "growth: 2 times per sub-filter; sub-filter 1: 512 B, 450 of 512 keys, current fpr 0.1 "
          "%; "
          "sub-filter 2: 1.0 KiB, 1 of 1,024 keys, current fpr 0 %; ",
      "scalable, blocked, 2 sub-filters" + kAtItsFpr + kBitsAreOnes,
      R"({"growth":2,"sub_filters":[{"layout":"standard","bits":4096,"bytes":512,"hashes":5,)"
      R"("capacity":512,"fpr":0.005,"bits_per_key":8.0,"inserted":450,"current_fpr":0.001},)"
      R"({"layout":"standard","bits":8192,"bytes":1024,"hashes":6,"capacity":1024,"fpr":0.0025,)"
      R"("bits_per_key":8.0,"inserted":1,"current_fpr":0.0}]})");
}

TEST(Statistics, OfAWindowAreOfItsSlices) {
  FilterStats stats = stats_of_kind(Kind::window);
  stats.window = WindowPlan{.slice = *stats.plan,
                            .slices = 4,
                            .unit = WindowUnit::seconds,
                            .window = 7'200,
                            .capacity = 1'000,
                            .fpr = 0.01};
  stats.live_slices = 3;
  expect_all(stats,
             "kind: window; " + kMade + kFilled + "window: 2 h in 4 slices; live slices: 3; ",
             "window of 2 h, blocked" + kAtItsFpr + kBitsAreOnes,
             R"({"unit":"seconds","window":7200,"slices":4,"slice_length":1800,"live_slices":3})");
}

TEST(Statistics, OfShardsAreOfItsServers) {
  FilterStats stats = stats_of_kind(Kind::plain);
  stats.shards = FilterStats::Shards{.count = 3, .nodes = 2};
  expect_all(stats, "kind: plain, in shards; shards: 3 on 2 nodes; " + kMade + kFilled,
             "blocked, 1.0 KiB in 3 shards, for 1,000 keys at 1 %" + kBitsAreOnes,
             R"({"shards":3,"nodes":2})");
}

TEST(Statistics, OfAPhpClassAreALowerBound) {
  FilterStats stats = stats_of_kind(std::nullopt);
  stats.plan.reset();
  stats.capacity = 0;
  stats.fpr = 0;
  stats.scheme = PhpScheme::crc32_mt(8'192, 1'000);
  EXPECT_EQ(
      names(made_rows(stats, nullptr)) + names(fill_rows(stats)),
      "scheme: php-crc32-mt of 8192 bits and 6 hashes; bits: 8,192 (1.0 KiB); hashes: 6; "
      "estimated items: 400, if the hashes were good; fill: 25.0 %; current fpr: at least 0.2 %; ");
  EXPECT_EQ(filter_text(stats),
            "filter: php-crc32-mt of 8192 bits and 6 hashes; 25.0 % of the bits are ones, current "
            "fpr at least 0.2 %");
  EXPECT_EQ(
      filter_json(stats, nullptr).dump(),
      R"({"scheme":"php-crc32-mt of 8192 bits and 6 hashes","bits":8192,"hashes":6,"bytes":1024,)"
      R"("fill":0.25,"fill_is_sampled":false,"fill_standard_error":0.0,"min_current_fpr":0.002,)"
      R"("estimated_items":400.0,"over_capacity":false})");
}

}  // namespace
}  // namespace bloomery::cli
