// What a second thread gains on the clock: bulk inserts and look-ups of one call, and of threads that share a filter.
// And the part that more threads cannot make faster: the filter of dedup, which takes the lines in order.
//
// Beside them is the memory alone: each thread fetches random cache lines of its own part of the same memory,
// and reads or writes a word in each. No way to share the work can gain more from a thread. The cores alone execute
// instructions without an effect, and use no memory: what they gain shows how much of a second core the machine gave.
//
// All keys are looked up in the small filters too: a call with few keys ends before a second thread has started.
//
// "cores" is the processor time of the run over its time on the clock. If it is well below the number of threads,
// other programs took the rest, and the row says nothing.
#include <bloomery/concurrent_filter.hpp>
#include <bloomery/counting_filter.hpp>
#include <bloomery/detail/kernel.hpp>
#include <bloomery/detail/layout.hpp>
#include <bloomery/filter.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <bit>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "bare_loop.hpp"
#include "contest.hpp"
#include "keys.hpp"
#include "report.hpp"

namespace bloomery::bench {
namespace {

volatile std::uint64_t kept;

#ifdef BLOOMERY_RELAXED_SINGLE_BLOCK
// Single inserts that do not ask first whether the key is there: each takes a lock, also that of a present key.
std::uint64_t locked_inserts(const FilterView& filter, Keys keys) {
  const detail::BitArray& array = filter.bit_array();
  std::uint64_t fresh = 0;
  for (const std::uint64_t key : keys) {
    const Hash128 hash = detail::hash_integer(key, filter.hasher().seed_multiplier());
    const detail::KeyBlock at = detail::LayoutOf<Layout::blocked>::block<0>(array, hash);
    std::uint32_t* const block = detail::words_of(array, at);
    detail::Stripe& stripe = detail::stripe_of(block);
    stripe.lock();
    fresh += detail::RelaxedSingleBlock::set(block, at.low, *array.masks);
    stripe.unlock();
  }
  return fresh;
}
#endif

// One way to do the work, with any number of threads.
struct Way {
  std::string name;
  std::function<std::uint64_t(unsigned threads)> run;
  std::function<void()> prepare = nullptr;
  double goal = 0;       // times as fast on two threads as on one; 0: none
  std::size_t keys = 0;  // of a run; 0: those of the section
};

// Calls work(i, part) on each of so many threads, with part i of the keys.
template <class Work>
std::uint64_t on_threads(unsigned threads, Keys keys, Work work) {
  std::vector<std::uint64_t> results(threads);
  {
    std::vector<std::jthread> running;
    for (unsigned i = 0; i < threads; ++i)
      running.emplace_back([&, i] {
        const std::size_t first = keys.size() * i / threads, end = keys.size() * (i + 1) / threads;
        results[i] = work(i, keys.subspan(first, end - first));
      });
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t result : results) sum += result;
  return sum;
}

// The least that threads do which divide the keys among them, as insert_many does, in rounds: each appends the keys of
// its part to a list per region of the memory; then each takes its regions, and writes a word of the block of every key
// in them. If a key has two blocks, there is a list per pair of regions, and the threads do not even keep apart.
template <unsigned kBlocks>
std::uint64_t bare_division(std::span<std::byte> memory, Keys keys, unsigned threads) {
  constexpr unsigned kRegions = kBlocks == 2 ? 8 : 32, kLists = kBlocks == 2 ? 64 : 32;
  constexpr std::size_t kFewKeys = std::size_t{1} << 20, kManyKeys = kFewKeys * 8;
  const std::size_t in_round =
      kBlocks == 2 ? kFewKeys : std::clamp(memory.size() / 2 / 8, kFewKeys, kManyKeys);
  const auto list_of = [](std::uint64_t key) {
    const auto region = [](std::uint64_t of) { return of >> (64 - std::bit_width(kRegions - 1)); };
    if constexpr (kBlocks == 2) return region(key) * kRegions + region(other_of(key));
    return region(key);
  };
  struct Lists {
    std::array<std::vector<std::uint64_t>, kLists> keys;
    std::array<std::size_t, kLists> sizes;
  };
  const std::size_t share = std::min(keys.size(), in_round) / threads;
  const std::size_t rounds = keys.size() / threads / share + 1;
  std::vector<Lists> lists(threads);
  for (Lists& each : lists)  // twice the mean: random keys are never so uneven
    for (auto& list : each.keys) list.resize(2 * share / kLists);
  std::barrier all(threads);
  return on_threads(threads, keys, [&](unsigned id, Keys part) {
    Lists& own = lists[id];
    std::uint64_t sum = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
      const std::size_t first = std::min(round * share, part.size());
      own.sizes.fill(0);
      for (const std::uint64_t key : part.subspan(first, std::min(share, part.size() - first)))
        own.keys[list_of(key)][own.sizes[list_of(key)]++] = key;
      all.arrive_and_wait();
      for (std::size_t list = id; list < kLists; list += threads)
        for (const Lists& each : lists)
          sum += bare_writes<128, false, kBlocks>(
              memory, std::span(each.keys[list]).first(each.sizes[list]));
      all.arrive_and_wait();
    }
    return sum;
  });
}

std::uint64_t bare_instructions(Keys keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) asm volatile(".rept 32\n\tnop\n\t.endr");
  return keys.size();
}

