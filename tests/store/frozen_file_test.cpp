// Frozen filters in files: built by close(), whole or not at all, and read from then on.
#include <bloomery/bloomery.hpp>

#include "store/every_call.hpp"
#include "store/session_script.hpp"
#include "support/expect_error.hpp"

#include <filesystem>

namespace bloomery::test {
namespace {

const FilterPlan kFrozen = frozen_plan(1, 0.001);
constexpr std::uint64_t kFrozenKeys = 3'000;

class FrozenFile : public testing::Test {
 protected:
  void create(std::uint64_t first, std::uint64_t count, const CreateOptions& options = {}) const {
    auto file = FilterFile::create(path_, kFrozen, options);
    add(file, first, count);
    file.close();
  }
  Scratch scratch_;
  std::string path_ = scratch_ / "spam.bloom";
};

TEST_F(FrozenFile, IsThereWhenItIsClosed) {
  auto file = FilterFile::create(path_, kFrozen);
  add(file, 0, kFrozenKeys);
  add(file, 0, kFrozenKeys);
  EXPECT_FALSE(file.insert("text")) << "nobody knows yet whether it is new";
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_TRUE(file.may_contain("anything")) << "while it is being built";
  expect_error(ErrorCode::invalid_argument, {"close() builds it"}, [&] { (void)file.encode(); });
  expect_error(ErrorCode::invalid_argument, {"close() builds it"},
               [&] { (void)file.encoded_size(); });
  file.close();
  const FilterFile reader = FilterFile::open(path_);
  EXPECT_EQ(reader.kind(), Kind::frozen);
  EXPECT_EQ(reader.inserted(), kFrozenKeys + 1);
  EXPECT_EQ(reader.frozen().keys(), kFrozenKeys + 1);
  EXPECT_EQ(found_in(reader, 0, kFrozenKeys), kFrozenKeys);
  EXPECT_TRUE(reader.may_contain("text"));
  EXPECT_LT(found_in(reader, 1 << 20, 100'000), 200U);
  const VerifyReport report = verify(path_);
  EXPECT_TRUE(report.ok()) << report.detail;
  EXPECT_EQ(std::filesystem::file_size(path_), encode(reader.frozen()).size());
}

// A file is what encode() gives of the same keys, but for its identity.
TEST_F(FrozenFile, HasTheBytesOfTheFilter) {
  create(0, kFrozenKeys);
  const auto decoded = decode_frozen(read_bytes(path_));
  FrozenBuilder builder(0.001);
  builder.insert_hashes(hashes_of(builder.hasher(), 0, kFrozenKeys));
  EXPECT_EQ(encode(decoded), encode(builder.build()));
}

TEST_F(FrozenFile, ThatIsDroppedIsNotThere) {
  {
    auto file = FilterFile::create(path_, kFrozen);
    add(file, 0, kFrozenKeys);
  }
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(path_).parent_path()));
}

TEST_F(FrozenFile, HasOneBuilder) {
  expect_error(ErrorCode::wrong_kind, {path_, "one builder"},
               [&] { (void)FilterFile::create(path_, kFrozen, {.shared = true}); });
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(path_).parent_path()));
}

TEST_F(FrozenFile, TakesNoMoreKeys) {
  create(0, kFrozenKeys);
  const auto before = read_bytes(path_);
  expect_error(ErrorCode::wrong_kind, {"rebuild"},
               [&] { (void)FilterFile::open(path_, {.access = Access::write}); });
  expect_error(ErrorCode::wrong_kind, {"rebuild"},
               [&] { (void)FilterFile::open_or_create(path_, kFrozen); });
  expect_error(ErrorCode::exists, {}, [&] { (void)FilterFile::create(path_, kFrozen); });
  FilterFile reader = FilterFile::open(path_);
  expect_error(ErrorCode::read_only, {}, [&] { reader.insert(1); });
  expect_error(ErrorCode::wrong_kind, {"frozen"}, [&] { (void)reader.view(); });
  EXPECT_EQ(read_bytes(path_), before);
}

