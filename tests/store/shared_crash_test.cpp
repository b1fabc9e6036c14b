// Two processes share a plain filter on a machine in memory. One of them dies at each of its system calls, the
// machine stops at each, the power fails there, or the call fails: no key is lost that either had acknowledged.
#include "format/layout.hpp"
#include "store/fake_os.hpp"
#include "store/scratch.hpp"
#include "support/effort.hpp"

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace bloomery::test {
namespace {

constexpr int kProcesses = 2, kRounds = 2;
constexpr std::uint64_t kFirstKeyOfOther = 1'000'000;
// Of a writer that had the file alone before, and was killed with its keys in the journal.
constexpr std::uint64_t kFirstKeyBefore = 2'000'000, kKeysBefore = 30;

class SharedCrash : public testing::Test {
 protected:
  struct Process {
    std::optional<FilterFile> file;
    std::uint64_t next_key;
    std::vector<std::uint64_t> acknowledged{};
  };

  // What both are promised, and what both tried.
  struct Ledger {
    std::vector<std::uint64_t> acknowledged;
    std::array<std::uint64_t, kProcesses> next_keys;
  };

  [[nodiscard]] std::unique_ptr<FakeOs> machine() const {
    FakeOs os;
    auto file = Files(os).create(kFakePath, plan_);
    file.insert_hashes(hashes_of(file.hasher(), kFirstKeyBefore, kKeysBefore));
    return os.after_kill();
  }

  // They come and go in turn: each is once the first one in, once the last one out.
  Ledger play(FakeOs& os) const {
    Ledger ledger;
    for (std::uint64_t i = 0; i < kKeysBefore; ++i)
      ledger.acknowledged.push_back(kFirstKeyBefore + i);
    std::array<Process, kProcesses> all = {Process{{}, 0}, Process{{}, kFirstKeyOfOther}};
    const auto as = [&](int i, const auto& step) {
      os.run_as(i + 1);
      try {
        step(all[static_cast<std::size_t>(i)]);
      } catch (const Error&) {
        return false;
      }
      return !os.stopped() && !os.is_dead(i + 1);
    };
    const auto open = [&](int i) {
      as(i, [&](Process& one) { one.file = Files(os).open(kFakePath, kShared); });
    };
    const auto insert = [&](int i, std::uint64_t count) {
      as(i, [&](Process& one) {
        // Stores into the mapping are no calls: the dead make none.
        if (!one.file || os.stopped() || os.is_dead(i + 1)) return;
        const std::uint64_t first = std::exchange(one.next_key, one.next_key + count);
        one.file->insert_hashes(hashes_of(one.file->hasher(), first, count));
        for (std::uint64_t key = first; key < first + count; ++key) one.acknowledged.push_back(key);
      });
    };
    const auto sync = [&](int i) {
      as(i, [](Process& one) {
        if (one.file) one.file->sync();
      });
    };
    const auto close = [&](int i) {
      as(i, [](Process& one) {
        if (one.file) one.file->close();
      });
      as(i, [](Process& one) { one.file.reset(); });
    };
    for (int round = 0; round < kRounds; ++round) {
      const int first = round % kProcesses, second = 1 - first;
      open(first);
      insert(first, 40);
      open(second);
      insert(second, 20);
      insert(first, 100);
      sync(first);
      insert(second, 30);
      close(first);
      insert(second, 30);
      open(first);
      sync(second);
      insert(first, 10);
      close(second);
      insert(first, 10);
      close(first);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      os.run_as(static_cast<int>(i) + 1);
      all[i].file.reset();
      ledger.acknowledged.insert(ledger.acknowledged.end(), all[i].acknowledged.begin(),
                                 all[i].acknowledged.end());
      ledger.next_keys[i] = all[i].next_key;
    }
    os.run_as(kProcesses + 1);
    return ledger;
  }

  static std::size_t lost(const FilterView& view, const Ledger& ledger) {
    std::size_t absent = 0;
    for (const std::uint64_t key : ledger.acknowledged) absent += !view.may_contain(key);
    return absent;
  }
  bool nothing_else(const FilterView& view, const Ledger& ledger) const {
    Filter all(plan_);
    for (std::uint64_t key = 0; key < ledger.next_keys[0]; ++key) all.insert(key);
    for (std::uint64_t key = kFirstKeyOfOther; key < ledger.next_keys[1]; ++key) all.insert(key);
    for (std::uint64_t i = 0; i < kKeysBefore; ++i) all.insert(kFirstKeyBefore + i);
    all.insert(kLateKey);
    for (std::size_t i = 0; i < view.bytes().size(); ++i)
      if ((view.bytes()[i] & ~all.bytes()[i]) != std::byte{0}) return false;
    return true;
  }

  // For a reader, for a next one who shares it, and for a writer who has it alone. `unclean`: it may be refused
  // instead of opened.
  void expect_promises(FakeOs& os, const Ledger& ledger, bool unclean) {
    // A header that says `clean` says it of the bits and of their sums.
    const VerifyReport left = Files(os).verify(kFakePath);
    ASSERT_TRUE(left.damaged_chunks.empty()) << left.detail;
    ASSERT_EQ(left.detail.find("the sums of the bits are damaged"), std::string::npos);
    constexpr OpenOptions kWays[] = {{.access = Access::read},
                                     kShared,
                                     {.access = Access::write, .durability = Durability::process}};
    for (const OpenOptions& way : kWays) {
      std::optional<FilterFile> file;
      try {
        file = Files(os).open(kFakePath, way);
      } catch (const Error& error) {
        ASSERT_TRUE(unclean) << error.what();
        ASSERT_EQ(error.code(), ErrorCode::unclean) << error.what();
        ++refused_;
        continue;
      }
      ++opened_;
      ASSERT_EQ(lost(file->view(), ledger), 0U);
      ASSERT_TRUE(nothing_else(file->view(), ledger));
      if (way.access == Access::read) continue;
      file->insert(kLateKey);
      file->close();
      const VerifyReport report = Files(os).verify(kFakePath);
      ASSERT_EQ(report.state, VerifyReport::State::clean) << report.detail;
      ASSERT_TRUE(report.ok()) << report.detail;
      ASSERT_EQ(lost(Files(os).open(kFakePath).view(), ledger), 0U);
    }
  }

  static constexpr OpenOptions kShared{
      .access = Access::write, .durability = Durability::process, .shared = true};
  static constexpr std::uint64_t kLateKey = std::uint64_t{1} << 40;
  const Plan plan_ = plan_of(Layout::blocked, 512 * 150);
  const std::uint64_t journal_at_ = detail::FileLayout(plan_).journal_at;
  std::uint64_t opened_ = 0, refused_ = 0;
};

TEST_F(SharedCrash, LeavesACleanFileWhereNothingFails) {
  const auto os = machine();
  const Ledger ledger = play(*os);
  EXPECT_EQ(ledger.acknowledged.size(), kKeysBefore + 240 * kRounds);
  EXPECT_EQ(Files(*os).verify(kFakePath).state, VerifyReport::State::clean);
  EXPECT_EQ(os->open_files(), 0U);
  EXPECT_EQ(os->mappings(), 0U);
  expect_promises(*os, ledger, false);
}

TEST_F(SharedCrash, OfOneLosesNothingAndTheOtherGoesOn) {
  for (std::uint64_t call = 1;; call += hurried() ? 3 : 1) {
    SCOPED_TRACE("call " + std::to_string(call));
    const auto os = machine();
    os->kill_before(call);
    const Ledger ledger = play(*os);
    if (!os->is_dead(1) && !os->is_dead(2)) break;
    expect_promises(*os, ledger, false);
    ASSERT_FALSE(HasFatalFailure());
  }
  EXPECT_GT(opened_, hurried() ? 100U : 300U);
}

TEST_F(SharedCrash, OfBothLosesNothing) {
  for (std::uint64_t call = 1;; ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    const auto os = machine();
    os->stop_before(call);
    const Ledger ledger = play(*os);
    if (!os->stopped()) break;
    expect_promises(*os->after_kill(), ledger, false);
    ASSERT_FALSE(HasFatalFailure());
  }
  EXPECT_GT(opened_, 300U);
}

TEST_F(SharedCrash, OfTheMachineLosesNothingInSilence) {
  for (std::uint64_t call = 1;; ++call) {
    const auto os = machine();
    os->stop_before(call);
    const Ledger ledger = play(*os);
    if (!os->stopped()) break;
    for (unsigned seed = 0; seed < 30; ++seed) {
      SCOPED_TRACE("call " + std::to_string(call) + ", seed " + std::to_string(seed));
      expect_promises(*os->after_power_loss(seed, journal_at_), ledger, true);
      ASSERT_FALSE(HasFatalFailure());
    }
  }
  EXPECT_GT(opened_, 100U) << "where the last one out had left it clean";
  EXPECT_GT(refused_, 1000U);
}

// An earlier crash has damaged one of the two headers: the other one stays until there is a new one.
TEST_F(SharedCrash, TheOnlyHeaderIsNotTheFirstToBeOverwritten) {
  for (const std::uint64_t damaged : {0U, 1U})
    for (std::uint64_t call = 1;; ++call) {
      FakeOs os;
      auto file = Files(os).create(kFakePath, plan_);
      file.insert(1);
      file.close();
      auto bytes = os.contents(kFakePath);
      bytes[damaged * detail::kHeaderBytes + 100] ^= std::byte{1};
      os.put(kFakePath, bytes);
      os.stop_before(os.calls() + call);
      try {
        Files(os).open(kFakePath, kShared);
      } catch (const Error&) {
        EXPECT_TRUE(os.stopped());
      }
      if (!os.stopped()) break;
      for (unsigned seed = 0; seed < 30; ++seed) {
        const auto after = os.after_power_loss(seed, journal_at_);
        try {
          EXPECT_TRUE(Files(*after).open(kFakePath).may_contain(1));
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::unclean)
              << "header " << damaged << ", call " << call << ": " << error.what();
        }
      }
    }
}

TEST_F(SharedCrash, FailingCallsLoseNothingInSilence) {
  const auto sane = machine();
  const std::size_t all = play(*sane).acknowledged.size();
  for (const int error : {EIO, ENOSPC, ENOMEM, EINTR, 0})
    for (const bool always : {false, true}) {
      if (always && error == EINTR) continue;  // no system interrupts every call
      for (std::uint64_t call = 1; call <= sane->calls(); ++call) {
        SCOPED_TRACE("errno " + std::to_string(error) + (always ? " from call " : " at call ") +
                     std::to_string(call));
        const auto os = machine();
        os->inject({.at = call, .always = always, .error = error});
        const Ledger ledger = play(*os);
        os->inject({});
        ASSERT_EQ(os->open_files(), 0U);
        ASSERT_EQ(os->mappings(), 0U);
        if (error == EINTR || error == 0) {
          ASSERT_EQ(ledger.acknowledged.size(), all) << "interrupted and short calls go on";
        }
        // What the device refused is gone at the next loss of power, and the file says so.
        expect_promises(*os->after_kill(), ledger, true);
        ASSERT_FALSE(HasFatalFailure());
        for (unsigned seed = 0; seed < 3; ++seed) {
          expect_promises(*os->after_power_loss(seed, journal_at_), ledger, true);
          ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
        }
      }
    }
}

// Linux forgets what a device refused: the next sync of anybody would succeed.
TEST_F(SharedCrash, WhatTheDeviceRefusedToOneEndsTheWorkOfAll) {
  const auto os = machine();
  auto one = Files(*os).open(kFakePath, kShared), two = Files(*os).open(kFakePath, kShared);
  one.insert(1);
  // Its first call is for the gate.
  os->inject({.at = os->calls() + 2, .error = EIO});
  EXPECT_EQ(code_of([&] { one.sync(); }), ErrorCode::io);
  os->inject({});
  EXPECT_EQ(code_of([&] { one.insert(2); }), ErrorCode::poisoned);
  EXPECT_EQ(code_of([&] { two.sync(); }), ErrorCode::poisoned);
  EXPECT_EQ(code_of([&] { two.insert(2); }), ErrorCode::poisoned);
  EXPECT_EQ(code_of([&] { one.close(); }), ErrorCode::poisoned);
  EXPECT_EQ(code_of([&] { two.close(); }), ErrorCode::poisoned);
  EXPECT_EQ(code_of([&] { Files(*os).open(kFakePath, kShared); }), ErrorCode::unclean);
}

// Who comes while the last one goes waits for the gate, or is let in.
TEST_F(SharedCrash, ComesAtEveryCallOfOneThatGoes) {
  std::size_t waited = 0, let_in = 0;
  for (std::uint64_t call = 1;; ++call) {
    SCOPED_TRACE("call " + std::to_string(call) + " of close");
    const auto os = machine();
    auto one = Files(*os).open(kFakePath, kShared);
    one.insert(1);
    std::optional<FilterFile> other;
    const std::uint64_t before = os->calls();
    os->interrupt_before(before + call, [&] {
      try {
        other = Files(*os).open(kFakePath, kShared);
        ++let_in;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::io) << "it would wait: " << error.what();
        ++waited;
      }
    });
    one.close();
    const bool came = os->calls() >= before + call;
    os->interrupt_before(0, {});
    if (!came) break;
    if (!other) continue;
    EXPECT_TRUE(other->may_contain(1));
    other->insert(2);
    other->close();
    const VerifyReport report = Files(*os).verify(kFakePath);
    EXPECT_TRUE(report.ok() && report.state == VerifyReport::State::clean) << report.detail;
    EXPECT_EQ(missing(Files(*os).open(kFakePath).view(), 1, 2), 0U);
  }
  EXPECT_GT(waited, 5U);
  EXPECT_GT(let_in, 1U);
}

}  // namespace
}  // namespace bloomery::test
