// Every copy of a filter in shards of a module is a filter of its own: no client takes it for its source,
// whatever its place, and however the program ended that put it there.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/module/module_record.hpp"
#include "redis/module_copies.hpp"
#include "redis/scripted.hpp"

namespace bloomery::test {
namespace {

class CopyIdentity : public ModuleCopies {
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
    client.insert("a late key " + std::to_string(++late_));
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
  client.insert("a late key");
  store("a", {"old"}, true);
  error_of([&] { (void)client.may_contain("a late key"); }, ErrorCode::mismatch);

  make("c", next_.views);
  auto of_b = open("b");
  for (std::size_t i = 0; i < of_b.keys().size(); ++i)
    module_server().ask({"BF.MERGE", open("c").keys()[i], of_b.keys()[i]});
  of_b.insert("a late key");
  store("b", {"c"}, true);
  error_of([&] { (void)of_b.may_contain("a late key"); }, ErrorCode::mismatch);
}

// A filter that does not grow has room for the marks of copies of copies; and where it has none left,
// they are merged into it.
TEST_F(CopyIdentity, OfAFullFilterHaveItsKeys) {
  const NumberedKeys keys("full:", 500);
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
  EXPECT_EQ(open(name.c_str()).info().items, items);
  EXPECT_EQ(keys_there(), 3 * 4 - 2) << "something was left behind";
}

// Each marker counts once, however many sources and sources of sources bring it.
TEST_F(CopyIdentity, CountsNoMarkersAsItems) {
  const std::uint64_t items = open("a").info().items;
  store("copy", {"a"});
  EXPECT_EQ(open("copy").info().items, items);
  store("copy", {"copy"}, true);
  EXPECT_EQ(open("copy").info().items, items);
  for (std::uint64_t merged = 2; merged <= 6; ++merged) {
    store("copy", {"copy", "a"}, true);
    EXPECT_EQ(open("copy").info().items, merged * items);
  }
}

// An empty shard has its markers, and one with as many items as a copy has markers is not empty.
TEST_F(CopyIdentity, IsNotPutOverAFewItems) {
  const NumberedKeys few("few:", 30);
  make("c", few.views);
  auto c = open("c");
  module_server().ask({"DEL", c.record_key()});
  store("more", {"a", "b"});
  error_of([] { store("c", {"more"}); }, ErrorCode::exists);
  EXPECT_EQ(c.may_contain_many(few.views), few.views.size());
  EXPECT_EQ(c.info().items, few.views.size());
}

// At a high rate an empty shard may seem to have a marker before it comes. The probability that none of these does is
// below 1e-9 (one in six has been seen to).
TEST_F(CopyIdentity, IsNotPutOverASingleItem) {
  for (int i = 0; i < 120; ++i) {
    module_server().ask({"FLUSHALL"});
    const RedisPlace place(module_server().address(), "c", 1);
    const ModuleReserve small{.kind = Kind::plain, .capacity = 1'000, .fpr = 0.4};
    auto c = ModuleFilter::create(place, small);
    const auto record =
        detail::decode_module_record(module_server().get(c.record_key()), "its record");
    const auto items = module_server().ask({"BF.CARD", c.keys()[0]})->integer;
    ASSERT_EQ(items, static_cast<long long>(record.items_when_empty())) << i;
    if (!c.insert("a key")) continue;
    EXPECT_EQ(c.info().items, 1U);
    module_server().ask({"DEL", c.record_key()});
    error_of([&] { ModuleFilter::create(place, small); }, ErrorCode::exists);
    EXPECT_TRUE(c.may_contain("a key"));
  }
}

// Who opens a filter that seems to have everything would take it for a copy of itself.
TEST_F(CopyIdentity, OfFiltersThatAreTooFullTogetherIsNotMade) {
  const NumberedKeys first("first:", 1'000), second("second:", 1'000);
  const auto small = [](const char* name, const NumberedKeys& keys) {
    auto filter = ModuleFilter::create({module_server().address(), name, 1},
                                       {.kind = Kind::plain, .capacity = 1'000, .fpr = 0.4});
    filter.insert_many(keys.views);
  };
  small("full", first);
  for (int i = 0; i < 30; ++i) {
    const NumberedKeys keys("more" + std::to_string(i) + ":", 1'000);
    small("other", keys);
    try {
      store("full", {"full", "other"}, true);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::no_space);
      EXPECT_NE(std::string_view(error.what()).find("too full"), std::string_view::npos)
          << error.what();
      EXPECT_EQ(open("full").may_contain_many(first.views), first.views.size());
      return;
    }
    ASSERT_EQ(open("full").may_contain_many(first.views), first.views.size()) << i;
    drop("other");
  }
  FAIL() << "it was never too full";
}

// Another filter is in a shard's place for a moment while the keys come: a transaction comes before or after
// that as a whole, and so does a script.
TEST_F(CopyIdentity, AnInsertIntoWhatIsUndoneIsNotAcknowledged) {
  for (const bool redirected : {false, true})
    for (const bool in_the_middle : {false, true}) {
      SCOPED_TRACE(std::to_string(redirected) + std::to_string(in_the_middle));
      module_server().ask({"FLUSHALL"});
      make("a", old_.views);
      make("b", next_.views);
      store("copy", {"b"});
      const std::string place = open("a").keys()[1], other = open("copy").keys()[1];
      Scripted node(module_server().path());
      auto client = ModuleFilter::open({{.port = node.port()}, "a", 0});
      const auto swap_in = [&] {
        module_server().ask({"RENAME", place, "aside"});
        module_server().ask({"COPY", other, place});
      };
      const auto swap_out = [&] { module_server().ask({"RENAME", "aside", place}); };
      bool in_transaction = false, swapped = false, out = false;
      node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
        if (redirected && words[0] == "MULTI") {
          in_transaction = true;
          return "+OK\r\n";
        }
        if (in_transaction) {
          in_transaction = words[0] != "EXEC";
          return words[0] == "EXEC"        ? "-EXECABORT because of previous errors\r\n"
                 : words[0] == "BF.INSERT" ? "-TRYAGAIN while keys move\r\n"
                                           : "+QUEUED\r\n";
        }
        const bool inserts = (words[0] == "BF.INSERT" && words[1] == place) ||
                             (words[0] == "EVAL" && words[3] == place);
        if (inserts && !swapped) {
          swapped = true;
          swap_in();
          if (in_the_middle && redirected) swap_out();
        } else if (in_the_middle && words[0] == "BF.MEXISTS" && words[1] == place && swapped &&
                   !out && !redirected) {
          out = true;
          swap_out();
        }
        return std::nullopt;
      });
      const NumberedKeys late("late:", 3'000);
      if (in_the_middle) {
        client.insert_many(late.views);
      } else {
        error_of([&] { client.insert_many(late.views); }, ErrorCode::missing);
        EXPECT_LT(client.acknowledged(), late.views.size());
        swap_out();
        client.insert_many(late.views);
      }
      EXPECT_TRUE(swapped);
      EXPECT_EQ(client.may_contain_many(late.views), late.views.size());
      EXPECT_EQ(open("a").may_contain_many(late.views), late.views.size());
    }
}

// By either way an insert says what is new, and what is full.
TEST_F(CopyIdentity, AnInsertThatWasRedirectedAnswersAsAnother) {
  for (const bool redirected : {false, true}) {
    module_server().ask({"DEL", "small:{0}", "small:{0}:shards"});
    ModuleFilter::create({module_server().address(), "small", 1},
                         {.kind = Kind::plain, .capacity = 1'000, .fpr = 0.001});
    Scripted node(module_server().path());
    auto client = ModuleFilter::open({{.port = node.port()}, "small", 0});
    bool in_transaction = false;
    if (redirected)
      node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
        if (words[0] == "MULTI") in_transaction = true;
        if (!in_transaction) return std::nullopt;
        if (words[0] != "EXEC") return "+QUEUED\r\n";
        in_transaction = false;
        return "-TRYAGAIN while keys move\r\n";
      });
    const NumberedKeys some("some:", 900), more("more:", 3'000);
    const auto fresh = std::make_unique<bool[]>(some.views.size());
    EXPECT_GT(client.insert_many(some.views, {fresh.get(), some.views.size()}), 890U);
    EXPECT_EQ(client.insert_many(some.views, {fresh.get(), some.views.size()}), 0U);
    expect_error(ErrorCode::no_space, {"full"}, [&] { client.insert_many(more.views); });
  }
}

// What the server refuses while it queues a transaction is the error, and not that it was discarded.
TEST_F(CopyIdentity, AnInsertThatIsRefusedSaysWhy) {
  Scripted node(module_server().path());
  auto client = ModuleFilter::open({{.port = node.port()}, "a", 0});
  const NumberedKeys late("late:", 100);
  for (const char* said :
       {"-OOM command not allowed when used memory > 'maxmemory'.\r\n",
        "-NOPERM this user has no permissions to run the 'bf.insert' command\r\n"}) {
    node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] == "MULTI") return "+OK\r\n";
      if (words[0] == "BF.INSERT") return said;
      if (words[0] == "EXEC")
        return "-EXECABORT Transaction discarded because of previous errors.\r\n";
      return "+QUEUED\r\n";
    });
    error_of([&] { client.insert_many(late.views); },
             said[1] == 'O' ? ErrorCode::no_space : ErrorCode::denied);
    EXPECT_EQ(client.acknowledged(), 0U);
  }
  for (const auto& [said, code] :
       {std::pair{"READONLY You can't write against a read only replica.", ErrorCode::read_only},
        std::pair{"OOM command not allowed when used memory > 'maxmemory'.", ErrorCode::no_space},
        std::pair{"NOPERM this user has no permissions", ErrorCode::denied}}) {
    node.say([&, refusal = said](const Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] != "EXEC") return std::nullopt;
      module_server().ask({"PING"});
      return "-EXECABORT Transaction discarded because of: " + std::string(refusal) + "\r\n";
    });
    auto another = ModuleFilter::open({{.port = node.port()}, "a", 0});
    const std::string text = error_of([&] { another.insert_many(late.views); }, code);
    EXPECT_NE(text.find(open("a").keys()[0].substr(0, 2)), std::string::npos) << text;
  }
  node.say({});
  auto another = ModuleFilter::open({{.port = node.port()}, "a", 0});
  another.insert_many(late.views);
  EXPECT_EQ(another.may_contain_many(late.views), late.views.size());
}