TEST_F(FrozenFile, OfNoKeysHasNone) {
  create(0, 0);
  const FilterFile reader = FilterFile::open(path_);
  EXPECT_EQ(reader.inserted(), 0U);
  EXPECT_EQ(found_in(reader, 0, 10'000), 0U);
  EXPECT_TRUE(verify(path_).ok());
}

TEST_F(FrozenFile, IsReplacedAtOnce) {
  create(0, kFrozenKeys);
  FilterFile reader = FilterFile::open(path_);
  auto next = FilterFile::rebuild(path_, kFrozen);
  add(next, 10'000, kFrozenKeys);
  expect_error(ErrorCode::locked, {}, [&] { (void)FilterFile::rebuild(path_, kFrozen); });
  EXPECT_EQ(found_in(FilterFile::open(path_), 0, kFrozenKeys), kFrozenKeys);
  next.close();
  EXPECT_EQ(found_in(reader, 0, kFrozenKeys), kFrozenKeys) << "what it had mapped";
  EXPECT_TRUE(reader.reload());
  EXPECT_EQ(found_in(reader, 10'000, kFrozenKeys), kFrozenKeys);
  EXPECT_LT(found_in(reader, 0, kFrozenKeys), 100U);
  create(20'000, kFrozenKeys, {.replace = true});
  EXPECT_EQ(found_in(FilterFile::open(path_), 20'000, kFrozenKeys), kFrozenKeys);
}

TEST_F(FrozenFile, IsNotSalvagedWhereItIsDamaged) {
  create(0, 200'000);
  const std::string out = scratch_ / "out.bloom";
  EXPECT_EQ(salvage(path_, out).filled_chunks, 0U);
  EXPECT_EQ(found_in(FilterFile::open(out), 0, 200'000), 200'000U);
  auto bytes = read_bytes(path_);
  bytes[bytes.size() / 2] ^= std::byte{1};
  write_bytes(path_, bytes);
  EXPECT_FALSE(verify(path_).ok());
  EXPECT_NE(verify(path_).detail.find("rebuild"), std::string::npos) << verify(path_).detail;
  expect_error(ErrorCode::corrupt, {"rebuild"}, [&] { (void)salvage(path_, out, true); });
  expect_error(ErrorCode::corrupt, {}, [&] { (void)decode_frozen(bytes); });
  EXPECT_EQ(found_in(FilterFile::open(out), 0, 200'000), 200'000U) << "it was replaced";
}

// ---- on a machine that stops, or whose calls fail -------------------------------------------------

struct Building {
  bool over_an_old_one;
  std::uint64_t keys_in_memory;
};

class FrozenOnTheMachine : public testing::TestWithParam<Building> {
 protected:
  FrozenOnTheMachine() {
    if (GetParam().over_an_old_one) build(before_, 0);
  }
  static void build(FakeOs& os, std::uint64_t first) {
    auto file = Files(os, GetParam().keys_in_memory).rebuild(kPath, kFrozen);
    add(file, first, kFrozenKeys);
    file.close();
  }
  // True: it was the new one, of keys from 10,000 on.
  static bool expect_old_or_new(FakeOs& os) {
    std::optional<FilterFile> file;
    try {
      file = Files(os).open(kPath);
    } catch (const Error& error) {
      EXPECT_FALSE(GetParam().over_an_old_one) << error.what();
      EXPECT_EQ(error.code(), ErrorCode::missing) << error.what();
      return false;
    }
    const bool fresh = file->may_contain(std::uint64_t{12'000}) &&
                       found_in(*file, 10'000, kFrozenKeys) == kFrozenKeys;
    if (!fresh) {
      EXPECT_TRUE(GetParam().over_an_old_one) << "half of a new one";
      EXPECT_EQ(found_in(*file, 0, kFrozenKeys), kFrozenKeys);
    }
    EXPECT_EQ(file->inserted(), kFrozenKeys);
    const VerifyReport report = Files(os).verify(kPath);
    EXPECT_TRUE(report.ok() && report.state == VerifyReport::State::clean) << report.detail;
    return fresh;
  }
  FakeOs before_;
};
INSTANTIATE_TEST_SUITE_P(, FrozenOnTheMachine,
                         testing::Values(Building{false, kFrozenKeys}, Building{true, kFrozenKeys},
                                         Building{false, 700}, Building{true, 700}),
                         [](const auto& param) {
                           return std::string(param.param.over_an_old_one ? "over_an_old_one"
                                                                          : "as_a_new_one") +
                                  (param.param.keys_in_memory < kFrozenKeys ? "_by_a_spool" : "");
                         });

// The keys that wait in a file are those that wait in memory, and that file has no name.
TEST(FrozenSpool, HasTheKeysOfTheSet) {
  FakeOs os;
  std::vector<std::byte> in_memory;
  for (const std::uint64_t most : {kFrozenKeys * 2, std::uint64_t{700}, std::uint64_t{1}}) {
    auto file = Files(os, most).rebuild(kPath, kFrozen);
    for (std::uint64_t key = 0; key < kFrozenKeys; key += 100) add(file, key, 100);
    add(file, 500, 1'000);  // again
    // The new filter, the one that it replaces, and the spool.
    EXPECT_EQ(os.open_files(), in_memory.empty() ? 1U : 3U);
    file.close();
    EXPECT_EQ(os.names(), 1U);
    EXPECT_EQ(os.open_files(), 0U);
    const auto bytes = encode(Files(os).open(kPath).frozen());
    if (in_memory.empty()) in_memory = bytes;
    EXPECT_EQ(bytes, in_memory) << most;
  }
}

// Keys of a spool that cannot be read are still there for another try; what cannot be written stays in memory.
TEST(FrozenSpool, ThatFailsLosesNoKey) {
  std::size_t errors = 0, kept = 0;
  for (std::uint64_t call = 1; call <= 40; ++call)
    for (const int error : {EIO, ENOSPC}) {
      FakeOs os;
      auto file = Files(os, 700).rebuild(kPath, kFrozen);
      os.inject({.at = os.calls() + call, .error = error});
      add(file, 0, kFrozenKeys);
      try {
        file.close();
        ++kept;
      } catch (const Error&) {
        ++errors;
        file.close();
      }
      os.inject({});
      const FilterFile reader = Files(os).open(kPath);
      ASSERT_EQ(found_in(reader, 0, kFrozenKeys), kFrozenKeys) << "call " << call;
      EXPECT_EQ(reader.inserted(), kFrozenKeys);
      EXPECT_EQ(os.names(), 1U);
    }
  EXPECT_GT(errors, 10U);
  EXPECT_GT(kept, 10U);
}

TEST_P(FrozenOnTheMachine, IsOldOrNewWhereverItStops) {
  std::size_t old_ones = 0, new_ones = 0;
  stop_at_every_call(
      before_, 4, 64 << 10, [&](FakeOs& os) { build(os, 10'000); },
      [&](FakeOs& after, int) {
        ++(expect_old_or_new(after) ? new_ones : old_ones);
        build(after, 10'000);  // what is left of it is in nobody's way
        EXPECT_TRUE(expect_old_or_new(after));
        EXPECT_EQ(after.names(), 1U);
      });
  EXPECT_GT(old_ones, 50U);
  EXPECT_GT(new_ones, 3U);
}

TEST_P(FrozenOnTheMachine, IsOldOrNewWhateverFails) {
  EXPECT_GT(fail_at_every_call(
                before_, [&](FakeOs& os) { build(os, 10'000); },
                [&](FakeOs& after) { expect_old_or_new(after); }),
            20U);
}

}  // namespace
}  // namespace bloomery::test
