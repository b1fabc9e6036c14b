// Command lines to options: flags in any place, values, files, and what is refused.
#include "flags/parse.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/expect_error.hpp"

namespace bloomery::cli {
namespace {

std::string refused_options(const std::vector<std::string>& arguments) {
  return test::error_of([&] { (void)parse_options(arguments); }, ErrorCode::invalid_argument);
}

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(Options, FlagsAndFilesInAnyOrder) {
  const Options options = parse_options(
      {"dedup", "a.txt", "-n", "100M", "-p0.1%", "-", "--layout=blocked2", "-vc", "b"});
  EXPECT_EQ(options.verb, Verb::dedup);
  EXPECT_EQ(options.spec.capacity, 100'000'000u);
  EXPECT_EQ(options.spec.fpr, 0.001);
  EXPECT_EQ(options.spec.layout, Layout::blocked2);
  EXPECT_TRUE(options.invert);
  EXPECT_TRUE(options.count);
  EXPECT_EQ(options.files, (std::vector<std::string>{"a.txt", "-", "b"}));
}

TEST(Options, TheRestAfterTwoDashesIsFiles) {
  const Options options = parse_options({"dedup", "-c", "--", "-v", "--", "check", "--help"});
  EXPECT_FALSE(options.invert);
  EXPECT_EQ(options.files, (std::vector<std::string>{"-v", "--", "check", "--help"}));
}

TEST(Options, NamesThatLookLikeListsAreNames) {
  const std::vector<std::string> names{"[a,b]", "[]", "[", "[x", "{x}", "\x01", "\x01[x]"};
  std::vector<std::string> words{"dedup", "--filter", "[f]"};
  words.insert(words.end(), names.begin(), names.end());
  EXPECT_EQ(parse_options(words).files, names);
  EXPECT_EQ(parse_options(words).filter, "[f]");
  EXPECT_EQ(parse_options({"dedup", "-k1", "-d", "["}).key.delimiter, '[');
  EXPECT_EQ(parse_options({"dedup", "-k1", "-d", "\x01"}).key.delimiter, '\x01');
}

TEST(Options, TheLastOfAFlagCounts) {
  EXPECT_EQ(parse_options({"plan", "-n", "1", "-n", "2"}).spec.capacity, 2u);
}

TEST(Options, LinesAndFields) {
  const Options options = parse_options({"check", "f", "-0", "-k", "3", "-d", ","});
  EXPECT_EQ(options.end, '\0');
  EXPECT_EQ(options.key.fields, std::vector<std::size_t>{3});
  EXPECT_EQ(options.key.delimiter, ',');
  EXPECT_EQ(parse_options({"dedup", "-k1", "-d", "\\t"}).key.delimiter, '\t');
  EXPECT_EQ(parse_options({"dedup", "-k1", "-d", " "}).key.delimiter, ' ');
  EXPECT_EQ(parse_options({"dedup", "-k1", "-d", "-"}).key.delimiter, '-');
  EXPECT_EQ(parse_options({"add", "f", "-k", "5,2,10"}).key.fields,
            (std::vector<std::size_t>{5, 2, 10}));
  EXPECT_TRUE(parse_options({"remove", "f", "--whitespace", "-k", "2"}).key.whitespace);
  EXPECT_TRUE(parse_options({"rebuild", "f", "--ignore-case"}).key.ignore_case);
  EXPECT_EQ(parse_options({"check", "f", "--json-key", "/a/b"}).key.json_field, "/a/b");
}

TEST(Options, KeysAreSaidOnce) {
  for (const char* const fields : {"", ",", "1,", ",1", "2,0", "1,x", "1,-2"})
    EXPECT_FALSE(refused_options({"dedup", "-k", fields}).empty()) << fields;
  EXPECT_TRUE(says(refused_options({"dedup", "-k", "2,5,2"}), "field 2 comes twice"));
  EXPECT_TRUE(says(refused_options({"dedup", "-k", "1", "-k2"}), "-k comes twice; write -k 1,2"));
  EXPECT_TRUE(says(refused_options({"add", "f", "--json-key", "a", "--json-key", "b"}),
                   "--json-key comes twice"));
  EXPECT_TRUE(says(refused_options({"dedup", "--whitespace"}), "--whitespace goes with -k"));
  EXPECT_TRUE(says(refused_options({"dedup", "-d", ","}), "-d goes with -k"));
  EXPECT_TRUE(
      says(refused_options({"dedup", "-k1", "-d", ",", "--whitespace"}), "-d and --whitespace"));
  EXPECT_TRUE(says(refused_options({"add", "f", "-k1", "--json-key", "a"}), "-k and --json-key"));
  for (const char* const field : {"", "/a~", "/a~2", "/~/0"})
    EXPECT_TRUE(says(refused_options({"dedup", "--json-key", field}), "--json-key")) << field;
  for (const char* const field : {"a~", "/a~0", "/a~1b", "/~0~1"})
    EXPECT_EQ(parse_options({"dedup", "--json-key", field}).key.json_field, field);
  EXPECT_TRUE(says(refused_options({"dedup", "--json-key", ".request.url"}),
                   "begins with a dot; give /request/url for that field, as a path, or "
                   "/.request.url for a field"));
  EXPECT_TRUE(says(refused_options({"dedup", "--json-key", ".tags[0].id[12]"}),
                   "give /tags/0/id/12 for that field, as a path, or /.tags[0].id[12] for"));
  EXPECT_TRUE(says(refused_options({"dedup", "--json-key", ".tags.[7]"}), "give /tags/7 for"));
  for (const char* const field : {".r.\"a.b\"", ".r[\"a.b\"]"})
    EXPECT_TRUE(says(refused_options({"dedup", "--json-key", field}), "give /r/a.b for")) << field;
  EXPECT_TRUE(says(refused_options({"dedup", "--json-key", ".a/b~"}),
                   "give /a~1b~0 for that field, as a path, or /.a~1b~0 for a field"));
}

TEST(Options, ThreadsAreFromOneTo1024) {
  EXPECT_EQ(parse_options({"dedup", "-j", "1"}).threads, 1U);
  EXPECT_EQ(parse_options({"dedup", "-j1024"}).threads, 1024U);
  for (const char* const threads : {"0", "1025", "-1", "2M", "", "18446744073709551616"})
    EXPECT_TRUE(says(refused_options({"dedup", "-j", threads}),
                     "' is not a number of threads: give one from 1 to 1024"))
        << threads;
}

TEST(Options, SeedsAndHashes) {
  EXPECT_TRUE(parse_options({"create", "f", "--seed", "random"}).random_seed);
  const Options fixed = parse_options({"create", "f", "--seed", "0x7", "--hash", "siphash"});
  EXPECT_EQ(fixed.place().hasher().seed(), (Seed{7, 0}));
  EXPECT_EQ(fixed.place().hasher().family(), HashFamily::siphash);
  // siphash without a seed draws one: zero has the chance of 2^-128.
  EXPECT_NE(parse_options({"create", "f", "--hash", "siphash"}).place().hasher().seed(), Seed{});
  EXPECT_EQ(parse_options({"create", "f"}).place().hasher().seed(), Seed{});
}

TEST(Options, UnknownNamesAreRefusedWithTheNearest) {
  EXPECT_TRUE(says(refused_options({"dedpu"}), "did you mean dedup?"));
  EXPECT_TRUE(says(refused_options({"dedup", "--fliter", "x"}), "did you mean --filter?"));
  EXPECT_TRUE(says(refused_options({"dedup", "--fliter=x"}), "unknown flag --fliter;"));
  EXPECT_TRUE(says(refused_options({"dedup", "-x"}), "unknown flag -x; see bloomery dedup -h"));
  EXPECT_TRUE(says(refused_options({"info", "f", "--table"}), "--table is a flag of plan"));
  EXPECT_EQ(refused_options({"info", "f", "-v"}),
            "info: -v is a flag of check, dedup; see bloomery info -h");
  EXPECT_TRUE(says(refused_options({"info", "f", "-k"}),
                   "info: -k is a flag of create, add, remove, check"));
  EXPECT_TRUE(says(refused_options({"--verison"}), "did you mean --version?"));
  EXPECT_TRUE(says(refused_options({}), "no verb"));
  EXPECT_TRUE(says(refused_options({std::string(100'000, 'x')}), "unknown verb"));
}

TEST(Options, ValuesAreRefusedByName) {
  EXPECT_TRUE(says(refused_options({"plan", "-n"}), "--items needs a value"));
  EXPECT_TRUE(says(refused_options({"plan", "--table=false"}), "--table takes no value"));
  EXPECT_TRUE(says(refused_options({"plan", "-n", "x"}), "'x' is not a count"));
  EXPECT_TRUE(says(refused_options({"plan", "-p", "2"}), "'2' is not a false-positive rate"));
  EXPECT_TRUE(says(refused_options({"plan", "--layout", "square"}),
                   "not one of blocked, blocked2, standard"));
  EXPECT_TRUE(
      says(refused_options({"add", "f", "--durability", "x"}), "not one of none, process, sync"));
  EXPECT_TRUE(says(refused_options({"plan", "--hashes", "5G"}), "far out of range"));
  EXPECT_TRUE(says(refused_options({"dedup", "-k", "0"}), "counted from 1"));
  EXPECT_TRUE(says(refused_options({"dedup", "-k", "1-3"}), "'1-3' is not the number of a field"));
  EXPECT_TRUE(says(refused_options({"dedup", "-k", "1,"}), "'' is not the number of a field"));
  EXPECT_TRUE(says(refused_options({"dedup", "-o", "-"}), "without -o"));
  EXPECT_TRUE(says(refused_options({"dedup", "--ignore-case=true"}), "takes no value"));
  EXPECT_TRUE(says(refused_options({"dedup", "-q=1"}), "unknown flag -=1"));
  EXPECT_TRUE(says(refused_options({"dedup", "-d", "ab"}), "not one byte"));
  EXPECT_TRUE(says(refused_options({"dedup", "--durability", "none"}), "goes with --filter"));
  EXPECT_TRUE(says(refused_options({"check", "f", "--json"}), "goes with -c"));
  EXPECT_TRUE(says(refused_options({"add", "f", "-d", ","}), "add: -d goes with -k"));
  EXPECT_TRUE(
      says(refused_options({"dedup", "--filter=", "-n", "10", "in"}), "--filter needs a value"));
  EXPECT_TRUE(says(refused_options({"dedup", "--count=", "in"}), "--count takes no value"));
  EXPECT_EQ(parse_options({"dedup", "--", "--filter="}).files.front(), "--filter=");
}

TEST(Options, OfOneOutputOnly) {
  for (const auto& [words, text] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"info", "f", "--format", "prometheus", "--json"}, "prints metrics; leave out --json"},
           {{"info", "f", "--format", "prometheus", "--plot"}, "prints metrics; leave out --plot"},
           {{"info", "f", "--plot", "--json"}, "draws for people; leave out --json"},
           {{"plan", "-n", "1", "--plot", "--table"}, "draws for people; leave out --table"},
           {{"check", "f", "-q", "-o", "x"}, "-o goes with lines that are printed, and -q prints"},
           {{"check", "f", "-c", "-Z", "xz"}, "-Z goes with lines that are printed, and -c prints"},
           {{"dedup", "-c", "-o", "x"}, "-o goes with lines that are printed, and -c prints"},
           {{"dedup", "--filter", "x", "-o", "x"}, "x is the output as well"},
           {{"dedup", "-o", ""}, "-o '' names no file"}})
    EXPECT_TRUE(says(refused_options(words), text)) << text << "\n" << refused_options(words);
  EXPECT_TRUE(parse_options({"info", "f", "--format", "json"}).json);
  EXPECT_TRUE(parse_options({"info", "f", "--format", "prometheus"}).prometheus);
  EXPECT_FALSE(parse_options({"info", "f", "--format", "prometheus"}).json);
  EXPECT_EQ(parse_options({"dedup", "-q", "-o", "x", "--filter", "y"}).out, "x");
}

TEST(Options, OfThePlanAreThoseOfItsPageOrItsNumbers) {
  EXPECT_TRUE(says(refused_options({"plan", "-n", "1", "-p", "1%", "--force"}), "goes with --web"));
  EXPECT_TRUE(says(refused_options({"plan", "page.html"}), "a FILE goes with --web"));
  EXPECT_TRUE(says(refused_options({"plan", "--table", "--kind", "plain"}), "with --table"));
  EXPECT_TRUE(parse_options({"plan", "--web", "page.html", "--force"}).web);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"-n", "1"},
                                             {"-p", "1%"},
                                             {"--bits", "8K"},
                                             {"--hashes", "3"},
                                             {"--layout", "blocked"},
                                             {"--kind", "plain"},
                                             {"--table"},
                                             {"--json"}}) {
    std::vector<std::string> all{"plan", "--web"};
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_TRUE(says(refused_options(all), "takes a FILE and --force alone")) << words[0];
  }
}

TEST(Options, OfASchemeSayWhatItLeavesOpen) {
  const std::vector<std::string> scheme{"--scheme", "php-crc32-mt", "-n", "100", "--bits", "8K"};
  const auto with = [&](std::vector<std::string> all, const std::vector<std::string>& more) {
    all.insert(all.end(), scheme.begin(), scheme.end());
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Options create = parse_options(with({"create", "f"}, {}));
  EXPECT_TRUE(create.scheme);
  EXPECT_EQ(create.spec, FilterSpec{});
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"-p", "1%"},
                                             {"--hashes", "3"},
                                             {"--layout", "blocked"},
                                             {"--kind", "plain"},
                                             {"--hash", "xxh3"},
                                             {"--seed", "1"},
                                             {"--seed", "random"},
                                             {"--force"}})
    EXPECT_TRUE(says(refused_options(with({"create", "f"}, more)),
                     "create: " + more[0] + " does not go with --scheme"))
        << more[0];
  EXPECT_TRUE(says(refused_options(with({"dedup"}, {})), "--scheme goes with --filter"));
  EXPECT_TRUE(says(refused_options(with({"add", "f"}, {"--durability", "none"})), "filter files"));
  EXPECT_TRUE(says(refused_options({"add", "redis://h?key=k", "--durability", "none"}),
                   "add: --durability is for filter files"));
  EXPECT_TRUE(says(refused_options({"add", "f", "-n", "1"}), "-n goes with --scheme: a filter"));
  EXPECT_TRUE(
      says(refused_options({"add", "f", "--bits", "8"}), "--bits goes with --scheme: a filter"));
  EXPECT_TRUE(says(refused_options({"dedup", "--bits", "8", "-n", "1"}),
                   "--bits goes with --scheme; give -n and -p"));
}

