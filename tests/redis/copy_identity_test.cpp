// Every copy of a filter in shards of a module is a filter of its own: no client takes it for its source,
// whatever its place, and however the program ended that put it there.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/module/module_record.hpp"
#include "redis/module_copies.hpp"
#include "redis/scripted.hpp"

namespace bloomery {
namespace {

using test::error_of;
using test::Keys;
using test::module_server;
using test::Scripted;

class CopyIdentity : public test::ModuleCopies {
 protected:
  int late_ = 0;
};

// Whose markers are among the items of the new filter would take it for theirs, and what they have
// inserted since it was dumped is not there: the markers of a copy tell them.
TEST_F(CopyIdentity, AreNeverTakenForASourceNorForOneOfItsSources) {
  make("c", next_.views);
  for (const std::vector<const char*>& sources : std::vector<std::vector<const char*>>{
           {"a"}, {"b", "a"}, {"b", "c", "a"}, {"a", "b"}, {"both"}, {"c", "both"}, {"more"}}) {
    for (const char* name : {"both", "more"}) drop(name);
    store("both", {"b", "a"});
    store("more", {"c", "both"});
    auto client = open("a");
    EXPECT_TRUE(client.insert("a late key " + std::to_string(++late_)));
    store("a", sources, true);
    error_of([&] { (void)client.may_contain("a late key " + std::to_string(late_)); },
             ErrorCode::mismatch);
    EXPECT_EQ(open("a").may_contain_many(old_.views), old_.views.size());
    // Nor are the sources taken for copies of themselves.
    EXPECT_EQ(open("both").may_contain_many(old_.views), old_.views.size());
    EXPECT_EQ(open("b").may_contain_many(next_.views), next_.views.size());
  }
  EXPECT_EQ(keys_there(), 5 * 4) << "something was left behind";
}

// Copies of older programs have the identity of their source, or are merged from it without a mark.
TEST_F(CopyIdentity, OfOlderProgramsAreNotTakenForTheirSourcesEither) {
  const auto a = open("a");
  for (std::size_t i = 0; i < a.keys().size(); ++i)
    module_server().ask({"COPY", a.keys()[i], "old" + a.keys()[i].substr(1)});
  module_server().ask({"COPY", a.record_key(), "old:{0}:shards"});
  auto client = open("a");
  EXPECT_TRUE(client.insert("a late key"));
  store("a", {"old"}, true);
  error_of([&] { (void)client.may_contain("a late key"); }, ErrorCode::mismatch);

  make("c", next_.views);
  auto of_b = open("b");
  for (std::size_t i = 0; i < of_b.keys().size(); ++i)
    module_server().ask({"BF.MERGE", open("c").keys()[i], of_b.keys()[i]});
  EXPECT_TRUE(of_b.insert("a late key"));
  store("b", {"c"}, true);
  error_of([&] { (void)of_b.may_contain("a late key"); }, ErrorCode::mismatch);
}

// A filter that does not grow has room for the marks of copies of copies; and where it has none left,
// they are merged into it.
TEST_F(CopyIdentity, OfAFullFilterHaveItsKeys) {
  const Keys keys("full:", 500);
  auto first = ModuleFilter::create({module_server().address(), "full", 1},
                                    {.kind = Kind::plain, .capacity = 500, .fpr = 0.001});
  first.insert_many(keys.views);
  const auto items = first.info().items;
  std::string name = "full";
  for (int copies = 1; copies <= 40; ++copies) {
    const std::string next = "full" + std::to_string(copies);
    store(next.c_str(), {name.c_str()});
    drop(name.c_str());
    name = next;
    ASSERT_EQ(open(name.c_str()).may_contain_many(keys.views), keys.views.size()) << copies;
  }
  EXPECT_NEAR(static_cast<double>(open(name.c_str()).info().items), static_cast<double>(items), 20);
  EXPECT_EQ(keys_there(), 3 * 4 - 2) << "something was left behind";
}

// Another filter is in a shard's place when the keys come, and is undone before the markers are asked for.
TEST_F(CopyIdentity, AnInsertIntoWhatIsUndoneIsNotAcknowledged) {
  store("copy", {"b"});
  const std::string place = open("a").keys()[1], other = open("copy").keys()[1];
  Scripted node(module_server().path());
  auto client = ModuleFilter::open({{.port = node.port()}, "a", 0});
  bool inserting = false, undone = false;
  node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] == "BF.INSERT" && words[1] == place && !inserting) {
      inserting = true;
      module_server().ask({"RENAME", place, "aside"});
      module_server().ask({"COPY", other, place});
    } else if (words[0] == "BF.MEXISTS" && words[1] == place && inserting && !undone) {
      undone = true;
      module_server().ask({"RENAME", "aside", place});
    }
    return std::nullopt;
  });
  const Keys late("late:", 100);
  const std::string text = error_of([&] { client.insert_many(late.views); }, ErrorCode::mismatch);
  EXPECT_TRUE(undone);
  EXPECT_NE(text.find("insert them again"), std::string::npos) << text;
  EXPECT_LT(client.acknowledged(), late.views.size());
  client.insert_many(late.views);
  EXPECT_EQ(client.may_contain_many(late.views), late.views.size());
  EXPECT_EQ(open("a").may_contain_many(late.views), late.views.size());
}