void contest(Report& report, const std::string& section, const std::vector<Way>& ways,
             std::size_t keys, const std::vector<unsigned>& threads, unsigned repetitions) {
  struct Times {
    std::vector<double> clock, cores;
  };
  std::vector<std::vector<Times>> all(ways.size(), std::vector<Times>(threads.size()));
  for (unsigned repetition = 0; repetition <= repetitions; ++repetition)  // the first warms up
    for (std::size_t i = 0; i < ways.size(); ++i)
      for (std::size_t j = 0; j < threads.size(); ++j) {
        if (ways[i].prepare) ways[i].prepare();
        const double clock = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
        kept = ways[i].run(threads[j]);
        const double took = seconds(CLOCK_MONOTONIC) - clock;
        if (repetition == 0) continue;
        const std::size_t done = ways[i].keys != 0 ? ways[i].keys : keys;
        all[i][j].clock.push_back(took / static_cast<double>(done) * 1e9);
        all[i][j].cores.push_back((seconds(CLOCK_PROCESS_CPUTIME_ID) - used) / took);
      }
  std::vector<std::string> headings = {section + ", ns per key"};
  for (const unsigned count : threads) {
    headings.push_back(fmt::format("{} thread{}", count, count == 1 ? "" : "s"));
    headings.insert(headings.end(), {"cores", "times"});
  }
  report.heading(section);
  Table table(headings);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    std::vector<std::string> row = {ways[i].name};
    for (std::size_t j = 0; j < threads.size(); ++j) {
      // The gain is computed pair by pair, since what disturbs one run disturbs its neighbour.
      std::vector<double> gains;
      for (std::size_t r = 0; r < repetitions; ++r)
        gains.push_back(all[i][0].clock[r] / all[i][j].clock[r]);
      const double clock = median(all[i][j].clock), gain = median(gains);
      row.insert(row.end(),
                 {fmt::format("{:.2f}", clock), fmt::format("{:.2f}", median(all[i][j].cores)),
                  fmt::format("{:.2f}", gain)});
      report.number(section, fmt::format("{}, {} threads", ways[i].name, threads[j]), clock);
      if (ways[i].goal > 0 && threads[0] == 1 && threads[j] == 2)
        report.at_least(section + ", " + ways[i].name + ": two threads over one", gain,
                        ways[i].goal);
    }
    table.row(row);
  }
  table.print();
}

// `asked`: the keys that are looked up.
template <class F>
void add_one_call(std::vector<Way>& ways, F& filter, Keys keys, Keys asked) {
  ways.push_back({"insert_many",
                  [&filter, keys](unsigned threads) {
                    return threads == 1 ? filter.insert_many(keys)
                                        : filter.insert_many(keys, {}, threads);
                  },
                  [&filter] { filter.clear(); }, 1.7});
  ways.push_back(
      {"may_contain_many",
       [&filter, asked](unsigned threads) { return filter.may_contain_many(asked, {}, threads); },
       nullptr, 1.7, asked.size()});
}

void plain(Report& report, Layout layout, Keys keys, Keys asked, double fpr,
           const std::vector<unsigned>& threads, unsigned repetitions) {
  Filter filter(plan(keys.size(), fpr, layout));
  ConcurrentFilter shared(filter);
  std::vector<Way> ways;
  add_one_call(ways, filter, keys, asked);
  const auto in_parts = [](Keys all, auto work) {
    return [all, work](unsigned on) {
      return on_threads(on, all, [&](unsigned, Keys part) { return work(part); });
    };
  };
  const auto clear = [&] { filter.clear(); };
  ways.push_back({"ConcurrentFilter, insert_many",
                  in_parts(keys, [&](Keys part) { return shared.insert_many(part); }), clear, 1.8});
  ways.push_back({"ConcurrentFilter, may_contain_many",
                  in_parts(asked, [&](Keys part) { return shared.may_contain_many(part); }),
                  nullptr, 1.8, asked.size()});
  const auto memory = filter.mutable_bytes();
  const auto part_of = [memory](unsigned i, unsigned on) {
    const std::size_t part = memory.size() / on / 64 * 64;
    return memory.subspan(part * i, part);
  };
  const auto add_limits = [&]<unsigned kBlocks>(std::integral_constant<unsigned, kBlocks>) {
    ways.push_back(
        {"a lock and a store per block, bulk",
         in_parts(keys, [=](Keys part) { return bare_writes<128, true, kBlocks>(memory, part); }),
         clear});
    ways.push_back({"dividing the keys, and a store per block",
                    [&, keys](unsigned on) { return bare_division<kBlocks>(memory, keys, on); },
                    clear});
    ways.push_back({"the memory alone, writes", [&, keys](unsigned on) {
                      return on_threads(on, keys, [&](unsigned i, Keys part) {
                        return bare_writes<128, false, kBlocks>(part_of(i, on), part);
                      });
                    }});
    ways.push_back({"the memory alone, reads", [&, keys](unsigned on) {
                      return on_threads(on, keys, [&](unsigned i, Keys part) {
                        return bare_loop<128, kBlocks>(part_of(i, on), part);
                      });
                    }});
  };
  if (layout == Layout::blocked2) {
    add_limits(std::integral_constant<unsigned, 2>());
  } else {
    add_limits(std::integral_constant<unsigned, 1>());
    ways.push_back({"ConcurrentFilter, insert",
                    in_parts(keys,
                             [&](Keys part) {
                               return each(part,
                                           [&](std::uint64_t key) { return shared.insert(key); });
                             }),
                    clear});
    ways.push_back({"a lock and a store per block, single",
                    in_parts(keys, [=](Keys part) { return bare_writes<0, true>(memory, part); }),
                    clear});
#ifdef BLOOMERY_RELAXED_SINGLE_BLOCK
    if (detail::inline_path_of(layout) >= detail::kSingleNeeds)
      ways.push_back({"a lock for each key, and its bits",
                      in_parts(keys, [&](Keys part) { return locked_inserts(filter, part); }),
                      clear});
#endif
    ways.push_back({"the cores alone", in_parts(keys, bare_instructions)});
  }
  contest(report, fmt::format("{}, {} keys at {}", to_string(layout), keys.size(), percent(fpr)),
          ways, keys.size(), threads, repetitions);
}