TEST(Options, OfOneKindGoWithIt) {
  for (const auto& [words, text] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"create", "f", "--counter-bits", "8"}, "--counter-bits goes with --kind counting"},
           {{"create", "f", "--growth", "3"}, "--growth goes with --kind scalable"},
           {{"create", "f", "--window", "7d", "--kind", "plain"},
            "--window goes with --kind window"},
           {{"create", "f", "--slices", "3"}, "--slices goes with --kind window"},
           {{"create", "f", "--delta", "3"}, "--delta goes with --kind frozen"},
           {{"dedup", "--kind", "frozen"}, "goes with create and rebuild"},
           {{"dedup", "--kind", "scalable"}, "it grows when -n is left out"},
           {{"dedup", "--kind", "counting"}, "only the default and --kind window"},
           {{"create", "f", "in"}, "'in' is one argument too many"},
           {{"create", "f", "-k", "2"}, "create: --key goes with --kind frozen"},
           {{"create", "f", "--bits", "8 bits/key", "-p", "1%"}, "goes with -n, the number of"}})
    EXPECT_TRUE(says(refused_options(words), text)) << text << "\n" << refused_options(words);
  EXPECT_EQ(parse_options({"create", "f", "--window", "7d"}).spec.kind, Kind::window);
  EXPECT_EQ(parse_options({"dedup", "--window", "7d"}).spec.kind, Kind::window);
  EXPECT_EQ(parse_options({"rebuild", "f", "--growth", "3"}).spec.growth, 3U);
  EXPECT_EQ(parse_options({"create", "f", "--kind", "frozen", "in", "-k", "2"}).files.size(), 2U);
  EXPECT_EQ(parse_options({"create", "f", "--bits", "8 bits/key", "-n", "5"}).spec.bits, 40U);
}

