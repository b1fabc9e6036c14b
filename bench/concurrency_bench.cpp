// What lock-free insertion costs, and what a second thread gives.
//
// Threads share one ConcurrentFilter; each takes its part of the keys. A plain filter in one thread is
// measured for comparison.
#include <bloomery/concurrent_filter.hpp>
#include <bloomery/filter.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <span>
#include <thread>

#include "contest.hpp"
#include "keys.hpp"
#include "report.hpp"

namespace bloomery::bench {
namespace {

using Keys = std::span<const std::uint64_t>;
using Loop = std::function<std::uint64_t(Keys)>;

std::uint64_t on_threads(unsigned threads, Keys keys, const Loop& loop) {
  std::atomic<std::uint64_t> sum = 0;
  std::vector<std::thread> others;
  for (unsigned i = 0; i < threads; ++i) {
    const std::size_t first = keys.size() * i / threads;
    const std::size_t last = keys.size() * (i + 1) / threads;
    others.emplace_back([&, part = keys.subspan(first, last - first)] { sum += loop(part); });
  }
  for (std::thread& other : others) other.join();
  return sum;
}

// Hashes keys in chunks, for the bulk calls that take hashes.
template <class Apply>
std::uint64_t in_chunks(const FilterView& filter, Keys keys, Apply apply) {
  std::array<Hash128, 1024> hashes;
  std::uint64_t answers = 0;
  for (std::size_t first = 0; first < keys.size(); first += hashes.size()) {
    const Keys chunk = keys.subspan(first, std::min(hashes.size(), keys.size() - first));
    std::transform(chunk.begin(), chunk.end(), hashes.begin(),
                   [&](std::uint64_t key) { return filter.hash(key); });
    answers += apply(std::span<const Hash128>(hashes.data(), chunk.size()));
  }
  return answers;
}

struct Loops {
  Loop insert, bulk_insert, hit, bulk_hit;
};

template <class Single>
Loops loops_of(Single& calls, Filter& filter) {
  return {[&](Keys keys) {
            std::uint64_t fresh = 0;
            for (const std::uint64_t key : keys) fresh += calls.insert(key) ? 1 : 0;
            return fresh;
          },
          [&](Keys keys) {
            return in_chunks(filter, keys,
                             [&](auto hashes) { return calls.insert_hashes(hashes); });
          },
          [&](Keys keys) {
            std::uint64_t found = 0;
            for (const std::uint64_t key : keys) found += calls.may_contain(key) ? 1 : 0;
            return found;
          },
          [&](Keys keys) {
            return in_chunks(filter, keys,
                             [&](auto hashes) { return calls.may_contain_hashes(hashes); });
          }};
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  using namespace bloomery;
  std::uint64_t count = 20'000'000;
  unsigned repetitions = 5;
  double fpr = 0.001;
  std::vector<unsigned> threads = {1, 2};
  std::string json;
  CLI::App app{"Many threads on one filter"};
  app.add_option("--keys", count)->capture_default_str();
  app.add_option("--fpr", fpr)->capture_default_str();
  app.add_option("--threads", threads)->capture_default_str();
  app.add_option("--repetitions", repetitions)->capture_default_str();
  app.add_option("--json", json, "where to write the numbers");
  CLI11_PARSE(app, argc, argv);
  bench::Report report("concurrency_bench");
  const auto keys = bench::random_keys(0, count);
  for (const Layout layout : {Layout::blocked, Layout::blocked2, Layout::standard}) {
    Filter filter(plan(count, fpr, layout));
    ConcurrentFilter shared(filter);
    bench::Contest contest;
    std::vector<std::string> rows;
    const auto add = [&](const std::string& row, const bench::Loops& loops, unsigned on) {
      rows.push_back(row);
      const auto one = [&](const bench::Loop& loop, bool clear) {
        contest.add({row, count, [&keys, loop, on] { return bench::on_threads(on, keys, loop); },
                     clear ? std::function<void()>([&filter] { filter.clear(); }) : nullptr});
      };
      one(loops.insert, true);
      one(loops.bulk_insert, true);
      one(loops.hit, false);
      one(loops.bulk_hit, false);
    };
    add("Filter, 1 thread", bench::loops_of(filter, filter), 1);
    for (const unsigned on : threads)
      add(fmt::format("ConcurrentFilter, {} thread{}", on, on == 1 ? "" : "s"),
          bench::loops_of(shared, filter), on);
    const auto timings = contest.run(repetitions);
    const std::string section =
        fmt::format("{}, {} keys at {}", to_string(layout), count, bench::percent(fpr));
    report.heading(section);
    constexpr std::array operations = {"insert", "bulk insert", "hit", "bulk hit"};
    bench::Table table({"million keys a second", "insert", "bulk insert", "hit", "bulk hit"});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::vector<std::string> counters = {rows[i]};
      for (std::size_t j = 0; j < operations.size(); ++j) {
        const double millions = 1e3 / timings[i * operations.size() + j].median();
        counters.push_back(fmt::format("{:.0f}", millions));
        report.number(section, rows[i] + ": " + operations[j], millions);
      }
      table.row(counters);
    }
    table.print();
  }
  report.finish(json);
}
