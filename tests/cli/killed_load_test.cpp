// `add` of a big list that is killed: every line that it said is safe is in the filter, of every kind.
#include "support/effort.hpp"
#include "tool.hpp"

#include <chrono>
#include <csignal>
#include <ostream>
#include <random>
#include <string>
#include <thread>

namespace bloomery::test {
namespace {

// So many lines at once are more than the journals of these files take, which are as large as their bits.
const int kLinesAtOnce = hurried() ? 60'000 : 300'000;
const std::string kKeysOfFile = hurried() ? "120K" : "600K";

struct KindOfFile {
  std::string name;
  Arguments create;  // the flags
};
void PrintTo(const KindOfFile& kind, std::ostream* out) { *out << kind.name; }

class KilledLoad : public ToolTest, public testing::WithParamInterface<KindOfFile> {};
INSTANTIATE_TEST_SUITE_P(
    OfAdd, KilledLoad,
    testing::Values(KindOfFile{"plain", {"-n", kKeysOfFile}},
                    KindOfFile{"counting", {"--kind", "counting", "-n", kKeysOfFile}},
                    KindOfFile{"scalable", {"--kind", "scalable", "-n", "1K"}},
                    KindOfFile{"window", {"--window", kKeysOfFile}},
                    KindOfFile{"frozen", {"--kind", "frozen", "--delta", kKeysOfFile}}),
    [](const auto& param) { return param.param.name; });

// The number in the last line {"acknowledged":N}, 0 if there is none.
int last_acknowledged(const std::string& said) {
  constexpr std::string_view kBefore = "{\"acknowledged\":";
  const std::size_t at = said.rfind(kBefore);
  return at == std::string::npos ? 0 : std::stoi(said.substr(at + kBefore.size()));
}

TEST_P(KilledLoad, HasAllLinesThatWereAcknowledged) {
  std::mt19937 random(1);
  for (const std::string durability : {"process", "sync"}) {
    SCOPED_TRACE(durability);
    const std::string filter = path(durability), said = file("said", "");
    Arguments create = {"create", "-q", filter, "-p", "1%"};
    create.insert(create.end(), GetParam().create.begin(), GetParam().create.end());
    ASSERT_EQ(run(create, "listed\n").code, 0);
    Running tool({"add", "--json", "--durability", durability, filter}, {.err = said});
    tool.write(numbers(0, kLinesAtOnce));
    // It says so once a second.
    for (int i = 0; i < 6'000 && last_acknowledged(text_of(said)) < kLinesAtOnce; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    tool.write(numbers(kLinesAtOnce, 2 * kLinesAtOnce));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 1'500));
    tool.signal(SIGKILL);
    EXPECT_EQ(tool.finish().signal, SIGKILL);
    const int acknowledged = last_acknowledged(text_of(said));
    EXPECT_GE(acknowledged, kLinesAtOnce);
    EXPECT_EQ(run({"check", "-q", "-v", "-c", filter}, numbers(0, acknowledged)).out, "0\n");
    // And after the next writer.
    EXPECT_EQ(run({"add", "-q", filter}, "one more\n").code, 0);
    EXPECT_EQ(run({"check", "-q", "-v", "-c", filter}, numbers(0, acknowledged)).out, "0\n");
    EXPECT_EQ(run({"verify", "-q", filter}).code, 0);
  }
}

}  // namespace
}  // namespace bloomery::test