// Older programs left no room: such a filter takes the marks only if it is large enough for them.
TEST_F(CopyIdentity, IsNotGivenToAFilterThatHasNoRoomForIt) {
  auto tiny = ModuleFilter::create({module_server().address(), "tiny", 1},
                                   {.kind = Kind::plain, .capacity = 1, .fpr = 0.01});
  const std::string key = tiny.keys()[0];
  module_server().ask({"DEL", key});
  module_server().ask({"BF.RESERVE", key, "0.01", "10", "NONSCALING"});
  const detail::ModuleRecord record =
      detail::decode_module_record(module_server().get(tiny.record_key()), "tiny");
  for (const std::string& marker : record.markers(0)) module_server().ask({"BF.ADD", key, marker});
  module_server().ask({"BF.ADD", key, detail::ModuleRecord::common_marker()});
  ASSERT_TRUE(tiny.insert("a key"));
  ModuleFilter* from = &tiny;
  error_of(
      [&] {
        ModuleFilter::store({module_server().address(), "copy", 0}, {&from, 1});
      },
      ErrorCode::no_space);
  EXPECT_EQ(keys_there(), 2 * 4 + 2) << "something was left behind";
}

TEST_F(CopyIdentity, WhoseMakerIsKilledAreUndoneByWhoComesNext) {
  for (const char* next : {"open", "look up", "copy"}) {
    module_server().ask({"FLUSHALL"});
    make("a", old_.views);
    make("b", next_.views);
    auto before = open("b");
    Scripted node(module_server().path());
    int placed = 0;
    node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      if (placed == 2) return "";
      if (words[0] == "EVAL" && words[2] == "3") ++placed;
      return std::nullopt;
    });
    auto source = open("a");
    ModuleFilter* from = &source;
    error_of(
        [&] {
          ModuleFilter::store({{.port = node.port()}, "b", 0}, {&from, 1}, true);
        },
        ErrorCode::unavailable);
    error_of([&] { (void)before.may_contain_many(next_.views); }, ErrorCode::missing);
    error_of([] { open("b"); }, ErrorCode::missing);
    module_server().ask({"DEL", "b:{0}:shards:replacing"});  // a minute later
    const std::string_view how = next;
    if (how == "look up") {
      const auto text =
          error_of([&] { (void)before.may_contain_many(next_.views); }, ErrorCode::unavailable);
      EXPECT_NE(text.find("undone now; try again"), std::string::npos) << text;
    }
    if (how == "copy") {
      store("b", {"a"}, true);
      EXPECT_EQ(open("b").may_contain_many(old_.views), old_.views.size());
    } else {
      EXPECT_EQ(open("b").may_contain_many(next_.views), next_.views.size());
      EXPECT_EQ(before.may_contain_many(next_.views), next_.views.size());
    }
    EXPECT_EQ(keys_there(), 8) << "something was left behind";
    const auto after = open("b");
    for (const std::string& key : after.keys())
      EXPECT_EQ(module_server().ask({"PTTL", key})->integer, -1);
  }
}

}  // namespace
}  // namespace bloomery
