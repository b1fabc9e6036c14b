// Errors as programs see them: numbers that never change, and texts that fit.
#include <gtest/gtest.h>

#include <bloomery/error.hpp>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c/handles.hpp"
#include "support/scarce_memory.hpp"

namespace bloomery::test {
namespace {

// The library casts one to the other. A code that is added has no case here, which is an error.
constexpr std::int32_t number_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return BLOOMERY_INVALID_ARGUMENT;
    case ErrorCode::too_large:
      return BLOOMERY_TOO_LARGE;
    case ErrorCode::no_memory:
      return BLOOMERY_NO_MEMORY;
    case ErrorCode::mismatch:
      return BLOOMERY_MISMATCH;
    case ErrorCode::not_a_filter:
      return BLOOMERY_NOT_A_FILTER;
    case ErrorCode::newer_format:
      return BLOOMERY_NEWER_FORMAT;
    case ErrorCode::exists:
      return BLOOMERY_EXISTS;
    case ErrorCode::wrong_kind:
      return BLOOMERY_WRONG_KIND;
    case ErrorCode::corrupt:
      return BLOOMERY_CORRUPT;
    case ErrorCode::unclean:
      return BLOOMERY_UNCLEAN;
    case ErrorCode::locked:
      return BLOOMERY_LOCKED;
    case ErrorCode::read_only:
      return BLOOMERY_READ_ONLY;
    case ErrorCode::io:
      return BLOOMERY_IO;
    case ErrorCode::no_space:
      return BLOOMERY_NO_SPACE;
    case ErrorCode::poisoned:
      return BLOOMERY_POISONED;
    case ErrorCode::unavailable:
      return BLOOMERY_UNAVAILABLE;
    case ErrorCode::denied:
      return BLOOMERY_DENIED;
    case ErrorCode::missing:
      return BLOOMERY_MISSING;
    case ErrorCode::inherited:
      return BLOOMERY_INHERITED;
  }
  return BLOOMERY_INTERNAL;
}
static_assert([] {
  for (int i = 0; i <= static_cast<int>(ErrorCode::inherited); ++i)
    if (number_of(static_cast<ErrorCode>(i)) != i + 1) return false;
  return true;
}());

TEST(CErrors, HaveNumbersThatNeverChange) {
  const std::vector<std::string> names = {
      "ok",           "invalid_argument", "too_large", "no_memory",  "mismatch",
      "not_a_filter", "newer_format",     "exists",    "wrong_kind", "corrupt",
      "unclean",      "locked",           "read_only", "io",         "no_space",
      "poisoned",     "unavailable",      "denied",    "missing",    "inherited",
      "internal"};
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(bloomery_error_name(static_cast<std::int32_t>(i)), names[i]);
  for (const int none : {-1, static_cast<int>(names.size()), 1 << 30})
    EXPECT_STREQ(bloomery_error_name(none), "unknown");
  EXPECT_EQ(BLOOMERY_INTERNAL, 20);
}

TEST(CErrors, AreThoseOfTheLibrary) {
  const bloomery_spec spec = spec_of(BLOOMERY_PLAIN);
  expect_code(BLOOMERY_MISSING, "/nowhere/x.bloom", [](bloomery_error* error) {
    return bloomery_open("/nowhere/x.bloom", BLOOMERY_READ, nullptr, error);
  });
  expect_code(BLOOMERY_NOT_A_FILTER, "",
              [](bloomery_error* error) { return bloomery_decode("some text", 9, error); });
  const std::string where = BLOOMERY_HAS_REDIS ? "127.0.0.1" : "without its Redis client";
  expect_code(BLOOMERY_HAS_REDIS ? BLOOMERY_UNAVAILABLE : BLOOMERY_INVALID_ARGUMENT, where,
              [&](bloomery_error* error) {
                return bloomery_create("redis://127.0.0.1:1?key=k", &spec, nullptr, error);
              });
  bloomery_spec huge = spec_of(BLOOMERY_PLAIN, 10'000'000'000'000, 1e-9);
  expect_code(BLOOMERY_TOO_LARGE, "",
              [&](bloomery_error* error) { return bloomery_new(&huge, nullptr, error); });
}

TEST(CErrors, CutATextBetweenCharacters) {
  // Each character of the path has two bytes, and an odd number stands before them.
  for (const std::string& start : {std::string("/no"), std::string("/nos")}) {
    std::string path = start;
    while (path.size() < 700) path += "\xC3\xA9";
    bloomery_error error{};
    EXPECT_EQ(bloomery_open(path.c_str(), BLOOMERY_READ, nullptr, &error), nullptr);
    const std::string text = error.text;
    EXPECT_LT(text.size(), sizeof error.text);
    EXPECT_GE(text.size(), sizeof error.text - 2);
    EXPECT_EQ(text.substr(0, path.size()), path.substr(0, text.size()));
    EXPECT_EQ(text.back(), '\xA9');
  }
}

