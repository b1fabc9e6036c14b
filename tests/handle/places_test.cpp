// Which locations are addresses, and which are paths.
#include <gtest/gtest.h>
#include <bloomery/any_filter.hpp>

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "store/scratch.hpp"
#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

TEST(Places, KnowsAddressesFromPaths) {
  for (const char* address : {"redis://h", "redis+module+cluster://h?key=k", "redis+unix:///s",
                              "redis2://h", "REDIS://h", "s3://h", "a-b.c+9://", "a.b://h"})
    EXPECT_TRUE(AnyFilter::is_address(address)) << address;
  for (const char* path : {"redis", "seen.bloom", "/redis://h", "./redis://h", "://", "a b://h",
                           "a:/b//", "a//b://", ".a://h", ""})
    EXPECT_FALSE(AnyFilter::is_address(path)) << path;
  EXPECT_EQ(AnyFilter::display_name("seen.bloom"), "seen.bloom");
}

TEST(Places, KnowsThePartOfATextThatIsSecret) {
  using Secret = std::optional<std::string_view>;
  for (const auto& [text, secret] :
       {std::pair<std::string_view, Secret>("redis://me:word@h?key=k", "me:word"),
        {"redis://word@h", "word"},
        {"redis://@h", ""},
        {"redis://me:w@rd@h", "me:w@rd"},
        {"me:word@h", "word"},
        {"me:word:more@h", "word:more"},
        {":word@h", "word"},
        {"me:@h", ""},
        {"me:/word@h", "/word"},
        {"me@h", std::nullopt},
        {"me@h:6379", std::nullopt},
        {"h:6379", std::nullopt},
        {"@", std::nullopt},
        {"", std::nullopt}})
    EXPECT_EQ(AnyFilter::secret_of(text), secret) << text;
}

// Many programs take a server's address so. A file may still have such a name.
TEST(Places, RefusesAHostAndAPort) {
  const FilterSpec spec{.capacity = 100, .fpr = 0.01};
  for (const std::string host : {"127.0.0.1:6379", "localhost:6379", "10.0.0.7:1"}) {
    try {
      (void)AnyFilter::create(host, spec);
      ADD_FAILURE() << host;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_EQ(error.what(),
                host + ": a server is named with its protocol and a key: write redis://" + host +
                    "?key=NAME; if it is a path, write ./" + host + ", or the whole path");
    }
  }
  for (const char* path :
       {"localhost", "localhost:", "localhost:x", "localhost2:6379", "1.2.3:4", "1.2.3.4",
        "a.2.3.4:5", "users:6379", "./127.0.0.1:6379", "127.0.0.1:6379/f", ":6379", ""})
    EXPECT_EQ(AnyFilter::display_name(path), path);
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
    const std::string what = error_of(call, ErrorCode::invalid_argument);
    EXPECT_TRUE(what.starts_with("redsi:// is not the beginning of an address")) << what;
    EXPECT_EQ(what.find("secret"), std::string::npos) << what;
  }
  EXPECT_FALSE(std::filesystem::exists(scratch / "out"));
}

// Writers that share a file and name no durability have that of the process.
TEST(Places, KnowsWhereCreateReplaces) {
  EXPECT_TRUE(AnyFilter::can_replace("f.bloom"));
  EXPECT_TRUE(AnyFilter::can_replace("redis://h?key=k"));
  EXPECT_TRUE(AnyFilter::can_replace("redis+cluster://h?key=k"));
  EXPECT_TRUE(AnyFilter::can_replace("redis://h?key=k", {.rotating = true}));
  EXPECT_FALSE(AnyFilter::can_replace("redis+cluster://h?key=k", {.rotating = true}));
  EXPECT_FALSE(AnyFilter::can_replace("redis+module://h?key=k"));
  EXPECT_FALSE(AnyFilter::can_replace("redis+module+cluster://h?key=k"));
  const AnyOptions php{.scheme = PhpScheme::string_hashes("BKDR,ELF,DEK")};
  EXPECT_FALSE(AnyFilter::can_replace("bits", php));
  EXPECT_FALSE(AnyFilter::can_replace("redis://h?key=k", php));
  expect_error(ErrorCode::invalid_argument, {"redis://"},
               [] { (void)AnyFilter::can_replace("nowhere://h?key=k"); });
}

TEST(Places, ASharedFileNeedsNoDurability) {
  const Scratch scratch;
  const FilterSpec spec{.capacity = 100, .fpr = 0.01};
  AnyFilter one = AnyFilter::create(scratch / "f", spec, {.shared = true});
  AnyFilter other = AnyFilter::open(scratch / "f", Access::write, {.shared = true});
  EXPECT_TRUE(one.insert("a"));
  EXPECT_FALSE(other.insert("a"));
}

TEST(Places, AMessageDoesNotRepeatALongWord) {
  const std::string what =
      error_of([] { (void)AnyFilter::open(std::string(100'000, 'x') + "://h"); },
               ErrorCode::invalid_argument);
  EXPECT_TRUE(what.starts_with(std::string(64, 'x') + "://")) << what;
  EXPECT_LT(what.size(), 500U);
}

// Another filter may come to a path while filters are merged: it is an error, or none of its keys is missing.
TEST(Places, MergesNoFilterThatItHasNotCompared) {
  constexpr int kMerges = 200;
  const Scratch scratch;
  const std::string first = scratch / "first", moving = scratch / "moving", out = scratch / "out";
  const auto make = [&](const std::string& path, std::uint64_t seed) {
    AnyFilter filter =
        AnyFilter::create(path, {.capacity = 1000, .fpr = 0.001}, {.seed = Seed{.low = seed}});
    filter.insert("key");
    filter.close();
  };
  make(first, 1);
  make(scratch / "alike", 1);
  make(scratch / "other", 2);
  std::atomic<bool> done = false;
  std::thread mover([&] {
    for (int i = 0; !done; ++i) {
      const std::string link = scratch / "link";
      std::filesystem::create_symlink(scratch / (i % 2 == 0 ? "alike" : "other"), link);
      std::filesystem::rename(link, moving);
    }
  });
  while (!std::filesystem::is_symlink(std::filesystem::symlink_status(moving))) {
  }
  // A mover that the machine lets wait leaves the link where it is, at the other one for as long as
  // it likes: so one merge at least is waited for.
  int merged = 0;
  for (int i = 0; i < kMerges || merged == 0; ++i) try {
      // If it is merged, its bits are those of the seed of the first, and the key has no others.
      (void)AnyFilter::merge(std::vector{first, moving}, out, true);
      ++merged;
      EXPECT_TRUE(AnyFilter::open(out).encode() == AnyFilter::open(first).encode());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::mismatch) << error.what();
    }
  done = true;
  mover.join();
}

}  // namespace
}  // namespace bloomery::test
