// What files of each kind cost: inserts at each level, look-ups, opening and closing.
//
// The writer of a plain file stores into a mapping. Writers of the other kinds hold the filter in memory,
// append to a journal after the last snapshot, and replace the file on close. All have room for the same
// keys at the same rate; the scalable one starts with a hundredth of that and grows.
#include <bloomery/filter_file.hpp>

#include <fmt/core.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "contest.hpp"
#include "keys.hpp"
#include "report.hpp"

namespace bloomery::bench {
namespace {

struct Options {
  std::uint64_t keys = 2'000'000;
  double fpr = 0.001;
  unsigned repetitions = 5;
  std::filesystem::path directory = ".";
  std::string json;
};

struct KindOfFile {
  const char* name;
  FilterPlan plan;
};

std::vector<KindOfFile> kinds(const Options& options) {
  return {
      {"plain", plan(options.keys, options.fpr)},
      {"counting, 4 bits", CountingPlan{plan(options.keys, options.fpr, counting_layout(4))}},
      {"scalable", scalable_plan(std::max<std::uint64_t>(1, options.keys / 100), options.fpr)},
      {"window", window_plan(WindowUnit::insertions, options.keys, options.keys, options.fpr)},
  };
}

// A file of one kind, created again for each case that writes it.
class Written {
 public:
  Written(const Options& options, KindOfFile kind, std::size_t number)
      : kind_(std::move(kind)),
        path_((options.directory / fmt::format("bloomery-kind-{}-{}", number, getpid())).string()) {
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  ~Written() { std::filesystem::remove(path_); }

  void make(Durability level, Keys keys = {}) {
    file_.reset();
    file_ = FilterFile::create(path_, kind_.plan, {.durability = level, .replace = true});
    insert(keys, std::max<std::size_t>(1, keys.size()));
  }
  std::uint64_t insert(Keys keys, std::size_t batch) {
    std::uint64_t fresh = 0;
    for (; !keys.empty(); keys = keys.subspan(std::min(batch, keys.size())))
      fresh += file_->insert_many(keys.first(std::min(batch, keys.size())));
    return fresh;
  }
  std::uint64_t open(const OpenOptions& how) {
    file_ = FilterFile::open(path_, how);
    return file_->inserted();
  }
  void shut() { file_.reset(); }
  [[nodiscard]] FilterFile& file() { return *file_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const char* name() const { return kind_.name; }
  [[nodiscard]] double megabytes() const {
    return static_cast<double>(std::filesystem::file_size(path_)) / 1e6;
  }

 private:
  KindOfFile kind_;
  std::string path_;
  std::optional<FilterFile> file_;
};

using Files = std::vector<std::unique_ptr<Written>>;

constexpr std::size_t kBatch = 65'536;

// One row per kind, one column per measurement; `add` adds the case of one cell to the contest.
template <class Add>
void table_of(Report& report, const Options& options, const Files& files,
              const std::string& heading, const std::vector<std::string>& columns, double unit,
              Add add, Clock clock = Clock::wall) {
  Contest contest(clock);
  for (const auto& file : files)
    for (std::size_t column = 0; column < columns.size(); ++column) contest.add(add(*file, column));
  const auto timings = contest.run(options.repetitions);
  report.heading(heading);
  Table table({""}, columns);
  for (std::size_t row = 0; row < files.size(); ++row) {
    std::vector<std::string> counters = {files[row]->name()};
    for (std::size_t column = 0; column < columns.size(); ++column) {
      const double value = timings[row * columns.size() + column].median() / unit;
      counters.push_back(fmt::format("{:.{}f}", value, value < 10 ? 2 : 1));
      report.number(heading, fmt::format("{}, {}", files[row]->name(), columns[column]), value);
    }
    table.row(counters);
  }
  table.print();
}

void run(const Options& options) {
  Report report("kind_files_bench");
  const auto stored = random_keys(0, options.keys);
  const Keys keys = stored;
  Files files;
  for (const KindOfFile& kind : kinds(options))
    files.push_back(std::make_unique<Written>(options, kind, files.size()));

  constexpr std::array kLevels = {Durability::none, Durability::process, Durability::sync};
  table_of(report, options, files,
           fmt::format("all of {} keys into a fresh file, at {}, {} at a time, nanoseconds per key",
                       keys.size(), percent(options.fpr), kBatch),
           {"none", "process", "sync"}, 1, [&](Written& file, std::size_t column) {
             return Case{file.name(), keys.size(), [&] { return file.insert(keys, kBatch); },
                         [&, column] { file.make(kLevels[column]); }};
           });

  for (const auto& file : files) {
    file->make(Durability::none, keys);
    file->file().close();
    fmt::print("{}{}: {:.1f} MB", file == files.front() ? "\nfull files: " : ", ", file->name(),
               file->megabytes());
  }
  fmt::print("\n");
  for (const auto& file : files) file->open({});
  table_of(
      report, options, files,
      "look-ups of keys that are there, nanoseconds of processor time per key", {"single", "bulk"},
      1, [&](Written& file, std::size_t column) {
        if (column == 1)
          return Case{file.name(), keys.size(), [&] { return file.file().may_contain_many(keys); }};
        return Case{file.name(), keys.size(), [&] {
                      return each(keys,
                                  [&](std::uint64_t key) { return file.file().may_contain(key); });
                    }};
      });

  // The same keys again, which change no bit of a plain file.
  const Keys again = keys.first(std::min<std::size_t>(keys.size(), 10'000));
  table_of(
      report, options, files, "the full file as a whole, in the page cache, milliseconds",
      {"open to read", "open to write", "close after 10,000 keys", "verify"}, 1e6,
      [&](Written& file, std::size_t column) {
        const OpenOptions how{.access = column == 0 ? Access::read : Access::write,
                              .durability = Durability::process};
        const auto shut = [&file] { file.shut(); };
        if (column == 2)
          return Case{file.name(), 1,
                      [&] {
                        file.file().close();
                        return std::uint64_t{0};
                      },
                      [&file, again, how] {
                        file.shut();
                        file.open(how);
                        file.insert(again, kBatch);
                      }};
        if (column == 3)
          return Case{file.name(), 1, [&] { return verify(file.path()).chunks; }, shut};
        return Case{file.name(), 1, [&file, how] { return file.open(how); }, shut};
      },
      Clock::processor);
  report.finish(options.json);
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  bloomery::bench::Options options;
  CLI::App app{"What files of the kinds cost"};
  app.add_option("--keys", options.keys, "the capacity of each file")->capture_default_str();
  app.add_option("--fpr", options.fpr)->capture_default_str();
  app.add_option("--repetitions", options.repetitions)->capture_default_str();
  app.add_option("--directory", options.directory, "where the files go: the device to measure")
      ->capture_default_str();
  app.add_option("--json", options.json, "where to write the numbers");
  CLI11_PARSE(app, argc, argv);
  try {
    bloomery::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "kind_files_bench: {}\n", error.what());
    return 2;
  }
}
