// The child of a fork neither writes into its parent's file nor gives up its lock.
#include <functional>
#include <memory>

#include "store/kinds.hpp"
#include "support/in_child.hpp"

namespace bloomery::test {
namespace {

class ForkedWriter : public KindAndLevel {
 protected:
  // A child tries what changes the file, and destroys the handle.
  void expect_left_alone(std::unique_ptr<FilterFile>& file) const {
    EXPECT_TRUE(in_child([&] {
      const auto refused = [&](const std::function<void()>& call) {
        return code_of(call) == ErrorCode::inherited;
      };
      const bool held = refused([&] { file->insert(2); }) && refused([&] {
                          file->insert_many(std::vector<std::uint64_t>{3, 4});
                        }) &&
                        refused([&] { file->close(); });
      file.reset();
      return held && code_of([&] { (void)FilterFile::open(path_, {.access = Access::write}); }) ==
                         ErrorCode::locked;
    }));
  }
  Scratch scratch_;
  std::string path_ = scratch_ / "seen.bloom";
};
INSTANTIATE_TEST_SUITE_P(, ForkedWriter, at_every_level(all_kind_cases()), kNameOfBoth);

TEST_P(ForkedWriter, LeavesTheFileToTheParent) {
  auto file = std::make_unique<FilterFile>(
      FilterFile::create(path_, kind().plan, {.durability = durability()}));
  file->insert(1);
  for (std::uint64_t round = 0; round < 3; ++round) {
    expect_left_alone(file);
    file->insert(10 + round);
  }
  file->close();
  EXPECT_TRUE(verify(path_).ok());
  const auto found = FilterFile::open(path_);
  for (const std::uint64_t key : {1, 10, 11, 12}) EXPECT_TRUE(found.may_contain(key)) << key;
  EXPECT_EQ(found.inserted(), 4U);
}

TEST_P(ForkedWriter, LeavesARebuildToTheParent) {
  FilterFile::create(path_, kind().plan).close();
  auto file = std::make_unique<FilterFile>(FilterFile::rebuild(path_, kind().plan));
  file->insert(1);
  expect_left_alone(file);
  file->insert(10);
  file->close();
  EXPECT_EQ(FilterFile::open(path_).inserted(), 2U);
  EXPECT_EQ(scratch_.files(), 1U);
}

TEST(ForkedSharedWriter, LeavesTheFileToTheOthers) {
  const Scratch scratch;
  const std::string path = scratch / "seen.bloom";
  const auto opened = [&] {
    return std::make_unique<FilterFile>(FilterFile::open_or_create(
        path, plan(1000, 0.001), {.durability = Durability::process, .shared = true}));
  };
  auto file = opened();
  file->insert(1);
  EXPECT_TRUE(in_child([&] {
    if (code_of([&] { file->insert(2); }) != ErrorCode::inherited) return false;
    file.reset();
    opened()->insert(3);
    return code_of([&] { (void)FilterFile::open(path, {.access = Access::write}); }) ==
           ErrorCode::locked;
  }));
  file->insert(10);
  file->close();
  EXPECT_TRUE(verify(path).ok());
  EXPECT_EQ(FilterFile::open(path).inserted(), 3U);
}

}  // namespace
}  // namespace bloomery::test
