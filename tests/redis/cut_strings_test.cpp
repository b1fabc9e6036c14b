// A string that is cut short, or replaced, while a call is on its way is an error, or all keys are found: they are
// never "absent".
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "redis/forms.hpp"
#include "redis/scripted.hpp"

namespace bloomery::test {
namespace {

constexpr std::size_t kLeft = 201;  // the header, and some bits

class CutStrings : public OfEachForm {
 protected:
  // A filter with some keys, and a client of it through the node.
  void make(Layout layout) {
    server().ask({"FLUSHALL"});
    node_.say(nullptr);
    auto made = RedisFilter::create(place(), {layout, 2'048, 6, 300, 0.05});
    made.insert_many(items_);
    client_.emplace(RedisFilter::open({{.port = node_.port()}, "f", place_to_open().shards}));
    is_cut_ = false;
  }
  static void cut() {
    for (const std::string& key : keys())
      server().ask({"SET", key, server().get(key).substr(0, kLeft)});
  }
  static bool reads_bits(const Scripted::Words& words) {
    return words[0] == "BITFIELD_RO" || words[0] == "GETRANGE";
  }
  // Before the first command that `is_next` names, of those after this call; `then` sees the later ones.
  void cut_before(std::function<bool(const Scripted::Words&)> is_next,
                  std::function<void(const Scripted::Words&)> then = {}) {
    node_.say([this, is_next = std::move(is_next),
               then = std::move(then)](const Scripted::Words& words) -> std::optional<std::string> {
      if (is_cut_) {
        if (then) then(words);
      } else if (is_next(words)) {
        is_cut_ = true;
        cut();
      }
      return std::nullopt;
    });
  }
  // Every client that comes now is told too.
  void expect_refused() {
    EXPECT_TRUE(is_cut_);
    node_.say(nullptr);
    error_of([&] { (void)client_->may_contain_many(items_); }, ErrorCode::corrupt);
    error_of([&] { (void)client_->may_contain(items_[0]); }, ErrorCode::corrupt);
    error_of([&] { client_->insert_many(items_); }, ErrorCode::corrupt);
    error_of([] { RedisFilter::open(place_to_open()); }, ErrorCode::corrupt);
  }
  static std::vector<std::uint64_t> numbers(std::uint64_t first, std::size_t count) {
    std::vector<std::uint64_t> all(count);
    std::iota(all.begin(), all.end(), first);
    return all;
  }

  Scripted node_{server().path()};
  std::optional<RedisFilter> client_;
  const std::vector<std::uint64_t> items_ = numbers(0, 200);
  bool is_cut_ = false;
};

INSTANTIATE_TEST_SUITE_P(In, CutStrings, testing::Values(Form(), Form(2)), name_of_form);

// Bits of some keys are in the string's last byte, and would make it as long as it was.
TEST_P(CutStrings, AreNotHealedByAnInsert) {
  for (const Layout layout : {Layout::blocked, Layout::blocked2, Layout::standard}) {
    SCOPED_TRACE(to_string(layout));
    make(layout);
    const std::size_t whole = server().get(keys()[0]).size();
    // Of 2,000 keys with 6 bits in 2^11 bits, about 47 have one in the last byte.
    cut_before([](const auto& words) { return words[0] == "BITFIELD"; });
    error_of([&] { client_->insert_many(numbers(1'000, 2'000)); }, ErrorCode::corrupt);
    EXPECT_LT(server().get(keys()[0]).size(), whole);
    expect_refused();
  }
}

TEST_P(CutStrings, AreNotAbsentInALookUp) {
  for (const Layout layout : {Layout::blocked, Layout::standard})
    for (const std::size_t count : {1, 100, 200}) {
      SCOPED_TRACE(std::string(to_string(layout)) + " " + std::to_string(count));
      make(layout);
      cut_before(reads_bits);
      error_of([&] { (void)client_->may_contain_many(std::span(items_).first(count)); },
               ErrorCode::corrupt);
      if (count == 1) {
        EXPECT_EQ(client_->acknowledged(), 0U);
      }
      expect_refused();
    }
}

// The keys are there before. None is acknowledged as new, not even beside an error.
TEST_P(CutStrings, AreNotNewInAnInsert) {
  for (const Layout layout : {Layout::blocked, Layout::standard})
    for (const std::size_t count : {1, 4, 5, 200}) {
      SCOPED_TRACE(std::string(to_string(layout)) + " " + std::to_string(count));
      make(layout);
      cut_before([](const auto& words) { return words[0] == "BITFIELD" || words[0] == "EVAL"; });
      std::array<bool, 200> is_new{};
      error_of(
          [&] { client_->insert_many(std::span(items_).first(count), std::span<bool>(is_new)); },
          ErrorCode::corrupt);
      EXPECT_EQ(std::ranges::count(is_new, true), 0);
      expect_refused();
    }
}

// Who finds a string cut builds it again, of the same length, while a batch of look-ups is on its way.
TEST_P(CutStrings, ThatAreReplacedAreNotAbsentInALookUp) {
  for (const Layout layout : {Layout::blocked, Layout::standard})
    for (const std::size_t count : {1, 5, 100, 200}) {
      SCOPED_TRACE(std::string(to_string(layout)) + " " + std::to_string(count));
      make(layout);
      auto next = RedisFilter::create(place("next"), {layout, 2'048, 6, 300, 0.05});
      next.insert_many(items_);
      bool replaced = false;
      cut_before(reads_bits, [&](const Scripted::Words& words) {
        if (words[0] != (in_shards() ? "GETRANGE" : "STRLEN")) return;
        replaced = true;
        server().ask({"SET", words[1], server().get(next.keys()[words[1] == keys()[0] ? 0 : 1])});
      });
      try {
        EXPECT_EQ(client_->may_contain_many(std::span(items_).first(count)), count);
      } catch (const Error& error) {
        EXPECT_TRUE(error.code() == ErrorCode::mismatch || error.code() == ErrorCode::corrupt)
            << error.what();
      }
      EXPECT_TRUE(is_cut_);
      // By blocks the length is asked before the first of them is read: there the string stays cut.
      EXPECT_TRUE(replaced || (layout == Layout::blocked && count >= 100));
    }
}

}  // namespace
}  // namespace bloomery::test
