// What it costs to share a filter, and what a second thread gains.
//
// Threads share one ConcurrentFilter; each takes its part of the keys. A plain filter in one thread is
// measured for comparison, and a loop that takes a lock and stores a word per block: the least that a shared insert
// does.
//
// Then look-ups in one call, whose keys the filter itself distributes among threads.
//
// Times are processor times of all threads together, so that they do not include other programs, which still
// slow the memory down. Two threads that need as much processor time as one are twice as fast if each has a
// core of its own.
#include <bloomery/concurrent_filter.hpp>
#include <bloomery/counting_filter.hpp>
#include <bloomery/filter.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "bare_loop.hpp"
#include "contest.hpp"
#include "keys.hpp"
#include "report.hpp"

namespace bloomery::bench {
namespace {

using Loop = std::function<std::uint64_t(Keys)>;

// Adds the processor time per key to `times`.
std::uint64_t on_threads(unsigned threads, Keys keys, const Loop& loop,
                         std::vector<double>& times) {
  std::atomic<std::uint64_t> sum = 0;
  std::atomic<std::uint64_t> spent = 0;
  std::vector<std::thread> others;
  for (unsigned i = 0; i < threads; ++i) {
    const std::size_t first = keys.size() * i / threads;
    const std::size_t last = keys.size() * (i + 1) / threads;
    others.emplace_back([&, part = keys.subspan(first, last - first)] {
      const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
      sum += loop(part);
      spent += static_cast<std::uint64_t>(1e9 * (seconds(CLOCK_THREAD_CPUTIME_ID) - start));
    });
  }
  for (std::thread& other : others) other.join();
  times.push_back(static_cast<double>(spent) / static_cast<double>(keys.size()));
  return sum;
}

struct Loops {
  Loop insert, bulk_insert, hit, bulk_hit;
};

template <class F>
Loops loops_of(F& calls) {
  return {
      [&](Keys keys) { return each(keys, [&](std::uint64_t key) { return calls.insert(key); }); },
      [&](Keys keys) { return calls.insert_many(keys); },
      [&](Keys keys) {
        return each(keys, [&](std::uint64_t key) { return calls.may_contain(key); });
      },
      [&](Keys keys) { return calls.may_contain_many(keys); }};
}

template <unsigned kBlocks>
Loops bare_loops(std::span<std::byte> memory) {
  return {[=](Keys keys) { return bare_writes<0, true, kBlocks>(memory, keys); },
          [=](Keys keys) { return bare_writes<128, true, kBlocks>(memory, keys); },
          [=](Keys keys) { return bare_loop<0, kBlocks>(memory, keys); },
          [=](Keys keys) { return bare_loop<128, kBlocks>(memory, keys); }};
}

// Look-ups in one call that distributes its keys among threads.
template <class F>
void one_call(Report& report, const std::string& name, const F& filter, Keys keys,
              const std::vector<unsigned>& threads, unsigned repetitions) {
  Contest contest;
  std::deque<std::vector<double>> times;  // by row; references to its elements stay
  for (const unsigned on : threads) {
    std::vector<double>& mine = times.emplace_back();
    contest.add({name, keys.size(), [&filter, &mine, keys, on]() -> std::uint64_t {
                   const double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
                   const std::uint64_t found = filter.may_contain_many(keys, {}, on);
                   mine.push_back(1e9 * (seconds(CLOCK_PROCESS_CPUTIME_ID) - start) /
                                  static_cast<double>(keys.size()));
                   return found;
                 }});
  }
  (void)contest.run(repetitions);
  Table table({name + ", one call, ns per key", "bulk hit"});
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const std::string row = fmt::format("{} thread{}", threads[i], threads[i] == 1 ? "" : "s");
    table.row({row, fmt::format("{:.2f}", median(times[i]))});
    report.number(name + ", one call", row, median(times[i]));
  }
  table.print();
  if (threads.size() < 2 || threads[0] != 1 || threads[1] != 2) return;
  report.at_most(name + ", look-ups in one call: time of a key on two threads over that on one",
                 median(times[1]) / median(times[0]), 2 / 1.7);
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
    // They are used in turns, never at the same time, so that they may claim different things about the same bits.
    FilterView view(filter.plan(), filter.hasher(), filter.mutable_bytes());
    ConcurrentFilter shared(filter), beside_processes(view, Sharing::processes);
    bench::Contest contest;
    std::vector<std::string> rows;
    std::deque<std::vector<double>>
        times;  // as rows by operations; references to its elements stay
    const auto add = [&](const std::string& row, const bench::Loops& loops, unsigned on) {
      rows.push_back(row);
      const auto one = [&](const bench::Loop& loop, bool clear) {
        std::vector<double>& mine = times.emplace_back();
        contest.add({row, count,
                     [&keys, &mine, loop, on] { return bench::on_threads(on, keys, loop, mine); },
                     clear ? std::function<void()>([&filter] { filter.clear(); }) : nullptr});
      };
      one(loops.insert, true);
      one(loops.bulk_insert, true);
      one(loops.hit, false);
      one(loops.bulk_hit, false);
    };
    add("Filter, 1 thread", bench::loops_of(filter), 1);
    const auto on_each = [&](const char* name, ConcurrentFilter& handle) {
      for (const unsigned on : threads)
        add(fmt::format("{}, {} thread{}", name, on, on == 1 ? "" : "s"), bench::loops_of(handle),
            on);
    };
    on_each("ConcurrentFilter", shared);
    on_each("Sharing::processes", beside_processes);
    const auto memory = filter.mutable_bytes();
    if (layout != Layout::standard)
      add("a lock and a store per block, 1 thread",
          layout == Layout::blocked ? bench::bare_loops<1>(memory) : bench::bare_loops<2>(memory),
          1);
    (void)contest.run(repetitions);
    const std::string section =
        fmt::format("{}, {} keys at {}", to_string(layout), count, bench::percent(fpr));
    report.heading(section);
    constexpr std::array operations = {"insert", "bulk insert", "hit", "bulk hit"};
    bench::Table table({"ns per key"}, operations);
    const auto median = [&](std::size_t row, std::size_t operation) {
      return bench::median(times[row * operations.size() + operation]);
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::vector<std::string> counters = {rows[i]};
      for (std::size_t j = 0; j < operations.size(); ++j) {
        counters.push_back(fmt::format("{:.2f}", median(i, j)));
        report.number(section, rows[i] + ": " + operations[j], median(i, j));
      }
      table.row(counters);
    }
    table.print();
    bench::one_call(report, std::string(to_string(layout)), filter, keys, threads, repetitions);
    if (layout == Layout::standard || threads.empty() || threads[0] != 1) continue;
    constexpr std::array most = {1.5, 2.5, 1.1, 1.1};
    for (std::size_t j = 0; j < operations.size(); ++j)
      report.at_most(
          fmt::format("{}, {}: time over that of Filter", to_string(layout), operations[j]),
          median(1, j) / median(0, j), most[j]);
    if (threads.size() > 1 && threads[1] == 2)
      for (const std::size_t j : {std::size_t{1}, std::size_t{3}})
        report.at_most(fmt::format("{}, {}: time of a key on two threads over that on one",
                                   to_string(layout), operations[j]),
                       median(2, j) / median(1, j), 2 / 1.8);
  }
  CountingFilter counting(count, fpr);
  counting.insert_many(keys);
  report.heading(fmt::format("counting, {} keys at {}", count, bench::percent(fpr)));
  bench::one_call(report, "counting", counting, keys, threads, repetitions);
  report.finish(json);
}
