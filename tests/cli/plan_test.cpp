// `plan` prints what the library plans, as a table and as JSON.
#include "tool.hpp"

#include <bloomery/plan.hpp>
#include <nlohmann/json.hpp>

#include <string>

namespace bloomery {
namespace {

using nlohmann::json;
using test::is_error;
using test::run;

TEST(PlanVerb, PrintsEveryLayoutAndMarksTheDefault) {
  const auto ran = run({"plan", "-n", "100M", "-p", "0.1%"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_TRUE(ran.err.empty());
  EXPECT_NE(ran.out.find("\nblocked * "), std::string::npos);
  EXPECT_NE(ran.out.find("\nblocked2 "), std::string::npos);
  EXPECT_NE(ran.out.find("\nstandard "), std::string::npos);
  EXPECT_NE(ran.out.find("9.97 bits"), std::string::npos);
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
      is_error(run({"plan", "-p", "1%", "--hashes", "7"}), {"only the ratio", "items or bits"}));
}

TEST(PlanVerb, ALayoutThatCannotSaysWhyAndTheOthersStand) {
  // 5 hashes are none for blocked2.
  const json found =
      json::parse(run({"plan", "-n", "1M", "-p", "1%", "--hashes", "5", "--json"}).out);
  EXPECT_TRUE(found["layouts"][0].contains("bits"));
  EXPECT_TRUE(found["layouts"][1].contains("error"));
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
  EXPECT_TRUE(is_error(run({"plan"}), {}));
  EXPECT_TRUE(is_error(run({"plan", "-n", "100M"}), {}));
  EXPECT_TRUE(is_error(run({"plan", "-n", "0", "-p", "1%"}), {}));
  EXPECT_TRUE(is_error(run({"plan", "-n", "100T", "-p", "1%"}), {}));
  EXPECT_TRUE(is_error(run({"plan", "-n", "1M", "-p", "0.9"}), {}));
  EXPECT_TRUE(is_error(run({"plan", "-n", "1M", "-p", "1e-16"}), {}));
  EXPECT_TRUE(is_error(run({"plan", "-n", "1M", "--bits", "1024GiB"}), {}));
}

}  // namespace
}  // namespace bloomery