// What dedup does line by line, in order, however many threads find and hash the lines; and the memory alone, from
// which each line needs two cache lines.
void filter_stage(Report& report, Keys keys, unsigned repetitions) {
  constexpr std::size_t kBlockOfLines = 8'192;
  Filter filter(plan(keys.size(), 1e-6));
  const std::size_t half = (keys.size() + 1) / 2;
  std::vector<Hash128> hashes;
  for (std::size_t i = 0; i < keys.size(); ++i) hashes.push_back(filter.hash(keys[i % half]));
  std::vector<std::uint64_t> lines;
  for (std::size_t i = 0; i < keys.size(); ++i) lines.push_back(keys[i % half]);
  std::vector<double> times, bare;
  const auto used = [&](double start) {
    return (seconds(CLOCK_PROCESS_CPUTIME_ID) - start) / static_cast<double>(keys.size()) * 1e9;
  };
  for (unsigned repetition = 0; repetition <= repetitions; ++repetition) {
    filter.clear();
    bool answers[kBlockOfLines];
    double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    std::uint64_t fresh = 0;
    for (std::size_t i = 0; i < hashes.size(); i += kBlockOfLines) {
      const std::size_t some = std::min(kBlockOfLines, hashes.size() - i);
      fresh += filter.insert_hashes(std::span(hashes).subspan(i, some), std::span(answers, some));
    }
    kept = fresh;
    if (repetition != 0) times.push_back(used(start));
    start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    kept = bare_loop<128, 2>(filter.mutable_bytes(), lines);
    if (repetition != 0) bare.push_back(used(start));
  }
  const std::string what =
      fmt::format("the filter of dedup, {} lines, half of them repeats", keys.size());
  report.heading(what);
  fmt::print("{:.2f} ns of processor time per line; two random cache lines take {:.2f}\n",
             median(times), median(bare));
  report.number(what, "ns per line", median(times));
  report.at_most(what + ": ns per line", median(times), 5);
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  using namespace bloomery;
  std::uint64_t count = 100'000'000, cached = 1'000'000;
  unsigned repetitions = 5;
  double fpr = 0.001;
  std::vector<unsigned> threads = {1, 2};
  std::string json;
  CLI::App app{"What a second thread gives, by the clock"};
  app.add_option("--keys", count)->capture_default_str();
  app.add_option("--cached-keys", cached)->capture_default_str();
  app.add_option("--fpr", fpr)->capture_default_str();
  app.add_option("--threads", threads, "the first is what the others are compared with")
      ->capture_default_str();
  app.add_option("--repetitions", repetitions)->capture_default_str();
  app.add_option("--json", json, "where to write the numbers");
  CLI11_PARSE(app, argc, argv);
  bench::Report report("threads_bench");
  const auto keys = bench::random_keys(0, count);
  bench::filter_stage(report, std::span(keys).first(std::min<std::uint64_t>(count, 14'650'000)),
                      repetitions);
  for (const std::uint64_t some : {count, std::min(cached, count)}) {
    const auto part = std::span(keys).first(some);
    for (const Layout layout : {Layout::blocked, Layout::blocked2})
      bench::plain(report, layout, part, keys, fpr, threads, repetitions);
    CountingFilter counting(some, 0.01);
    std::vector<bench::Way> ways;
    bench::add_one_call(ways, counting, part, keys);
    bench::contest(report, fmt::format("counting, {} keys at 1 %", some), ways, some, threads,
                   repetitions);
  }
  report.finish(json);
}