// Of a text without the beginning of a character nothing fits.
TEST(CErrors, CutATextThatIsNoUtf8) {
  bloomery_error error{};
  const std::string path(700, '\x80');
  EXPECT_EQ(bloomery_open(path.c_str(), BLOOMERY_READ, nullptr, &error), nullptr);
  EXPECT_EQ(error.code, BLOOMERY_IO);
  EXPECT_EQ(error.text[0], '\0');
}

// Each allocation fails once, of the library and of the handle itself.
TEST(CErrors, SayThatThereIsNoMemory) {
  const bloomery_spec spec = spec_of(BLOOMERY_PLAIN);
  std::set<std::string> texts;
  fail_from = 0;
  for (long after = 0;; ++after) {
    bloomery_error error{};
    allocations_failed = 0;
    fail_after = after;
    const Handle handle(bloomery_new(&spec, nullptr, &error));
    fail_after = -1;
    if (allocations_failed == 0) {
      EXPECT_NE(handle, nullptr) << error.text;
      break;
    }
    EXPECT_EQ(handle, nullptr) << after;
    EXPECT_EQ(error.code, BLOOMERY_NO_MEMORY) << error.text;
    texts.insert(error.text);
  }
  EXPECT_TRUE(texts.contains("the system has no memory for it"));
}

TEST(CErrors, ShowNoPasswordOfAnAddressInAWrongPlace) {
  const auto text_for = [](const std::string& location, const char* hashes) {
    bloomery_error error{};
    bloomery_options options{};
    options.size = sizeof options;
    options.php_hashes = hashes;
    EXPECT_EQ(bloomery_open(location.c_str(), BLOOMERY_READ, &options, &error), nullptr);
    return std::string(error.text);
  };
  const std::string path = text_for("/no  where/redis:/user:hidden@h:1", nullptr);
  EXPECT_TRUE(path.starts_with("/no  where/redis:***@h:1: ")) << path;
  const std::string name = text_for("/nowhere", "redis://user:hidden@h");
  EXPECT_TRUE(name.starts_with("'redis://***@h' ")) << name;
  // Also if the text is cut within it.
  const std::string folder(480, 'd');
  const std::string cut = text_for(folder + "/user:" + std::string(30, 'x') + "@h", nullptr);
  EXPECT_TRUE(cut.starts_with(folder + "/user:***@h: ")) << cut;
}

TEST(CErrors, LeaveThePlaceAloneWhereThereIsNone) {
  bloomery_error error{.code = 77, .text = "as it was"};
  const bloomery_spec spec = spec_of(BLOOMERY_PLAIN);
  const Handle handle(bloomery_new(&spec, nullptr, &error));
  EXPECT_EQ(bloomery_insert(handle.get(), "a", 1, &error), 1);
  EXPECT_EQ(error.code, 77);
  EXPECT_STREQ(error.text, "as it was");
}

TEST(CErrors, HideThePasswordOfAnAddress) {
  const auto hidden = [](const char* text, std::size_t room) {
    std::string out(room + 1, '#');
    const std::size_t size = bloomery_hide_password(text, out.data(), room);
    EXPECT_EQ(out[room], '#') << "behind the room";
    return std::pair(std::string(out.c_str()), size);
  };
  const std::vector<std::pair<const char*, std::string>> texts = {
      {"redis://user:pass@h?key=k", "redis://***@h?key=k"},
      {"redis://user:p@ss word@h", "redis://***@h"},
      {"'redis://user:pass@h'", "'redis://***@h'"},
      {"user:pass@h", "user:***@h"},
      {":@", ":***@"},
      {"redis://h:1?key=k", "redis://h:1?key=k"},
      {"user@h:1", "user@h:1"},
      {"", ""},
      {nullptr, ""}};
  for (const auto& [text, shown] : texts) {
    const std::size_t enough = (text == nullptr ? 0 : std::string_view(text).size()) + 4;
    EXPECT_EQ(hidden(text, enough), std::pair(shown, shown.size()));
    for (std::size_t room = 1; room < shown.size(); ++room)
      EXPECT_EQ(hidden(text, room), std::pair(shown.substr(0, room - 1), shown.size()));
  }
  EXPECT_EQ(bloomery_hide_password("a:b@c", nullptr, 0), 7U);
}

TEST(CErrors, VersionsAgree) {
  const std::uint32_t number = bloomery_version_number();
  EXPECT_EQ(bloomery_version(), std::to_string(number >> 16) + "." +
                                    std::to_string(number >> 8 & 255) + "." +
                                    std::to_string(number & 255));
}

}  // namespace
}  // namespace bloomery::test
