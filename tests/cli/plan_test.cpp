// `plan` prints what the library plans and what `create` makes, as a table and as JSON.
#include "tool.hpp"

#include <bloomery/spec.hpp>
#include <nlohmann/json.hpp>

#include <string>

namespace bloomery::test {
namespace {

class PlanOfAKind : public ToolTest {};

using nlohmann::json;

TEST(PlanVerb, PrintsEveryLayoutAndMarksTheDefault) {
  const auto ran = run({"plan", "-n", "100M", "-p", "0.1%"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_TRUE(ran.err.empty());
  EXPECT_TRUE(says(ran.out, "\nblocked * "));
  EXPECT_TRUE(says(ran.out, "\nblocked2 "));
  EXPECT_TRUE(says(ran.out, "\nstandard "));
  EXPECT_TRUE(says(ran.out, "9.97 bits"));
}

TEST(PlanVerb, JsonIsWhatTheLibrarySays) {
  const json found = json::parse(run({"plan", "-n", "1M", "-p", "1e-3", "--json"}).out);
  ASSERT_EQ(found["layouts"].size(), 3u);
  for (const json& row : found["layouts"]) {
    const Layout layout = row["layout"] == "blocked"    ? Layout::blocked
                          : row["layout"] == "blocked2" ? Layout::blocked2
                                                        : Layout::standard;
    const Plan wanted = plan(1'000'000, 1e-3, layout);
    EXPECT_EQ(row["bits"], wanted.bits);
    EXPECT_EQ(row["bytes"], wanted.bytes());
    EXPECT_EQ(row["hashes"], wanted.hashes);
    EXPECT_EQ(row["default"], layout == plan(1'000'000, 1e-3).layout);
    for (const int load : {1, 2, 3, 4})
      EXPECT_DOUBLE_EQ(row["fpr_at"][std::to_string(load) + "x"],
                       predicted_fpr(wanted, 1e6 * load));
  }
}

TEST(PlanVerb, BitsAndHashesAreInputs) {
  const json room = json::parse(
      run({"plan", "-p", "1%", "--bits", "1MiB", "--layout", "blocked2", "--json"}).out);
  ASSERT_EQ(room["layouts"].size(), 1u);
  EXPECT_EQ(room["layouts"][0]["bits"], 8u << 20);
  EXPECT_GT(room["layouts"][0]["capacity"], 800'000);

  const json fpr = json::parse(
      run({"plan", "-n", "1M", "--bits", "10M", "--hashes", "5", "--layout", "blocked", "--json"})
          .out);
  EXPECT_EQ(fpr["layouts"][0]["hashes"], 5);
  EXPECT_NEAR(fpr["layouts"][0]["fpr"], 0.0098, 0.001);
}

TEST(PlanVerb, HashesAndOneOtherNumberAreEnough) {
  const json sized = json::parse(run({"plan", "-n", "1M", "--hashes", "8", "--json"}).out);
  for (const json& row : sized["layouts"]) {
    EXPECT_EQ(row["hashes"], 8);
    EXPECT_EQ(row["default"], row["layout"] == "blocked");
  }
  EXPECT_NEAR(sized["layouts"][2]["bits_per_key"], 8 / 0.6931, 0.01);
  const json loaded = json::parse(
      run({"plan", "--bits", "10M", "--hashes", "8", "--layout", "standard", "--json"}).out);
  EXPECT_NEAR(loaded["layouts"][0]["capacity"], 1e7 * 0.6931 / 8, 100);
  EXPECT_TRUE(
      is_error(run({"plan", "-p", "1%", "--hashes", "7"}), {"only the ratio", "-n or --bits"}));
}

TEST(PlanVerb, ALayoutThatCannotSaysWhyAndTheOthersStand) {
  // 5 hashes are none for blocked2.
  const json found =
      json::parse(run({"plan", "-n", "1M", "-p", "1%", "--hashes", "5", "--json"}).out);
  EXPECT_TRUE(found["layouts"][0].contains("bits"));
  EXPECT_TRUE(found["layouts"][1].contains("error"));
  const auto text = run({"plan", "-n", "1M", "-p", "1%", "--hashes", "5"});
  EXPECT_TRUE(says(
      text.out, "\nblocked2   layout blocked2 takes an even number of hashes, 2 to 32, not 5\n"));
  EXPECT_TRUE(is_error(run({"plan", "-n", "1M", "-p", "1%", "--hashes", "65"}), {}));
}

TEST(PlanVerb, TheTableIsTheTextbooks) {
  const json found = json::parse(run({"plan", "--table", "--json"}).out);
  EXPECT_EQ(found["fprs"].size(), 31u * 8);
  for (const json& row : found["fprs"])
    EXPECT_DOUBLE_EQ(row["fpr"], textbook_fpr(row["bits_per_key"], row["hashes"]));
  const auto text = run({"plan", "--table", "--layout", "blocked2"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(std::count(text.out.begin(), text.out.end(), '\n'), 33);
}

TEST(PlanVerb, WhatCannotBePlannedIsAnError) {
  EXPECT_TRUE(is_error(run({"plan"}), {"give two of -n, -p, --bits and --hashes"}));
  EXPECT_TRUE(is_error(run({"plan", "-n", "100M"}), {"give two of -n"}));
  EXPECT_TRUE(is_error(run({"plan", "-n", "0", "-p", "1%"}), {}));
  EXPECT_TRUE(is_error(run({"plan", "-n", "100T", "-p", "1%"}), {}));
  EXPECT_TRUE(is_error(run({"plan", "-n", "1M", "-p", "0.9"}), {}));
  EXPECT_TRUE(is_error(run({"plan", "-n", "1M", "-p", "1e-16"}), {}));
  EXPECT_TRUE(is_error(run({"plan", "-n", "1M", "--bits", "1024GiB"}), {}));
}

// ---- every kind -----------------------------------------------------------------------------

json planned(Arguments flags) {
  flags.insert(flags.begin(), {"plan", "--json"});
  return json::parse(run(flags).out);
}

TEST(PlanVerb, CountingFiltersHaveARowForEachWidthOfCounters) {
  const json found = planned({"--kind", "counting", "-n", "1M", "-p", "0.1%"});
  EXPECT_EQ(found["kind"], "counting");
  ASSERT_EQ(found["layouts"].size(), 2u);
  for (const std::size_t i : {0, 1}) {
    const json& row = found["layouts"][i];
    const CountingPlan wanted{plan(1'000'000, 1e-3, counting_layout(i == 0 ? 4 : 8))};
    EXPECT_EQ(row["counter_bits"], i == 0 ? 4 : 8);
    EXPECT_EQ(row["counters"], wanted.counters());
    EXPECT_EQ(row["bytes"], wanted.bytes());
    EXPECT_EQ(row["hashes"], wanted.plan.hashes);
    EXPECT_EQ(row["default"], i == 0);
    EXPECT_EQ(row["saturated_at"]["20x"], predicted_saturation(wanted, 1e6, 20));
  }
  EXPECT_EQ(
      planned({"--kind", "counting", "--counter-bits", "8", "-n", "1M", "-p", "1%"})["layouts"]
          .size(),
      1u);
  const auto text = run({"plan", "--kind", "counting", "-n", "1M", "--bits", "8MiB"}).out;
  EXPECT_TRUE(says(text, "\n4 bits * "));
  EXPECT_TRUE(says(text, "   8.0 MiB "));
  EXPECT_TRUE(says(text, "Saturated counters"));
  EXPECT_TRUE(says(text, "   none "));
}

TEST(PlanVerb, CountersTakeSoMuchAtLowRates) {
  const auto shown = run({"plan", "--kind", "counting", "-n", "100k", "-p", "1e-9"});
  EXPECT_EQ(shown.code, 0);
  EXPECT_TRUE(says(shown.out, "\n4 bits * "));
  EXPECT_TRUE(says(shown.out, "\n8 bits "));
  const std::size_t rates = shown.out.find("Bits per key of 100,000 keys");
  ASSERT_NE(rates, std::string::npos);
  for (const char* words :
       {"1e-15\n4 bits, 1 block ", "(9,159) (121,732)\n4 bits, 2 blocks ", " *633 ",
        "\n8 bits, 1 block", "(555,283)         -", "\n8 bits, 2 blocks ", " (2,829)   (8,84"})
    EXPECT_NE(shown.out.find(words, rates), std::string::npos) << words << shown.out;
  const auto none =
      run({"plan", "--kind", "counting", "--counter-bits", "8", "-n", "100k", "-p", "1e-12"});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(says(none.err, "need 2,829 bits per key with counters of 8 bits"));
}

TEST(PlanVerb, CountersAtLowRatesHaveTwoBlocks) {
  for (const auto& [rate, four, eight] : {std::tuple("1e-3", "blocked128", "blocked64"),
                                          std::tuple("5e-4", "blocked128", "blocked2x64"),
                                          std::tuple("1e-9", "blocked2x128", "blocked2x64")}) {
    const json rows = planned({"--kind", "counting", "-n", "1M", "-p", rate})["layouts"];
    EXPECT_EQ(rows[0]["layout"], four);
    EXPECT_EQ(rows[1]["layout"], eight);
    EXPECT_EQ(rows[0]["default"], true);
    EXPECT_EQ(rows[1]["default"], false);
  }
}

TEST(PlanVerb, ScalableFiltersAreShownAsTheyGrow) {
  const json found = planned(
      {"--kind", "scalable", "--growth", "4", "-n", "1M", "-p", "1%", "--layout", "standard"});
  ASSERT_EQ(found["layouts"].size(), 1u);
  const json& row = found["layouts"][0];
  const ScalablePlan wanted =
      scalable_plan(1'000'000, 0.01, 4, kDefaultTightening, Layout::standard);
  EXPECT_EQ(row["bits"], wanted.first.bits);
  EXPECT_EQ(row["fpr"], 0.01);
  EXPECT_EQ(row["growth"], 4);
  ASSERT_GT(row["sub_filters"].size(), 3u);
  EXPECT_EQ(row["sub_filters"][2]["bits"], sub_filter_plan(wanted, 2).bits);
  const json& total = row["sub_filters"][2]["total"];
  EXPECT_EQ(total["capacity"], 21'000'000);
  EXPECT_EQ(total["bytes"], wanted.first.bytes() + sub_filter_plan(wanted, 1).bytes() +
                                sub_filter_plan(wanted, 2).bytes());
  EXPECT_NEAR(total["fpr"], predicted_fpr(wanted, 21e6), 1e-12);
  // As many as there can be.
  const auto most = static_cast<std::uint32_t>(row["sub_filters"].size());
  EXPECT_THROW((void)sub_filter_plan(wanted, most), Error);

  const auto text = run({"plan", "--kind", "scalable", "-n", "1M", "-p", "1%"}).out;
  EXPECT_TRUE(says(text, "2 times as large as the one before, at most 1 % in all"));
  EXPECT_TRUE(says(text, "  1,023,000,000 "));
  EXPECT_TRUE(says(text, "It can grow to "));
  // Where it cannot come to twice its first keys.
  const auto large = run({"plan", "--kind", "scalable", "-n", "40G", "-p", "1%"});
  EXPECT_EQ(large.code, 0);
  EXPECT_TRUE(says(large.out, " -\n"));
  const json at = planned({"--kind", "scalable", "-n", "40G", "-p", "1%"})["layouts"][0]["fpr_at"];
  EXPECT_TRUE(at.contains("1x"));
  EXPECT_FALSE(at.contains("4x"));
}

TEST(PlanVerb, WindowFiltersAreShownWithTheirSlices) {
  const json found = planned({"--window", "7 days", "--slices", "4", "-n", "1M", "-p", "0.1%"});
  EXPECT_EQ(found["kind"], "window");
  ASSERT_EQ(found["layouts"].size(), 2u);
  const WindowPlan wanted =
      window_plan(WindowUnit::seconds, 604'800, 1'000'000, 1e-3, 4, Layout::blocked2);
  const json& row = found["layouts"][1];
  EXPECT_EQ(row["bytes"], wanted.bytes());
  EXPECT_EQ(row["slice"]["bits"], wanted.slice.bits);
  EXPECT_EQ(row["unit"], "seconds");
  EXPECT_EQ(row["slice_length"], 151'200);
  EXPECT_EQ(row["default"], false);
  const auto text = run({"plan", "--window", "7d", "-n", "1M", "-p", "0.1%"}).out;
  EXPECT_TRUE(says(text, "A window of 7 d in 8 slices of 21 h."));
  EXPECT_TRUE(says(text, "found for 7 d after it was added, and forgotten at most 21 h later"));
  EXPECT_TRUE(says(text, "9 slices of "));
  EXPECT_TRUE(
      says(run({"plan", "--window", "10M lines", "-p", "1%"}).out, "window of 10,000,000 lines"));
}

TEST(PlanVerb, FrozenFiltersAreShownWithWhatBuildsThem) {
  for (const std::uint64_t delta : {0, 10'000}) {
    Arguments flags{"--kind", "frozen", "-n", "1M", "-p", "1%"};
    if (delta != 0) flags.insert(flags.end(), {"--delta", std::to_string(delta)});
    const FrozenPlan wanted =
        delta == 0 ? frozen_plan(1'000'000, 0.01) : frozen_plan(1'000'000, 0.01, delta);
    const json found = planned(flags);
    EXPECT_EQ(found["kind"], "frozen");
    ASSERT_EQ(found["layouts"].size(), 1U);
    const json& row = found["layouts"][0];
    EXPECT_EQ(row["layout"], "fuse");
    EXPECT_EQ(row["bytes"], wanted.bytes());
    EXPECT_EQ(row["fingerprint_bits"], wanted.fingerprint_bits);
    EXPECT_EQ(row["partitions"], wanted.partitions);
    EXPECT_EQ(row["narrow_partitions"], wanted.narrow_partitions);
    EXPECT_EQ(row["building_bytes"], wanted.building_bytes());
    EXPECT_EQ(row["building_file_bytes"], wanted.spool_bytes());
    EXPECT_EQ(row.contains("delta"), delta != 0);
    if (delta != 0) {
      EXPECT_EQ(row["delta"]["bits"], wanted.delta->bits);
    }
  }
  const auto text = [](const std::string& keys, const std::string& rate, const std::string& delta) {
    Arguments words{"plan", "--kind", "frozen", "-n", keys, "-p", rate};
    if (!delta.empty()) words.insert(words.end(), {"--delta", delta});
    return run(words).out;
  };
  const auto fetches = [&](const std::string& rate, const std::string& delta) {
    const std::string out = text("1M", rate, delta);
    const std::size_t at = out.find("a look-up fetches ");
    return at == std::string::npos ? std::string()
                                   : out.substr(at + 18, out.find(' ', at + 18) - at - 18);
  };
  EXPECT_EQ(fetches("1%", ""), "3");
  EXPECT_EQ(fetches("1%", "10K"), "4");    // one block
  EXPECT_EQ(fetches("1e-6", "10K"), "5");  // two
  const FrozenPlan lowest = frozen_plan(1'000'000, 1.2e-9, 10'000);
  ASSERT_EQ(lowest.delta->layout, Layout::standard);
  EXPECT_EQ(fetches("1.2e-9", "10K"), std::to_string(3 + lowest.delta->hashes));
  EXPECT_TRUE(says(text("10", "1%", ""), "on one core; no key can be added later"));
  EXPECT_TRUE(says(text("100M", "1%", ""), " beside the file; no key can"));
  EXPECT_TRUE(is_error(run({"plan", "--kind", "frozen", "-p", "1%"}),
                       {"-n is missing: how many different keys there are"}));
}

TEST(PlanVerb, OneIsWrittenAsOne) {
  const auto has = [](const Arguments& words, const std::string& text) {
    return says(run(words).out, text);
  };
  EXPECT_TRUE(has({"plan", "--kind", "scalable", "--growth", "1", "-n", "1K", "-p", "1%"},
                  "each sub-filter as large as the one before"));
  EXPECT_TRUE(has({"plan", "--window", "7d", "--slices", "1", "-n", "1K", "-p", "1%"},
                  "7 d in 1 slice of 7 d."));
  // A row without a plan has no counters to saturate, and a few keys may have many bits each.
  EXPECT_TRUE(
      has({"plan", "--kind", "counting", "-n", "100K", "-p", "1e-12"}, "100 times\n4 bits "));
  EXPECT_FALSE(has({"plan", "--kind", "counting", "-n", "100K", "-p", "1e-12"}, "%\n8 bits "));
  EXPECT_TRUE(has({"plan", "--kind", "counting", "-n", "10", "-p", "1%"}, " 8,192 (113,459)"));
}

TEST(PlanVerb, NoLayoutIsTheDefaultWhereItHasNoPlan) {
  const Arguments words{"plan", "-n", "1M", "-p", "1e-6", "--hashes", "21"};
  const std::string out = run(words).out;
  EXPECT_TRUE(says(out, "\nstandard "));
  EXPECT_FALSE(says(out, "*"));
  EXPECT_TRUE(says(run({"plan", "-n", "1M", "-p", "1%"}).out, "* the layout used unless --layout"));
}

TEST(PlanVerb, TheTableOfALayoutIsThatOfItsFilters) {
  for (const Layout layout : {Layout::blocked, Layout::blocked2, Layout::standard}) {
    const std::string name(to_string(layout));
    const json found = json::parse(run({"plan", "--table", "--layout", name, "--json"}).out);
    EXPECT_EQ(found["formula"], name);
    // Two blocks take an even number of hashes.
    ASSERT_EQ(found["fprs"].size(), 31U * (layout == Layout::blocked2 ? 4 : 8));
    for (const json& row : found["fprs"])
      EXPECT_DOUBLE_EQ(row["fpr"], predicted_fpr(layout, std::uint64_t{1} << 30, row["hashes"],
                                                 0x1p30 / row["bits_per_key"].get<double>()));
    const std::string text = run({"plan", "--table", "--layout", name}).out;
    EXPECT_TRUE(text.starts_with("False-positive rates, layout " + name + ":")) << text;
    EXPECT_EQ(text.find(" -") != std::string::npos, layout == Layout::blocked2) << text;
  }
}

// What `plan` says is what `create` makes.
TEST_F(PlanOfAKind, IsThatOfTheFileThatCreateMakes) {
  const Arguments kinds[] = {
      {"-n", "20K", "-p", "1%"},
      {"--kind", "counting", "-n", "20K", "--bits", "20 bits/key"},
      {"--kind", "counting", "--counter-bits", "8", "-n", "20K", "--hashes", "4"},
      {"--kind", "scalable", "--growth", "3", "-n", "20K", "-p", "1%"},
      {"--window", "12h", "--slices", "5", "-n", "20K", "-p", "1%"},
      {"--window", "20K", "-p", "1e-6"}};
  for (const Arguments& flags : kinds) {
    const json found = planned(flags);
    json wanted;
    for (const json& row : found["layouts"])
      if (row["default"] == true) wanted = row;
    ASSERT_FALSE(wanted.is_null());
    const std::string name = path("f" + std::to_string(&flags - kinds));
    Arguments create{"create", name};
    create.insert(create.end(), flags.begin(), flags.end());
    ASSERT_EQ(run(create).code, 0);
    const json made = json::parse(run({"info", "--json", name}).out);
    for (const char* field : {"layout", "bits", "bytes", "hashes", "capacity", "fpr"})
      EXPECT_EQ(made[field], wanted[field]) << field << wanted;
    for (const char* field : {"counters", "counter_bits", "growth", "unit", "window", "slices"})
      EXPECT_EQ(made.value(field, json()), wanted.value(field, json())) << field;
  }
}

TEST(PlanVerb, FlagsOfAnotherKindAreRefused) {
  EXPECT_TRUE(is_error(run({"plan", "-n", "1M", "-p", "1%", "--growth", "2"}),
                       {"--growth goes with --kind scalable"}));
  EXPECT_TRUE(
      is_error(run({"plan", "--kind", "counting", "-n", "1", "-p", "1%", "--layout", "blocked"}),
               {"--layout does not go with a counting filter: --counter-bits decides it"}));
  EXPECT_TRUE(
      is_error(run({"plan", "--window", "7d", "-n", "1M", "-p", "1%", "--layout", "standard"}),
               {"a window filter cannot have layout standard"}));
  EXPECT_TRUE(is_error(run({"plan", "--kind", "scalable", "-n", "1M"}), {"-p is missing"}));
  EXPECT_TRUE(is_error(run({"plan", "--table", "--kind", "counting"}), {"--table"}));
  EXPECT_TRUE(is_error(run({"plan", "--web", "--kind", "counting"}), {"--web"}));
}

}  // namespace
}  // namespace bloomery::test