// Where a place was empty before, what was put there goes; the rights that are documented are enough.
TEST_F(CopyIdentity, WhoseMakerIsKilledAreUndoneWithTheRightsOfTheModule) {
  store_half("new", {"a"}, false);
  module_server().ask({"DEL", "new:{0}:shards"});  // a minute later
  const RedisAddress user = module_server().as_user({"~*", "+@all", "-strlen"});
  ModuleFilter::create({user, "new", 3}, {.capacity = 3'000, .fpr = 0.001});
  EXPECT_EQ(keys_there(), 3 * 4) << "something was left behind";
}

// While the filter that is to be replaced is removed.
TEST_F(CopyIdentity, OfWhatIsRemovedMeanwhileAreGivenUp) {
  Scripted node(module_server().path());
  int placed = 0;
  const std::vector<std::string> places = open("b").keys();
  node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] == "EVAL" && words[2] == "3" && ++placed == 3) {
      module_server().ask({"DEL", "b:{0}:shards"});
      for (const std::string& place : places) module_server().ask({"DEL", place});
    }
    return std::nullopt;
  });
  error_of([&] { store("b", {"a"}, true, {.port = node.port()}); }, ErrorCode::unavailable);
  EXPECT_EQ(keys_there(), 4 + 2) << "what was set aside, and the source";
  make("b", next_.views);
  EXPECT_EQ(open("b").may_contain_many(next_.views), next_.views.size());
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
  expect_error(ErrorCode::no_space, {}, [&] {
    ModuleFilter::store({module_server().address(), "copy", 0}, {&from, 1});
  });
  EXPECT_EQ(keys_there(), 2 * 4 + 2) << "something was left behind";
}

