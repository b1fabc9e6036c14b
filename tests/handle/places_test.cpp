// Which locations are addresses, and which are paths.
#include <gtest/gtest.h>
#include <bloomery/any_filter.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "store/scratch.hpp"

namespace bloomery::test {
namespace {

TEST(Places, KnowsAddressesFromPaths) {
  for (const char* address : {"redis://h", "redis+module+cluster://h?key=k", "redis+unix:///s",
                              "redis2://h", "REDIS://h", "s3://h", "a-b.c+9://"})
    EXPECT_TRUE(AnyFilter::is_address(address)) << address;
  for (const char* path : {"redis", "seen.bloom", "/redis://h", "./redis://h", "://", "a b://h",
                           "a:/b//", "a//b://", ""})
    EXPECT_FALSE(AnyFilter::is_address(path)) << path;
  EXPECT_EQ(AnyFilter::display_name("seen.bloom"), "seen.bloom");
}

// A mistyped address is not taken for a path, in whatever call it stands, and no message repeats its password.
TEST(Places, RefusesAnAddressOfNoPlace) {
  const Scratch scratch;
  const std::string there = scratch / "f", wrong = "redsi://me:secret@h?key=k";
  const FilterSpec spec{.capacity = 100, .fpr = 0.01};
  AnyFilter::create(there, spec).close();
  const AnyOptions php{.scheme = PhpScheme::string_hashes("BKDR")};
  const std::function<void()> calls[] = {
      [&] { (void)AnyFilter::open(wrong); },
      [&] { (void)AnyFilter::open(wrong, Access::write, php); },
      [&] { (void)AnyFilter::create(wrong, spec); },
      [&] { (void)AnyFilter::create(wrong, spec, {.shared = true}); },
      [&] { (void)AnyFilter::open_or_create(wrong, spec); },
      [&] { (void)AnyFilter::rebuild(wrong, plan(spec)); },
      [&] { (void)AnyFilter::rotate(wrong); },
      [&] { (void)AnyFilter::verify(wrong); },
      [&] { (void)AnyFilter::display_name(wrong); },
      [&] { AnyFilter::open(there).save(wrong); },
      [&] {
        (void)AnyFilter::merge(std::vector{there, wrong}, scratch / "out");
      },
      [&] {
        (void)AnyFilter::merge(std::vector{there, there}, wrong);
      },
      [&] { AnyFilter::convert(wrong, scratch / "out"); },
      [&] { AnyFilter::convert(there, wrong); },
      [&] { AnyFilter::convert(wrong, scratch / "out", php); },
  };
  for (const auto& call : calls) {
    try {
      call();
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      const std::string what = error.what();
      EXPECT_TRUE(what.starts_with("redsi:// is not the beginning of an address")) << what;
      EXPECT_EQ(what.find("secret"), std::string::npos) << what;
    }
  }
  EXPECT_FALSE(std::filesystem::exists(scratch / "out"));
}

TEST(Places, AMessageDoesNotRepeatALongWord) {
  try {
    (void)AnyFilter::open(std::string(100'000, 'x') + "://h");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_LT(std::string(error.what()).size(), 500U);
  }
}

}  // namespace
}  // namespace bloomery::test
