// Rows are added and deleted, and the filter is rebuilt and swapped, while threads look up rows.
//
// The check: threads ask for rows that exist before the question and after it. Half of the questions are
// for the latest rows, which a wrong swap would lose first.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "database.hpp"
#include "experiments.hpp"
#include "load.hpp"

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kAskers = 2;
constexpr int kRebuilds = 5;

struct Proof {
  std::atomic<std::uint64_t> asked = 0;
  std::atomic<std::uint64_t> denied = 0;  // a row that exists, answered "not there"
};

void ask_for_rows_that_exist(const RowFilter& filter, const Existing& existing, unsigned seed,
                             Proof& proof, const std::stop_token& stop) {
  RowFilter::Reader reader(filter);
  std::mt19937_64 random(seed);
  while (!stop.stop_requested()) {
    const std::uint64_t last = existing.last, first = existing.first;
    const std::uint64_t span =
        random() % 2 ? last - first : std::min<std::uint64_t>(last - first, 100);
    const std::uint64_t number = last - 1 - random() % span;
    const bool there = reader.may_exist(key_of(number));
    // If the row was deleted meanwhile, the answer says nothing.
    if (number < existing.first) continue;
    ++proof.asked;
    if (!there) ++proof.denied;
  }
}

// Adds a hundredth of the rows and deletes a hundredth, repeatedly.
void change_rows(const Setup& setup, RowFilter& filter, Existing& existing,
                 const std::stop_token& stop) {
  Database database(setup.postgres);
  const std::uint64_t some = setup.rows / 100;
  for (auto due = Clock::now(); !stop.stop_requested(); due += std::chrono::milliseconds(50)) {
    std::this_thread::sleep_until(due);
    const std::uint64_t last = existing.last, first = existing.first;
    std::vector<std::string> keys;
    for (std::uint64_t number = last; number < last + some; ++number)
      keys.push_back(key_of(number));
    filter.add(keys, [&] {
      database.add(last, last + some);
      existing.last = last + some;
    });
    existing.first = first + some;
    database.remove(first, first + some);
  }
}

// The share of deleted rows that the filter still lets through, in percent.
double still_let_through(const RowFilter& filter, const Existing& existing, std::uint64_t rows) {
  RowFilter::Reader reader(filter);
  constexpr std::uint64_t kAsked = 20'000;
  const std::uint64_t first = existing.first;
  const std::uint64_t gone = std::min(first, rows);
  if (gone == 0) return 0;
  std::mt19937_64 random(7);
  std::uint64_t through = 0;
  for (std::uint64_t i = 0; i < kAsked; ++i)
    through += reader.may_exist(key_of(first - 1 - random() % gone));
  return 100.0 * static_cast<double>(through) / kAsked;
}

}  // namespace

bool swap_experiment(const Setup& setup, RowFilter& filter) {
  Existing existing;
  existing.last = setup.rows;
  Proof proof;
  Database database(setup.postgres);
  std::vector<std::jthread> threads;
  threads.emplace_back(
      [&](const std::stop_token& stop) { change_rows(setup, filter, existing, stop); });
  for (unsigned seed = 0; seed < kAskers; ++seed)
    threads.emplace_back([&, seed](const std::stop_token& stop) {
      ask_for_rows_that_exist(filter, existing, seed, proof, stop);
    });

  std::printf(
      "\nRows come and go, all of them every five seconds; the filter is rebuilt meanwhile\n\n");
  std::printf("%-9s %9s %21s %21s %23s %13s %13s %10s\n", "", "", "keys in the filter", "rate, %",
              "gone rows let through, %", "adders", "existing", "answered");
  std::printf("%-9s %9s %10s %10s %10s %10s %12s %11s %13s %13s %10s\n", "rebuild", "took",
              "before", "after", "before", "after", "before", "after", "waited", "rows asked",
              "\"no\"");
  for (int i = 1; i <= kRebuilds; ++i) {
    std::this_thread::sleep_for(std::chrono::duration<double>(setup.seconds / 2));
    const double keys = filter.estimated_keys(), fpr = filter.current_fpr();
    const double gone = still_let_through(filter, existing, setup.rows);
    const auto rebuilt = filter.rebuild([&](auto use) { database.each_key(use); });
    std::printf("%-9d %7.2f s %10.0f %10.0f %10.3f %10.3f %12.1f %11.1f %10.1f ms %13llu %10llu\n",
                i, rebuilt.took.count(), keys, filter.estimated_keys(), fpr * 100,
                filter.current_fpr() * 100, gone, still_let_through(filter, existing, setup.rows),
                rebuilt.adders_waited.count() * 1e3, static_cast<unsigned long long>(proof.asked),
                static_cast<unsigned long long>(proof.denied));
  }
  for (auto& thread : threads) thread.request_stop();
  threads.clear();
  return proof.asked > 0 && proof.denied == 0;
}
