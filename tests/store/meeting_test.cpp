// A reader that meets a writer: whatever the writer does before any one of the reader's calls, the
// reader gets the filter as it was before or after. And a writer that opens a file while another one replaces it.
#include "format/forged_headers.hpp"
#include "format/header.hpp"
#include "format/layout.hpp"
#include "store/fake_os.hpp"
#include "store/kinds.hpp"

#include "support/expect_error.hpp"

#include <functional>
#include <optional>
#include <utility>

namespace bloomery::test {
namespace {

class Meeting : public KindAndLevel {
 protected:
  // A file with key 0, closed; or open, in `writer`, and so far written only by it.
  void start(FakeOs& os, std::optional<FilterFile>& writer, bool open) const {
    writer = Files(os).create(kFakePath, kind().plan, {.durability = durability()});
    writer->insert(std::uint64_t{0});
    if (open) return;
    writer->close();
    writer.reset();
  }
  // What the writer does next, on a file that is closed or open: it leaves it the other way.
  void go_on(FakeOs& os, std::optional<FilterFile>& writer) const {
    if (writer) {
      writer->insert(std::uint64_t{1});
      writer->close();
      writer.reset();
      return;
    }
    writer = Files(os).open(kFakePath, {.access = Access::write, .durability = durability()});
    writer->insert(std::uint64_t{1});
    writer->sync();
  }
  // Calls look(os) on such files with the writer in between.
  template <class Look>
  void interrupted(Look look) const {
    for (const bool open : {false, true}) {
      bool reached = true;
      for (std::uint64_t call = 1; reached; ++call) {
        SCOPED_TRACE((open ? "open, call " : "closed, call ") + std::to_string(call));
        FakeOs os(96 * 1024);
        std::optional<FilterFile> writer;
        start(os, writer, open);
        reached = false;
        look(os, [&] {
          os.interrupt_before(os.calls() + call, [&] {
            reached = true;
            go_on(os, writer);
          });
        });
        ASSERT_FALSE(HasFailure());
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(, Meeting, at_every_level(all_kind_cases()), kNameOfBoth);

TEST_P(Meeting, AReaderOpensTheFile) {
  interrupted([&](FakeOs& os, const auto& arm) {
    arm();
    const auto reader = Files(os).open(kFakePath);
    os.interrupt_before(0, {});
    // With level none the file has what was synced.
    EXPECT_TRUE(durability() == Durability::none || reader.may_contain(std::uint64_t{0}));
  });
}

TEST_P(Meeting, AReaderLooksAgain) {
  interrupted([&](FakeOs& os, const auto& arm) {
    auto reader = Files(os).open(kFakePath);
    const bool had = reader.may_contain(std::uint64_t{0});
    arm();
    reader.reload();
    os.interrupt_before(0, {});
    EXPECT_TRUE(!had || reader.may_contain(std::uint64_t{0}));
    reader.reload();
    EXPECT_TRUE(!had || reader.may_contain(std::uint64_t{0}));
  });
}

// Once it has the lock, a writer has the file that is at the path, not one that was replaced before.
TEST_P(Meeting, AWriterOpensTheFile) {
  for (const bool shared : {false, true}) {
    if (shared && (kind_of(kind().plan) != Kind::plain || durability() != Durability::process))
      continue;
    bool reached = true;
    for (std::uint64_t call = 1; reached; ++call) {
      SCOPED_TRACE((shared ? "shared, call " : "alone, call ") + std::to_string(call));
      FakeOs os(96 * 1024);
      Files(os).create(kFakePath, kind().plan).close();
      auto other = Files(os).rebuild(kFakePath, kind().plan);
      other.insert(std::uint64_t{1});
      reached = false;
      os.interrupt_before(os.calls() + call, [&] {
        reached = true;
        other.close();
      });
      try {
        auto file = Files(os).open(
            kFakePath, {.access = Access::write, .durability = durability(), .shared = shared});
        EXPECT_TRUE(file.may_contain(std::uint64_t{1}));
        file.insert(std::uint64_t{2});
        file.close();
        EXPECT_TRUE(Files(os).open(kFakePath).may_contain(std::uint64_t{2}));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::locked) << error.what();
      }
      os.interrupt_before(0, {});
      other.close();
      EXPECT_TRUE(Files(os).open(kFakePath).may_contain(std::uint64_t{1}));
      ASSERT_FALSE(HasFailure());
    }
  }
}

// What a reader has replayed in memory after a loss of power is what the file still says, until a writer has
// recovered it.
TEST(Reload, OfWhatNobodyHasChangedIsNothing) {
  for (const KindCase& kind : all_kind_cases()) {
    SCOPED_TRACE(kind.name);
    FakeOs before;
    auto first = Files(before).create(kFakePath, kind.plan, {.durability = Durability::sync});
    first.insert(std::uint64_t{1});
    const auto os = before.after_power_loss(1, 0);
    auto reader = Files(*os).open(kFakePath);
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(reader.reload());
    EXPECT_TRUE(reader.may_contain(std::uint64_t{1}));
    auto writer =
        Files(*os).open(kFakePath, {.access = Access::write, .durability = Durability::sync});
    writer.insert(std::uint64_t{2});
    EXPECT_TRUE(reader.reload());
    EXPECT_TRUE(reader.may_contain(std::uint64_t{2}));
    writer.close();
    reader.reload();
    EXPECT_EQ(reader.inserted(), 2U);
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(reader.reload());
  }
}

// A `check` of a pipe reloads for each line, perhaps for days after a writer was killed.
TEST(Reload, OfTheFileOfAKilledWriterReadsItsJournalOnce) {
  for (const auto& kind : all_kind_cases()) {
    SCOPED_TRACE(kind.name);
    FakeOs before(96 * 1024);
    auto writer = Files(before).create(kFakePath, kind.plan, {});
    writer.insert(std::uint64_t{0});
    const auto os = before.after_kill();
    auto reader = Files(*os).open(kFakePath);
    const auto calls_of_reload = [&] {
      const std::uint64_t calls = os->calls();
      EXPECT_FALSE(reader.reload());
      return os->calls() - calls;
    };
    const std::uint64_t killed = calls_of_reload();
    auto next = Files(*os).open(kFakePath, {.access = Access::write});
    next.insert(std::uint64_t{1});
    (void)reader.reload();
    EXPECT_TRUE(reader.may_contain(std::uint64_t{0}));
    EXPECT_TRUE(reader.may_contain(std::uint64_t{1}));
    next.close();
    (void)reader.reload();
    EXPECT_EQ(killed, calls_of_reload()) << "as many as that of a clean file";
  }
}

// Whatever the reader has read by then of the journal and the bits.
TEST(Recovery, ByAWriterMayComeBetweenAnyTwoCallsOfAReader) {
  for (const KindCase& kind : all_kind_cases()) {
    FakeOs before(96 * 1024);
    auto first = Files(before).create(kFakePath, kind.plan, {.durability = Durability::sync});
    first.insert(std::uint64_t{0});
    bool reached = true;
    for (std::uint64_t call = 1; reached; ++call) {
      SCOPED_TRACE(std::string(kind.name) + ", call " + std::to_string(call));
      const auto os = before.after_power_loss(0, 0);
      reached = false;
      os->interrupt_before(call, [&] {
        reached = true;
        auto writer = Files(*os).open(kFakePath, {.access = Access::write});
        for (std::uint64_t key = 1; key < 20; ++key) writer.insert(key);
        writer.close();
      });
      const auto reader = Files(*os).open(kFakePath);
      os->interrupt_before(0, {});
      EXPECT_TRUE(reader.may_contain(std::uint64_t{0}));
      ASSERT_FALSE(HasFailure());
    }
  }
}

// Where the system does not tell, nothing says that the bits in place, or records that nobody has synced, are complete.
TEST(UnknownBoot, IsNoReasonToTrustWhatWasNotSynced) {
  for (const KindCase& kind : all_kind_cases()) {
    SCOPED_TRACE(kind.name);
    FakeOs os(1 << 20);
    os.tell_boot(false);
    auto writer = Files(os).create(kFakePath, kind.plan, {.durability = Durability::sync});
    writer.insert(std::uint64_t{1});
    const auto after = os.after_power_loss(0, 0);
    EXPECT_TRUE(Files(*after).open(kFakePath).may_contain(std::uint64_t{1}));
    writer.close();

    writer =
        Files(os).open(kFakePath, {.access = Access::write, .durability = Durability::process});
    writer.insert(std::uint64_t{2});
    EXPECT_EQ(code_of([&] { (void)Files(os).open(kFakePath); }), ErrorCode::unclean);
    os.tell_boot(true);
    EXPECT_EQ(code_of([&] { (void)Files(os).open(kFakePath); }), ErrorCode::unclean);
    if (detail::is_stored_in_place(kind.plan)) continue;
    // The next journal has the boot in its header.
    for (std::uint64_t key = 0; key < 300; ++key) writer.insert(std::uint64_t{key % 50});
    auto reader = Files(os).open(kFakePath);
    EXPECT_FALSE(reader.reload());
    os.tell_boot(false);
    EXPECT_EQ(code_of([&] { reader.reload(); }), ErrorCode::unclean);
  }
}

TEST_P(Meeting, TheFileIsVerified) {
  interrupted([&](FakeOs& os, const auto& arm) {
    arm();
    const VerifyReport report = Files(os).verify(kFakePath);
    os.interrupt_before(0, {});
    EXPECT_TRUE(report.ok()) << report.detail;
  });
}

// A file that is removed while it is verified is the one that was opened.
TEST(VerifiedFile, MayBeRemovedOnceItIsOpen) {
  for (const KindCase& kind : all_kind_cases()) {
    bool reached = true;
    for (std::uint64_t call = 1; reached; ++call) {
      SCOPED_TRACE(std::string(kind.name) + ", call " + std::to_string(call));
      FakeOs os(96 * 1024);
      Files(os).create(kFakePath, kind.plan).close();
      reached = false;
      os.interrupt_before(os.calls() + call, [&] {
        reached = true;
        os.unlink(kFakePath);
      });
      try {
        const VerifyReport report = Files(os).verify(kFakePath);
        os.interrupt_before(0, {});
        EXPECT_TRUE(report.ok() && report.state == VerifyReport::State::clean) << report.detail;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::missing) << error.what();
        EXPECT_LE(call, 2U) << "it follows the path, and opens it";
      }
    }
  }
}

// A writer stores its two copies one after the other.
TEST(VerifiedFile, OfAWriterMayHaveOneCopyOfItsHeader) {
  FakeOs os(96 * 1024);
  auto writer =
      Files(os).create(kFakePath, plan_of(Layout::blocked), {.durability = Durability::process});
  writer.insert(1);
  auto bytes = os.contents(kFakePath);
  bytes[detail::kHeaderBytes + 100] ^= std::byte{1};
  os.copy_over(kFakePath, bytes);
  const VerifyReport report = Files(os).verify(kFakePath);
  EXPECT_EQ(report.state, VerifyReport::State::in_use);
  EXPECT_FALSE(report.spare_damaged);
}

// Does something before almost every call of the machine until it is gone.
class AgainAndAgain {
 public:
  AgainAndAgain(FakeOs& os, std::function<void()> work) : os_(os), work_(std::move(work)) { arm(); }
  ~AgainAndAgain() { os_.interrupt_before(0, {}); }
  AgainAndAgain(const AgainAndAgain&) = delete;
  AgainAndAgain& operator=(const AgainAndAgain&) = delete;

 private:
  void arm() {
    os_.interrupt_before(os_.calls() + 2, [this] {
      work_();
      arm();
    });
  }

  FakeOs& os_;
  std::function<void()> work_;
};

// What was read may belong to another header than the file has by now, so nothing is said about it.
TEST(ChangingFile, IsInUse) {
  for (const KindCase& kind : all_kind_cases()) {
    SCOPED_TRACE(kind.name);
    FakeOs os(96 * 1024);
    const Files files(os);
    files.create(kFakePath, kind.plan, {}).close();
    std::uint64_t changes = 0;
    const AgainAndAgain writers(os, [&] {
      auto writer = files.open(kFakePath, {.access = Access::write});
      writer.insert(changes++);
      writer.close();
    });
    const VerifyReport report = files.verify(kFakePath);
    EXPECT_EQ(report.state, VerifyReport::State::in_use);
    EXPECT_EQ(report.detail, "writers keep changing it; try again");
    EXPECT_FALSE(report.spare_damaged);
    EXPECT_GE(changes, 10U) << "as many attempts";
    if (!detail::is_stored_in_place(kind.plan))
      continue;  // the salvaged file is the one of the beginning
    expect_error(ErrorCode::locked, {kFakePath},
                 [&] { (void)files.salvage(kFakePath, "/dir/salvaged", false); });
    Os::Stat there;
    EXPECT_EQ(os.stat_path("/dir/salvaged", there), -ENOENT);
  }
}

// Another program puts other files at the path, again and again. A writer that waited without end would hang.
TEST(ChangingFile, IsNotWaitedForWithoutEnd) {
  for (const KindCase& kind : all_kind_cases()) {
    SCOPED_TRACE(kind.name);
    FakeOs os(96 * 1024);
    const Files files(os);
    files.create(kFakePath, kind.plan, {}).close();
    for (const bool shared : {false, true}) {
      if (shared && kind_of(kind.plan) != Kind::plain) continue;
      std::uint64_t changes = 0;
      const AgainAndAgain other(os, [&] {
        files.create("/dir/other", kind.plan, {}).close();
        ASSERT_EQ(os.rename("/dir/other", kFakePath), 0);
        ++changes;
      });
      expect_error(ErrorCode::locked, {kFakePath, "keep replacing it"}, [&] {
        (void)files.open(
            kFakePath,
            {.access = Access::write, .durability = Durability::process, .shared = shared});
      });
      EXPECT_GE(changes, 10U) << "as many attempts";
    }
    std::uint64_t changes = 0;
    const AgainAndAgain other(os, [&] {
      (void)os.unlink("/dir/.new.new");
      const int fd = os.open("/dir/.new.new", Os::Open::create);
      ASSERT_GE(fd, 0);
      os.close(fd);
      ++changes;
    });
    expect_error(ErrorCode::locked, {"/dir/new", "keep making it"},
                 [&] { (void)files.create("/dir/new", kind.plan, {}); });
    EXPECT_GE(changes, 10U) << "as many attempts";
  }
}

// Each time that a reader looks, it is another file of the last boot, whose keys may be lost.
TEST(ChangingFile, IsReadAFewTimes) {
  FakeOs before(96 * 1024);
  auto lost = Files(before).create(kFakePath, plan_of(Layout::blocked),
                                   {.durability = Durability::process});
  lost.insert(1);
  const auto os = before.after_power_loss(1, 0);
  auto bytes = os->contents(kFakePath);
  auto header =
      detail::decode_headers(std::span(bytes).first(detail::kBitsAt), bytes.size(), "f").header;
  const AgainAndAgain other(*os, [&] {
    ++header.generation;
    put_headers(bytes, header);
    os->put(kFakePath, bytes);
  });
  const std::uint64_t generation = header.generation;
  expect_error(ErrorCode::unclean, {kFakePath}, [&] { (void)Files(*os).open(kFakePath); });
  EXPECT_GE(header.generation, generation + 10) << "as many attempts";
  EXPECT_LE(header.generation, generation + 1000);
}

// Another program sets the time of the file, again and again, while a snapshot is written beside it. Keys that were
// not saved are still in the filter, which can be closed later.
TEST(ChangingFile, IsNotReplaced) {
  for (const KindCase& kind : all_kind_cases()) {
    SCOPED_TRACE(kind.name);
    FakeOs os(96 * 1024);
    const Files files(os);
    auto writer = files.create(kFakePath, kind.plan, {.durability = Durability::none});
    writer.insert(std::uint64_t{7});
    const int fd = os.open(kFakePath, Os::Open::write);
    const auto touch = [&] {
      std::byte byte{};
      ASSERT_EQ(os.pread(fd, &byte, 1, 0), 1);
      ASSERT_EQ(os.pwrite(fd, &byte, 1, 0), 1);
    };
    {
      const AgainAndAgain other(os, touch);
      expect_error(ErrorCode::locked, {kFakePath, "again and again"}, [&] { writer.sync(); });
    }
    writer.close();
    os.close(fd);
    EXPECT_TRUE(files.open(kFakePath).may_contain(std::uint64_t{7}));
  }
}

}  // namespace
}  // namespace bloomery::test
