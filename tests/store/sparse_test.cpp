// Small files that claim to be large filters: their holes cost neither memory nor disk, in any state and
// by any way in. They may be forged, or a copy of an empty filter that `cp` made sparse.
#include "store/disk/holes.hpp"

#include <bloomery/any_filter.hpp>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/endian.hpp"
#include "format/journal.hpp"
#include "format/kinds.hpp"
#include "plan/fuse_geometry.hpp"
#include "store/disk/new_file.hpp"
#include "store/files.hpp"
#include "store/kinds.hpp"
#include "store/scratch.hpp"
#include "support/effort.hpp"
#include "support/used_memory.hpp"

#include <ostream>

namespace bloomery::test {
namespace {

namespace fs = std::filesystem;
using detail::Header;
using detail::State;

// What a file may cost is its sums (64 KiB), its journal (the least is 16 KiB), and for each block of a few
// keys 64 KiB or, in memory, a huge page of 2 MiB.
constexpr std::uint64_t kClaimed = std::uint64_t{512} << 20;
constexpr std::uint64_t kMostDisk = kClaimed / 128;
constexpr std::uint64_t kMostMemory = kClaimed / 4;
constexpr std::uint64_t kSparseKeys = 3;

// A list of one partition.
constexpr std::uint32_t kFingerprintBits = 7;
constexpr detail::PartitionGeometry kGeometry{
    .starts = static_cast<std::uint32_t>(kClaimed * 8 / kFingerprintBits >> 16),
    .segment_bits = 16};

std::vector<KindCase> large_kinds() {
  const std::uint64_t bits = kClaimed * 8;
  const auto capacity = bits / 10;
  const std::uint64_t list =
      8 * (detail::partition_table_bytes(1) + kGeometry.bytes(kFingerprintBits));
  const FrozenPlan frozen{
      {Layout::standard, list, 3, kGeometry.cells() / 2, 0.01}, 1, kFingerprintBits};
  FrozenPlan with_delta = frozen;
  with_delta.delta = Plan{Layout::blocked, bits, 6, capacity, 0.001};
  return {{"plain", Plan{Layout::blocked, bits, 6, capacity, 0.01}},
          {"standard", Plan{Layout::standard, bits, 6, capacity, 0.01}},
          {"counting", CountingPlan{{Layout::blocked128, bits / 4, 6, capacity / 4, 0.01}}},
          {"scalable", scalable_plan(capacity, 0.01, 2)},
          {"window", window_plan(WindowUnit::insertions, capacity / 2, capacity / 2, 0.05, 3)},
          {"seconds", window_plan(WindowUnit::seconds, 3600, capacity / 2, 0.05, 3)},
          {"frozen", frozen},
          {"delta", with_delta}};
}

const char* text_of(State state) {
  constexpr const char* kTexts[] = {"clean", "mapped", "journaled", "merging", "failed", "noted"};
  return kTexts[static_cast<int>(state)];
}

struct SparseCase {
  KindCase kind;
  State state;
  bool right_sums;
};
// All states, for nobody keeps a forger from those that a kind does not have.
std::vector<SparseCase> sparse_cases() {
  std::vector<SparseCase> cases;
  for (const KindCase& kind : large_kinds())
    for (const bool right_sums : {true, false})
      for (const State state : {State::clean, State::mapped, State::journaled, State::merging,
                                State::failed, State::noted})
        cases.push_back({kind, state, right_sums});
  return cases;
}
// Whether a filter of the kind has the state while it can be read.
bool is_readable(const SparseCase& one) {
  if (detail::is_stored_in_place(one.kind.plan))
    return one.state != State::noted && one.state != State::failed;
  if (std::holds_alternative<FrozenPlan>(one.kind.plan)) return one.state == State::clean;
  return one.state == State::clean || one.state == State::journaled || one.state == State::noted;
}
void PrintTo(const SparseCase& one, std::ostream* out) {
  *out << one.kind.name << ' ' << text_of(one.state) << (one.right_sums ? "" : ", wrong sums");
}

// A sparse file, and what work with it costs.
class Cheap {
 protected:
  // Of everything in the directory.
  [[nodiscard]] std::uint64_t disk() const {
    std::uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(scratch_ / "")) {
      struct stat found {};
      if (::stat(entry.path().c_str(), &found) == 0)
        bytes += static_cast<std::uint64_t>(found.st_blocks) * 512;
    }
    return bytes;
  }
  // What a process that does this needs at most; an Error in it is an answer too. It starts with the pages of this one.
  void expect_cheap(const char* what, const std::function<void()>& work) const {
    SCOPED_TRACE(what);
    const std::uint64_t before = used_memory().resident;
    const pid_t child = ::fork();
    if (child == 0) {
      int code = 0;
      try {
        work();
      } catch (const Error&) {
      } catch (...) {
        code = 1;
      }
      ::_exit(disk() > kMostDisk ? 2 : code);
    }
    int status = 0;
    struct rusage used {};
    ::wait4(child, &status, 0, &used);
    EXPECT_EQ(status, 0) << "2 << 8: too much disk while it was open";
    // A sanitizer has memory of its own.
    EXPECT_TRUE(kSanitized ||
                static_cast<std::uint64_t>(used.ru_maxrss) * 1024 <= before + kMostMemory)
        << used.ru_maxrss << " KiB";
    EXPECT_LE(disk(), kMostDisk);
  }

