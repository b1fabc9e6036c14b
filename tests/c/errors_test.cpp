// Errors as programs see them: numbers that never change, and texts that fit.
#include <gtest/gtest.h>

#include <bloomery/error.hpp>

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "c/handles.hpp"

namespace bloomery::test {
namespace {

// The library casts one to the other.
static_assert([] {
  using enum ErrorCode;
  const std::pair<ErrorCode, bloomery_code> all[] = {
      {invalid_argument, BLOOMERY_INVALID_ARGUMENT},
      {too_large, BLOOMERY_TOO_LARGE},
      {no_memory, BLOOMERY_NO_MEMORY},
      {mismatch, BLOOMERY_MISMATCH},
      {not_a_filter, BLOOMERY_NOT_A_FILTER},
      {newer_format, BLOOMERY_NEWER_FORMAT},
      {exists, BLOOMERY_EXISTS},
      {wrong_kind, BLOOMERY_WRONG_KIND},
      {corrupt, BLOOMERY_CORRUPT},
      {unclean, BLOOMERY_UNCLEAN},
      {locked, BLOOMERY_LOCKED},
      {read_only, BLOOMERY_READ_ONLY},
      {io, BLOOMERY_IO},
      {no_space, BLOOMERY_NO_SPACE},
      {poisoned, BLOOMERY_POISONED},
      {unavailable, BLOOMERY_UNAVAILABLE},
      {denied, BLOOMERY_DENIED},
      {missing, BLOOMERY_MISSING},
      {inherited, BLOOMERY_INHERITED},
  };
  for (const auto& [ours, theirs] : all)
    if (static_cast<int>(ours) + 1 != theirs) return false;
  return std::size(all) == BLOOMERY_INTERNAL - 1;
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

TEST(CErrors, LeaveThePlaceAloneWhereThereIsNone) {
  bloomery_error error{.code = 77, .text = "as it was"};
  const bloomery_spec spec = spec_of(BLOOMERY_PLAIN);
  const Handle handle(bloomery_new(&spec, nullptr, &error));
  EXPECT_EQ(bloomery_insert(handle.get(), "a", 1, &error), 1);
  EXPECT_EQ(error.code, 77);
  EXPECT_STREQ(error.text, "as it was");
}

TEST(CErrors, VersionsAgree) {
  const std::uint32_t number = bloomery_version_number();
  EXPECT_EQ(bloomery_version(), std::to_string(number >> 16) + "." +
                                    std::to_string(number >> 8 & 255) + "." +
                                    std::to_string(number & 255));
}

}  // namespace
}  // namespace bloomery::test
