// How many lines `add` and `remove` say are done when a later batch of lines fails: exactly those of the batches
// before, from whatever inputs, and a reader finds them in the file.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/effort.hpp"
#include "tool.hpp"

namespace bloomery::test {
namespace {

class AddedLines : public ToolTest {
 protected:
  // Lines that come one second after others are a batch of their own. Waits until the file has it.
  static void wait_for(const std::string& filter, const std::string& lines, int expected) {
    // A sanitizer starts the tool slowly.
    for (int i = 0; i < 6000 && found(filter, lines) != expected; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(hurried() ? 400 : 10));
    ASSERT_EQ(found(filter, lines), expected);
  }
  // The batches: 10 lines of two files, 5 of the standard input, and then those that fail.
  [[nodiscard]] Ran run_batches(Arguments words, const std::string& filter,
                                const std::string& failing, bool removes = false,
                                const Redirect& redirect = {}) const {
    words.insert(words.end(),
                 {filter, file("first", numbers(0, 4)), file("second", numbers(4, 10)), "-"});
    Running tool(words, redirect);
    wait_for(filter, numbers(0, 10), removes ? 0 : 10);
    tool.write(numbers(10, 15));
    wait_for(filter, numbers(0, 15), removes ? 0 : 15);
    tool.write(failing);
    return tool.finish();
  }
  // The places where a file changed in which some lines were added.
  [[nodiscard]] std::vector<std::size_t> chunks_of(const std::string& filter,
                                                   const std::string& lines) const {
    constexpr std::size_t kBitsAt = 8192, kChunk = 64 << 10;
    const std::string changed = path("changed");
    std::filesystem::copy_file(filter, changed, std::filesystem::copy_options::overwrite_existing);
    EXPECT_EQ(run({"add", "-q", changed}, lines).code, 0);
    const std::string before = text_of(filter), after = text_of(changed);
    std::vector<std::size_t> chunks;
    for (std::size_t chunk = 0; kBitsAt + (chunk + 1) * kChunk <= before.size(); ++chunk)
      if (before.compare(kBitsAt + chunk * kChunk, kChunk, after, kBitsAt + chunk * kChunk,
                         kChunk) != 0)
        chunks.push_back(chunk);
    return chunks;
  }
};

// The last batch needs all chunks, and those before do not need the one that is damaged.
TEST_F(AddedLines, OfAPlainFilterAreThoseOfTheBatchesBefore) {
  const std::string filter = path("f");
  for (const std::string durability : {"process", "sync"}) {
    SCOPED_TRACE(durability);
    ASSERT_EQ(run({"create", "-q", "--force", filter, "--bits", "1MiB", "-n", "500K"}).code, 0);
    const std::vector<std::size_t> needed = chunks_of(filter, numbers(0, 15));
    std::size_t damaged = 0;
    while (std::ranges::binary_search(needed, damaged)) ++damaged;
    ASSERT_LT(damaged, 16U);
    std::fstream(filter, std::ios::in | std::ios::out | std::ios::binary)
        .seekp(static_cast<std::streamoff>(8192 + damaged * (64 << 10)))
        .put(1);
    const Ran ran = run_batches({"add", "--durability", durability}, filter, numbers(100, 100'000));
    EXPECT_TRUE(is_error(ran, {filter, "is damaged", "; the first 15 lines were added, and some"}));
    EXPECT_EQ(found(filter, numbers(0, 15)), 15);
  }
}

// On a slow machine a number is said again after a second.
std::string without_repeats(const std::string& text) {
  std::string all, before, line;
  for (std::istringstream in(text); std::getline(in, line); before = line)
    if (line != before) all += line + "\n";
  return all;
}

// The last batch makes the filter grow, for which there is no room.
TEST_F(AddedLines, OfAScalableFilterAreThoseOfTheBatchesBefore) {
  const std::string filter = path("f");
  for (const std::string durability : {"process", "sync"})
    for (const bool json : {false, true}) {
      SCOPED_TRACE(durability + (json ? ", with --json" : ""));
      ASSERT_EQ(
          run({"create", "-q", "--force", filter, "--kind", "scalable", "-n", "10K", "-p", "1e-6"})
              .code,
          0);
      // The file with its journal is 80 KiB long, the next one more than twice that.
      Arguments words = {"add", "--durability", durability};
      if (json) words.emplace_back("--json");
      const Ran ran =
          run_batches(words, filter, numbers(100, 100'000), false, {.file_blocks = 300});
      EXPECT_EQ(ran.code, 2);
      EXPECT_TRUE(says(ran.err, "File too large"));
      EXPECT_TRUE(says(ran.err, "; the first 15 lines were added, and some"));
      if (json)
        EXPECT_TRUE(
            without_repeats(ran.err).starts_with("{\"acknowledged\":10}\n{\"acknowledged\":15}\n"))
            << ran.err;
      else
        EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
      EXPECT_EQ(found(filter, numbers(0, 15)), 15);
    }
}

}  // namespace
}  // namespace bloomery::test
