// Measures what calls of one size cost a client of a filter in shards: bench/scale/ runs this program.
//
// Each client is a thread with a handle of its own. Prints one line of JSON: the keys, the seconds on the
// clock, and the processor time of all clients. Servers are started and asked by bench/scale/cluster.py.
#include <bloomery/module_filter.hpp>
#include <bloomery/redis_filter.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include "contest.hpp"
#include "keys.hpp"

namespace bloomery::bench {
namespace {

struct Task {
  std::uint16_t port = 0;
  std::string name = "probe";
  std::string place = "strings";
  std::string operation = "insert";
  std::uint32_t shards = 0;
  std::uint64_t capacity = 0;
  double fpr = 0.01;
  std::size_t batch = 1'000;
  std::size_t keys = 100'000;
  std::uint64_t first = 0;
  unsigned clients = 1;

  [[nodiscard]] RedisPlace at() const { return {{.port = port}, name, shards}; }
};

using Items = std::vector<std::string_view>;

template <class Filter>
void call(Filter& filter, const Task& task, std::span<const std::string_view> keys) {
  if (task.operation == "insert")
    filter.insert_many(keys);
  else
    (void)filter.may_contain_many(keys);
}

// One client's share of the keys, in calls of task.batch. The clients begin together.
template <class Filter>
double run_client(const Task& task, const Items& items, std::atomic<unsigned>& waiting) {
  Filter filter = Filter::open(task.at());
  // Connections, and the buffers of both ends, exist before the clock starts.
  call(filter, task, std::span(items).first(std::min(items.size(), task.batch)));
  waiting.fetch_sub(1);
  while (waiting.load() != 0) std::this_thread::yield();
  const double before = seconds(CLOCK_THREAD_CPUTIME_ID);
  std::span<const std::string_view> left(items);
  while (!left.empty()) {
    const std::size_t count = std::min(task.batch, left.size());
    call(filter, task, left.first(count));
    left = left.subspan(count);
  }
  return seconds(CLOCK_THREAD_CPUTIME_ID) - before;
}

template <class Filter>
void measure(const Task& task) {
  std::vector<std::vector<std::string>> texts(task.clients);
  std::vector<Items> items(task.clients);
  for (unsigned client = 0; client < task.clients; ++client) {
    for (std::uint64_t i = 0; i < task.keys; ++i)
      texts[client].push_back(
          fmt::format("{:016x}", random_key(task.first + client * task.keys + i)));
    items[client].assign(texts[client].begin(), texts[client].end());
  }
  std::atomic<unsigned> waiting = task.clients + 1;
  std::vector<double> seconds(task.clients);
  std::vector<std::exception_ptr> faults(task.clients);
  std::vector<std::thread> threads;
  for (unsigned client = 0; client < task.clients; ++client)
    threads.emplace_back([&, client] {
      try {
        seconds[client] = run_client<Filter>(task, items[client], waiting);
      } catch (...) {
        faults[client] = std::current_exception();
        waiting.fetch_sub(1);
      }
    });
  while (waiting.load() > 1) std::this_thread::yield();
  // The driver reads what the servers have used so far.
  fmt::print("ready\n");
  std::fflush(stdout);
  (void)std::getchar();
  const auto start = std::chrono::steady_clock::now();
  waiting.fetch_sub(1);
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  for (const std::exception_ptr& fault : faults)
    if (fault) std::rethrow_exception(fault);
  double sum = 0;
  for (const double each : seconds) sum += each;
  fmt::print("{{\"keys\": {}, \"seconds\": {}, \"client_seconds\": {}}}\n",
             task.keys * task.clients, took.count(), sum);
}

void create(const Task& task) {
  if (task.place == "strings")
    RedisFilter::create(task.at(), plan(task.capacity, task.fpr));
  else
    ModuleFilter::create(task.at(),
                         {.kind = Kind::plain, .capacity = task.capacity, .fpr = task.fpr});
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  using namespace bloomery;
  using namespace bloomery::bench;
  Task task;
  CLI::App app{"Calls of one size to a filter in shards, for bench/scale/"};
  app.add_option("--port", task.port, "of any node")->required();
  app.add_option("--name", task.name)->capture_default_str();
  app.add_option("--place", task.place)->check(CLI::IsMember({"strings", "module"}));
  app.add_option("--operation", task.operation)
      ->check(CLI::IsMember({"create", "insert", "look-up"}));
  app.add_option("--shards", task.shards, "0: those that are there")->capture_default_str();
  app.add_option("--capacity", task.capacity, "of the filter that is created");
  app.add_option("--fpr", task.fpr)->capture_default_str();
  app.add_option("--batch", task.batch, "keys in a call")->capture_default_str();
  app.add_option("--keys", task.keys, "of each client")->capture_default_str();
  app.add_option("--first", task.first, "of the keys of bench/keys.hpp");
  app.add_option("--clients", task.clients)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    if (task.operation == "create")
      create(task);
    else if (task.place == "strings")
      measure<RedisFilter>(task);
    else
      measure<ModuleFilter>(task);
  } catch (const std::exception& fault) {
    fmt::print(stderr, "scale_probe: {}\n", fault.what());
    return 1;
  }
}
