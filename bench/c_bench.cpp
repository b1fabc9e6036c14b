// The cost of a call through the C interface, beside the same call in C++: over the shared library, as
// programs in C and the bindings call it.
#include <bloomery.h>
#include <bloomery/filter.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "contest.hpp"
#include "keys.hpp"
#include "report.hpp"

namespace bloomery::bench {
namespace {

constexpr std::size_t kWidth = 16;

struct Handle {
  explicit Handle(std::uint64_t keys) {
    bloomery_spec spec{};
    spec.size = sizeof spec;
    spec.capacity = keys;
    spec.fpr = 0.01;
    bloomery_error error;
    filter.reset(bloomery_new(&spec, nullptr, &error));
    if (!filter) {
      fmt::print(stderr, "c_bench: {}\n", error.text);
      std::exit(1);
    }
  }
  std::unique_ptr<bloomery_filter, void (*)(bloomery_filter*)> filter{nullptr, bloomery_free};
};

// One loop for each interface, over the same keys.
struct Row {
  const char* name;
  std::size_t keys;
  bool clears;  // it inserts
  std::function<std::uint64_t()> cpp, c;
};

void bench_size(Report& report, std::uint64_t count, unsigned repetitions) {
  const std::vector<std::uint64_t> integers = random_keys(0, count);
  std::string bytes;
  std::vector<std::string_view> texts;
  bytes.reserve(count * kWidth);
  for (const std::uint64_t key : integers) bytes += fmt::format("{:016x}", key);
  for (std::uint64_t i = 0; i < count; ++i)
    texts.push_back(std::string_view(bytes).substr(i * kWidth, kWidth));

  Filter filter(count, 0.01);
  const Handle handle(count);
  bloomery_filter* const c = handle.filter.get();
  std::vector<Row> rows = {
      {"insert, text", count, true,
       [&] {
         std::uint64_t fresh = 0;
         for (const auto key : texts) fresh += filter.insert(key) ? 1 : 0;
         return fresh;
       },
       [&] {
         std::uint64_t fresh = 0;
         for (const auto key : texts)
           fresh += static_cast<std::uint64_t>(bloomery_insert(c, key.data(), key.size(), nullptr));
         return fresh;
       }},
      {"contains, text", count, false,
       [&] {
         std::uint64_t found = 0;
         for (const auto key : texts) found += filter.may_contain(key) ? 1 : 0;
         return found;
       },
       [&] {
         std::uint64_t found = 0;
         for (const auto key : texts)
           found +=
               static_cast<std::uint64_t>(bloomery_contains(c, key.data(), key.size(), nullptr));
         return found;
       }},
      {"insert, integers", count, true,
       [&] {
         std::uint64_t fresh = 0;
         for (const auto key : integers) fresh += filter.insert(key) ? 1 : 0;
         return fresh;
       },
       [&] {
         std::uint64_t fresh = 0;
         for (const auto key : integers)
           fresh += static_cast<std::uint64_t>(bloomery_insert_u64(c, key, nullptr));
         return fresh;
       }},
      {"contains, integers", count, false,
       [&] {
         std::uint64_t found = 0;
         for (const auto key : integers) found += filter.may_contain(key) ? 1 : 0;
         return found;
       },
       [&] {
         std::uint64_t found = 0;
         for (const auto key : integers)
           found += static_cast<std::uint64_t>(bloomery_contains_u64(c, key, nullptr));
         return found;
       }},
      {"bulk insert, text", count, true, [&] { return filter.insert_many(texts); },
       [&] {
         return static_cast<std::uint64_t>(
             bloomery_insert_fixed(c, bytes.data(), kWidth, count, nullptr, nullptr));
       }},
      {"bulk contains, text", count, false, [&] { return filter.may_contain_many(texts); },
       [&] {
         return static_cast<std::uint64_t>(
             bloomery_contains_fixed(c, bytes.data(), kWidth, count, nullptr, nullptr));
       }},
      {"bulk insert, integers", count, true, [&] { return filter.insert_many(integers); },
       [&] {
         return static_cast<std::uint64_t>(
             bloomery_insert_u64s(c, integers.data(), count, nullptr, nullptr));
       }},
      {"bulk contains, integers", count, false, [&] { return filter.may_contain_many(integers); },
       [&] {
         return static_cast<std::uint64_t>(
             bloomery_contains_u64s(c, integers.data(), count, nullptr, nullptr));
       }}};
  Contest contest(Clock::processor);
  for (const Row& row : rows) {
    contest.add({"c++", row.keys, row.cpp, [&] {
                   if (row.clears) filter.clear();
                 }});
    contest.add({"c", row.keys, row.c, [&] {
                   if (row.clears) bloomery_clear(c, nullptr);
                 }});
  }
  const auto timings = contest.run(repetitions);
  const std::string section = fmt::format("{} keys at 1 %, plain, in memory", count);
  report.heading(section);
  Table table({"ns per key", "C++", "C", "C / C++", "C - C++"});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double cpp = timings[2 * i].median(), ours = timings[2 * i + 1].median();
    table.row({rows[i].name, fmt::format("{:.1f}", cpp), fmt::format("{:.1f}", ours),
               fmt::format("{:.2f}", ours / cpp), fmt::format("{:.1f}", ours - cpp)});
    report.number(section, rows[i].name, ours / cpp);
    if (i < 4)
      report.at_most(fmt::format("{}: {}, ns above C++", section, rows[i].name), ours - cpp, 8);
    else
      report.at_most(fmt::format("{}: {}, times C++", section, rows[i].name), ours / cpp, 1.1);
  }
  table.print();
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  using namespace bloomery;
  std::vector<std::uint64_t> sizes = {100'000, 20'000'000};
  unsigned repetitions = 7;
  std::string json;
  CLI::App app{"The C interface beside C++"};
  app.add_option("--keys", sizes, "keys of each filter")->capture_default_str();
  app.add_option("--repetitions", repetitions)->capture_default_str();
  app.add_option("--json", json, "where to write the numbers");
  CLI11_PARSE(app, argc, argv);
  bench::Report report("c_bench");
  for (const std::uint64_t keys : sizes)
    bench::bench_size(report, keys, keys <= 1'000'000 ? repetitions * 20 : repetitions);
  report.finish(json);
}
