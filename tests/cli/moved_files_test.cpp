// `bloomery add` whose path gets another file while it runs, beside a second writer at that path: neither
// loses a line that it was told is added. Log rotation and restored backups do this.
#include "files.hpp"
#include "support/effort.hpp"

#include <chrono>
#include <filesystem>
#include <ostream>
#include <string>
#include <thread>
#include <tuple>

namespace bloomery::test {
namespace {

namespace fs = std::filesystem;

// What becomes of the file. restored: mv puts a backup over it; overwritten: cp writes one into it.
enum class Fate { moved, directory_moved, removed, restored, overwritten };

const char* text_of(Fate fate) {
  constexpr const char* kTexts[] = {"moved", "directory_moved", "removed", "restored",
                                    "overwritten"};
  return kTexts[static_cast<int>(fate)];
}
void PrintTo(Fate fate, std::ostream* out) { *out << text_of(fate); }

// As many lines as the tool puts into a filter at once, so that the file has some before its fate.
constexpr int kManyLines = 300'000;

class MovedFilter : public Files,
                    public testing::WithParamInterface<std::tuple<std::string, std::string, Fate>> {
 protected:
  [[nodiscard]] static std::string kind() { return std::get<0>(GetParam()); }
  [[nodiscard]] static std::string durability() { return std::get<1>(GetParam()); }
  [[nodiscard]] static Fate fate() { return std::get<2>(GetParam()); }

  void make(const std::string& file) const {
    Arguments words{"create", "-q", file, "-p", "1e-6"};
    for (const char* word : {kind() == "window" ? "--window" : "-n", "400K", "--kind"})
      words.emplace_back(word);
    words.push_back(kind());
    ASSERT_EQ(run(words).code, 0);
  }
  [[nodiscard]] static bool has_all(const std::string& file, const std::string& lines) {
    return run({"check", "-v", "-c", "-q", file}, lines).out == "0\n";
  }
  [[nodiscard]] static Ran add(const std::string& file, const std::string& lines) {
    return run({"add", "-q", file}, lines);
  }
  // Where the file is then, if it is anywhere.
  [[nodiscard]] std::string change() const {
    const std::string backup = path("backup");
    switch (fate()) {
      case Fate::moved:
        fs::rename(filter_, path("d/old"));
        make(filter_);
        return path("d/old");
      case Fate::directory_moved:
        fs::rename(path("d"), path("e"));
        fs::create_directory(path("d"));
        make(filter_);
        return path("e/f");
      case Fate::removed:
        fs::remove(filter_);
        make(filter_);
        return {};
      case Fate::restored:
        fs::rename(backup, filter_);
        return {};
      case Fate::overwritten:
        fs::copy_file(backup, filter_, fs::copy_options::overwrite_existing);
        return {};
    }
    return {};
  }
  void check(int lines_before, std::chrono::milliseconds waiting = {});

  // Takes the lines of --json out of what was said. Returns the number of lines that the last one acknowledges.
  [[nodiscard]] static int take_acknowledged(std::string& said) {
    const std::string before = "{\"acknowledged\":";
    int lines = 0;
    for (std::size_t at = 0; (at = said.find(before, at)) != std::string::npos;) {
      lines = std::stoi(said.substr(at + before.size()));
      said.erase(at, said.find('\n', at) + 1 - at);
    }
    return lines;
  }

  const std::string filter_ = path("d/f");
  const std::string backed_up_ = numbers(-1100, -1000), second_ = numbers(-3000, -2000);
};
std::string name_of(const testing::TestParamInfo<MovedFilter::ParamType>& param) {
  return std::get<0>(param.param) + "_" + std::get<1>(param.param) + "_" +
         text_of(std::get<2>(param.param));
}
INSTANTIATE_TEST_SUITE_P(
    , MovedFilter,
    testing::Combine(testing::Values("plain", "counting", "scalable", "window"),
                     testing::Values("none", "process", "sync"),
                     testing::Values(Fate::moved, Fate::directory_moved, Fate::removed,
                                     Fate::restored, Fate::overwritten)),
    name_of);

void MovedFilter::check(int lines_before, std::chrono::milliseconds waiting) {
  fs::create_directory(path("d"));
  make(path("backup"));
  ASSERT_EQ(add(path("backup"), backed_up_).code, 0);
  make(filter_);
  Running writer({"add", "--json", "--durability", durability(), filter_});
  writer.write(numbers(0, lines_before));
  writer.wait_until_read();  // the filter is open then; its lock alone does not say so
  const bool stored = lines_before == kManyLines && durability() != "none";
  for (int i = 0; stored && i < 6000 && !has_all(filter_, "0\n"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(hurried() ? 200 : 10));
  std::this_thread::sleep_for(waiting);

  const std::string now = change();
  const bool waits = fate() == Fate::overwritten;
  const Ran second = add(filter_, second_);
  // A writer that stored at the moment of the copy has ended by then, for the pages were taken from under it; so has
  // one that looked after its file since.
  const bool ended = waits && second.code == 0;
  if (waits && !ended)
    EXPECT_TRUE(is_error(second, {filter_, "another writer has it open"}));
  else
    EXPECT_EQ(second.code, 0);
  const std::string after = numbers(kManyLines, kManyLines + 1000);
  writer.write(after);
  Ran ran = writer.finish();
  const int acknowledged = take_acknowledged(ran.err);
  if (now.empty()) {
    EXPECT_LE(acknowledged, lines_before) << "lines that came after the file was lost";
    // It says "was truncated or overwritten in place", or, if the copy was complete when it looked, "its disk failed
    // or is full, or it was overwritten in place".
    const bool cut = ran.err.find("overwritten in place") != std::string::npos;
    EXPECT_TRUE(waits || !cut) << ran.err;
    if (!cut) {
      EXPECT_TRUE(is_error(ran, {filter_, waits ? "something else has written into it"
                                                : "was removed or replaced"}));
    }
    EXPECT_FALSE(says(ran.err, "lines were added")) << "they went with the file";
  } else {
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(has_all(now, numbers(0, lines_before) + after));
    EXPECT_EQ(run({"verify", "-q", now}).code, 0);
  }

  // Bits that were stored into a file before its writer could see that it is another one are damage.
  const bool stored_into = waits && kind() == "plain" && durability() != "none";
  bool has_second = !waits;
  if (waits) {
    const Ran again = add(filter_, second_);
    has_second = again.code == 0;
    EXPECT_TRUE(has_second || (stored_into && is_error(again, {filter_, "salvage"})));
  }
  EXPECT_TRUE(!has_second || has_all(filter_, second_));
  EXPECT_TRUE(!(waits || fate() == Fate::restored) || has_all(filter_, backed_up_));
  EXPECT_TRUE(stored_into || run({"verify", "-q", filter_}).code == 0);
}

TEST_P(MovedFilter, LosesNothingSilentlyBeforeItHasLines) { check(1000); }
TEST_P(MovedFilter, LosesNothingSilentlyWhenItHasLines) { check(kManyLines); }

class LostFilter : public MovedFilter {};
INSTANTIATE_TEST_SUITE_P(
    , LostFilter,
    testing::Combine(testing::Values("plain", "counting", "scalable", "window"),
                     testing::Values("process", "sync"),
                     testing::Values(Fate::removed, Fate::restored, Fate::overwritten)),
    name_of);
// After a second the writer has acknowledged its lines, and its journal has room for more.
TEST_P(LostFilter, AcknowledgesNoMoreLines) { check(1000, std::chrono::milliseconds(1300)); }

}  // namespace
}  // namespace bloomery::test
