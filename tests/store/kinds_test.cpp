// Files of the kinds other than plain, as their users see them.
#include "format/kinds.hpp"
#include "format/header_bytes.hpp"
#include "store/files.hpp"
#include "store/kinds.hpp"

#include "format/layout.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <numeric>
#include <vector>

namespace bloomery::test {
namespace {

class KindFile : public KindAndLevel {
 protected:
  [[nodiscard]] FilterFile create() const {
    return FilterFile::create(path_, kind().plan, {.durability = durability()});
  }
  [[nodiscard]] FilterFile reopen() const {
    return FilterFile::open(path_, {.access = Access::write, .durability = durability()});
  }
  Scratch scratch_{fast_place()};
  std::string path_ = scratch_ / "seen.bloom";
};

INSTANTIATE_TEST_SUITE_P(, KindFile, at_every_level(kind_cases()), kNameOfBoth);

// Batches of all sizes around those of sectors and of the journal, over many sessions.
TEST_P(KindFile, AgreesWithItsModelOverSessions) {
  KindModel model(kind().plan);
  RandomOperations random(kind(), 1, 700);
  auto file = create();
  for (const std::size_t count : {1, 28, 29, 30, 57, 58, 900, 928, 929, 3000, 5, 1, 1, 700}) {
    const Operations operations = random(count);
    perform(file, operations);
    model.apply(operations);
    ASSERT_EQ(image_of(file), model.image()) << count;
    if (count % 2 == 0) {
      file.sync();
      ASSERT_EQ(image_of(file), model.image());
    }
    if (count > 500 || count == 30) {
      file.close();
      EXPECT_EQ(image_of(file), model.image()) << "look-ups go on";
      EXPECT_EQ(verify(path_).state, VerifyReport::State::clean);
      EXPECT_TRUE(verify(path_).ok()) << verify(path_).detail;
      EXPECT_EQ(image_of(FilterFile::open(path_)), model.image());
      file = reopen();
      ASSERT_EQ(image_of(file), model.image());
    }
  }
  EXPECT_EQ(scratch_.files(), 1U);
}

// Keys are found as long as they are there, whatever happens to handles and processes.
TEST_P(KindFile, KeepsItsLawsOverSessions) {
  std::map<std::uint64_t, int> counts;           // of a counting filter
  std::deque<std::uint64_t> last;                // of a window of insertions, the newest at the end
  std::map<std::uint64_t, std::uint64_t> times;  // of a window of seconds
  std::uint64_t now = 1000;
  const auto expect_all = [&](const FilterFile& file) {
    for (const auto& [key, count] : counts) {
      ASSERT_TRUE(count == 0 || file.may_contain(key)) << key;
      if (file.kind() == Kind::counting) {
        ASSERT_GE(file.counting().count_at_most(key), static_cast<std::uint64_t>(count));
      }
    }
    for (const std::uint64_t key : last) ASSERT_TRUE(file.may_contain(key)) << key;
    for (const auto& [key, time] : times) ASSERT_TRUE(now - time >= 90 || file.may_contain(key));
  };
  Random random(5);
  auto file = create();
  for (int step = 1; step <= 1500; ++step) {
    const std::uint64_t key = random.below(300);
    if (kind().counts() && counts[key] > 0 && random.below(2) == 0) {
      ASSERT_TRUE(file.remove(key));
      --counts[key];
    } else {
      file.insert(key);
      if (const auto* window = std::get_if<WindowPlan>(&kind().plan)) {
        if (window->unit == WindowUnit::seconds) times[key] = now;
        if (window->unit == WindowUnit::insertions) last.push_back(key);
        if (last.size() > window->window) last.pop_front();
      } else {
        ++counts[key];
      }
    }
    if (kind().has_time() && step % 7 == 0) file.advance(now += random.below(9));
    if (step % 300 == 0) {
      file.close();
      expect_all(FilterFile::open(path_));
      file = reopen();
    }
    if (step % 100 == 0) expect_all(file);
  }
}

TEST_P(KindFile, KeepsItsParametersAndAnswersAsItsModel) {
  const Hasher hasher(HashFamily::siphash, {.low = 7, .high = 9});
  KindModel model(kind().plan, hasher);
  std::string identity;
  {
    auto file =
        FilterFile::create(path_, kind().plan, {.hasher = hasher, .durability = durability()});
    identity = file.identity();
    RandomOperations random(kind(), 3, 200);
    std::uint64_t fresh = 0;
    for (const Operation& operation : random(300)) {
      const bool wanted = model.apply(operation);
      if (operation.what == Operation::insert) {
        ASSERT_EQ(file.insert(operation.key), wanted);
        fresh += file.kind() == Kind::window || wanted;
      }
      if (operation.what == Operation::remove) {
        ASSERT_EQ(file.remove(operation.key), wanted);
      }
      if (operation.what == Operation::advance) file.advance(operation.key);
    }
    EXPECT_EQ(file.inserted(), fresh);
  }
  const auto reader = FilterFile::open(path_);
  EXPECT_EQ(reader.identity(), identity);
  EXPECT_EQ(reader.hasher().seed(), hasher.seed());
  EXPECT_EQ(image_of(reader), model.image());
  std::vector<std::uint64_t> keys(400);
  std::iota(keys.begin(), keys.end(), 0);
  std::array<bool, 400> found;
  std::size_t count = 0;
  for (const std::uint64_t key : keys) {
    EXPECT_EQ(reader.may_contain(key), model.may_contain(key)) << key;
    count += model.may_contain(key);
  }
  EXPECT_EQ(reader.may_contain_many(keys, found), count);
  for (const std::uint64_t key : keys) EXPECT_EQ(found[key], model.may_contain(key));
}

TEST_P(KindFile, IsFollowedByReadersAndKeptFromOtherWriters) {
  RandomOperations random(kind(), 2, 300);
  auto file = create();
  auto reader = FilterFile::open(path_);
  EXPECT_FALSE(reader.reload());
  for (const std::size_t count : {1, 3, 40, 29, 1, 2000, 10, 300, 2}) {
    perform(file, random(count));
    if (durability() == Durability::none) file.sync();
    EXPECT_TRUE(reader.reload());
    ASSERT_EQ(image_of(reader), image_of(file));
    EXPECT_FALSE(reader.reload());
    ASSERT_EQ(image_of(FilterFile::open(path_)), image_of(file));
    const VerifyReport report = verify(path_);
    // After a load of more than the journal takes there is no journal until the next operation.
    if (report.state != VerifyReport::State::clean || count < 2000) {
      EXPECT_EQ(report.state, durability() == Durability::none ? VerifyReport::State::clean
                                                               : VerifyReport::State::in_use);
    }
    EXPECT_TRUE(report.damaged_chunks.empty());
  }
  for (const Durability other : kDurabilities)
    EXPECT_EQ(
        code_of([&] { FilterFile::open(path_, {.access = Access::write, .durability = other}); }),
        ErrorCode::locked);
  EXPECT_EQ(code_of([&] { reader.insert(1); }), ErrorCode::read_only);
  EXPECT_EQ(code_of([&] { reader.remove(1); }), ErrorCode::read_only);
  EXPECT_EQ(code_of([&] { reader.advance(1); }), ErrorCode::read_only);
  EXPECT_EQ(code_of([&] { reader.set_back(1); }), ErrorCode::read_only);
  EXPECT_EQ(code_of([&] { reader.insert_hashes(hashes_of(Hasher(), 0, 2)); }),
            ErrorCode::read_only);
  EXPECT_NO_THROW(reader.sync()) << "it has nothing to sync";
  EXPECT_NO_THROW(reader.end_load());
  EXPECT_FALSE(file.reload()) << "a writer has the file that is there";
  // In memory or mapped, it is one piece.
  const auto bytes = read_bytes(path_);
  const detail::Header header =
      detail::decode_headers(std::span(bytes).first(detail::kBitsAt), bytes.size(), "f").header;
  for (const bool closes : {false, true}) {
    if (closes) reader.close();
    const auto data = detail::Files::data(reader);
    ASSERT_EQ(data.size(), 1U);
    EXPECT_EQ(data[0].from, 0U);
    EXPECT_EQ(data[0].to, detail::payload_bytes(header)) << closes;
  }
  reader = FilterFile::open(path_);
  file.close();
  reader.reload();
  EXPECT_EQ(image_of(reader), image_of(file));
  EXPECT_EQ(code_of([&] { file.insert(1); }), ErrorCode::read_only);
}

TEST_P(KindFile, IsRebuiltAndSeenAtOnce) {
  create().insert(1);
  auto reader = FilterFile::open(path_);
  {
    auto next = FilterFile::rebuild(path_, kind().plan);
    RandomOperations random(kind(), 2, 300);
    KindModel model(kind().plan);
    const Operations operations = random(2000);
    perform(next, operations);
    model.apply(operations);
    EXPECT_FALSE(reader.reload());
    EXPECT_TRUE(reader.may_contain(1));
    next.close();
    EXPECT_TRUE(reader.reload());
    EXPECT_EQ(image_of(reader), model.image());
    EXPECT_TRUE(verify(path_).ok());
  }
  FilterFile::rebuild(path_, plan_of(Layout::blocked)).close();
  EXPECT_TRUE(reader.reload());
  EXPECT_EQ(reader.kind(), Kind::plain);
  (void)FilterFile::rebuild(path_, kind().plan);  // dropped
  EXPECT_FALSE(reader.reload());
  EXPECT_EQ(scratch_.files(), 1U);
}

TEST_P(KindFile, TakesOverFromEveryDurability) {
  KindModel model(kind().plan);
  RandomOperations random(kind(), 4, 300);
  create().close();
  for (const Durability other :
       {Durability::sync, Durability::none, Durability::process, durability()}) {
    auto file = FilterFile::open(path_, {.access = Access::write, .durability = other});
    const Operations operations = random(100);
    perform(file, operations);
    model.apply(operations);
    file.sync();
    const Operations more = random(100);
    perform(file, more);
    model.apply(more);
  }
  EXPECT_EQ(image_of(FilterFile::open(path_)), model.image());
}

class AnyKind : public testing::TestWithParam<KindCase> {
 protected:
  Scratch scratch_{fast_place()};
  std::string path_ = scratch_ / "seen.bloom";
};
INSTANTIATE_TEST_SUITE_P(, AnyKind, testing::ValuesIn(kind_cases()), kNameOfOne);

TEST_P(AnyKind, RefusesWhatOnlyOthersCanDo) {
  auto file = FilterFile::create(path_, GetParam().plan);
  const auto refused = [&](const auto& call) { return code_of(call) == ErrorCode::wrong_kind; };
  EXPECT_TRUE(refused([&] { (void)file.view(); }));
  EXPECT_TRUE(refused([&] { file.merge(Filter(plan_of(Layout::blocked))); }));
  if (file.kind() != Kind::counting) {
    EXPECT_TRUE(refused([&] { file.remove(1); }));
    EXPECT_TRUE(refused([&] { (void)file.counting(); }));
    EXPECT_TRUE(refused([&] { file.merge(CountingFilter(100, 0.01)); }));
  } else {
    EXPECT_EQ(code_of([&] { file.merge(CountingFilter(100, 0.01)); }), ErrorCode::mismatch);
    EXPECT_EQ(code_of([&] { file.merge_bytes(0, file.counting().bytes()); }),
              ErrorCode::invalid_argument);
  }
  if (file.kind() != Kind::scalable) {
    EXPECT_TRUE(refused([&] { (void)file.scalable(); }));
  }
  if (file.kind() != Kind::window) {
    EXPECT_TRUE(refused([&] { (void)file.window(); }));
    EXPECT_TRUE(refused([&] { file.advance(1); }));
    EXPECT_TRUE(refused([&] { file.set_back(1); }));
  }
  EXPECT_TRUE(file.insert(1)) << "and goes on";
}

TEST(PlainFile, RefusesWhatOnlyOthersCanDo) {
  Scratch scratch(fast_place());
  auto file = FilterFile::create(scratch / "f", plan_of(Layout::blocked));
  const auto refused = [&](const auto& call) { return code_of(call) == ErrorCode::wrong_kind; };
  EXPECT_TRUE(refused([&] { file.remove(1); }));
  EXPECT_TRUE(refused([&] { file.advance(1); }));
  EXPECT_TRUE(refused([&] { file.set_back(1); }));
  EXPECT_TRUE(refused([&] { file.merge(CountingFilter(100, 0.01)); }));
  EXPECT_TRUE(refused([&] { (void)file.counting(); }));
  EXPECT_TRUE(refused([&] { (void)file.scalable(); }));
  EXPECT_TRUE(refused([&] { (void)file.window(); }));
  EXPECT_EQ(
      code_of([&] { FilterFile::create(scratch / "g", CountingPlan{plan_of(Layout::blocked)}); }),
      ErrorCode::invalid_argument);
}

// The bits of a counting filter's plain model have a file too, at every durability.
TEST(PlainFile, TakesTheLayoutsOfCountingFilters) {
  Scratch scratch(fast_place());
  CountingFilter counting(1000, 0.01);
  for (std::uint64_t key = 0; key < 500; ++key) counting.insert(key);
  const Filter plain = counting.to_plain();
  for (const Durability durability : kDurabilities) {
    const std::string path = scratch / name_of(durability);
    auto file = FilterFile::create(path, plain.plan(), {.durability = durability});
    for (std::uint64_t key = 0; key < 250; ++key) file.insert(key);
    file.merge(plain);
    file.close();
    EXPECT_TRUE(std::ranges::equal(FilterFile::open(path).view().bytes(), plain.bytes()));
    EXPECT_TRUE(verify(path).ok());
  }
}

TEST_P(AnyKind, MindsDamageAndIsSalvaged) {
  const KindCase kind = GetParam();
  RandomOperations random(kind, 9, 300);
  KindModel model(kind.plan);
  {
    auto file = FilterFile::create(path_, kind.plan, {.durability = Durability::none});
    const Operations operations = random(400);
    perform(file, operations);
    model.apply(operations);
  }
  auto bytes = read_bytes(path_);
  const std::string out = scratch_ / "saved.bloom";
  EXPECT_EQ(salvage(path_, out).filled_chunks, 0U);
  EXPECT_EQ(image_of(FilterFile::open(out)), model.image());
  bytes[detail::kBitsAt + 100] ^= std::byte{1};
  write_bytes(path_, bytes);
  EXPECT_EQ(verify(path_).damaged_chunks, std::vector<std::uint64_t>{0});
  for (const Durability durability : kDurabilities)
    EXPECT_EQ(code_of([&] {
                FilterFile::open(path_, {.access = Access::write, .durability = durability});
              }),
              ErrorCode::corrupt);
  const SalvageReport report = salvage(path_, out, true);
  EXPECT_EQ(report.filled_chunks, 1U);
  EXPECT_EQ(report.current_fpr, 1);
  EXPECT_TRUE(verify(out).ok());
  auto file = FilterFile::open(out, {.access = Access::write});
  for (std::uint64_t key = 0; key < 300; ++key) EXPECT_TRUE(file.may_contain(key));
  if (kind.counts()) {
    EXPECT_EQ(file.counting().saturated_counters(), file.counting().plan().bits);
    EXPECT_TRUE(file.remove(1)) << "which changes nothing";
    EXPECT_TRUE(file.may_contain(1));
    EXPECT_EQ(file.counting().count_at_most(1), kUncounted);
  }
}

}  // namespace
}  // namespace bloomery::test
