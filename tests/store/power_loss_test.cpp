// The machine stops at every system call of a working life; what was promised is still there.
#include "format/layout.hpp"
#include "store/session_script.hpp"
#include "support/effort.hpp"

#include <tuple>

namespace bloomery::test {
namespace {

constexpr unsigned kSeeds = 6;

class StoppedMachine : public testing::TestWithParam<std::tuple<Layout, Durability>> {
 protected:
  [[nodiscard]] Durability durability() const { return std::get<1>(GetParam()); }

  // Opens what a crash left as `access`. `power`: it was a loss of power.
  void expect_promises(FakeOs& os, const Ledger& ledger, Access access, bool power) {
    std::optional<FilterFile> file;
    try {
      file = Files(os).open(kPath, {.access = access, .durability = durability()});
    } catch (const Error& error) {
      if (!ledger.created) return;  // then the file may be there or not
      ASSERT_TRUE(power && durability() == Durability::process) << error.what();
      ASSERT_EQ(error.code(), ErrorCode::unclean) << error.what();
      ASSERT_NE(std::string(error.what()).find("the machine stopped"), std::string::npos)
          << error.what();
      ++refused_;
      return;
    }
    ++opened_;
    ASSERT_EQ(file->view().plan(), plan_);
    // What is only in the memory of a process dies with it; all else was acknowledged for good.
    const std::size_t promised =
        durability() == Durability::none ? ledger.safe : ledger.acknowledged.size();
    ASSERT_EQ(lost(file->view(), ledger, promised), 0U);
    ASSERT_TRUE(nothing_else(file->view(), ledger));
    if (access == Access::write) {
      const std::uint64_t inserted = file->inserted();
      file->insert(std::uint64_t{1} << 40);
      file->close();
      const VerifyReport report = Files(os).verify(kPath);
      ASSERT_TRUE(report.ok() && report.state == VerifyReport::State::clean) << report.detail;
      const auto again = Files(os).open(kPath);
      ASSERT_EQ(lost(again.view(), ledger, promised), 0U);
      ASSERT_TRUE(again.may_contain(std::uint64_t{1} << 40));
      ASSERT_LE(inserted, again.inserted());
    }
  }

  void expect_promises(FakeOs& os, const Ledger& ledger, bool power) {
    if (!is_to_check(os, ledger, plan_, durability(), power)) return;
    if (ledger.created) {
      // A header that says `clean` says it of the bits and of their sums.
      const VerifyReport report = Files(os).verify(kPath);
      ASSERT_TRUE(report.damaged_chunks.empty()) << report.detail;
      ASSERT_EQ(report.detail.find("the sums of the bits are damaged"), std::string::npos);
    }
    expect_promises(os, ledger, Access::read, power);
    if (HasFatalFailure()) return;
    expect_promises(os, ledger, Access::write, power);
  }

  const Plan plan_ = plan_of(std::get<0>(GetParam()), 512 * 150);
  const std::uint64_t journal_at_ = detail::FileLayout(plan_).journal_at;
  std::uint64_t opened_ = 0, refused_ = 0;
};

INSTANTIATE_TEST_SUITE_P(, StoppedMachine, at_every_level(kLayouts), kNameOfBoth);

TEST_P(StoppedMachine, KeepsItsPromisesAfterAKill) {
  std::uint64_t last = 0;
  for (std::uint64_t call = 1;; call += step_of_calls()) {
    FakeOs os;
    os.stop_before(call);
    const Ledger ledger = play(os, plan_, durability());
    if (!os.stopped()) break;
    last = call;
    expect_promises(*os.after_kill(), ledger, false);
    ASSERT_FALSE(HasFatalFailure()) << "call " << call;
  }
  EXPECT_GT(last, 100U);
}

TEST_P(StoppedMachine, KeepsItsPromisesAfterALossOfPower) {
  for (std::uint64_t call = 1;; call += step_of_calls()) {
    FakeOs os;
    os.stop_before(call);
    const Ledger ledger = play(os, plan_, durability());
    if (!os.stopped()) break;
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      expect_promises(*os.after_power_loss(seed, journal_at_), ledger, true);
      ASSERT_FALSE(HasFatalFailure()) << "call " << call << " seed " << seed;
    }
  }
  EXPECT_GT(opened_, 100U / step_of_calls());
  if (durability() == Durability::process) {
    EXPECT_GT(refused_, 100U / step_of_calls());
  }
}

// Recovery is stopped too, at every call, and recovered from.
TEST_P(StoppedMachine, RecoversFromAStoppedRecovery) {
  for (std::uint64_t call = 20;; call += 13 * step_of_calls()) {
    FakeOs os;
    os.stop_before(call);
    const Ledger ledger = play(os, plan_, durability());
    if (!os.stopped()) break;
    const unsigned seed = static_cast<unsigned>(call);
    for (std::uint64_t second = 1; second < 60; ++second) {
      const auto once = second % 2 == 0 ? os.after_kill() : os.after_power_loss(seed, journal_at_);
      once->stop_before(second);
      try {
        Files(*once)
            .open(kPath, {.access = Access::write, .durability = durability()})
            .insert(std::uint64_t{0});
      } catch (const Error&) {
      }
      if (!once->stopped()) break;
      const auto twice = once->after_power_loss(seed + 1, journal_at_);
      expect_promises(*twice, ledger, true);
      ASSERT_FALSE(HasFatalFailure()) << "calls " << call << ", " << second;
    }
  }
  EXPECT_GT(opened_ + refused_, 0U);
}

// At every level: its keys could not be given again.
TEST_P(StoppedMachine, HasWhatWasMerged) {
  FakeOs os;
  auto file = Files(os).create(kPath, plan_, {.durability = durability()});
  file.insert(std::uint64_t{1});
  file.merge(merged_filter(plan_));
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const auto after = os.after_power_loss(seed, journal_at_);
    const auto reader = Files(*after).open(kPath);
    EXPECT_TRUE(reader.may_contain(std::uint64_t{1}));
    EXPECT_EQ(missing(reader.view(), kMergedKeys, 20), 0U);
  }
}

}  // namespace
}  // namespace bloomery::test