TEST(Options, TakeValuesUpToTheirEnds) {
  std::string fields = "1";
  for (int i = 2; i <= 64; ++i) fields += "," + std::to_string(i);
  EXPECT_EQ(parse_options({"dedup", "-k", fields}).key.fields.size(), 64U);
  EXPECT_TRUE(says(refused_options({"dedup", "-k", fields + ",65"}), "at most 64 fields"));
  const auto seed = [](const std::string& text) {
    return parse_options({"create", "f", "--seed", text}).seed;
  };
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  EXPECT_EQ(seed("18446744073709551615"), (Seed{kOnes, 0}));
  EXPECT_EQ(seed("0x" + std::string(16, 'f')), (Seed{kOnes, 0}));
  EXPECT_EQ(seed("0x1" + std::string(16, '0')), (Seed{0, 1}));
  EXPECT_EQ(seed("0x" + std::string(32, 'f')), (Seed{kOnes, kOnes}));
  for (const std::string& text : {std::string(), std::string("0x"), std::string("5x"),
                                  std::string("18446744073709551616"), "0x" + std::string(33, '0'),
                                  "0xg" + std::string(16, '0'), "0x" + std::string(16, '0') + "g"})
    EXPECT_TRUE(says(refused_options({"create", "f", "--seed", text}), "is not a seed")) << text;
  EXPECT_TRUE(says(refused_options({"add", "f", "--batch", ""}), "--batch '' is no name"));
  EXPECT_TRUE(says(refused_options({"dedup", "--filter", ""}), "--filter '' names no file"));
  const std::string shown(64, 'x');
  EXPECT_TRUE(says(refused_options({"plan", "-n", shown}), "'" + shown + "' is not"));
  EXPECT_TRUE(says(refused_options({"plan", "-n", shown + "x"}), "'" + shown + "...' is not"));
}

