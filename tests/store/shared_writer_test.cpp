// Several writers of one plain filter.
#include <sys/wait.h>
#include <unistd.h>
#include <bloomery/bloomery.hpp>

#include "store/fake_os.hpp"
#include "store/kinds.hpp"
#include "store/scratch.hpp"
#include "support/expect_error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace bloomery::test {
namespace {

using FileState = VerifyReport::State;
constexpr OpenOptions kShared{
    .access = Access::write, .durability = Durability::process, .shared = true};
constexpr OpenOptions kAlone{.access = Access::write, .durability = Durability::process};

class SharedWriter : public testing::Test {
 protected:
  void make(const FilterPlan& plan) const {
    std::filesystem::remove(path_);
    FilterFile::create(path_, plan).close();
  }
  [[nodiscard]] FilterFile share() const { return FilterFile::open(path_, kShared); }
  Scratch scratch_;
  std::string path_ = scratch_ / "seen.bloom";
};

TEST_F(SharedWriter, SeesWhatOthersInsertAndTheLastOneLeavesACleanFile) {
  make(plan(10'000, 0.001));
  auto one = share(), two = share();
  auto reader = FilterFile::open(path_);
  EXPECT_TRUE(one.insert("a"));
  EXPECT_FALSE(two.insert("a"));
  const std::vector<std::uint64_t> keys = {1, 2, 3};
  EXPECT_EQ(two.insert_many(keys), 3U);
  EXPECT_EQ(one.may_contain_many(keys), 3U);
  EXPECT_EQ(reader.may_contain_many(keys), 3U);
  EXPECT_TRUE(reader.may_contain("a"));
  EXPECT_EQ(one.inserted(), 1U);
  EXPECT_EQ(two.inserted(), 3U);
  EXPECT_EQ(verify(path_).state, FileState::in_use);

  one.close();
  one.close();
  EXPECT_EQ(one.may_contain_many(keys), 3U);
  expect_error(ErrorCode::read_only, {"closed"}, [&] { one.insert("b"); });
  EXPECT_EQ(verify(path_).state, FileState::in_use);
  reader.reload();
  EXPECT_EQ(reader.inserted(), 1U) << "what one has counted";
  two.sync();
  EXPECT_EQ(two.inserted(), 4U) << "with what the other has counted";
  EXPECT_TRUE(two.insert("b"));
  two.close();
  const VerifyReport report = verify(path_);
  EXPECT_EQ(report.state, FileState::clean);
  EXPECT_TRUE(report.ok()) << report.detail;
  EXPECT_EQ(FilterFile::open(path_).inserted(), 5U);
  EXPECT_EQ(scratch_.files(), 1U);
}

TEST_F(SharedWriter, AndAWriterAloneKeepEachOtherOut) {
  make(plan(1000, 0.01));
  {
    const auto one = share();
    expect_error(ErrorCode::locked, {"several share it"}, [&] { FilterFile::open(path_, kAlone); });
    expect_error(ErrorCode::locked, {},
                 [&] { FilterFile::create(path_, plan(10, 0.1), {.replace = true}); });
    expect_error(ErrorCode::locked, {}, [&] { FilterFile::rebuild(path_, plan(10, 0.1)); });
  }
  auto alone = FilterFile::open(path_, kAlone);
  expect_error(ErrorCode::locked, {"open alone"}, [&] { (void)share(); });
  alone.close();
  EXPECT_TRUE(share().insert("a"));
  EXPECT_TRUE(FilterFile::open(path_, kAlone).may_contain("a"));
}

TEST_F(SharedWriter, IsOfPlainFiltersAtOneLevel) {
  for (const KindCase& kind : all_kind_cases()) {
    make(kind.plan);
    if (kind_of(kind.plan) == Kind::plain) {
      EXPECT_TRUE(share().insert("a"));
    } else {
      expect_error(ErrorCode::wrong_kind, {"share plain"}, [&] { (void)share(); });
      expect_error(ErrorCode::wrong_kind, {"share"}, [&] {
        FilterFile::create(scratch_ / "new", kind.plan,
                           {.durability = Durability::process, .shared = true});
      });
      EXPECT_EQ(scratch_.files(), 1U);
    }
    EXPECT_TRUE(verify(path_).ok());
  }
  make(plan(1000, 0.01));
  for (const Durability durability : {Durability::none, Durability::sync}) {
    const CreateOptions options{.durability = durability, .shared = true};
    expect_error(ErrorCode::invalid_argument, {"process"}, [&] {
      FilterFile::open(path_, {.access = Access::write, .durability = durability, .shared = true});
    });
    expect_error(ErrorCode::invalid_argument, {"process"},
                 [&] { FilterFile::create(scratch_ / "new", plan(10, 0.1), options); });
    expect_error(ErrorCode::invalid_argument, {"process"},
                 [&] { FilterFile::open_or_create(path_, plan(10, 0.1), options); });
  }
  auto one = share();
  expect_error(ErrorCode::wrong_kind, {"alone"}, [&] { one.merge(Filter(plan(1000, 0.01))); });
}

TEST_F(SharedWriter, CreatesWhereThereIsNone) {
  const CreateOptions options{.durability = Durability::process, .shared = true};
  auto one = FilterFile::open_or_create(path_, plan(1000, 0.01), options);
  auto two = FilterFile::open_or_create(path_, plan(1000, 0.01), options);
  expect_error(ErrorCode::mismatch, {},
               [&] { FilterFile::open_or_create(path_, plan(2000, 0.01), options); });
  EXPECT_TRUE(two.insert("a"));
  EXPECT_TRUE(one.may_contain("a"));
  EXPECT_TRUE(one.insert("b"));
  one.close();
  EXPECT_EQ(two.inserted(), 1U);
  two.close();
  EXPECT_EQ(two.inserted(), 2U) << "with what the other has counted";
  EXPECT_TRUE(verify(path_).ok());
  EXPECT_EQ(scratch_.files(), 1U);
}

// Processes that do work(i), each with its own i.
std::vector<pid_t> in_processes(std::uint64_t count,
                                const std::function<void(std::uint64_t)>& work) {
  std::vector<pid_t> processes;
  for (std::uint64_t i = 0; i < count; ++i) {
    const pid_t process = ::fork();
    if (process == 0) {
      try {
        work(i);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        ::_exit(1);
      }
      ::_exit(0);
    }
    EXPECT_GT(process, 0);
    processes.push_back(process);
  }
  return processes;
}
void expect_success(const std::vector<pid_t>& processes) {
  for (const pid_t process : processes) {
    int status = 0;
    ASSERT_EQ(::waitpid(process, &status, 0), process);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

// Workers start at the same time, and each may be the one that makes the file.
TEST_F(SharedWriter, IsMadeByOneOfManyAtOnce) {
  constexpr std::uint64_t kProcesses = 8;
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    std::filesystem::remove(path_);
    expect_success(in_processes(kProcesses, [&](std::uint64_t i) {
      auto file = FilterFile::open_or_create(path_, plan(1'000'000, 0.001),
                                             {.durability = Durability::process, .shared = true});
      file.insert(i);
      file.close();
    }));
    EXPECT_EQ(missing(FilterFile::open(path_).view(), 0, kProcesses), 0U);
    EXPECT_EQ(scratch_.files(), 1U);
  }
}

TEST_F(SharedWriter, DoesNotVouchForDamage) {
  make(plan(1'000'000, 0.001));
  std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary).seekp(500'000).put('x');
  expect_error(ErrorCode::corrupt, {"salvage"}, [&] { (void)share(); });
  EXPECT_EQ(verify(path_).damaged_chunks.size(), 1U);
}

TEST_F(SharedWriter, RepairsACopyOfTheHeader) {
  constexpr std::size_t kCopy = 4096;
  make(plan(1000, 0.01));
  auto one = share();
  one.sync();
  const auto whole = read_bytes(path_);
  for (const std::size_t copy : {std::size_t{0}, kCopy}) {
    std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary)
        .seekp(static_cast<std::streamoff>(copy))
        .write(std::string(kCopy, 'x').data(), kCopy);
    one.sync();
    const auto bytes = read_bytes(path_);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.begin() + kCopy, bytes.begin() + kCopy)) << copy;
  }
  const auto before = read_bytes(path_);
  one.sync();
  EXPECT_EQ(read_bytes(path_), before) << "nothing has changed";
}

// Whatever call fails, who has opened it lets others in.
TEST(SharedOnTheMachine, IsSharedOnceItIsOpen) {
  FakeOs before(96 * 1024);
  Files(before).create(kFakePath, plan_of(Layout::blocked)).close();
  const auto sane = before.after_kill();
  (void)Files(*sane).open(kFakePath, kShared);
  std::uint64_t refused = 0;
  for (std::uint64_t call = 1; call <= sane->calls(); ++call) {
    const auto os = before.after_kill();
    os->inject({.at = call, .error = EAGAIN});
    try {
      const auto one = Files(*os).open(kFakePath, kShared);
      os->inject({});
      EXPECT_NO_THROW((void)Files(*os).open(kFakePath, kShared)) << call;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 5U);
}

TEST_F(SharedWriter, LosesItsFileWithAnError) {
  make(plan(1000, 0.01));
  auto one = share(), two = share();
  std::filesystem::rename(path_, path_ + ".moved");
  one.insert("a");
  one.close();
  EXPECT_TRUE(two.may_contain("a"));
  std::filesystem::remove(path_ + ".moved");
  two.insert("b");
  expect_error(ErrorCode::missing, {"removed"}, [&] { two.close(); });
  EXPECT_NO_THROW(two.close()) << "it has let go of the file";
}

// They also meet where they open and close.
TEST_F(SharedWriter, EightProcessesLoseNoKey) {
  constexpr std::uint64_t kProcesses = 8, kKeysOfEach = 20'000, kSessions = 4;
  make(plan(kProcesses * kKeysOfEach, 0.001));
  const auto processes = in_processes(kProcesses, [&](std::uint64_t i) {
    std::vector<std::uint64_t> keys(kKeysOfEach / kSessions);
    for (std::uint64_t session = 0; session < kSessions; ++session) {
      std::iota(keys.begin(), keys.end(), i * kKeysOfEach + session * keys.size());
      auto file = share();
      if (session % 2 == 0)
        file.insert_many(keys);
      else
        for (const std::uint64_t key : keys) file.insert(key);
      if (file.may_contain_many(keys) != keys.size()) throw std::runtime_error("a key is lost");
      file.close();
    }
  });
  const auto reader = FilterFile::open(path_);
  while (!reader.may_contain(kKeysOfEach - 1)) ::usleep(1000);
  expect_success(processes);
  EXPECT_EQ(missing(reader.view(), 0, kProcesses * kKeysOfEach), 0U);
  const VerifyReport report = verify(path_);
  EXPECT_EQ(report.state, FileState::clean);
  EXPECT_TRUE(report.ok()) << report.detail;
  // A key is not counted if it seems to be there, at most 1 in 1000: 160 are expected at most, and 1600 have a
  // probability below 1e-300 (Chernoff).
  EXPECT_GT(FilterFile::open(path_).inserted(), kProcesses * kKeysOfEach / 100 * 99);
  EXPECT_LE(FilterFile::open(path_).inserted(), kProcesses * kKeysOfEach / 100 * 101);
}

}  // namespace
}  // namespace bloomery::test
