// Keys of lines: fields, several of them, values of JSON, in any case; against the plainest code.
#include "input/block.hpp"
#include "keys/fields.hpp"
#include "keys/json_field.hpp"
#include "keys/key_finder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomery::cli {
namespace {

// The fields of a line, byte by byte.
std::vector<std::string> plain_fields(const std::string& line, char delimiter, bool blanks) {
  std::vector<std::string> fields;
  if (!blanks) {
    fields.emplace_back();
    for (const char c : line) {
      if (c == delimiter) {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    return fields;
  }
  bool within = false;
  for (const char c : line) {
    const bool blank = c == ' ' || c == '\t';
    if (!blank && !within) fields.emplace_back();
    if (!blank) fields.back() += c;
    within = !blank;
  }
  return fields;
}

std::string_view field_of(const std::string& line, std::size_t number, char delimiter,
                          bool blanks = false) {
  const Delimiter between(delimiter, blanks);
  return Fields(line, line.data() + line.size(), between).field(number);
}

TEST(Keys, Fields) {
  EXPECT_EQ(field_of("a,b,c", 1, ','), "a");
  EXPECT_EQ(field_of("a,b,c", 2, ','), "b");
  EXPECT_EQ(field_of("a,b,c", 3, ','), "c");
  EXPECT_EQ(field_of("a,b,c", 4, ','), "");
  EXPECT_EQ(field_of("a,,c", 2, ','), "");
  EXPECT_EQ(field_of("a,", 2, ','), "");
  EXPECT_EQ(field_of("", 1, ','), "");
  EXPECT_EQ(field_of("abc", 1, ','), "abc");
  EXPECT_EQ(field_of("abc", std::size_t(-1), ','), "");
  EXPECT_EQ(field_of("abc", std::size_t(1) << 63, ' ', true), "");
  EXPECT_EQ(field_of(" \t a  b\t", 1, ' ', true), "a");
  EXPECT_EQ(field_of(" \t a  b\t", 2, ' ', true), "b");
  EXPECT_EQ(field_of(" \t a  b\t", 3, ' ', true), "");
  EXPECT_EQ(field_of("  ", 1, ' ', true), "");
}

// A later field is counted from the one before it, also if the line ends before either.
TEST(Keys, FieldsBeyondTheEnd) {
  for (const bool blanks : {false, true})
    for (const std::string line : {"", "b", "ab", "a b", "abc d e f g"})
      for (std::size_t first = 1; first < 80; ++first)
        for (const std::size_t step : {1, 2, 5, 64, 70}) {
          const std::vector<std::string> wanted = plain_fields(line, ' ', blanks);
          const auto at = [&](std::size_t number) {
            return number <= wanted.size() ? wanted[number - 1] : "";
          };
          const Delimiter delimiter(' ', blanks);
          Fields fields(line, line.data() + line.size(), delimiter);
          ASSERT_EQ(fields.field(first), at(first)) << "'" << line << "' " << first;
          ASSERT_EQ(fields.field(first + step), at(first + step)) << "'" << line << "' " << first;
          ASSERT_EQ(fields.field(first + 2 * step), at(first + 2 * step)) << "'" << line << "'";
        }
}

TEST(Keys, FieldsAtEveryPlace) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20'000; ++round) {
    std::string line(random() % 300, 'x');
    const std::size_t every = 1 + random() % 80;
    for (char& c : line)
      c = random() % every == 0 ? (random() % 2 == 0 ? ' ' : '\t')
                                : static_cast<char>('a' + random() % 3);
    // What stands behind the line is not of it.
    const std::string behind = line + std::string(random() % 100, ' ');
    for (const bool blanks : {false, true}) {
      const std::vector<std::string> wanted = plain_fields(line, ' ', blanks);
      const Delimiter delimiter(' ', blanks);
      Fields fields(std::string_view(behind).substr(0, line.size()), behind.data() + behind.size(),
                    delimiter);
      for (std::size_t number = 1; number <= wanted.size() + 2; ++number) {
        const std::string field = number <= wanted.size() ? wanted[number - 1] : "";
        if (random() % 3 == 0) continue;
        ASSERT_EQ(fields.field(number), field) << "'" << line << "' " << number;
      }
    }
  }
}

struct Found {
  std::vector<std::string> keys;
  std::string problem;
};

// By their bytes; and sees that the hashes are those of the same keys.
Found keys_of(const std::string& text, const KeyRule& rule) {
  std::vector<std::size_t> ends;
  find_ends(text, '\n', ends);
  KeyFinder finder(rule);
  const Hasher hasher;
  Keys views, hashes;
  hashes.hashes.assign(99, {});  // what was there before is gone
  finder.find(text, ends, {std::nullopt, true}, views);
  finder.find(text, ends, {hasher, false}, hashes);
  Found found{{views.views.begin(), views.views.end()}, views.problem};
  EXPECT_EQ(hashes.problem, views.problem);
  EXPECT_TRUE(views.hashes.empty());
  std::vector<Hash128> wanted;
  for (const std::string& key : found.keys) wanted.push_back(hasher(std::string_view(key)));
  EXPECT_EQ(hashes.hashes, wanted);
  finder.find(text, ends, {hasher, true}, views);
  EXPECT_EQ(views.hashes, wanted);
  EXPECT_EQ(views.views.size(), wanted.size());
  return found;
}

using Words = std::vector<std::string>;

TEST(Keys, AreTheLineOrAField) {
  EXPECT_EQ(keys_of("one\n\ntwo\tx\n", {}).keys, (Words{"one", "", "two\tx"}));
  EXPECT_EQ(keys_of("one\n\ntwo\tx\n", {.fields = {2}}).keys, (Words{"", "", "x"}));
  EXPECT_EQ(keys_of("a,b\nc,d\n", {.fields = {2}, .delimiter = ','}).keys, (Words{"b", "d"}));
  EXPECT_EQ(keys_of(" a   b \nc d\n", {.fields = {2}, .whitespace = true}).keys, (Words{"b", "d"}));
}

TEST(Keys, OfSeveralFieldsKeepThemApart) {
  const std::string text = "a,bc,1\nab,c,2\n,abc,3\nabc,,4\nabc\n";
  EXPECT_EQ(keys_of(text, {.fields = {1, 2}, .delimiter = ','}).keys,
            (Words{"a,bc", "ab,c", ",abc", "abc,", "abc,"}));
  EXPECT_EQ(keys_of(text, {.fields = {3, 1}, .delimiter = ','}).keys,
            (Words{"1,a", "2,ab", "3,", "4,abc", ",abc"}));
  EXPECT_EQ(keys_of(" a  b\tc\n", {.fields = {3, 1, 2}, .whitespace = true}).keys,
            (Words{"c a b"}));
}

TEST(Keys, OfSeveralFieldsInManyLines) {
  for (const std::size_t lines : {1, 31, 32, 33, 64, 100}) {
    std::string text;
    Words wanted;
    for (std::size_t i = 0; i < lines; ++i) {
      const std::string one(i * 7 % 90, 'a'), three(i * 31 % 200, 'c');
      text += one + ",b," + three + '\n';
      wanted.push_back(three + ',' + one);
    }
    EXPECT_EQ(keys_of(text, {.fields = {3, 1}, .delimiter = ','}).keys, wanted) << lines;
  }
}

TEST(Keys, IgnoreCaseOfAsciiAlone) {
  std::string text;
  for (int c = 1; c < 256; ++c)
    if (c != '\n') text += static_cast<char>(c);
  std::string wanted = text;
  for (char& c : wanted)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  EXPECT_EQ(keys_of(text + "\n", {.ignore_case = true}).keys, Words{wanted});
  EXPECT_EQ(keys_of("A,B,C\n", {.fields = {3, 2}, .delimiter = ',', .ignore_case = true}).keys,
            Words{"c,b"});
  EXPECT_EQ(keys_of("A,B,C\n", {.fields = {2}, .delimiter = ',', .ignore_case = true}).keys,
            Words{"b"});
  EXPECT_EQ(keys_of("{\"K\":\"\\u0041\\nB\"}\n", {.ignore_case = true, .json_field = "K"}).keys,
            Words{"a\nb"});
}

TEST(Keys, IgnoreCaseButNotThatOfTheDelimiter) {
  const auto keys = [](const std::string& text, std::vector<std::size_t> fields, char delimiter) {
    return keys_of(text, {.fields = std::move(fields), .delimiter = delimiter, .ignore_case = true})
        .keys;
  };
  EXPECT_EQ(keys("1TxT3\n", {2}, 'T'), Words{"x"});
  EXPECT_EQ(keys("1TAtBT3\n", {2}, 'T'), Words{"atb"});
  EXPECT_EQ(keys("1tATBt3\n", {2}, 't'), Words{"atb"});
  EXPECT_EQ(keys("1TBtaT3\n", {3, 2}, 'T'), Words{"3Tbta"});
  const Words apart = keys("aXxb\naxXb\n", {1, 2}, 'x');
  EXPECT_NE(apart.at(0), apart.at(1));
  // '[' would be the upper case of '{', if it were a letter.
  EXPECT_EQ(keys("A{x[y\n", {1, 2}, '{'), Words{"a{x[y"});
  EXPECT_EQ(keys("A@B\n", {1, 2}, '@'), Words{"a@b"});
}

std::string value(const std::string& line, const std::string& field) {
  const Found found = keys_of(line + "\n", {.json_field = field});
  EXPECT_EQ(found.problem, "") << line;
  return found.keys.empty() ? "NONE" : found.keys.front();
}

TEST(Keys, OfJsonAreValues) {
  const std::string line =
      R"( {"a":"x\ty\u00e9\ud83d\ude00", "n":-1.50 ,"t":true,"z": null, "o":{"b/c":{"~":"deep"}, "":7}, "l":[1,{"k":"v"},[ ] ], "a.b":"dots", "e":""} )";
  EXPECT_EQ(value(line, "a"), "x\ty\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(value(line, "n"), "-1.50");
  EXPECT_EQ(value(line, "t"), "true");
  EXPECT_EQ(value(line, "z"), "null");
  EXPECT_EQ(value(line, "a.b"), "dots");
  EXPECT_EQ(value(line, "e"), "");
  EXPECT_EQ(value(line, "o"), R"({"b/c":{"~":"deep"}, "":7})");
  EXPECT_EQ(value(line, "l"), R"([1,{"k":"v"},[ ] ])");
  EXPECT_EQ(value(line, "/a.b"), "dots");
  EXPECT_EQ(value(line, "/o/b~1c/~0"), "deep");
  EXPECT_EQ(value(line, "/o/"), "7");
  EXPECT_EQ(value(line, "/l/0"), "1");
  EXPECT_EQ(value(line, "/l/1/k"), "v");
  EXPECT_EQ(value(line, "/l/2"), "[ ]");
  for (const char* const absent :
       {"x", "/x", "/a/x", "/o/x", "/l/3", "/l/x", "/l/1x", "/l/-1", "/l/", "/n/0", "b"})
    EXPECT_EQ(value(line, absent), "") << absent;
  EXPECT_EQ(value("{}", "a"), "");
  EXPECT_EQ(value(R"({"a":1,"a":2})", "a"), "1");
}

TEST(Keys, OfJsonAreNumbersOfEveryForm) {
  for (const char* const number :
       {"0", "-0", "10", "1.5", "0.25e+7", "1E-3", "123456789012345678901234567890"})
    EXPECT_EQ(value(std::string("{\"a\": ") + number + " }", "a"), number);
}

// A half of a surrogate pair is a character of its own, and the run goes on.
TEST(Keys, OfJsonMayBeNoUtf8) {
  const auto text = [](const std::string& literal) {
    return value("{\"a\":\"" + literal + "\",\"b\":1}", "a");
  };
  EXPECT_EQ(text(R"(x\ud83dy)"), "x\xED\xA0\xBDy");
  EXPECT_EQ(text(R"(\ude00\ud83d)"), "\xED\xB8\x80\xED\xA0\xBD");
  EXPECT_EQ(text(R"(\ud83d\ud83d\ude00)"), "\xED\xA0\xBD\xF0\x9F\x98\x80");
  EXPECT_EQ(text(R"(\ud83d\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac)"),
            "\xED\xA0\xBD\"\\/\b\f\n\r\tA\xC3\xA9\xE2\x82\xAC");
  EXPECT_EQ(text(R"(\ud83d\ue000)"), "\xED\xA0\xBD\xEE\x80\x80");
  EXPECT_EQ(text(R"(\ud83d\udbff)"), "\xED\xA0\xBD\xED\xAF\xBF");
  EXPECT_NE(text(R"(\ud83d)"), text(R"(\\ud83d)"));
  EXPECT_EQ(text_with_halves("\"ab\" "), "ab");
  for (const char* const cut : {"\"", "\"ab", "\"a\\", "\"a\\u12", "\"a\\u12zz\"", "\"\\x\""})
    EXPECT_EQ(text_with_halves(cut), std::nullopt) << cut;
  // Cut at every byte, with the rest behind it.
  const std::string_view whole = R"("a\u0041\n")";
  EXPECT_EQ(text_with_halves(whole), "aA\n");
  for (std::size_t size = 1; size < whole.size(); ++size)
    EXPECT_EQ(text_with_halves(whole.substr(0, size)), std::nullopt) << size;
}

TEST(Keys, EndBeforeALineThatIsNoJson) {
  const std::string good = "{\"a\":\"1\"}\n";
  for (const std::string bad : {"",
                                "text",
                                "[1]",
                                "\"a\"",
                                "12",
                                "null",
                                "{",
                                "{\"a\"",
                                "{\"a\":",
                                "{\"a\":}",
                                "{\"a\":\"x}",
                                "{\"a\":\"\\x\"}",
                                "{\"a\":\"\xFF\"}",
                                "{\"b\":{\"a\":1}",
                                "{\"b\":1,}",
                                "{\"b\":1 \"a\":1}",
                                "{\"b\":[1}],\"a\":1}",
                                "{\"a\":1]",
                                "{\"a\":1}x",
                                "{\"a\":1,\"b",
                                "{\"a\":1,\"b\":\"\xFF\"}",
                                "{b:1}",
                                "{\"a\":nul",
                                "{\"a\":nulls}",
                                "{\"a\":truely}",
                                "{\"a\":12abc}",
                                "{\"a\":01}",
                                "{\"a\":1.}",
                                "{\"a\":-}",
                                "{\"a\":1e}",
                                "{\"a\":\"\\ud800\\x\"}",
                                "{\"a\":\"\\ud800\\u12\"}",
                                "{\"a\":\"\\ud800\\u12zz\"}",
                                "{\"a\":[1",
                                "{\"a\":[[1]",
                                "{\"a\":{\"b\":1",
                                "{\"b\" 1}"}) {
    const Found found = keys_of(good + good + bad + "\n" + good, {.json_field = "a"});
    if (found.problem.empty()) {
      ADD_FAILURE() << bad << " is taken";
      continue;
    }
    EXPECT_EQ(found.keys, (Words{"1", "1"})) << bad;
  }
}

// The help says that these are not checked.
TEST(Keys, OfJsonAreFoundWithoutReadingTheRest) {
  for (const char* const line :
       {R"({"a":1,bad})", R"({"a":1,})", R"({"a":1 2})", R"({"a":1}})", R"({"a":1}{"a":2})",
        R"({"a":1,"b":[})", R"({"a":1,"b":"\x"})", R"({"b":bad,"a":1})", R"({"b":[01,bad],"a":1})"})
    EXPECT_EQ(value(line, "a"), "1") << line;
  EXPECT_EQ(value(R"({"a":[1 2]})", "a"), "[1 2]");
  EXPECT_EQ(value(R"({"a":{"b":bad}})", "a"), R"({"b":bad})");
}

// What a parser is fed by others: any cut and any changed byte of a line is a value or a problem.
TEST(Keys, OfDamagedJsonAreNeverACrash) {
  const std::string line = R"({"a":{"b":["x\u00e9",12.5,true,null,{"c":"d"}]},"e":"f"})";
  std::mt19937_64 random(9);
  for (const char* const field : {"e", "a", "/a/b/4/c", "/a/b/1"}) {
    for (std::size_t size = 0; size < line.size(); ++size)
      (void)keys_of(line.substr(0, size) + "\n", {.json_field = field});
    for (int round = 0; round < 4000; ++round) {
      std::string changed = line;
      for (std::size_t i = 0; i <= random() % 3; ++i) {
        char& c = changed[random() % line.size()];
        c = random() % 2 == 0 ? static_cast<char>(random()) : "{}[]\",:\\"[random() % 8];
        if (c == '\n') c = ' ';
      }
      (void)keys_of(changed + "\n", {.json_field = field});
    }
  }
  const std::string deep = "{\"a\":" + std::string(100'000, '[') + "\n";
  EXPECT_NE(keys_of(deep, {.json_field = "b"}).problem, "");
}

}  // namespace
}  // namespace bloomery::cli
