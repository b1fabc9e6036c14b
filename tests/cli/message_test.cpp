// What a message may not show: bytes that a terminal obeys, and passwords.
#include "output/message.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace bloomery::cli {
namespace {

using namespace std::string_literals;

TEST(Message, QuotesWhatATerminalObeys) {
  for (const auto& [text, shown] : std::vector<std::pair<std::string, std::string>>{
           {"plain text, 'quoted' \\ \"twice\" ~", "plain text, 'quoted' \\ \"twice\" ~"},
           {"a\nb\r\tc", "a\\nb\\r\\tc"},
           {"\033]0;title\a", "\\x1b]0;title\\x07"},
           {"\0 and \x7f"s, "\\x00 and \\x7f"},
           {"Müller 東京 \U0001F600", "Müller 東京 \U0001F600"},
           {"\xc2\x9b"
            "31m",
            "\\xc2\\x9b31m"},                                               // CSI of eight bits
           {"\x9b", "\\x9b"},                                               // the same, no UTF-8
           {"\xe2\x80\xae", "\\xe2\\x80\\xae"},                             // from right to left
           {"\xe2\x80\xa8\xe2\x80\x8b", "\\xe2\\x80\\xa8\\xe2\\x80\\x8b"},  // a line end, no width
           {"\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81"},                    // a tag
           {"a\xc2\xad\xef\xbb\xbf",
            "a\\xc2\\xad\\xef\\xbb\\xbf"},       // a soft hyphen, a mark of bytes
           {"\xd8\x9c\xe2\x81\xa0\xe2\x81\xaf",  // directions, and what joins words
            "\\xd8\\x9c\\xe2\\x81\\xa0\\xe2\\x81\\xaf"},
           {"\xe2\x81\x9f\xe2\x81\xb0", "\xe2\x81\x9f\xe2\x81\xb0"},  // beside them
           {"\xf0\x8f\xbf\xbf \xe6zz \xc3z",
            "\\xf0\\x8f\\xbf\\xbf \\xe6zz \\xc3z"},                      // no characters
           {"\xc0\xaf \xe0\x80\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xf5",  // no characters
            "\\xc0\\xaf \\xe0\\x80\\xaf \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80 \\xf5"},
           {"\xe6\x9d", "\\xe6\\x9d"},  // cut
           {"\xe6z", "\\xe6z"},
           {"", ""}})
    EXPECT_EQ(printable(text), shown);
}

TEST(Message, QuotesTheSameInJsonWithoutAChangeOfItsMeaning) {
  EXPECT_EQ(printable_json("{\n  \"a\": \"\\u001b東\"\n}"), "{\n  \"a\": \"\\u001b東\"\n}");
  const std::string name =
      "\xc2\x9b"
      "31m \x7f \xe2\x80\xae \xf3\xa0\x81\x81 \u6771";
  const std::string shown = printable_json(nlohmann::json(name).dump());
  EXPECT_EQ(shown, "\"\\u009b31m \\u007f \\u202e \\udb40\\udc41 \u6771\"");
  EXPECT_EQ(nlohmann::json::parse(shown), name);
}

TEST(Message, HidesUserAndPasswordOfAnyAddress) {
  for (const auto& [text, shown] : std::vector<std::pair<std::string, std::string>>{
           {"redsi://me:secret@h?key=k: No such file", "redsi://***@h?key=k: No such file"},
           {"'https://me:se:cr@t@h/x'", "'https://***@h/x'"},
           {"a://u:p@h and b://q:r@i", "a://***@h and b://***@i"},
           {"x://me:sec/ret?a#b@h", "x://***@h"},
           {"me:secret@host", "me:***@host"},
           {"me:secret://@host", "me:***@host"},
           {"(me:secret@host)", "(me:***@host)"},
           {"tab\tu:p@h\nu:p@h", "tab\tu:***@h\nu:***@h"},
           {"someone@example.org: no", "someone@example.org: no"},
           {"redis h:6379 'a': at @ noon: @", "redis h:6379 'a': at @ noon: @"},
           {"redis+unix:///s?key=a: gone", "redis+unix:///s?key=a: gone"},
           {"@://:@", "@://***@"},
           {"", ""}}) {
    EXPECT_EQ(without_secrets(text), shown);
    EXPECT_EQ(without_secrets(shown), shown);
  }
}

TEST(Message, HidesWhatTheArgumentsSay) {
  const std::vector<std::string> arguments = {"info",
                                              "redsi://me:two words\n@ and @h?key=k",
                                              "u:open sesame@h",
                                              "x://u:open sesame@i",
                                              "a@b",
                                              "redis://@h?key=k"};
  EXPECT_NE(without_secrets(arguments[1]).find("two words"), std::string::npos);
  hide_secrets_of(arguments);
  EXPECT_EQ(without_secrets("no " + arguments[1] + ", no"), "no redsi://***@h?key=k, no");
  EXPECT_EQ(without_secrets(arguments[2] + ", " + arguments[3]), "***@h, x://***@i");
  EXPECT_EQ(without_secrets("a@b"), "a@b");
  hide_secrets_of({});
  EXPECT_NE(without_secrets(arguments[1]).find("two words"), std::string::npos);
}

// A flag that is not known is named up to its '='; so is what may be a password there.
TEST(Message, HidesWhatStandsBeforeAnEqualsSign) {
  const std::vector<std::string> arguments = {"-nx://me:pass=word@h", "--filter=x://u:p=q@h"};
  hide_secrets_of(arguments);
  EXPECT_EQ(without_secrets("unknown flag -nx://me:pass; see"), "unknown flag -nx://***; see");
  EXPECT_EQ(without_secrets("no " + arguments[0]), "no -nx://***@h");
  EXPECT_EQ(without_secrets("no " + arguments[1] + ", x://u:p=q@h"),
            "no --filter=x://***@h, x://***@h");
  EXPECT_EQ(without_secrets("unknown flag --filter"), "unknown flag --filter");
  hide_secrets_of({});
}

// A file of that name would be in a directory, which its error names.
TEST(Message, HidesWhatStandsBeforeASlash) {
  const std::vector<std::string> arguments = {"redis://:a=pass/wo/rd@h/0?key=k", "dir/u:pw@h"};
  hide_secrets_of(arguments);
  for (const char* directory : {"redis://:a=pass", "redis://:a=pass/wo", "redis://:a"})
    EXPECT_EQ(without_secrets(std::string("the directory ") + directory + " does not exist"),
              "the directory redis://*** does not exist");
  EXPECT_EQ(without_secrets("no " + arguments[0] + ", no"), "no redis://***@h/0?key=k, no");
  EXPECT_EQ(without_secrets("the directory redis: and dir"), "the directory redis: and dir");
  hide_secrets_of({});
}

TEST(Message, IsOneLine) {
  EXPECT_EQ(message_line("a\n\033[2Jx://u:p@h"), "bloomery: a\\n\\x1b[2Jx://***@h\n");
}

}  // namespace
}  // namespace bloomery::cli