TEST(Options, InFrontOfAVerbAsk) {
  for (const auto& [word, ask] :
       std::vector<std::pair<std::string, Options::Ask>>{{"-h", Options::Ask::short_help},
                                                         {"--help", Options::Ask::long_help},
                                                         {"help", Options::Ask::long_help},
                                                         {"--version", Options::Ask::version},
                                                         {"-V", Options::Ask::version}})
    EXPECT_EQ(parse_options({word}).ask, ask) << word;
  EXPECT_EQ(parse_options({"--generate", "man"}).generate, "man");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--generate"}, {"--generate", "man", "x"}})
    EXPECT_TRUE(says(refused_options(words), "unknown flag '--generate'"));
  EXPECT_TRUE(says(refused_options({"help", "add", "create"}), "help is about one verb"));
}

// By these names a plan is refused.
TEST(Options, EveryFieldOfAPlanHasItsFlag) {
  for (const auto& [field, name] :
       std::vector<std::pair<PlanField, std::string>>{{PlanField::kind, "--kind"},
                                                      {PlanField::capacity, "-n"},
                                                      {PlanField::fpr, "-p"},
                                                      {PlanField::bits, "--bits"},
                                                      {PlanField::hashes, "--hashes"},
                                                      {PlanField::layout, "--layout"},
                                                      {PlanField::growth, "--growth"},
                                                      {PlanField::counter_bits, "--counter-bits"},
                                                      {PlanField::window, "--window"},
                                                      {PlanField::slices, "--slices"},
                                                      {PlanField::delta, "--delta"},
                                                      {PlanField::tightening, "tightening"}})
    EXPECT_EQ(flag_of(field), name);
}

