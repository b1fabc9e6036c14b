// Handles in a child process: what shares a file or a connection with the parent refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "c/handles.hpp"
#include "store/scratch.hpp"
#include "support/in_child.hpp"

namespace bloomery::test {
namespace {

class CFork : public testing::TestWithParam<std::uint32_t> {
 protected:
  [[nodiscard]] std::string path() const { return scratch_ / "f.bloom"; }
  Scratch scratch_;
};
INSTANTIATE_TEST_SUITE_P(, CFork,
                         testing::Values(BLOOMERY_PLAIN, BLOOMERY_COUNTING, BLOOMERY_SCALABLE,
                                         BLOOMERY_WINDOW));

TEST_P(CFork, AWriterBelongsToItsProcess) {
  const bloomery_spec spec = spec_of(GetParam());
  Handle file(bloomery_create(path().c_str(), &spec, nullptr, nullptr));
  insert(file, "before");
  EXPECT_TRUE(in_child([&] {
    bloomery_error error{};
    const int refused = -BLOOMERY_INHERITED;
    auto stats = sized<bloomery_stats>();
    const std::uint64_t number = 7;
    bool held = bloomery_insert(file.get(), "child", 5, &error) == refused &&
                error.code == BLOOMERY_INHERITED &&
                std::string(error.text).find(path()) != std::string::npos;
    held = held && bloomery_contains(file.get(), "before", 6, nullptr) == refused;
    held = held && bloomery_insert_u64s(file.get(), &number, 1, nullptr, nullptr) == refused;
    held = held && bloomery_contains_fixed(file.get(), "ab", 1, 2, nullptr, nullptr) == refused;
    held = held && bloomery_sync(file.get(), nullptr) == refused;
    held = held && bloomery_close(file.get(), nullptr) == refused;
    held = held && bloomery_get_stats(file.get(), false, &stats, nullptr) == refused;
    held = held && bloomery_encoded_size(file.get(), nullptr) == refused;
    held = held && bloomery_copy(file.get(), nullptr) == nullptr;
    bloomery_free(file.release());
    // The parent's lock holds in the child too.
    held = held && bloomery_open(path().c_str(), BLOOMERY_WRITE, nullptr, &error) == nullptr;
    return held && error.code == BLOOMERY_LOCKED;
  }));
  EXPECT_EQ(insert(file, "after"), 1);
  ASSERT_EQ(bloomery_close(file.get(), nullptr), 0);
  const Handle reader(bloomery_open(path().c_str(), BLOOMERY_READ, nullptr, nullptr));
  EXPECT_EQ(contains(reader, "before") + contains(reader, "after"), 2);
  EXPECT_EQ(contains(reader, "child"), 0);
}

TEST_P(CFork, AFilterThatIsBuiltBelongsToItsProcess) {
  const bloomery_spec spec = spec_of(GetParam());
  const Handle file(bloomery_rebuild(path().c_str(), &spec, nullptr, nullptr));
  insert(file, "key");
  EXPECT_TRUE(in_child(
      [&] { return bloomery_contains(file.get(), "key", 3, nullptr) == -BLOOMERY_INHERITED; }));
  ASSERT_EQ(bloomery_close(file.get(), nullptr), 0);
}

TEST_P(CFork, AReaderAndMemoryGoOnInBoth) {
  const bloomery_spec spec = spec_of(GetParam());
  {
    const Handle file(bloomery_create(path().c_str(), &spec, nullptr, nullptr));
    insert(file, "key");
  }
  Handle reader(bloomery_open(path().c_str(), BLOOMERY_READ, nullptr, nullptr));
  Handle memory = in_memory(GetParam());
  EXPECT_TRUE(in_child([&] {
    const bool held = contains(reader, "key") == 1 && insert(memory, "child") == 1 &&
                      contains(memory, "child") == 1;
    reader.reset();
    memory.reset();
    return held;
  }));
  EXPECT_EQ(contains(memory, "child"), 0);
  EXPECT_EQ(contains(reader, "key"), 1);
}

// However a handle in memory was made.
TEST_P(CFork, CopiesAndWhatWasDecodedGoOnInBoth) {
  const bloomery_spec spec = spec_of(GetParam());
  Handle file(bloomery_create(path().c_str(), &spec, nullptr, nullptr)),
      memory = in_memory(GetParam());
  insert(file, "key");
  insert(memory, "key");
  const std::vector<std::byte> bytes = encoded(memory);
  std::vector<Handle> handles;
  handles.emplace_back(bloomery_copy(memory.get(), nullptr));
  handles.emplace_back(bloomery_copy(file.get(), nullptr));
  handles.emplace_back(bloomery_decode(bytes.data(), bytes.size(), nullptr));
  EXPECT_TRUE(in_child([&] {
    return std::ranges::all_of(handles, [](const Handle& each) {
      return contains(each, "key") == 1 && insert(each, "child") == 1 &&
             contains(each, "child") == 1;
    });
  }));
  for (const Handle& each : handles) EXPECT_EQ(contains(each, "child"), 0);
}

// However a handle of a file that is written was made.
TEST_P(CFork, EveryWriterBelongsToItsProcess) {
  const bloomery_spec spec = spec_of(GetParam());
  Handle(bloomery_create(path().c_str(), &spec, nullptr, nullptr)).reset();
  for (const bool opens : {false, true}) {
    const Handle file(opens ? bloomery_open(path().c_str(), BLOOMERY_WRITE, nullptr, nullptr)
                            : bloomery_open_or_create(path().c_str(), &spec, nullptr, nullptr));
    ASSERT_EQ(insert(file, "key" + std::to_string(opens)), 1);
    EXPECT_TRUE(in_child([&] {
      return bloomery_insert(file.get(), "child", 5, nullptr) == -BLOOMERY_INHERITED &&
             bloomery_contains(file.get(), "key0", 4, nullptr) == -BLOOMERY_INHERITED;
    })) << opens;
  }
}

TEST_P(CFork, AChildOpensItsOwn) {
  const bloomery_spec spec = spec_of(GetParam());
  Handle file(bloomery_create(path().c_str(), &spec, nullptr, nullptr));
  insert(file, "parent");
  file.reset();
  EXPECT_TRUE(in_child([&] {
    Handle own(bloomery_open(path().c_str(), BLOOMERY_WRITE, nullptr, nullptr));
    const bool held = own && insert(own, "child") == 1;
    return bloomery_close(own.get(), nullptr) == 0 && held;
  }));
  const Handle reader(bloomery_open(path().c_str(), BLOOMERY_READ, nullptr, nullptr));
  EXPECT_EQ(contains(reader, "parent") + contains(reader, "child"), 2);
}

}  // namespace
}  // namespace bloomery::test
