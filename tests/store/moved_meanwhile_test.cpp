// A writer whose path gets another file before any one of the calls of its close, on a disk in memory.
#include "store/fake_os.hpp"
#include "store/kinds.hpp"
#include "support/expect_error.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <variant>

namespace bloomery::test {
namespace {

class MovedMeanwhile : public KindAndLevel {
 protected:
  static constexpr const char* kPath = "/dir/f";
  static constexpr const char* kMoved = "/dir/old";
  static constexpr std::uint64_t kOthersKey = 1'000'000;

  [[nodiscard]] bool stores_in_place() const {
    return std::holds_alternative<Plan>(kind().plan) && durability() != Durability::none;
  }
  [[nodiscard]] std::vector<std::byte> others_file() const {
    FakeOs os(96 * 1024);
    auto file = Files(os).create(kPath, kind().plan);
    file.insert(kOthersKey);
    file.close();
    return os.contents(kPath);
  }
  // Closes a writer whose file `change` changes before call number 1, 2, 3 and so on. check(os, error): why it was not
  // closed, if so.
  template <class Change, class Check>
  void before_every_call(bool rebuilds, Change change, Check check) const;
  [[nodiscard]] static bool has(FakeOs& os, const char* path, std::uint64_t key) {
    return Files(os).open(path).may_contain(key);
  }
};
INSTANTIATE_TEST_SUITE_P(, MovedMeanwhile, at_every_level(all_kind_cases()), kNameOfBoth);

template <class Change, class Check>
void MovedMeanwhile::before_every_call(bool rebuilds, Change change, Check check) const {
  bool reached = true;
  for (std::uint64_t call = 1; reached; ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    FakeOs os(96 * 1024);
    auto file = Files(os).create(kPath, kind().plan, {.durability = durability()});
    file.insert(std::uint64_t{1});
    if (rebuilds) {
      file.close();
      file = Files(os).rebuild(kPath, kind().plan);
      file.insert(std::uint64_t{1});
    }
    reached = false;
    os.interrupt_before(os.calls() + call, [&] {
      reached = true;
      change(os);
    });
    std::optional<ErrorCode> error;
    try {
      file.close();
    } catch (const Error& thrown) {
      error = thrown.code();
    }
    os.interrupt_before(0, {});
    if (reached) check(os, error);
  }
}

TEST_P(MovedMeanwhile, IsNeverReplaced) {
  const auto other = others_file();
  const auto change = [&](FakeOs& os) {
    os.move(kPath, kMoved);
    os.put(kPath, other);
  };
  for (const bool rebuilds : {false, true})
    before_every_call(rebuilds, change, [&](FakeOs& os, std::optional<ErrorCode> error) {
      ASSERT_TRUE(!error || (rebuilds && error == ErrorCode::exists));
      EXPECT_TRUE(has(os, kPath, kOthersKey));
      EXPECT_TRUE(has(os, kMoved, 1));
      EXPECT_TRUE(error || os.names() == 2U) << os.names();
      // If the device had only the first of two exchanges, the path would have the writer's file.
      for (unsigned seed = 2; seed < 10; ++seed)
        EXPECT_TRUE(has(*os.after_power_loss(seed, 0), kPath, kOthersKey)) << "seed " << seed;
    });
}

// Writers that store in place are left out: they look at the header before they store, and cannot do both at once.
TEST_P(MovedMeanwhile, IsNeverReplacedWhenItIsCopiedOver) {
  if (stores_in_place()) return;
  const auto other = others_file();
  before_every_call(
      false, [&](FakeOs& os) { os.copy_over(kPath, other); },
      [&](FakeOs& os, std::optional<ErrorCode> error) {
        EXPECT_TRUE(!error || error == ErrorCode::missing);
        EXPECT_TRUE(has(os, kPath, kOthersKey));
      });
}

// The names were exchanged, and cannot be exchanged back: what the path has is not what the writer knows, so it ends.
TEST_P(MovedMeanwhile, EndsTheWriterIfItCannotBeGivenBack) {
  const auto other = others_file();
  int failed = 0;
  for (std::uint64_t call = 1, last = 1; call <= last; ++call)
    for (std::uint64_t later = 1; later <= 4; ++later) {
      FakeOs os(96 * 1024);
      auto file = Files(os).create(kPath, kind().plan, {.durability = durability()});
      file.insert(std::uint64_t{1});
      const std::uint64_t before = os.calls();
      os.interrupt_before(before + call, [&] {
        os.move(kPath, kMoved);
        os.put(kPath, other);
      });
      os.inject({.at = before + call + later, .error = EIO});
      try {
        file.close();
        last = std::max(last, os.calls() - before);
      } catch (const Error& error) {
        last = std::max(last, os.calls() - before);
        if (std::string(error.what()).find("give back") == std::string::npos) continue;
        ++failed;
        os.inject({});
        EXPECT_EQ(code_of([&] { file.insert(std::uint64_t{2}); }), ErrorCode::poisoned)
            << error.what();
      }
    }
  EXPECT_EQ(failed == 0, stores_in_place());
}

TEST_P(MovedMeanwhile, IsSeenWhereNamesCannotBeExchanged) {
  for (const bool rebuilds : {false, true}) {
    FakeOs os(96 * 1024);
    os.cannot_exchange();
    auto file = Files(os).create(kPath, kind().plan, {.durability = durability()});
    file.insert(std::uint64_t{1});
    file.close();
    file = rebuilds ? Files(os).rebuild(kPath, kind().plan)
                    : Files(os).open(kPath, {.access = Access::write, .durability = durability()});
    file.insert(std::uint64_t{2});
    os.move(kPath, kMoved);
    os.put(kPath, others_file());
    if (rebuilds)
      EXPECT_EQ(code_of([&] { file.close(); }), ErrorCode::exists);
    else
      file.close();
    EXPECT_TRUE(has(os, kPath, kOthersKey));
    EXPECT_TRUE(has(os, kMoved, rebuilds ? 1 : 2));
  }
}

// Something removes the new file after the names were exchanged: the file that had come before gets its path again.
TEST_P(MovedMeanwhile, IsGivenBackWhereNothingIsAtThePathAnyMore) {
  const auto other = others_file();
  int removed = 0;
  bool reached = true;
  for (std::uint64_t call = 1; reached; ++call)
    for (const std::uint64_t later : {1U, 2U}) {
      FakeOs os(96 * 1024);
      auto file = Files(os).create(kPath, kind().plan, {.durability = durability()});
      file.insert(std::uint64_t{1});
      const std::uint64_t at = os.calls() + call;
      reached = false;
      os.interrupt_before(at, [&] {
        reached = true;
        os.move(kPath, kMoved);
        os.put(kPath, other);
        os.interrupt_before(at + later, [&] {
          if (os.contents(kPath) == other) return;
          ++removed;
          os.unlink(kPath);
        });
      });
      EXPECT_NO_THROW(file.close());
      os.interrupt_before(0, {});
      if (!reached) continue;
      ASSERT_TRUE(has(os, kPath, kOthersKey)) << "call " << call;
      ASSERT_TRUE(has(os, kMoved, 1)) << "call " << call;
      EXPECT_EQ(os.names(), 2U);
    }
  EXPECT_EQ(removed == 0, stores_in_place());
}

}  // namespace
}  // namespace bloomery::test
