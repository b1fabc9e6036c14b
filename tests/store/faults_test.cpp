// Each system call of a working life fails once, or it and all after it do.
#include "format/layout.hpp"
#include "store/kinds.hpp"
#include "store/session_script.hpp"
#include "support/effort.hpp"
#include "support/expect_error.hpp"

#include <tuple>

namespace bloomery::test {
namespace {

// A fault: an errno, or 0 for reads and writes that do only half.
class FailingCalls : public testing::TestWithParam<std::tuple<Durability, int>> {};

INSTANTIATE_TEST_SUITE_P(, FailingCalls,
                         testing::Combine(testing::ValuesIn(kDurabilities),
                                          testing::Values(EIO, ENOSPC, ENOMEM, EINTR, 0)),
                         [](const auto& param) {
                           const int error = std::get<1>(param.param);
                           return name_of(std::get<0>(param.param)) + "_" +
                                  (error == EIO      ? "EIO"
                                   : error == ENOSPC ? "ENOSPC"
                                   : error == ENOMEM ? "ENOMEM"
                                   : error == EINTR  ? "EINTR"
                                                     : "short");
                         });

// The file after the faults are gone. `power`: and the power, too.
void expect_promises(FakeOs& os, const Plan& plan, Durability durability, const Ledger& ledger,
                     bool power) {
  if (!is_to_check(os, ledger, plan, durability, power)) return;
  for (const Access access : {Access::read, Access::write}) {
    std::optional<FilterFile> file;
    try {
      file = Files(os).open(kPath, {.access = access, .durability = durability});
    } catch (const Error& error) {
      if (!ledger.created) continue;
      // Without a journal, what the device refused is gone, and the file says so.
      ASSERT_EQ(durability, Durability::process) << error.what();
      ASSERT_EQ(error.code(), ErrorCode::unclean) << error.what();
      continue;
    }
    ASSERT_EQ(file->view().plan(), plan);
    const std::size_t promised =
        durability == Durability::none ? ledger.safe : ledger.acknowledged.size();
    ASSERT_EQ(lost(file->view(), ledger, promised), 0U) << (power ? "after a power loss" : "");
    ASSERT_TRUE(nothing_else(file->view(), ledger));
  }
  if (!ledger.created) return;
  const VerifyReport report = Files(os).verify(kPath);
  ASSERT_TRUE(report.ok() || durability == Durability::process) << report.detail;
}

TEST_P(FailingCalls, LoseNothingThatWasAcknowledged) {
  const auto [durability, error] = GetParam();
  const Plan plan = plan_of(Layout::blocked, 512 * 150);
  const std::uint64_t journal_at = detail::FileLayout(plan).journal_at;
  FakeOs sane;
  const std::size_t all = play(sane, plan, durability).acknowledged.size();
  ASSERT_EQ(sane.open_files(), 0U);
  ASSERT_EQ(sane.mappings(), 0U);
  std::size_t failed = 0;
  for (const bool always : {false, true}) {
    if (always && error == EINTR) continue;  // no system interrupts every call
    for (std::uint64_t call = 1; call <= sane.calls(); call += step_of_calls()) {
      SCOPED_TRACE((always ? "from call on " : "once at call ") + std::to_string(call));
      FakeOs os;
      os.inject({.at = call, .always = always, .error = error});
      const Ledger ledger = play(os, plan, durability);
      os.inject({});
      ASSERT_EQ(os.open_files(), 0U);
      ASSERT_EQ(os.mappings(), 0U);
      if (error == EINTR || error == 0) {
        ASSERT_EQ(ledger.acknowledged.size(), all) << "interrupted and short calls go on";
      }
      failed += ledger.acknowledged.size() != all;
      expect_promises(*os.after_kill(), plan, durability, ledger, false);
      ASSERT_FALSE(HasFatalFailure());
      for (unsigned seed = 0; seed < 3; ++seed) {
        expect_promises(*os.after_power_loss(seed, journal_at), plan, durability, ledger, true);
        ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
      }
    }
  }
  if (error == EIO) {
    EXPECT_GT(failed, sane.calls() / step_of_calls());
  }
}

// A fault, and then the power fails, at any call after it.
class FailingThenStopped : public testing::TestWithParam<Durability> {
 protected:
  // Plays with a fault at `call`, stopped before the call `stop`. False: it never came to that.
  bool play_and_stop(std::uint64_t call, std::uint64_t stop, int error) {
    SCOPED_TRACE("fault at call " + std::to_string(call) + ", stop before " + std::to_string(stop));
    FakeOs os;
    os.inject({.at = call, .error = error});
    os.stop_before(stop);
    const Ledger ledger = play(os, plan_, GetParam());
    for (unsigned seed = 0; seed < 3 && os.stopped(); ++seed)
      expect_promises(*os.after_power_loss(seed, journal_at_), plan_, GetParam(), ledger, true);
    return os.stopped();
  }
  const Plan plan_ = plan_of(Layout::blocked, 512 * 150);
  const std::uint64_t journal_at_ = detail::FileLayout(plan_).journal_at;
};
INSTANTIATE_TEST_SUITE_P(, FailingThenStopped, testing::ValuesIn(kDurabilities), kNameOfOne);

// Every pair of calls in the nightly tier; else each call fails, and of the pairs a part is
// tried that differs from call to call.
TEST_P(FailingThenStopped, LosesNothingThatWasAcknowledged) {
  const std::uint64_t stride = nightly() ? 1 : hurried() ? 97 : 11;
  FakeOs sane;
  play(sane, plan_, GetParam());
  for (std::uint64_t call = 1; call <= sane.calls(); ++call) {
    const int error = call % 2 == 0 ? EIO : ENOSPC;
    for (std::uint64_t stop = call + 1 + call * 7 % stride;; stop += stride) {
      if (!play_and_stop(call, stop, error)) break;
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

TEST_P(FailingThenStopped, LosesNothingWhereASyncOfTheJournalFailed) {
  FakeOs sane;
  play(sane, plan_, GetParam());
  if (GetParam() == Durability::sync) {
    EXPECT_GT(sane.syncs_of_written().size(), 30U);
  }
  const std::uint64_t stride = nightly() ? 1 : hurried() ? 17 : 5;
  for (const std::uint64_t call : sane.syncs_of_written())
    for (std::uint64_t stop = call + 1; play_and_stop(call, stop, EIO); stop += stride)
      ASSERT_FALSE(HasFatalFailure());
}

// What `process` promises holds only in the boot that the header names, so a header without it would lose every key.
TEST(TooManyOpenFiles, LoseNothingThatAProcessWriterAcknowledged) {
  constexpr OpenOptions kWrite{.access = Access::write, .durability = Durability::process};
  const auto create = [](FakeOs& os, const KindCase& kind) {
    return Files(os).create(kPath, kind.plan, {.durability = Durability::process});
  };
  for (const KindCase& kind : all_kind_cases()) {
    FakeOs sane;
    auto sane_file = create(sane, kind);
    const std::uint64_t first = sane.calls() + 1;
    sane_file.insert(1);
    for (std::uint64_t call = first; call <= sane.calls(); ++call) {
      SCOPED_TRACE(name_of(kind) + ", call " + std::to_string(call));
      FakeOs os;
      auto file = create(os, kind);
      os.inject({.at = call, .error = call % 2 == 0 ? EMFILE : ENFILE});
      std::optional<ErrorCode> refused;
      try {
        file.insert(1);
      } catch (const Error& error) {
        refused = error.code();
      }
      const auto after = os.after_kill();
      const bool found = Files(*after).open(kPath, kWrite).may_contain(1);
      EXPECT_TRUE(found || refused.has_value());
    }
    const auto killed = sane.after_kill();
    (void)Files(*killed).open(kPath);
    const std::uint64_t all = killed->calls();
    for (std::uint64_t call = 1; call <= all; ++call) {
      SCOPED_TRACE(name_of(kind) + ", a reader's call " + std::to_string(call));
      const auto os = sane.after_kill();
      os->inject({.at = call, .error = EMFILE});
      try {
        EXPECT_TRUE(Files(*os).open(kPath).may_contain(1));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::io) << error.what();
      }
    }
  }
}

// The calls by which a writer sees that its file is still its own.
constexpr std::uint64_t kLooks = 4;

TEST(AfterAFailure, CreateLeavesNothingAtThePath) {
  const Plan plan = plan_of(Layout::blocked);
  for (const Durability durability : kDurabilities) {
    FakeOs sane;
    (void)Files(sane).create(kPath, plan, {.durability = durability});
    std::size_t failed = 0;
    for (std::uint64_t call = 1; call <= sane.calls(); ++call) {
      SCOPED_TRACE(name_of(durability) + ", call " + std::to_string(call));
      FakeOs os;
      os.inject({.at = call, .error = ENOMEM});
      try {
        (void)Files(os).create(kPath, plan, {.durability = durability});
      } catch (const Error&) {
        ++failed;
        Os::Stat there;
        EXPECT_EQ(os.stat_path(kPath, there), -ENOENT);
      }
    }
    EXPECT_GT(failed, 0U);
  }
}

TEST(AfterAFailure, CreateLeavesWhatItWasToReplace) {
  const Plan plan = plan_of(Layout::blocked);
  for (const Durability durability : kDurabilities) {
    std::uint64_t calls = 0;
    const auto replace = [&](FakeOs& os) {
      auto file = Files(os).create(kPath, plan, {.durability = durability, .replace = true});
      calls = os.calls();
    };
    FakeOs before;
    Files(before).create(kPath, plan).insert(1);
    const auto sane = before.after_kill();
    replace(*sane);
    const std::uint64_t all = calls;
    std::size_t failed = 0, replaced = 0;
    for (std::uint64_t call = 1; call <= all; ++call) {
      SCOPED_TRACE(name_of(durability) + ", call " + std::to_string(call));
      const auto os = before.after_kill();
      os->inject({.at = call, .error = ENOSPC});
      try {
        replace(*os);
      } catch (const Error&) {
        ++failed;
        const auto after = os->after_kill();
        replaced += !Files(*after).open(kPath).may_contain(1);
      }
    }
    EXPECT_GT(failed, 15U);
    EXPECT_EQ(replaced, 1U) << "only where the device refused to make the new name last";
  }
}

TEST(AfterAFailure, CreateReplacesNothingWhereItsJournalHasNoRoom) {
  FakeOs os;
  const Plan plan = plan_of(Layout::blocked, 512 * 150);
  Files(os).create(kPath, plan, {.durability = Durability::process}).insert(1);
  os.set_capacity(20'000);  // enough for the filter, not for a journal
  EXPECT_EQ(code_of([&] { Files(os).create(kPath, plan, {.replace = true}); }),
            ErrorCode::no_space);
  EXPECT_EQ(os.names(), 1U);
  EXPECT_TRUE(Files(os).open(kPath).may_contain(1));
}

TEST(AfterAFailure, SyncThatFailsPoisonsTheHandle) {
  for (const Durability durability : {Durability::process, Durability::sync}) {
    FakeOs os;
    const Plan plan = plan_of(Layout::blocked);
    auto file = Files(os).create(kPath, plan, {.durability = durability});
    file.insert(1);
    file.sync();
    // The next call that writes; a writer without a journal looks at its file before, and asks for the boot.
    const std::uint64_t looks = durability == Durability::process ? kLooks + 1 : 0;
    os.inject({.at = os.calls() + looks + 1, .always = true, .error = EIO});
    EXPECT_EQ(code_of([&] {
                file.insert(2);
                file.sync();
              }),
              ErrorCode::io);
    os.inject({});
    EXPECT_EQ(code_of([&] { file.insert(3); }), ErrorCode::poisoned);
    EXPECT_EQ(code_of([&] { file.sync(); }), ErrorCode::poisoned);
    EXPECT_EQ(code_of([&] { file.merge(file.view()); }), ErrorCode::poisoned);
    EXPECT_EQ(code_of([&] { file.close(); }), ErrorCode::poisoned);
    file.close();  // it has let go
    auto again = Files(os).open(kPath, {.access = Access::write, .durability = durability});
    EXPECT_TRUE(again.may_contain(1));
  }
}

// Its end would otherwise say that keys are on the device which no call has brought there.
TEST(AfterAFailure, ALoadDoesNotEndAsIfItWereDone) {
  const FilterPlan plans[] = {plan_of(Layout::blocked),
                              CountingPlan{plan_of(Layout::blocked128, 512 * 20)}};
  for (const FilterPlan& plan : plans) {
    FakeOs os;
    auto file = Files(os).create(kPath, plan, {.durability = Durability::sync});
    file.insert(1);
    ASSERT_TRUE(file.begin_load());
    os.inject({.at = os.calls() + 1, .always = true, .error = EIO});
    EXPECT_EQ(code_of([&] { file.insert_hashes(hashes_of(Hasher(), 2, 10)); }), ErrorCode::io);
    os.inject({});
    EXPECT_EQ(code_of([&] { file.end_load(); }), ErrorCode::poisoned);
    EXPECT_EQ(code_of([&] { file.insert(3); }), ErrorCode::poisoned);
    EXPECT_EQ(code_of([&] { file.close(); }), ErrorCode::poisoned);
    EXPECT_EQ(code_of([&] { file.end_load(); }), ErrorCode::poisoned) << "still";
    EXPECT_TRUE(Files(os).open(kPath).may_contain(1));
  }
}

// The system may show bits that the device refused until it needs the memory; nothing can
// vouch for them then.
TEST(AfterAFailure, BitsThatTheDeviceRefusedMakeTheFileUnclean) {
  FakeOs os;
  auto file =
      Files(os).create(kPath, plan_of(Layout::blocked), {.durability = Durability::process});
  file.insert(1);
  os.inject(
      {.at = os.calls() + kLooks + 2, .error = EIO});  // the sums are written, the bits are not
  EXPECT_EQ(code_of([&] { file.sync(); }), ErrorCode::io);
  for (const Access access : {Access::read, Access::write}) {
    if (access == Access::write) {
      EXPECT_EQ(code_of([&] { file.close(); }), ErrorCode::poisoned);
    }
    expect_error(ErrorCode::unclean, {"the device refused"},
                 [&] { Files(os).open(kPath, {.access = access}); });
  }
  EXPECT_EQ(Files(os).verify(kPath).state, VerifyReport::State::unclean);
  EXPECT_EQ(code_of([&] { Files(os).salvage(kPath, "/dir/out"); }), ErrorCode::unclean);
}

TEST(AfterAFailure, ImageIsWrittenAgainAfterAFailure) {
  FakeOs os;
  auto file = Files(os).create(kPath, plan_of(Layout::blocked), {.durability = Durability::none});
  file.insert(1);
  os.inject({.at = os.calls() + 4, .always = true, .error = ENOSPC});
  EXPECT_EQ(code_of([&] { file.sync(); }), ErrorCode::no_space);
  os.inject({});
  file.insert(2);
  file.close();
  const auto reader = Files(os).open(kPath);
  EXPECT_TRUE(reader.may_contain(1) && reader.may_contain(2));
}

TEST(AfterAFailure, CloseCanBeCalledAgain) {
  for (const Durability durability : kDurabilities) {
    SCOPED_TRACE(name_of(durability));
    FakeOs sane;
    std::uint64_t before = 0, after = 0;
    const auto work = [&](FakeOs& os, std::uint64_t fault, bool& failed) {
      auto file = Files(os).create(kPath, plan_of(Layout::blocked), {.durability = durability});
      for (std::uint64_t key = 0; key < 50; ++key) file.insert(key);
      before = os.calls();
      if (fault != 0) os.inject({.at = fault, .error = ENOSPC});
      try {
        file.close();
      } catch (const Error& error) {
        failed = true;
        os.inject({});
        // One call that is refused poisons only where it leaves the device in doubt.
        if (os.open_files() == 0) {
          EXPECT_NE(durability, Durability::none);
        } else {
          file.insert(std::uint64_t{50});
          file.close();
        }
      }
      after = os.calls();
      EXPECT_EQ(os.open_files(), 0U);
      os.inject({});
    };
    bool none = false;
    work(sane, 0, none);
    std::size_t failures = 0, again = 0;
    const std::uint64_t first = before + 1, last = after;
    for (std::uint64_t call = first; call <= last; ++call) {
      FakeOs os;
      bool failed = false;
      work(os, call, failed);
      failures += failed;
      try {
        const auto reader = Files(os).open(kPath);
        EXPECT_EQ(missing(reader.view(), 0, 50), 0U) << "call " << call;
        again += failed && reader.may_contain(50);
      } catch (const Error& error) {
        EXPECT_EQ(durability, Durability::process) << error.what();
        EXPECT_EQ(error.code(), ErrorCode::unclean) << error.what();
      }
    }
    EXPECT_GT(failures, 3U);
    EXPECT_GT(again, 0U);
    if (durability == Durability::none) {
      EXPECT_EQ(again, failures);
    }
  }
}

TEST(AfterAFailure, FullDeviceRefusesBeforeAnythingChanges) {
  FakeOs os;
  const Plan plan = plan_of(Layout::blocked, 512 * 150);
  os.set_capacity(10'000);
  EXPECT_EQ(code_of([&] { Files(os).create(kPath, plan); }), ErrorCode::no_space);
  EXPECT_EQ(os.names(), 0U);
  os.set_capacity(20'000);  // enough for the filter, not for a journal
  Files(os).create(kPath, plan, {.durability = Durability::process}).insert(1);
  EXPECT_EQ(code_of([&] { Files(os).open(kPath, {.access = Access::write}); }),
            ErrorCode::no_space);
  EXPECT_TRUE(Files(os).verify(kPath).ok());
  EXPECT_TRUE(Files(os).open(kPath).may_contain(1));
}

}  // namespace
}  // namespace bloomery::test