TEST(Options, OfASchemeAreCheckedBeforeAnythingIsMade) {
  const std::string both = "takes the m and n of the PHP class", none = "always has 2^32 bits";
  for (const auto& [scheme, more, text] :
       std::vector<std::tuple<std::string, std::vector<std::string>, std::string>>{
           {"php-crc32-mt", {}, both},
           {"php-crc32-mt", {"-n", "100"}, both},
           {"php-crc32-mt", {"--bits", "8K"}, both},
           {"php-hashes=JSHash", {"-n", "100"}, none},
           {"php-hashes=JSHash", {"--bits", "8K"}, none}}) {
    std::vector<std::string> words{"create", "f", "--scheme", scheme};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_TRUE(says(refused_options(words), text)) << refused_options(words);
  }
}

TEST(Options, TooFewAndTooManyFiles) {
  EXPECT_TRUE(says(refused_options({"create"}), "usage: bloomery create FILE"));
  EXPECT_TRUE(says(refused_options({"rotate", "a", "b"}), "'b' is one argument too many"));
  EXPECT_TRUE(says(refused_options({"plan", "x"}), "'x' is one argument too many"));
  EXPECT_TRUE(says(refused_options({"merge", "out"}), "a file is missing"));
  EXPECT_TRUE(says(refused_options({"salvage", "a"}), "a file is missing"));
  EXPECT_TRUE(says(refused_options({"dedup", ""}), "'' names no file"));
}

}  // namespace
}  // namespace bloomery::cli