  const Scratch scratch_;  // on a disk: a hole in memory reads as data
  const std::string path_ = scratch_ / "f";
};

class SparseFile : public testing::TestWithParam<SparseCase>, protected Cheap {
 protected:
  SparseFile() {
    Os& os = real_os();
    Header header = detail::header_of(GetParam().kind.plan, Hasher());
    header.plan = GetParam().kind.plan;  // of a list: the keys of an empty one are none
    header.state = GetParam().state;
    // The least journal, or the largest one that a header may have.
    if (detail::has_journal(header.state))
      header.journal_bytes = GetParam().right_sums ? detail::kMaxJournalBytes : 16384;
    header.boot = detail::this_boot(os);
    header.epoch = 1;
    const detail::FileLayout layout = detail::layout_of(header);
    detail::Sums sums = detail::sums_of_zeros(layout);
    detail::File file(os, path_, Os::Open::create);
    if (const auto* frozen = std::get_if<FrozenPlan>(&header.plan)) {
      header.inserted = frozen->array.capacity;
      write_table(file, *frozen, sums);
    }
    if (!GetParam().right_sums)
      for (std::uint64_t& sum : sums) sum = ~sum;
    header.total = detail::total_of(sums);
    detail::write_first_header(file, header);
    file.write(detail::encode_sums(sums), layout.sums_at);
    file.truncate(layout.journal_at + header.journal_bytes);
  }

