// What durability costs: inserts into a filter file by level and batch, look-ups in it, opening it.
//
// Every insert case starts on a fresh file. Two cases are lower bounds: the same inserts into a filter
// in memory, and a device that only has to keep each batch (an append of its hashes and an fdatasync).
#include <bloomery/filter.hpp>
#include <bloomery/filter_file.hpp>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "contest.hpp"
#include "keys.hpp"
#include "report.hpp"

namespace bloomery::bench {
namespace {

struct Options {
  std::uint64_t keys = 100'000'000;
  double fpr = 0.001;
  unsigned repetitions = 5;
  std::filesystem::path directory = ".";
  std::string json;
};

constexpr std::array<std::size_t, 3> kBatches = {1, 1'000, 65'536};
constexpr std::array kBatchNames = {"one key per call", "1,000 at a time", "65,536 at a time"};

template <class Insert>
std::uint64_t in_batches(Keys keys, std::size_t batch, Insert insert) {
  std::uint64_t fresh = 0;
  for (; !keys.empty(); keys = keys.subspan(std::min(batch, keys.size())))
    fresh += insert(keys.first(std::min(batch, keys.size())));
  return fresh;
}

template <class To>
std::uint64_t insert(To& to, Keys keys) {
  return keys.size() == 1 ? std::uint64_t{to.insert(keys.front())} : to.insert_many(keys);
}

// A fixed number of batches, for levels whose batches wait for the device.
Keys for_device(Keys keys, std::size_t batch) {
  return keys.first(std::min<std::size_t>(keys.size(), batch * (batch > 1'000 ? 50 : 200)));
}

// A file in the directory, removed at the end.
class Scratch {
 public:
  explicit Scratch(const Options& options, const char* name)
      : path_((options.directory / (name + std::to_string(getpid()))).string()) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void bench_inserts(Report& report, const Options& options, Keys keys) {
  const Plan plan = bloomery::plan(options.keys, options.fpr);
  const Scratch scratch(options, "bloomery-file-bench-");
  std::optional<FilterFile> file;
  Filter memory(plan);
  std::vector<std::string> rows;
  Contest contest;
  const auto add = [&](const char* row, auto keys_of, auto run, auto prepare) {
    rows.emplace_back(row);
    for (const std::size_t batch : kBatches) {
      const Keys taken = keys_of(batch);
      contest.add({row, taken.size(), [=] { return run(taken, batch); }, prepare});
    }
  };
  const auto all = [=](std::size_t) { return keys; };
  const auto few = [=](std::size_t batch) { return for_device(keys, batch); };
  add(
      "a filter in memory", all,
      [&](Keys taken, std::size_t batch) {
        return in_batches(taken, batch, [&](Keys part) { return insert(memory, part); });
      },
      [&] { memory.clear(); });
  for (const auto& [name, level] : {std::pair{"none", Durability::none},
                                    {"process", Durability::process},
                                    {"sync", Durability::sync}}) {
    const auto prepare = [&, level = level] {
      file.reset();
      file = FilterFile::create(scratch.path(), plan, {.durability = level, .replace = true});
    };
    const auto run = [&](Keys taken, std::size_t batch) {
      return in_batches(taken, batch, [&](Keys part) { return insert(*file, part); });
    };
    if (level == Durability::sync)
      add(name, few, run, prepare);
    else
      add(name, all, run, prepare);
  }
  const Scratch log(options, "bloomery-file-bench-log-");
  const int device = ::open(log.path().c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  const auto append = [device, log_path = log.path()](Keys part) -> std::uint64_t {
    const std::vector<std::byte> hashes(part.size() * sizeof(Hash128));
    if (::write(device, hashes.data(), hashes.size()) != static_cast<ssize_t>(hashes.size()) ||
        ::fdatasync(device) != 0)
      throw std::system_error(errno, std::generic_category(), log_path);
    return part.size();
  };
  add(
      "the device alone", few,
      [=](Keys taken, std::size_t batch) { return in_batches(taken, batch, append); }, nullptr);
  const auto timings = contest.run(options.repetitions);
  ::close(device);
  file.reset();
  report.heading(fmt::format("inserts into a fresh file for {} keys at {}, {:.0f} MB", options.keys,
                             percent(options.fpr), static_cast<double>(plan.bytes()) / 1e6));
  Table table({"ns per key"}, kBatchNames);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> counters = {rows[i]};
    for (std::size_t j = 0; j < kBatches.size(); ++j) {
      const double median = timings[i * kBatches.size() + j].median();
      counters.push_back(fmt::format("{:.{}f}", median, median < 1000 ? 1 : 0));
      report.number("inserts", fmt::format("{}, {}", rows[i], kBatchNames[j]), median);
    }
    table.row(counters);
  }
  table.print();
}

void bench_lookups(Report& report, const Options& options, const std::string& path,
                   const Filter& memory, Keys keys) {
  const FilterFile file = FilterFile::open(path);
  Contest contest;
  for (const FilterView* view : {static_cast<const FilterView*>(&memory), &file.view()}) {
    contest.add({"", keys.size(), [=] {
                   return each(keys, [&](std::uint64_t key) { return view->may_contain(key); });
                 }});
    contest.add({"", keys.size(), [=] { return view->may_contain_many(keys); }});
  }
  const auto timings = contest.run(options.repetitions);
  report.heading("look-ups of keys that are there");
  Table table({"ns per key", "single", "bulk"});
  for (std::size_t i = 0; i < 2; ++i) {
    const char* name = i == 0 ? "a filter in memory (huge pages)" : "the mapped file";
    table.row({name, fmt::format("{:.1f}", timings[2 * i].median()),
               fmt::format("{:.2f}", timings[2 * i + 1].median())});
    report.number("look-ups", fmt::format("{}, single", name), timings[2 * i].median());
    report.number("look-ups", fmt::format("{}, bulk", name), timings[2 * i + 1].median());
  }
  table.print();
}

// A writer that dies after it acknowledged `keys`: it closes nothing and writes nothing back.
void die_writing(const std::string& path, Durability level, Keys keys) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto file = FilterFile::open(path, {.access = Access::write, .durability = level});
    in_batches(keys, 65'536, [&](Keys part) { return file.insert_many(part); });
    ::_exit(0);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0)
    throw std::runtime_error("the writer that was to die failed");
}

void bench_whole_file(Report& report, const Options& options, const std::string& path, Keys keys) {
  Contest contest;
  std::optional<FilterFile> file;
  const auto shut = [&] { file.reset(); };
  const auto opens = [&](Access access, Durability level) {
    return [&, access, level]() -> std::uint64_t {
      file = FilterFile::open(path, {.access = access, .durability = level});
      return file->inserted();
    };
  };
  const auto closes = [&]() -> std::uint64_t {
    file->close();
    return 0;
  };
  const Keys million = keys.first(std::min<std::size_t>(keys.size(), 1'000'000));
  contest.add({"open for reading", 1, opens(Access::read, Durability::sync), shut});
  contest.add({"open for writing", 1, opens(Access::write, Durability::sync), shut});
  for (const Durability level : {Durability::process, Durability::sync}) {
    const char* name = level == Durability::sync ? "sync" : "process";
    contest.add({fmt::format("{}: open after a writer died, {} keys in", name, million.size()), 1,
                 opens(Access::write, level), [&, level, million] {
                   shut();
                   die_writing(path, level, million);
                 }});
    contest.add({fmt::format("{}: close after {} more keys", name, million.size()), 1, closes,
                 [&, million] { file->insert_many(million); }});
  }
  contest.add({"verify: every byte read and checked", 1,
               [&]() -> std::uint64_t {
                 const VerifyReport found = verify(path);
                 if (!found.ok()) throw std::runtime_error(found.detail);
                 return found.chunks;
               },
               shut});
  report.heading("the file as a whole, in the page cache");
  Table table({"milliseconds", ""});
  for (const Timing& timing : contest.run(options.repetitions)) {
    table.row({timing.name, fmt::format("{:.2f}", timing.median() / 1e6)});
    report.number("whole file, ms", timing.name, timing.median() / 1e6);
  }
  table.print();
}

void run(const Options& options) {
  Report report("file_bench");
  const auto keys = random_keys(0, options.keys);
  const Keys slice = Keys(keys).first(std::max<std::size_t>(1, keys.size() / 5));
  bench_inserts(report, options, slice);
  const Scratch full(options, "bloomery-file-bench-full-");
  Filter memory(plan(options.keys, options.fpr));
  memory.insert_many(keys);
  {
    auto file = FilterFile::create(full.path(), memory.plan(), {.durability = Durability::none});
    file.merge(memory);
    file.close();
  }
  bench_lookups(report, options, full.path(), memory, slice);
  bench_whole_file(report, options, full.path(), keys);
  report.finish(options.json);
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  bloomery::bench::Options options;
  CLI::App app{"What durability costs"};
  app.add_option("--keys", options.keys, "the capacity of the file")->capture_default_str();
  app.add_option("--fpr", options.fpr)->capture_default_str();
  app.add_option("--repetitions", options.repetitions)->capture_default_str();
  app.add_option("--directory", options.directory, "where the files go: the device to measure")
      ->capture_default_str();
  app.add_option("--json", options.json, "where to write the numbers");
  CLI11_PARSE(app, argc, argv);
  try {
    bloomery::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "file_bench: {}\n", error.what());
    return 2;
  }
}