TEST_F(CopyIdentity, WhoseMakerIsKilledAreUndoneByWhoComesNext) {
  for (const char* next : {"open", "look up", "copy"}) {
    module_server().ask({"FLUSHALL"});
    make("a", old_.views);
    make("b", next_.views);
    auto before = open("b");
    store_half("b", {"a"}, true);
    error_of([&] { (void)before.may_contain_many(next_.views); }, ErrorCode::missing);
    error_of([] { open("b"); }, ErrorCode::missing);
    module_server().ask({"DEL", "b:{0}:shards:replacing"});  // a minute later
    const std::string_view how = next;
    if (how == "look up") {
      expect_error(ErrorCode::unavailable, {"undone now; try again"},
                   [&] { (void)before.may_contain_many(next_.views); });
    }
    if (how == "copy") {
      store("b", {"a"}, true);
      EXPECT_EQ(open("b").may_contain_many(old_.views), old_.views.size());
    } else {
      EXPECT_EQ(open("b").may_contain_many(next_.views), next_.views.size());
      EXPECT_EQ(before.may_contain_many(next_.views), next_.views.size());
    }
    EXPECT_EQ(keys_there(), 8) << "something was left behind";
    module_server().expect_to_keep(open("b"));
  }
}

}  // namespace
}  // namespace bloomery::test