  // The table of the list, which follows the delta; its cells are a hole.
  static void write_table(detail::File& file, const FrozenPlan& plan, detail::Sums& sums) {
    const std::uint64_t at = plan.delta ? plan.delta->bytes() : 0;
    std::vector<std::byte> chunk(detail::kChunkBytes);
    detail::store_le64(chunk.data(), detail::partition_table_bytes(1));
    detail::store_le64(chunk.data() + 8, plan.array.capacity);
    detail::store_le(chunk.data() + 24, kGeometry.starts);
    chunk[28] = std::byte{kGeometry.segment_bits};
    chunk[29] = std::byte{kFingerprintBits};
    file.write(std::span(chunk).first(detail::partition_table_bytes(1)), detail::kBitsAt + at);
    sums[at / detail::kChunkBytes] = detail::chunk_sum(at / detail::kChunkBytes, chunk);
  }
};
INSTANTIATE_TEST_SUITE_P(, SparseFile, testing::ValuesIn(sparse_cases()), [](const auto& param) {
  return std::string(param.param.kind.name) + "_" + text_of(param.param.state) +
         (param.param.right_sums ? "" : "_wrong_sums");
});

TEST_P(SparseFile, CostsWhatItHas) {
  expect_cheap("read", [&] {
    const auto file = FilterFile::open(path_);
    for (std::uint64_t key = 0; key < kSparseKeys; ++key) (void)file.may_contain(key);
    switch (file.kind()) {
      case Kind::plain:
        return (void)file.view().stats();
      case Kind::counting:
        return (void)file.counting().stats();
      case Kind::scalable:
        return (void)file.scalable().stats();
      case Kind::window:
        return (void)file.window().stats();
      case Kind::frozen:
        return (void)file.frozen().stats();
    }
  });
  expect_cheap("verify", [&] { (void)verify(path_); });
  expect_cheap("salvage", [&] { (void)salvage(path_, scratch_ / "out", true); });
  expect_cheap("exact statistics", [&] { (void)AnyFilter::open(path_).stats(Precision::exact); });
  const std::vector<std::string> both{path_, path_};
  expect_cheap("merge", [&] { (void)AnyFilter::merge(both, scratch_ / "out", true); });
  expect_cheap("convert", [&] { AnyFilter::convert(path_, scratch_ / "out", {.replace = true}); });
  fs::remove(scratch_ / "out");
  for (const Durability durability : kDurabilities)
    expect_cheap(("write, " + name_of(durability)).c_str(), [&] {
      auto file = FilterFile::open(path_, {.access = Access::write, .durability = durability});
      for (std::uint64_t key = 0; key < kSparseKeys; ++key) file.insert(key);
      if (disk() > kMostDisk) throw std::runtime_error("too much disk");
      file.close();
    });
  if (!GetParam().right_sums || !is_readable(GetParam())) return;
  if (GetParam().kind.plan.index() == FilterPlan(FrozenPlan()).index() &&
      !detail::has_delta(GetParam().kind.plan)) {
    EXPECT_EQ(verify(path_).detail, "");
    EXPECT_EQ(FilterFile::open(path_).inserted(), kGeometry.cells() / 2);
    return;
  }
  // The keys are there, and the sums are right.
  const auto file = FilterFile::open(path_);
  for (std::uint64_t key = 0; key < kSparseKeys; ++key) EXPECT_TRUE(file.may_contain(key));
  EXPECT_EQ(verify(path_).detail, "");
  if (file.kind() != Kind::plain && file.kind() != Kind::counting) return;
  (void)AnyFilter::merge(both, scratch_ / "out");
  const auto merged = FilterFile::open(scratch_ / "out");
  for (std::uint64_t key = 0; key < kSparseKeys; ++key) EXPECT_TRUE(merged.may_contain(key));
  EXPECT_EQ(merged.inserted(), kSparseKeys);
  EXPECT_EQ(verify(scratch_ / "out").detail, "");
}

// A rebuild does not look at the state or the sums of the old file.
class SparseOld : public SparseFile {};
std::vector<SparseCase> clean_cases() {
  std::vector<SparseCase> cases = sparse_cases();
  std::erase_if(cases,
                [](const SparseCase& one) { return one.state != State::clean || !one.right_sums; });
  return cases;
}
INSTANTIATE_TEST_SUITE_P(, SparseOld, testing::ValuesIn(clean_cases()),
                         [](const auto& param) { return std::string(param.param.kind.name); });

TEST_P(SparseOld, IsRebuiltForWhatItHas) {
  expect_cheap("rebuild", [&] {
    AnyFilter next = AnyFilter::rebuild(path_, GetParam().kind.plan);
    for (std::uint64_t key = 0; key < kSparseKeys; ++key) (void)next.insert(key);
    if (disk() > kMostDisk) throw std::runtime_error("too much disk");
    next.close();
  });
  const auto file = FilterFile::open(path_);
  for (std::uint64_t key = 0; key < kSparseKeys; ++key) EXPECT_TRUE(file.may_contain(key));
  EXPECT_EQ(verify(path_).detail, "");
}

// Windows of seconds that can be read, over which time passes.
class SparseWindow : public SparseFile {};
std::vector<SparseCase> sparse_windows() {
  std::vector<SparseCase> cases = sparse_cases();
  std::erase_if(cases, [](const SparseCase& one) {
    const auto* plan = std::get_if<WindowPlan>(&one.kind.plan);
    return plan == nullptr || plan->unit != WindowUnit::seconds || !one.right_sums ||
           !is_readable(one);
  });
  return cases;
}
INSTANTIATE_TEST_SUITE_P(, SparseWindow, testing::ValuesIn(sparse_windows()),
                         [](const auto& param) { return text_of(param.param.state); });

// Slices that are over are cleared only where they have ones, by readers in memory of their own.
TEST_P(SparseWindow, ForgetsForWhatItHas) {
  const auto* plan = std::get_if<WindowPlan>(&GetParam().kind.plan);
  const auto write = [&](std::uint64_t time, std::uint64_t key) {
    expect_cheap("write", [&] {
      AnyFilter file = AnyFilter::open(path_, Access::write);
      file.advance(time);
      (void)file.insert(key);
      file.close();
    });
  };
  const auto expect_at = [&](std::uint64_t time, bool first, bool second) {
    expect_cheap("read", [&] {
      AnyFilter file = AnyFilter::open(path_);
      // A reader of a new filter, of one that goes on, and of one whose time was wrong.
      for (const std::uint64_t now : {time / 2, time}) file.advance(now);
      (void)file.stats();
      if (file.may_contain(std::uint64_t{1}) != first ||
          file.may_contain(std::uint64_t{2}) != second)
        throw std::runtime_error("it forgets a slice too early, or too late");
    });
  };
  const std::uint64_t now = 2'000'000'000, slice = plan->slice_length();
  expect_at(now, false, false);
  write(now, 1);
  expect_at(now, true, false);
  write(now + slice, 2);
  expect_at(now + slice, true, true);
  expect_at(now + plan->window + slice, false, true);
  expect_at(now + 3 * plan->window, false, false);
  write(now + plan->window + slice, 3);
  expect_at(now + plan->window + slice, false, true);
  write(now + 3 * plan->window, 4);
  expect_at(now + 3 * plan->window, false, false);
}

// The bits of a PHP class, whose file is forged or a sparse copy too.
class SparsePhpBits : public testing::Test, protected Cheap {};

TEST_F(SparsePhpBits, CostWhatTheyHave) {
  const AnyOptions php{.scheme = PhpScheme::string_hashes("BKDR,SDBM,JS")};
  const std::vector<std::string> keys{"one key", "another", "a third"};
  const std::string out = scratch_ / "out";
  AnyFilter::create(path_, {}, php).insert_many(keys);
  fs::resize_file(path_, kClaimed - 1);
  std::ofstream(path_, std::ios::app) << '\1';  // so that a copy is as long
  const auto read = [&] { return AnyFilter::open(path_, Access::read, php); };
  expect_cheap("read", [&] { (void)read().may_contain_many(keys); });
  expect_cheap("statistics", [&] { (void)read().stats(); });
  expect_cheap("convert", [&] { AnyFilter::convert(path_, out, php); });
  EXPECT_EQ(std::system(("cmp " + path_ + " " + out).c_str()), 0);
  expect_cheap("write", [&] { AnyFilter::open(path_, Access::write, php).insert("one more"); });
  AnyFilter reader = read();
  EXPECT_EQ(reader.may_contain_many(keys), keys.size());
  EXPECT_TRUE(reader.may_contain("one more"));
  EXPECT_FALSE(reader.may_contain("no key"));
}

// The bits that a reader's file has lost are not taken for zeros: a process that reads them is stopped.
TEST(SparseFiles, AFileThatIsCutHasNoHoleThere) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  const Plan plan{Layout::blocked, 512 * 5'000, 6, 10'000, 0.01};
  FilterFile::create(path, plan).close();
  const auto file = FilterFile::open(path);
  const auto ranges = [&] {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
    for (const auto [from, to] : detail::Files::data(file)) all.emplace_back(from, to);
    return all;
  };
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> everything{{0, plan.bytes()}};
  fs::resize_file(path, fs::file_size(path) / 2);
  EXPECT_EQ(ranges(), everything);
  fs::resize_file(path, 0);
  EXPECT_EQ(ranges(), everything);
}

