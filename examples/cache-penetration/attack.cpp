// Users, who ask for rows, and an attacker, who asks for keys that do not exist.
#include <cmath>
#include <cstdio>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "experiments.hpp"
#include "load.hpp"
#include "service.hpp"

namespace {

constexpr int kUsers = 4;
constexpr double kUsersAskASecond = 250;  // each
constexpr int kAttackers = 16;
constexpr double kAttackersAskASecond = 2'500;  // each

struct Side {
  Latencies latencies;
  std::uint64_t queries = 0;
  std::uint64_t wrong = 0;  // wrong answers
};

struct Outcome {
  Side users;
  Side attackers;
  std::uint64_t cache_bytes = 0;
};

// Users and attacker ask for some seconds; the cache is empty at first.
Outcome load(const Setup& setup, RowFilter* filter, bool remember_absence, bool attack) {
  Cache cache(setup.redis);
  cache.clear();
  const std::uint64_t before = cache.memory();
  DatabasePool database(setup.postgres, 8);
  Outcome outcome;
  std::mutex mutex;
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                             std::chrono::duration<double>(setup.seconds));
  // `ask` gets a service and a source of random numbers, and returns whether the answer was right.
  const auto client = [&](Side& side, unsigned seed, double a_second, auto ask) {
    return std::jthread([&, seed, a_second, ask] {
      std::optional<RowFilter::Reader> reader;
      if (filter != nullptr) reader.emplace(*filter);
      Service service(Cache(setup.redis), database, reader ? &*reader : nullptr, remember_absence);
      std::mt19937_64 random(seed);
      std::uint64_t wrong = 0;
      const Latencies latencies =
          at_a_pace(a_second, std::uniform_real_distribution<double>()(random), end,
                    [&] { wrong += !ask(service, random); });
      const std::scoped_lock lock(mutex);
      side.latencies.add(latencies);
      side.queries += service.queries();
      side.wrong += wrong;
    });
  };
  const auto ask_for_a_row = [rows = setup.rows](Service& service, std::mt19937_64& random) {
    // A few rows are asked for often.
    const double share = std::pow(std::uniform_real_distribution<double>()(random), 6);
    const auto number = static_cast<std::uint64_t>(share * static_cast<double>(rows));
    return service.find(key_of(number)) == body_of(number);
  };
  const auto ask_for_absent_rows = [](Service& service, std::mt19937_64& random) {
    return !service.find(key_of(random() | 1ULL << 63));
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < kUsers; ++i)
    threads.push_back(client(outcome.users, i, kUsersAskASecond, ask_for_a_row));
  for (unsigned i = 0; attack && i < kAttackers; ++i)
    threads.push_back(
        client(outcome.attackers, 100 + i, kAttackersAskASecond, ask_for_absent_rows));
  threads.clear();  // wait for them
  outcome.cache_bytes = cache.memory() - before;
  return outcome;
}

void print(const char* name, Outcome& outcome, std::uint64_t filter_bytes) {
  std::printf(
      "%-26s %8zu %9llu %9zu %9llu %9.2f %9.2f %9.2f %9.1f %8.1f\n", name,
      outcome.users.latencies.count(), static_cast<unsigned long long>(outcome.users.queries),
      outcome.attackers.latencies.count(),
      static_cast<unsigned long long>(outcome.attackers.queries),
      outcome.users.latencies.percentile(0.5), outcome.users.latencies.percentile(0.99),
      outcome.users.latencies.percentile(0.999), static_cast<double>(outcome.cache_bytes) / 1e6,
      static_cast<double>(filter_bytes) / 1e6);
}

}  // namespace

bool attack_experiment(const Setup& setup, RowFilter& filter) {
  std::printf(
      "%llu rows; %d users ask for %.0f a second, the attacker for %.0f; %.1f seconds each\n\n",
      static_cast<unsigned long long>(setup.rows), kUsers, kUsers * kUsersAskASecond,
      kAttackers * kAttackersAskASecond, setup.seconds);
  std::printf("%-26s %18s %19s %29s %18s\n", "", "users", "attacker", "users wait, ms",
              "memory, MB");
  std::printf("%-26s %8s %9s %9s %9s %9s %9s %9s %9s %8s\n", "", "answers", "queries", "answers",
              "queries", "median", "99 %", "99.9 %", "cache", "filter");
  bool right = true;
  const auto run = [&](const char* name, RowFilter* with, bool remember_absence, bool attack) {
    Outcome outcome = load(setup, with, remember_absence, attack);
    print(name, outcome, with != nullptr ? with->bytes() : 0);
    right &= outcome.users.wrong == 0 && outcome.attackers.wrong == 0;
    return outcome;
  };
  run("no attack, no filter", nullptr, false, false);
  run("attack, no filter", nullptr, false, true);
  run("attack, absence is cached", nullptr, true, true);
  const Outcome filtered = run("attack, filter", &filter, false, true);
  // At most the stated 0.1 % of the attacker's keys come through, plus six standard deviations.
  const double expected = 0.001 * static_cast<double>(filtered.attackers.latencies.count());
  right &= static_cast<double>(filtered.attackers.queries) < expected + 6 * std::sqrt(expected) + 6;
  return right;
}
