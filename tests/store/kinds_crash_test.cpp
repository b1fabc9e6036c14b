// Files of the kinds other than plain on a machine that stops, loses power, or refuses calls:
// what is left is the filter after a prefix of the operations, with every acknowledged one.
#include "format/layout.hpp"
#include "store/kinds_script.hpp"
#include "support/effort.hpp"

namespace bloomery::test {
namespace {

class KindCrash : public KindAndLevel {
 protected:
  // Opens what a crash left. `power`: it was a loss of power.
  void expect_promises(FakeOs& os, KindLedger& ledger, Access access, bool power) {
    std::optional<FilterFile> file;
    try {
      file = Files(os).open(kKindPath, {.access = access, .durability = durability()});
    } catch (const Error& error) {
      if (!ledger.created) return;
      ASSERT_TRUE(power && durability() == Durability::process) << error.what();
      ASSERT_EQ(error.code(), ErrorCode::unclean) << error.what();
      ++refused_;
      return;
    }
    ++opened_;
    const Image found = image_of(*file);
    ASSERT_TRUE(ledger.explains(found));
    if (access == Access::read) return;
    const Operations more = {{Operation::insert, 5'000'000}};
    perform(*file, more);
    const Image after = image_of(*file);
    file->close();
    const VerifyReport report = Files(os).verify(kKindPath);
    ASSERT_TRUE(report.ok() && report.state == VerifyReport::State::clean) << report.detail;
    ASSERT_EQ(image_of(Files(os).open(kKindPath)), after);
  }
  void expect_promises(FakeOs& os, KindLedger& ledger, bool power) {
    if (!is_to_check(os, ledger.promised() + kind().name + name_of(durability()) +
                             (power ? " power" : " kill")))
      return;
    if (ledger.created) {
      const VerifyReport report = Files(os).verify(kKindPath);
      ASSERT_TRUE(report.damaged_chunks.empty()) << report.detail;
      ASSERT_EQ(report.detail.find("the sums of the bits are damaged"), std::string::npos);
    }
    expect_promises(os, ledger, Access::read, power);
    if (HasFatalFailure()) return;
    expect_promises(os, ledger, Access::write, power);
  }
  // The quick tier tries a part of all calls, another one for each kind and durability.
  [[nodiscard]] std::uint64_t step(std::uint64_t quick) const {
    return nightly() ? 1 : quick * step_of_calls();
  }
  [[nodiscard]] std::uint64_t first(std::uint64_t quick) const {
    return 1 + (kind().plan.index() + static_cast<std::uint64_t>(durability())) % step(quick);
  }
  [[nodiscard]] Image undisturbed(FakeOs& os) const {
    const KindLedger ledger = play(os, kind(), durability());
    EXPECT_EQ(ledger.failed_calls, 0U);
    EXPECT_EQ(os.open_files(), 0U);
    EXPECT_EQ(os.mappings(), 0U);
    return ledger.certain().image();
  }
  std::uint64_t opened_ = 0, refused_ = 0;
};

INSTANTIATE_TEST_SUITE_P(, KindCrash, at_every_level(kind_cases()), kNameOfBoth);

TEST_P(KindCrash, KeepsItsPromisesAfterAKillAndAfterALossOfPower) {
  std::uint64_t last = 0;
  for (std::uint64_t call = 1;; call += step_of_calls()) {
    FakeOs os(kKindRoom);
    os.stop_before(call);
    KindLedger ledger = play(os, kind(), durability());
    if (!os.stopped()) break;
    last = call;
    expect_promises(*os.after_kill(), ledger, false);
    ASSERT_FALSE(HasFailure()) << "call " << call;
    for (unsigned seed = 0; seed < (nightly() ? 12U : 2U); ++seed) {
      expect_promises(*os.after_power_loss(seed, detail::kBitsAt), ledger, true);
      ASSERT_FALSE(HasFailure()) << "call " << call << " seed " << seed;
    }
  }
  EXPECT_GT(last, 100U);
  EXPECT_GT(opened_, 100U / step_of_calls());
  if (durability() == Durability::process) {
    EXPECT_GT(refused_, 100U / step_of_calls());
  }
}

// Recovery is stopped too, at every call, and recovered from.
TEST_P(KindCrash, RecoversFromAStoppedRecovery) {
  for (std::uint64_t call = 20;; call += nightly() ? 3 : 29 * step_of_calls()) {
    FakeOs os(kKindRoom);
    os.stop_before(call);
    const KindLedger ledger = play(os, kind(), durability());
    if (!os.stopped()) break;
    for (std::uint64_t second = 1;; ++second) {
      const auto seed = static_cast<unsigned>(call);
      const auto once =
          second % 2 == 0 ? os.after_kill() : os.after_power_loss(seed, detail::kBitsAt);
      once->stop_before(second);
      KindLedger ours = ledger.copy();
      try {
        auto file =
            Files(*once).open(kKindPath, {.access = Access::write, .durability = durability()});
        if (!once->stopped()) {
          ASSERT_TRUE(ours.open_with(image_of(file), durability()));
        }
        const Operations more = {{Operation::insert, 1}};
        try {
          perform(file, more);
        } catch (const Error&) {
        }
        ours.note_interrupted(more);
      } catch (const Error&) {
      }
      if (!once->stopped()) break;
      expect_promises(*once->after_power_loss(seed + 1, detail::kBitsAt), ours, true);
      ASSERT_FALSE(HasFailure()) << "calls " << call << ", " << second;
    }
  }
  EXPECT_GT(opened_ + refused_, 0U);
}

// Each call fails once, or it and all after it do.
TEST_P(KindCrash, LosesNothingWhenCallsFail) {
  FakeOs sane(kKindRoom);
  const Image whole = undisturbed(sane);
  constexpr int kErrors[] = {EIO, ENOSPC, ENOMEM};
  std::uint64_t failed = 0;
  for (std::uint64_t call = first(2); call <= sane.calls(); call += step(2)) {
    for (const bool always : {false, true}) {
      if (always && call % 3 != 0 && !nightly()) continue;
      SCOPED_TRACE((always ? "from call on " : "once at call ") + std::to_string(call));
      FakeOs os(kKindRoom);
      os.inject({.at = call, .always = always, .error = kErrors[call % 3]});
      KindLedger ledger = play(os, kind(), durability());
      os.inject({});
      ASSERT_EQ(os.open_files(), 0U);
      ASSERT_EQ(os.mappings(), 0U);
      failed += ledger.certain().image() != whole;
      KindLedger model = ledger.copy();
      expect_promises(*os.after_kill(), model, false);
      ASSERT_FALSE(HasFailure());
      for (unsigned seed = 0; seed < (nightly() ? 6U : 1U); ++seed) {
        model = ledger.copy();
        expect_promises(*os.after_power_loss(seed, detail::kBitsAt), model, true);
        ASSERT_FALSE(HasFailure()) << "seed " << seed;
      }
    }
  }
  EXPECT_GT(failed, 20U / step_of_calls());
}

TEST_P(KindCrash, GoesOnWhereCallsAreInterruptedOrShort) {
  FakeOs sane(kKindRoom);
  const Image whole = undisturbed(sane);
  for (const int error : {EINTR, 0}) {
    for (std::uint64_t call = first(5); call <= sane.calls(); call += step(5)) {
      FakeOs os(kKindRoom);
      os.inject({.at = call, .error = error});
      ASSERT_EQ(play(os, kind(), durability()).certain().image(), whole) << "call " << call;
    }
  }
  FakeOs os(kKindRoom);
  os.inject({.at = 1, .always = true, .error = 0});
  ASSERT_EQ(play(os, kind(), durability()).certain().image(), whole);
}

// A fault, and then the power fails, at any call after it.
TEST_P(KindCrash, LosesNothingWhenACallFailsAndThenThePower) {
  FakeOs sane(kKindRoom);
  (void)undisturbed(sane);
  const std::uint64_t stride = nightly() ? 3 : 53;
  for (std::uint64_t call = first(5); call <= sane.calls(); call += step(5)) {
    for (std::uint64_t stop = call + 1 + call * 7 % stride;; stop += stride) {
      FakeOs os(kKindRoom);
      os.inject({.at = call, .error = call % 2 == 0 ? EIO : ENOSPC});
      os.stop_before(stop);
      KindLedger ledger = play(os, kind(), durability());
      if (!os.stopped()) break;
      expect_promises(*os.after_power_loss(static_cast<unsigned>(call % 4), detail::kBitsAt),
                      ledger, true);
      ASSERT_FALSE(HasFailure()) << "fault at call " << call << ", stop before " << stop;
    }
  }
}

// sync() promises what process did not: the header says so only once the journal is on the device.
TEST_P(KindCrash, IsWholeOrRefusedWhenThePowerGoesDuringASync) {
  if (durability() != Durability::process) return;
  RandomOperations random(kind(), 3, 200);
  const Operations operations = random(100);
  KindModel model(kind().plan);
  model.apply(operations);
  FakeOs before(kKindRoom);
  auto file = Files(before).create(kKindPath, kind().plan, {.durability = durability()});
  perform(file, operations);
  const std::uint64_t calls = before.calls();
  file.sync();
  const std::uint64_t last = before.calls();
  ASSERT_GT(last, calls + 1);
  for (std::uint64_t call = calls + 1; call <= last + 1; ++call) {
    for (unsigned seed = 0; seed < 40; ++seed) {
      FakeOs os(kKindRoom);
      auto same = Files(os).create(kKindPath, kind().plan, {.durability = durability()});
      perform(same, operations);
      os.stop_before(call);
      EXPECT_EQ(code_of([&] {
                  same.sync();
                  same.insert(1);
                }),
                ErrorCode::io);
      try {
        const auto power = os.after_power_loss(seed, detail::kBitsAt);
        ASSERT_EQ(image_of(Files(*power).open(kKindPath)), model.image())
            << "call " << call << " seed " << seed;
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::unclean) << error.what();
      }
    }
  }
}

// The writer that merges is of another boot than the one that closed the file: what comes after is
// whole to those of its own.
TEST(KindCrashAfterAnotherBoot, WhatIsMergedIsOfTheBootThatMergedIt) {
  const FilterPlan plan = CountingPlan{{Layout::blocked128, 512 * 5, 4, 300, 0.01}};
  FakeOs first(kKindRoom);
  Files(first)
      .create(kKindPath, plan, {.durability = Durability::process})
      .insert(std::uint64_t{1});
  const auto second = first.after_power_loss(1, detail::kBitsAt);
  auto file =
      Files(*second).open(kKindPath, {.access = Access::write, .durability = Durability::process});
  file.merge(what_a_merge_adds(file.counting()));
  const Image image = image_of(file);
  const auto killed = second->after_kill();
  EXPECT_EQ(image_of(Files(*killed).open(kKindPath)), image);
}

}  // namespace
}  // namespace bloomery::test