TEST(SparseFiles, HaveTheSumsOfTheirZeros) {
  const Plan plan{Layout::blocked, 512 * 5'000, 6, 10'000,
                  0.01};  // five chunks, the last one short
  const detail::FileLayout layout(plan);
  const detail::Sums zeros = detail::sums_of(std::vector<std::byte>(layout.bits_bytes));
  EXPECT_EQ(detail::sums_of_zeros(layout), zeros);
  const Scratch scratch;
  const std::string path = scratch / "f";
  Header header = detail::header_of(plan, Hasher());
  detail::File file(real_os(), path, Os::Open::create);
  detail::write_first_header(file, header);
  std::vector<std::byte> ones(detail::kChunkBytes, std::byte{1});
  file.write(ones, detail::kBitsAt + detail::kChunkBytes);
  file.truncate(layout.clean_bytes);
  detail::Holes holes(file, header);
  const std::vector<bool> expected{true, false, true, true, true};
  for (std::uint64_t chunk = 0; chunk < layout.chunks; ++chunk) {
    EXPECT_EQ(holes.has(chunk), expected[chunk]);
    EXPECT_TRUE(!holes.has(chunk) || holes.sum(chunk) == zeros[chunk]);
  }
  EXPECT_EQ(holes.data_bytes(), detail::kChunkBytes);
  // A chunk with holes in it is read, and needs room all the same.
  const auto allocated = [&] { return file.stat().allocated; };
  for (const std::uint64_t at : {2 * detail::kChunkBytes + 8192, 3 * detail::kChunkBytes})
    file.write(std::span(ones).first(4096), detail::kBitsAt + at);
  file.write(std::span(ones).first(4096), detail::kBitsAt + 2 * detail::kChunkBytes + 40'960);
  detail::Holes partly(file, header);
  EXPECT_EQ(partly.data_bytes(), 3 * detail::kChunkBytes) << "chunk 2 is counted once";
  ASSERT_EQ(partly.data().size(), 1U) << "chunks beside each other are one range";
  EXPECT_EQ(partly.data()[0].from, detail::kChunkBytes);
  EXPECT_EQ(partly.data()[0].to, 4 * detail::kChunkBytes);
  std::uint64_t before = allocated();
  partly.fill(&file, 1);
  EXPECT_EQ(allocated(), before) << "it has all of its room";
  for (const std::uint64_t chunk : {2, 3}) {
    EXPECT_FALSE(partly.has(chunk));
    partly.fill(&file, chunk);
    // The list of the file's ranges may take a block too.
    EXPECT_GE(allocated(), before + detail::kChunkBytes - (chunk == 2 ? 8192 : 4096)) << chunk;
    before = allocated();
  }
  file.truncate(detail::kBitsAt + 2 * detail::kChunkBytes);  // so that it would be seen
  file.truncate(layout.clean_bytes);
  before = allocated();
  partly.fill(&file, 2);
  EXPECT_EQ(allocated(), before) << "room is asked for once";
  holes.fill(&file, 4);
  EXPECT_FALSE(holes.has(4));
  for (std::uint64_t chunk = 0; chunk < layout.chunks; ++chunk) holes.fill(nullptr, chunk);
  EXPECT_TRUE(holes.none());
  const detail::Holes after(file, header);
  EXPECT_TRUE(after.has(0)) << "room in memory is none in the file";
}

}  // namespace
}  // namespace bloomery::test
