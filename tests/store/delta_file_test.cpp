// Frozen filters that take keys after they were built: the list and its delta in one file.
#include <bloomery/bloomery.hpp>

#include "base/checksum.hpp"
#include "format/forged_headers.hpp"
#include "store/every_call.hpp"
#include "store/session_script.hpp"
#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

constexpr std::uint64_t kListKeys = 1'000;
const FilterPlan kWithDelta = frozen_plan(1, 0.01, 300);

void build_list(const Files& files, const std::string& path, std::uint64_t first,
                std::uint64_t count) {
  FilterFile file = files.rebuild(path, kWithDelta);
  add(file, first, count);
  file.close();
}
const OpenOptions kWriter{.access = Access::write};

class DeltaFile : public testing::TestWithParam<Durability> {
 protected:
  DeltaFile() { build_list(files_, path_, 0, kListKeys); }
  [[nodiscard]] static OpenOptions writer() {
    return {.access = Access::write, .durability = GetParam()};
  }
  Files files_{real_os()};
  Scratch scratch_;
  std::string path_ = scratch_ / "spam.bloom";
};
INSTANTIATE_TEST_SUITE_P(, DeltaFile, testing::ValuesIn(kDurabilities), kNameOfOne);

TEST_P(DeltaFile, TakesKeysAndKeepsItsList) {
  const std::uint64_t before = found_in(FilterFile::open(path_), 5'000, 300);
  EXPECT_LT(before, 30U);
  {
    FilterFile file = FilterFile::open(path_, writer());
    add(file, 5'000, 150);
    EXPECT_TRUE(file.insert(std::uint64_t{1} << 40));
    EXPECT_FALSE(file.insert(std::uint64_t{1} << 40));
    EXPECT_EQ(found_in(file, 5'000, 150), 150U);
    file.close();
  }
  FilterFile reader = FilterFile::open(path_);
  EXPECT_EQ(reader.kind(), Kind::frozen);
  EXPECT_EQ(found_in(reader, 0, kListKeys), kListKeys);
  EXPECT_EQ(found_in(reader, 5'000, 150), 150U);
  EXPECT_GE(reader.inserted(), kListKeys + 145);
  EXPECT_LE(reader.inserted(), kListKeys + 151);
  EXPECT_EQ(reader.frozen().keys(), kListKeys);
  ASSERT_NE(reader.delta(), nullptr);
  EXPECT_EQ(std::get<FrozenPlan>(reader.plan()).delta->capacity, 300U);
  const VerifyReport report = verify(path_);
  EXPECT_TRUE(report.ok() && report.state == VerifyReport::State::clean) << report.detail;
  // Another session, and answers one by one.
  FilterFile again = FilterFile::open(path_, writer());
  add(again, 5'150, 150);
  again.close();
  EXPECT_EQ(found_in(again, 5'000, 300), 300U);
  (void)reader.reload();
  for (std::uint64_t key = 5'000; key < 5'300; ++key) ASSERT_TRUE(reader.may_contain(key)) << key;
}

// `insert` says "certainly new" only of keys that are neither in the delta nor in the list.
TEST_P(DeltaFile, SaysOfNoKeyOfItsListThatItIsNew) {
  FilterFile file = FilterFile::open(path_, writer());
  const auto listed = hashes_of(file.hasher(), 0, kListKeys);
  EXPECT_FALSE(file.insert_hash(listed[0]));
  EXPECT_EQ(file.insert_hashes(std::span(listed).first(50)), 0U);
  // Ten of these are in the list, and the others are new, but by chance.
  const auto half = hashes_of(file.hasher(), kListKeys - 10, 20);
  std::array<bool, 20> fresh{};
  const std::size_t count = file.insert_hashes(half, fresh);
  EXPECT_GT(count, 5U);
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(fresh, true)), count);
  EXPECT_EQ(std::ranges::count(std::span(fresh).first(10), true), 0);
  EXPECT_EQ(file.insert_hashes(half, fresh), 0U);
  EXPECT_EQ(std::ranges::count(fresh, true), 0);
  EXPECT_EQ(file.insert_hashes(listed), 0U) << "more keys than blocks are stored without a journal";
  file.close();
  EXPECT_EQ(found_in(FilterFile::open(path_), kListKeys - 10, 20), 20U);
}

// The file of a writer that is gone: with `process` its bits count the keys, with `sync` its journal does.
TEST_P(DeltaFile, CountsTheKeysOfAKilledWriter) {
  FilterFile killed = FilterFile::open(path_, writer());
  add(killed, 5'000, 150);
  const std::string left = scratch_ / "left.bloom";
  write_bytes(left, read_bytes(path_));
  const std::uint64_t wanted = GetParam() == Durability::none ? 0 : 150;
  FilterFile again = FilterFile::open(left, writer());
  EXPECT_NEAR(static_cast<double>(again.inserted()), static_cast<double>(kListKeys + wanted), 10);
  EXPECT_EQ(found_in(again, 0, kListKeys), kListKeys);
  EXPECT_GE(found_in(again, 5'000, 150), wanted);
}

TEST_P(DeltaFile, IsFoldedInByARebuild) {
  FilterFile writing = FilterFile::open(path_, writer());
  add(writing, 5'000, 200);
  writing.close();
  FilterFile reader = FilterFile::open(path_);
  build_list(files_, path_, 0, kListKeys + 500);
  EXPECT_EQ(found_in(reader, 5'000, 200), 200U) << "what it had mapped";
  EXPECT_TRUE(reader.reload());
  EXPECT_EQ(reader.inserted(), kListKeys + 500);
  EXPECT_EQ(found_in(reader, 0, kListKeys + 500), kListKeys + 500);
  EXPECT_LT(found_in(reader, 5'000, 200), 30U) << "the delta is empty";
}

TEST_P(DeltaFile, HasTheBytesThatItSays) {
  FilterFile writing = FilterFile::open(path_, writer());
  add(writing, 5'000, 200);
  writing.close();
  const FilterFile reader = FilterFile::open(path_);
  const std::vector<std::byte> bytes = reader.encode();
  EXPECT_EQ(bytes.size(), std::filesystem::file_size(path_));
  EXPECT_EQ(bytes.size(), reader.encoded_size());
  AnyFilter decoded = AnyFilter::decode(bytes);
  for (std::uint64_t key = 0; key < 20'000; ++key)
    ASSERT_EQ(decoded.may_contain(key), reader.may_contain(key)) << key;
  EXPECT_EQ(decoded.encode(), bytes);
  EXPECT_EQ(detail::checksum(bytes), 0xF07A7535257C7AA4U) << "golden bytes";
  expect_error(ErrorCode::wrong_kind, {"delta"}, [&] { (void)decode_frozen(bytes); });
}

TEST_P(DeltaFile, OfAnotherSizeIsAnotherFilter) {
  FilterFile::open_or_create(path_, kWithDelta).close();
  EXPECT_EQ(FilterFile::open_or_create(path_, kWithDelta).kind(), Kind::frozen);
  for (const std::uint64_t room : {200, 400})
    EXPECT_EQ(code_of([&] { FilterFile::open_or_create(path_, frozen_plan(1, 0.01, room)); }),
              ErrorCode::mismatch);
}

// The list and a full delta together have the stated rate: 6,000 of 600,000 keys are expected at 1 %.
// Outside of 10 % by Chernoff with a probability below 3e-13.
TEST(DeltaRate, IsTheStatedOneOfBoth) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  constexpr std::uint64_t kList = 100'000, kDelta = 20'000, kProbes = 600'000;
  FilterFile file = FilterFile::create(path, frozen_plan(1, 0.01, kDelta));
  add(file, 0, kList);
  file.close();
  const auto rate = [&](const AnyFilter&) {
    return static_cast<double>(found_in(FilterFile::open(path), 1 << 30, kProbes)) / kProbes;
  };
  AnyFilter any = AnyFilter::open(path);
  EXPECT_NEAR(rate(any), any.stats().current_fpr, 0.1 * any.stats().current_fpr);
  EXPECT_EQ(any.stats().fpr, 0.01);
  FilterFile writer =
      FilterFile::open(path, {.access = Access::write, .durability = Durability::none});
  add(writer, 1 << 20, kDelta);
  writer.close();
  any = AnyFilter::open(path);
  const FilterStats stats = any.stats(Precision::exact);
  EXPECT_NEAR(rate(any), stats.current_fpr, 0.1 * stats.current_fpr);
  EXPECT_LE(stats.current_fpr, 0.0101);
  EXPECT_GT(stats.current_fpr, stats.frozen->fingerprint_fpr());
  EXPECT_FALSE(stats.over_capacity);
  EXPECT_EQ(stats.capacity, kList + kDelta);
  ASSERT_TRUE(stats.delta);
  EXPECT_NEAR(static_cast<double>(stats.delta->inserted), kDelta, 100);
  EXPECT_EQ(stats.bytes, stats.frozen->bytes());
  // Three times as many as the delta is for.
  FilterFile more =
      FilterFile::open(path, {.access = Access::write, .durability = Durability::none});
  add(more, 1 << 21, 2 * kDelta);
  more.close();
  EXPECT_TRUE(AnyFilter::open(path).stats().over_capacity);
}

TEST(DeltaFileOnce, OfNoKeysTakesSome) {
  const Scratch scratch;
  FilterFile::create(scratch / "f", kWithDelta).close();
  FilterFile file = FilterFile::open(scratch / "f", kWriter);
  EXPECT_EQ(found_in(file, 0, 1'000), 0U);
  add(file, 0, 100);
  file.close();
  const FilterFile reader = FilterFile::open(scratch / "f");
  EXPECT_EQ(found_in(reader, 0, 100), 100U);
  EXPECT_EQ(reader.frozen().keys(), 0U);
}

TEST(DeltaFileOnce, SaysWhatItCannot) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  const Files files(real_os());
  build_list(files, path, 0, 10);
  FilterFile file = FilterFile::open(path, kWriter);
  expect_error(ErrorCode::locked, {}, [&] { (void)FilterFile::open(path, kWriter); });
  expect_error(ErrorCode::locked, {}, [&] { build_list(files, path, 0, 10); });
  expect_error(ErrorCode::wrong_kind, {}, [&] { file.remove(std::uint64_t{1}); });
  const Filter other(plan(10, 0.01));
  expect_error(ErrorCode::wrong_kind, {}, [&] { file.merge(other); });
  expect_error(ErrorCode::wrong_kind, {"frozen"}, [&] { (void)file.view(); });
  file.close();
  expect_error(ErrorCode::wrong_kind, {"one writer"}, [&] {
    (void)FilterFile::open(
        path, {.access = Access::write, .durability = Durability::process, .shared = true});
  });
  // What is there is opened, and compared by what was asked for, not by the size of the list.
  EXPECT_EQ(FilterFile::open_or_create(path, kWithDelta).kind(), Kind::frozen);
  expect_error(ErrorCode::mismatch, {"delta"},
               [&] { (void)FilterFile::open_or_create(path, frozen_plan(1, 0.01, 400)); });
  expect_error(ErrorCode::mismatch, {},
               [&] { (void)FilterFile::open_or_create(path, frozen_plan(1, 0.02, 300)); });
  expect_error(ErrorCode::invalid_argument, {"delta"}, [&] { (void)frozen_plan(1, 0.01, 0); });
  expect_error(ErrorCode::invalid_argument, {}, [&] { (void)frozen_plan(1, 1e-9, 5); });
  expect_error(ErrorCode::invalid_argument, {"delta"},
               [&] { (void)plan({.capacity = 5, .fpr = 0.01, .delta = 5}); });
}

// ---- damage ------------------------------------------------------------------------------------

// A file with several chunks of a delta and of a list.
class DeltaDamage : public testing::Test {
 protected:
  DeltaDamage() {
    FilterFile file = FilterFile::create(path_, frozen_plan(1, 0.01, 200'000));
    add(file, 0, 400'000);
    file.close();
    FilterFile writer = FilterFile::open(path_, kWriter);
    add(writer, 1 << 20, 10'000);
    writer.close();
    bytes_ = read_bytes(path_);
    delta_ = FilterFile::open(path_).delta()->plan().bytes();
  }
  void damage(std::uint64_t at) const {
    auto bytes = bytes_;
    bytes[detail::kBitsAt + at] ^= std::byte{1};
    write_bytes(path_, bytes);
  }
  Scratch scratch_{fast_place()};
  std::string path_ = scratch_ / "f", out_ = scratch_ / "out";
  std::vector<std::byte> bytes_;
  std::uint64_t delta_ = 0;
};

TEST_F(DeltaDamage, OfTheDeltaIsFilledAndOfTheListIsRefused) {
  ASSERT_GT(delta_, 3 * detail::kChunkBytes);
  damage(70'000);
  EXPECT_EQ(verify(path_).damaged_chunks, std::vector<std::uint64_t>{1});
  EXPECT_EQ(salvage(path_, out_).filled_chunks, 1U);
  const FilterFile saved = FilterFile::open(out_);
  EXPECT_EQ(found_in(saved, 0, 400'000), 400'000U);
  EXPECT_EQ(found_in(saved, 1 << 20, 10'000), 10'000U);
  // A chunk that has the end of the delta and the beginning of the list is one of the list.
  for (const std::uint64_t at : {delta_ + 5, delta_ - 5, delta_ + 300'000}) {
    damage(at);
    EXPECT_FALSE(verify(path_).ok());
    expect_error(ErrorCode::corrupt, {"rebuild"}, [&] { (void)salvage(path_, out_, true); });
  }
}

// A writer that was killed leaves no sums of the bits that it stored, but those of the list still count.
TEST_F(DeltaDamage, OfTheListIsSeenAfterAKill) {
  const auto mark = [&](std::vector<std::byte>& bytes) {
    Os::Id boot{};
    ASSERT_EQ(real_os().boot_id(boot), 0);
    change_headers(bytes, [&](std::byte* page) {
      page[14] = std::byte{1};
      std::ranges::copy(boot, page + 120);
    });
  };
  auto bytes = bytes_;
  mark(bytes);
  bytes[detail::kBitsAt + 5] |= std::byte{1};  // by that writer
  write_bytes(path_, bytes);
  FilterFile::open(path_, kWriter).close();
  EXPECT_TRUE(verify(path_).ok());
  bytes[detail::kBitsAt + delta_ + 300'000] ^= std::byte{1};
  write_bytes(path_, bytes);
  expect_error(ErrorCode::corrupt, {"rebuild"}, [&] { (void)FilterFile::open(path_, kWriter); });
  const VerifyReport report = verify(path_);
  EXPECT_EQ(report.state, VerifyReport::State::unclean);
  EXPECT_NE(report.detail.find("rebuild"), std::string::npos) << report.detail;
  expect_error(ErrorCode::corrupt, {"rebuild"}, [&] { (void)salvage(path_, out_); });
  expect_error(ErrorCode::corrupt, {"rebuild"}, [&] { (void)FilterFile::open(path_).encode(); });
}

TEST_F(DeltaDamage, OfTheHeaderIsRefused) {
  // Whether it has a delta, its bits, rate, hashes and layout, and zeros; other numbers than these are possible ones.
  for (const std::size_t at : {148U, 152U, 159U, 175U, 176U, 180U, 190U}) {
    auto bytes = bytes_;
    change_headers(bytes, [&](std::byte* page) { page[at] ^= std::byte{0x47}; });
    EXPECT_THROW((void)AnyFilter::decode(bytes), Error) << at;
  }
}

// ---- on a machine that stops --------------------------------------------------------------------

struct DeltaBook {
  std::vector<std::uint64_t> acknowledged, safe;
  bool rebuilt = false;  // its close() has returned
};

// A session that adds, one that builds the list of all keys again, and one that adds again. None closes its writer
// when the machine has stopped.
DeltaBook add_and_rebuild(FakeOs& os, Durability durability) {
  DeltaBook book;
  const auto session = [&](std::uint64_t from) {
    FilterFile file = Files(os).open(kPath, {.access = Access::write, .durability = durability});
    for (std::uint64_t key = from; key < from + 120; key += 40) {
      add(file, key, 40);
      if (os.stopped()) return;
      for (std::uint64_t i = 0; i < 40; ++i) book.acknowledged.push_back(key + i);
    }
    file.sync();
    if (!os.stopped()) book.safe = book.acknowledged;
    file.close();
  };
  session(5'000);
  if (os.stopped()) return book;
  {
    FilterFile next = Files(os).rebuild(kPath, kWithDelta);
    add(next, 0, kListKeys);
    add(next, 5'000, 120);
    next.close();
  }
  if (os.stopped()) return book;
  book.rebuilt = true;
  session(7'000);
  return book;
}

class DeltaOnTheMachine : public testing::TestWithParam<Durability> {};
INSTANTIATE_TEST_SUITE_P(, DeltaOnTheMachine,
                         testing::Values(Durability::process, Durability::sync), kNameOfOne);

TEST_P(DeltaOnTheMachine, LosesNothingWhereverItStops) {
  FakeOs before(256 * 1024);
  build_list(Files(before), kPath, 0, kListKeys);
  // Sectors of the journal are whole; what is before it may be torn in itself.
  const auto plan_there = std::get<FrozenPlan>(Files(before).open(kPath).plan());
  const std::uint64_t journal_at = detail::FileLayout(plan_there.bytes()).journal_at;
  std::size_t opened = 0, unclean = 0;
  DeltaBook book;
  stop_at_every_call(
      before, 3, journal_at,
      [&](FakeOs& os) {
        book = {};
        book = add_and_rebuild(os, GetParam());
      },
      [&](FakeOs& after, int seed) {
        std::optional<FilterFile> file;
        try {
          file = Files(after).open(kPath, kWriter);
        } catch (const Error& error) {
          // The level that does not wait for the device loses the file with the power, and says so.
          ASSERT_TRUE(GetParam() == Durability::process && seed >= 0 &&
                      error.code() == ErrorCode::unclean)
              << error.what();
          ++unclean;
          build_list(Files(after), kPath, 0, kListKeys);
          return;
        }
        ++opened;
        ASSERT_EQ(found_in(*file, 0, kListKeys), kListKeys);
        // After a power loss, what was synced or, with a journal, acknowledged.
        const auto& kept =
            seed < 0 || GetParam() == Durability::sync ? book.acknowledged : book.safe;
        for (const std::uint64_t key : kept) ASSERT_TRUE(file->may_contain(key)) << key;
        add(*file, 9'000, 50);
        file->close();
        const VerifyReport report = Files(after).verify(kPath);
        ASSERT_TRUE(report.ok() && report.state == VerifyReport::State::clean) << report.detail;
        ASSERT_EQ(found_in(Files(after).open(kPath), 9'000, 50), 50U);
        build_list(Files(after), kPath, 0, kListKeys);
        ASSERT_EQ(after.names(), 1U) << "what is left of a rebuild is in nobody's way";
      });
  EXPECT_GT(opened, 100U);
  if (GetParam() == Durability::process) {
    EXPECT_GT(unclean, 3U);
  }
}

// A call that the device refuses loses none of the list, and none of what was acknowledged before.
TEST_P(DeltaOnTheMachine, LosesNothingWhateverFails) {
  FakeOs before(256 * 1024);
  build_list(Files(before), kPath, 0, kListKeys);
  const std::size_t failed = fail_at_every_call(
      before, [&](FakeOs& os) { (void)add_and_rebuild(os, GetParam()); },
      [&](FakeOs& after) {
        try {
          EXPECT_EQ(found_in(Files(after).open(kPath), 0, kListKeys), kListKeys);
        } catch (const Error& why) {
          EXPECT_EQ(why.code(), ErrorCode::unclean) << why.what();
        }
      });
  EXPECT_GT(failed, 20U);
}

// What the device refuses to read says nothing about what a writer has left.
TEST(UnreadableDelta, IsNotSaidToBeUnclean) {
  FakeOs before;
  build_list(Files(before), kPath, 0, 100);
  auto writer =
      Files(before).open(kPath, {.access = Access::write, .durability = Durability::process});
  add(writer, 5'000, 10);
  const auto sane = before.after_kill();
  EXPECT_EQ(Files(*sane).verify(kPath).state, VerifyReport::State::recoverable);
  std::uint64_t errors = 0;
  for (std::uint64_t call = 1; call <= sane->calls(); ++call) {
    const auto os = before.after_kill();
    os->inject({.at = call, .error = EMFILE});
    try {
      const VerifyReport report = Files(*os).verify(kPath);
      EXPECT_TRUE(report.state == VerifyReport::State::recoverable ||
                  report.detail.find("chunk") != std::string::npos)
          << call << ": " << report.detail;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io) << error.what();
      ++errors;
    }
  }
  EXPECT_GT(errors, 5U);
}

}  // namespace
}  // namespace bloomery::test
