// The verbs over filters that delete, grow and forget, as a user goes through them.
#include "files.hpp"

#include <bloomery/filter_file.hpp>
#include <nlohmann/json.hpp>

#include <ctime>
#include <filesystem>
#include <random>
#include <regex>
#include <string>

namespace bloomery::test {
namespace {

using nlohmann::json;

class Kinds : public Files {
 protected:
  [[nodiscard]] std::string made(const std::string& name, Arguments flags,
                                 const std::string& text) const {
    flags.insert(flags.begin(), {"create", path(name)});
    EXPECT_EQ(run(flags).code, 0);
    if (!text.empty()) {
      EXPECT_EQ(run({"add", "-q", path(name)}, text).code, 0);
    }
    return path(name);
  }
  [[nodiscard]] std::string counting(const std::string& text) const {
    return made("users.bloom", {"--kind", "counting", "-n", "100K", "-p", "1e-6"}, text);
  }
};

// ---- counting -------------------------------------------------------------------------------

TEST_F(Kinds, LinesLeaveACountingFilter) {
  const std::string filter = counting(numbers(0, 1000));
  const Ran removed = run({"remove", filter}, numbers(200, 300) + numbers(5000, 5050));
  EXPECT_EQ(removed.code, 0);
  EXPECT_EQ(removed.out, "");
  EXPECT_TRUE(says(removed.err, "150 lines, 100 removed, 50 certainly not there"));
  EXPECT_EQ(run({"check", filter}, numbers(195, 305)).out, numbers(195, 200) + numbers(300, 305));
  EXPECT_EQ(run({"verify", filter}).code, 0);
}

TEST_F(Kinds, ALineIsRemovedAsOftenAsItWasAdded) {
  const std::string filter = counting("twice\ntwice\n");
  EXPECT_EQ(run({"remove", "-q", filter}, "twice\n").code, 0);
  EXPECT_EQ(found(filter, "twice\n"), 1);
  EXPECT_EQ(run({"remove", "-q", filter}, "twice\n").code, 0);
  EXPECT_EQ(found(filter, "twice\n"), 0);
  EXPECT_EQ(run({"remove", "-q", filter}, "twice\n").code, 1);
}

TEST_F(Kinds, RemoveTakesTheFieldThatAddTook) {
  const std::string filter = path("users.bloom");
  ASSERT_EQ(run({"create", filter, "--kind", "counting", "-n", "1K", "-p", "1%"}).code, 0);
  ASSERT_EQ(run({"add", "-q", "-k", "2", "-d", ",", filter}, "a,1\nb,2\n").code, 0);
  EXPECT_EQ(run({"remove", "-q", "-k", "1", "-d", ";", filter}, "1;x\n").code, 0);
  EXPECT_EQ(run({"check", filter}, "1\n2\n").out, "2\n");
}

TEST_F(Kinds, InfoTellsOfCounters) {
  std::string text = numbers(0, 10);
  for (int i = 0; i < 20; ++i) text += "often\n";
  const std::string filter = counting(text);
  const json state = info(filter);
  EXPECT_EQ(state["kind"], "counting");
  EXPECT_EQ(state["counter_bits"], 4);
  EXPECT_EQ(state["saturated_counters"], state["hashes"]);
  EXPECT_EQ(state["bits"].get<int>(), 4 * state["counters"].get<int>());
  EXPECT_TRUE(says(run({"info", filter}).out, "of 4 bits"));
  // A line whose counters stick stays.
  for (int i = 0; i < 20; ++i) (void)run({"remove", "-q", filter}, "often\n");
  EXPECT_EQ(found(filter, "often\n"), 1);

  const std::string wide = made(
      "wide.bloom", {"--kind", "counting", "--counter-bits", "8", "-n", "1K", "-p", "1%"}, text);
  EXPECT_EQ(info(wide)["counter_bits"], 8);
  EXPECT_EQ(info(wide)["saturated_counters"], 0);
}

TEST_F(Kinds, TheMemoryOfACountingFilterCanBeGiven) {
  const std::string filter =
      made("users.bloom", {"--kind", "counting", "-n", "100K", "--bits", "1MiB"}, "");
  EXPECT_LE(info(filter)["bytes"], 1 << 20);
  EXPECT_GT(info(filter)["bytes"], (1 << 20) - 512);
}

TEST_F(Kinds, CountingFiltersMerge) {
  const std::string one = counting(numbers(0, 100));
  const std::string other =
      made("other.bloom", {"--kind", "counting", "-n", "100K", "-p", "1e-6"}, numbers(50, 150));
  EXPECT_EQ(run({"merge", path("all.bloom"), one, other}).code, 0);
  EXPECT_EQ(found(path("all.bloom"), numbers(0, 150)), 150);
  // What both had is there twice.
  EXPECT_EQ(run({"remove", "-q", path("all.bloom")}, numbers(0, 100)).code, 0);
  EXPECT_EQ(run({"check", path("all.bloom")}, numbers(0, 150)).out, numbers(50, 150));
}

// ---- scalable -------------------------------------------------------------------------------

TEST_F(Kinds, AScalableFilterGrowsWithItsLines) {
  const std::string filter =
      made("urls.bloom", {"--kind", "scalable", "-n", "100", "-p", "1e-6"}, numbers(0, 10'000));
  EXPECT_EQ(found(filter, numbers(0, 10'000)), 10'000);
  EXPECT_EQ(found(filter, numbers(20'000, 30'000)), 0);
  const json state = info(filter);
  EXPECT_EQ(state["kind"], "scalable");
  EXPECT_EQ(state["growth"], 2);
  EXPECT_EQ(state["sub_filters"].size(), 7U);  // 100 (2^7 - 1) = 12,700
  EXPECT_EQ(state["capacity"], 12'700);
  EXPECT_EQ(state["over_capacity"], false);
  EXPECT_TRUE(says(run({"info", filter}).out, "sub-filter 7"));
  EXPECT_EQ(run({"verify", filter}).code, 0);
}

TEST_F(Kinds, GrowthIsChosen) {
  const std::string filter =
      made("urls.bloom", {"--kind", "scalable", "--growth", "10", "-n", "100", "-p", "1%"},
           numbers(0, 1050));
  EXPECT_EQ(info(filter)["sub_filters"].size(), 2U);
}

// ---- window ---------------------------------------------------------------------------------

TEST_F(Kinds, AWindowOfLinesForgets) {
  const std::string filter =
      made("last.bloom", {"--window", "1000", "--slices", "10", "-p", "1e-6"}, numbers(0, 3000));
  EXPECT_EQ(found(filter, numbers(2000, 3000)), 1000);
  EXPECT_EQ(found(filter, numbers(0, 1900)), 0);
  const json state = info(filter);
  EXPECT_EQ(state["kind"], "window");
  EXPECT_EQ(state["unit"], "insertions");
  EXPECT_EQ(state["window"], 1000);
  EXPECT_EQ(state["slice_length"], 100);
  EXPECT_TRUE(says(run({"info", filter}).out, "1,000 lines in 10 slices"));
}

TEST_F(Kinds, AWindowOfTimeForgetsThoughNobodyWrites) {
  const std::string filter =
      made("week.bloom", {"--window", "7d", "-n", "1K", "-p", "1e-6"}, "new\n");
  EXPECT_EQ(found(filter, "new\n"), 1);
  EXPECT_TRUE(says(run({"info", filter}).out, "7 d in 8 slices"));
  {
    // As a writer would have left it nine days ago.
    const std::uint64_t then = static_cast<std::uint64_t>(std::time(nullptr)) - 9 * 86'400;
    FilterFile file =
        FilterFile::create(filter, window_plan(WindowUnit::seconds, 7 * 86'400, 1000, 1e-6),
                           {.hasher = Hasher(), .durability = Durability::none, .replace = true});
    file.advance(then);
    file.insert("old");
    file.advance(then + 5 * 86'400);
    file.insert("newer");
    file.close();
  }
  EXPECT_EQ(run({"check", filter}, "old\nnewer\n").out, "newer\n");
  EXPECT_TRUE(says(run({"info", filter}).out, "estimated items  1\n"));
  EXPECT_EQ(run({"add", "-q", filter}, "newest\n").code, 0);
  EXPECT_EQ(run({"check", filter}, "old\nnewer\nnewest\n").out, "newer\nnewest\n");
}

TEST_F(Kinds, DedupForgets) {
  // Printed, then repeated within the window, then again after more than it has passed.
  const std::string text = "x\n" + numbers(0, 50) + "x\n" + numbers(50, 200) + "x\n";
  EXPECT_EQ(run({"dedup", "--window", "100"}, text).out, "x\n" + numbers(0, 200) + "x\n");
  EXPECT_EQ(run({"dedup", "-q", "--window", "1h", "-n", "1K"}, text).out, "x\n" + numbers(0, 200));
  // A repeat within one block.
  EXPECT_EQ(run({"dedup", "-q", "--window", "100"}, "a\na\nb\na\n").out, "a\nb\n");
}

TEST_F(Kinds, DedupForgetsAcrossRuns) {
  const std::string filter = path("seen.bloom");
  const Arguments command{"dedup", "-q",       "--filter", filter, "--window",
                          "100",   "--slices", "4",        "-p",   "1e-6"};
  EXPECT_EQ(run(command, numbers(0, 60)).out, numbers(0, 60));
  EXPECT_EQ(run(command, numbers(0, 80)).out, numbers(60, 80));
  EXPECT_EQ(run({"dedup", "-q", "--filter", filter}, numbers(1000, 1200)).out, numbers(1000, 1200));
  EXPECT_EQ(run(command, numbers(0, 60)).out, numbers(0, 60));
}

// Lines that come again after any number of other lines, up to many windows.
std::string lines_that_come_again(std::uint64_t lines) {
  std::mt19937_64 random(lines);
  std::string text;
  for (std::uint64_t i = 0; i < lines; ++i)
    text += std::to_string(i - random() % (std::uint64_t{1} << random() % 14)) + "\n";
  return text;
}

// At 1e-12 no answer differs by chance.
TEST_F(Kinds, DedupWithAFilterForgetsAsWithoutOne) {
  struct Case {
    std::uint64_t window, slices, lines;
  };
  for (const Case& one : {Case{1, 1, 500}, Case{2, 1, 500}, Case{7, 3, 2000}, Case{501, 8, 60'000},
                          Case{5000, 4, 200'000}}) {
    const std::string window = std::to_string(one.window), slices = std::to_string(one.slices);
    const std::string text = lines_that_come_again(one.lines);
    Arguments command{"dedup", "-q",    "--window", window,       "--slices",     slices,
                      "-p",    "1e-12", "--filter", path(window), "--durability", "none"};
    // The second run begins within a slice.
    const std::size_t half = text.find('\n', text.size() / 2) + 1;
    const std::string first = run(command, text.substr(0, half)).out;
    EXPECT_EQ(first + run(command, text.substr(half)).out,
              run({"dedup", "-q", "--window", window, "--slices", slices, "-p", "1e-12"}, text).out)
        << window;
  }
  // Each batch is a compressed part.
  const Arguments packed{"dedup", "-q",   "--window", "50",           "-p", "1e-12",
                         "-Z",    "gzip", "--filter", path("packed"), "-o", path("out.gz")};
  EXPECT_EQ(run(packed, numbers(0, 1000) + numbers(0, 1000)).code, 0);
  EXPECT_EQ(run({"dedup", "-c", "-q", path("out.gz"), path("out.gz")}).out, "1000\n");
  EXPECT_EQ(run({"dedup", "-c", "-q", "--window", "50", path("out.gz")}).out, "2000\n");
}

TEST_F(Kinds, DedupRemembersInAFilterThatGrows) {
  const std::string filter = path("seen.bloom");
  const Ran first =
      run({"dedup", "--filter", filter, "--kind", "scalable", "-n", "100"}, numbers(0, 5000));
  EXPECT_EQ(first.out, numbers(0, 5000));
  EXPECT_EQ(run({"dedup", "-q", "--filter", filter}, numbers(0, 5000)).code, 1);
  EXPECT_EQ(info(filter)["sub_filters"].size(), 6U);  // 100 (2^6 - 1) = 6,300
}

// ---- every kind -----------------------------------------------------------------------------

TEST_F(Kinds, SalvageAndRebuildKeepTheKind) {
  const struct {
    const char* name;
    Arguments flags;
  } kinds[] = {{"counting", {"--kind", "counting", "-n", "50K", "-p", "1e-6"}},
               {"scalable", {"--kind", "scalable", "-n", "50K", "-p", "1e-6"}},
               {"window", {"--window", "50K", "-p", "1e-6"}}};
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind.name);
    const std::string filter = made(kind.name, kind.flags, numbers(0, 1000));
    EXPECT_EQ(run({"salvage", filter, path("salvaged")}).code, 0);
    EXPECT_EQ(found(path("salvaged"), numbers(0, 1000)), 1000);
    EXPECT_EQ(info(path("salvaged"))["kind"], kind.name);
    std::filesystem::remove(path("salvaged"));

    EXPECT_EQ(run({"rebuild", "-q", filter}, numbers(500, 600)).code, 0);
    EXPECT_EQ(run({"check", filter}, numbers(0, 1000)).out, numbers(500, 600));
    EXPECT_EQ(info(filter)["kind"], kind.name);
  }
}

TEST_F(Kinds, RebuildChangesTheKind) {
  const std::string filter = counting(numbers(0, 10));
  EXPECT_EQ(run({"rebuild", "-q", filter, "--kind", "plain"}, numbers(0, 10)).code, 0);
  EXPECT_EQ(info(filter)["kind"], "plain");
  EXPECT_EQ(info(filter)["capacity"], 100'000);
  const auto expect_window = [&](const std::string& length, int window, int capacity) {
    EXPECT_EQ(run({"rebuild", "-q", filter, "--window", length}, numbers(0, 10)).code, 0);
    EXPECT_EQ(info(filter)["window"], window);
    EXPECT_EQ(info(filter)["capacity"], capacity);
  };
  expect_window("7d", 7 * 86'400, 100'000);
  expect_window("200K", 200'000, 200'000);  // a window of insertions has as many keys
  EXPECT_EQ(run({"rebuild", "-q", filter, "--kind", "plain"}, "a\n").code, 0);
  expect_window("300K", 300'000, 200'000);  // but not more than there were of a filter without one
  EXPECT_EQ(run({"rebuild", "-q", filter, "--kind", "plain"}, "a\n").code, 0);
  expect_window("512", 512, 512);
}

TEST_F(Kinds, WhatAKindCannotDoIsRefused) {
  const std::string grown = made("s", {"--kind", "scalable", "-n", "100", "-p", "1%"}, "a\n");
  const std::string window = made("w", {"--window", "100", "-p", "1%"}, "a\n");
  const std::string plain = made("p", {"-n", "100", "-p", "1%"}, "a\n");
  const std::string counted = counting("a\n");
  EXPECT_TRUE(is_error(run({"remove", grown}, "a\n"), {"scalable filter"}));
  EXPECT_TRUE(is_error(run({"remove", window}, "a\n"),
                       {"it forgets keys when they are older than its window"}));
  EXPECT_TRUE(is_error(run({"remove", plain}, "a\n"), {"--kind counting"}));
  EXPECT_TRUE(is_error(run({"merge", path("m"), grown, grown}), {"wrong more often"}));
  EXPECT_TRUE(is_error(run({"merge", path("m"), window, window}), {"forgotten"}));
  EXPECT_TRUE(is_error(run({"merge", path("m"), plain, counted}), {"a counting one"}));
  EXPECT_FALSE(std::filesystem::exists(path("m")));
  EXPECT_TRUE(is_error(run({"dedup", "--filter", counted, "--window", "7d", "-n", "1K"}, "a\n"),
                       {"is a counting filter"}));
  EXPECT_TRUE(is_error(run({"dedup", "--filter", window, "--window", "200"}, "a\n"), {"--window"}));
  EXPECT_EQ(found(plain, "a\n"), 1);
}

TEST_F(Kinds, FlagsGoWithTheirKind) {
  const std::string f = path("f");
  EXPECT_TRUE(is_error(run({"create", f, "--counter-bits", "8", "-n", "1K", "-p", "1%"}),
                       {"--counter-bits goes with --kind counting"}));
  EXPECT_TRUE(is_error(run({"create", f, "--growth", "2", "-n", "1K", "-p", "1%"}),
                       {"--growth goes with --kind scalable"}));
  EXPECT_TRUE(is_error(run({"create", f, "--slices", "2", "-n", "1K", "-p", "1%"}),
                       {"--slices goes with --kind window"}));
  EXPECT_TRUE(
      is_error(run({"create", f, "--kind", "plain", "--window", "7d", "-n", "1K", "-p", "1%"}),
               {"--window goes with --kind window"}));
  EXPECT_TRUE(is_error(run({"create", f, "--kind", "window", "-n", "1K", "-p", "1%"}),
                       {"--window is missing"}));
  EXPECT_TRUE(is_error(run({"create", f, "--window", "7d", "-p", "1%"}), {"-n is missing"}));
  EXPECT_TRUE(is_error(run({"create", f, "--kind", "scalable", "-n", "1K"}), {"-p is missing"}));
  EXPECT_TRUE(is_error(run({"create", f, "--kind", "scalable", "-n", "1K", "--bits", "1G"}),
                       {"--bits cannot be chosen for a scalable filter", "-n and -p"}));
  EXPECT_TRUE(is_error(
      run({"create", f, "--kind", "counting", "--layout", "blocked2", "-n", "1K", "-p", "1%"}),
      {"--layout"}));
  EXPECT_TRUE(is_error(run({"create", f, "--kind", "bloom", "-n", "1K", "-p", "1%"}),
                       {"plain, counting, scalable, window"}));
  EXPECT_TRUE(is_error(run({"create", f, "--window", "7m", "-p", "1%"}), {"30min"}));
  EXPECT_TRUE(is_error(
      run({"create", f, "--kind", "scalable", "--growth", "9999999", "-n", "1", "-p", "1%"}),
      {"--growth"}));
  EXPECT_TRUE(is_error(run({"dedup", "--kind", "counting", "-n", "1K"}, "a\n"), {"--filter"}));
  // Until it is built, a frozen filter takes every line for a repeat.
  for (const Arguments& filter : {Arguments{"--filter", f}, Arguments{}}) {
    Arguments command{"dedup", "--kind", "frozen", "-n", "1K", "-p", "1%"};
    command.insert(command.end(), filter.begin(), filter.end());
    EXPECT_TRUE(is_error(run(command, "a\n"), {"--kind frozen goes with create and rebuild"}));
  }
  EXPECT_FALSE(std::filesystem::exists(f));
}

// An odd number of hashes has made one block where a plan at this rate has two.
TEST_F(Kinds, ARebuildKeepsTheBlocksOfCountersUnlessItIsSized) {
  const std::string filter = path("f.bloom");
  const auto has_layout = [&](const std::string& layout) {
    return run({"info", "--json", filter}).out.find("\"" + layout + "\"") != std::string::npos;
  };
  ASSERT_EQ(
      run({"create", "-q", filter, "--kind", "counting", "-n", "1K", "-p", "1e-5", "--hashes", "9"})
          .code,
      0);
  ASSERT_EQ(run({"rebuild", "-q", filter}, numbers(0, 10)).code, 0);
  EXPECT_TRUE(has_layout("blocked128"));
  ASSERT_EQ(run({"rebuild", "-q", filter, "-n", "2K"}, numbers(0, 10)).code, 0);
  EXPECT_TRUE(has_layout("blocked2x128"));
}

// ---- frozen ---------------------------------------------------------------------------------

// A timer has the same command on the first day.
TEST_F(Kinds, ARebuildMakesTheFirstFrozenFilterToo) {
  const std::string filter = path("list.bloom");
  for (int day = 0; day < 2; ++day) {
    ASSERT_EQ(run({"rebuild", "-q", "--kind", "frozen", "-p", "1%", filter}, numbers(0, 500)).code,
              0);
    EXPECT_EQ(run({"check", "-q", "-c", filter}, numbers(0, 500)).out, "500\n");
  }
}

// The fingerprints of 500 keys at 1 % have a rate of 0.78 %, so the delta may take some more than its share.
TEST_F(Kinds, AFullDeltaIsToldOnceTheRateIsMissed) {
  const std::string filter = path("list.bloom");
  ASSERT_EQ(run({"create", "-q", "--kind", "frozen", "--delta", "5", "-p", "1%", filter,
                 file("list", numbers(0, 500))})
                .code,
            0);
  const Ran few = run({"add", filter}, numbers(500, 511));
  EXPECT_LE(info(filter)["current_fpr"].get<double>(), 0.01);
  EXPECT_FALSE(says(few.err, "warning"));
  EXPECT_TRUE(says(run({"add", filter}, numbers(511, 600)).err, "warning: the delta holds about"));
  // With every bit set there is no estimate.
  EXPECT_TRUE(
      says(run({"add", filter}, numbers(0, 400'000)).err, "holds more keys than can be estimated"));
}

TEST_F(Kinds, AFullDeltaOfAKilledWriterIsTold) {
  const std::string filter = path("list.bloom"), killed = path("killed.bloom");
  ASSERT_EQ(run({"create", "-q", "--kind", "frozen", "--delta", "10", "-p", "0.001", filter,
                 file("list", numbers(0, 100))})
                .code,
            0);
  FilterFile writer =
      FilterFile::open(filter, {.access = Access::write, .durability = Durability::process});
  for (int i = 100; i < 200; ++i) writer.insert(std::to_string(i));
  // What a writer leaves that is killed now: its keys are there, and counted nowhere.
  std::filesystem::copy_file(filter, killed);
  EXPECT_EQ(found(killed, numbers(0, 200)), 200);
  const json said = info(killed);
  EXPECT_EQ(said["delta"]["inserted"], 0);
  EXPECT_NEAR(said["delta"]["estimated_items"].get<double>(), 100, 20);
  EXPECT_TRUE(std::regex_search(run({"info", killed}).err,
                                std::regex("about [0-9]{2,3} keys and was planned for 10:")))
      << run({"info", killed}).err;
}

// A small filter consists of whole blocks, which have room for more keys than it was made for.
TEST_F(Kinds, TheWarningOfASmallFilterTellsItsPresentRate) {
  const std::string small = path("small.bloom");
  ASSERT_EQ(run({"create", "-q", "-n", "20", "-p", "10%", "--hashes", "3", small}).code, 0);
  EXPECT_EQ(run({"add", "-q", small}, numbers(0, 20)).err, "");
  EXPECT_TRUE(std::regex_search(run({"add", small}, numbers(0, 40)).err,
                                std::regex("planned for 20: its false-positive rate is still "
                                           "[0-9.]+ %, not above 10 %; create")));
  EXPECT_TRUE(std::regex_search(run({"add", small}, numbers(0, 400)).err,
                                std::regex("planned for 20: its false-positive rate is now "
                                           "[0-9.]+ %, not 10 %; create")));
}

}  // namespace
}  // namespace bloomery::test
