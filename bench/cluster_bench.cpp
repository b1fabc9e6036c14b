// Keys per second of one filter in shards, over a Redis Cluster of one, two and three nodes.
//
// Client and servers share this machine's cores, so the keys per second do not grow with the nodes. The
// second number does: the keys per second at which the busiest node would use up a core of its own,
// from the processor time that it took.
#include <bloomery/module_filter.hpp>
#include <bloomery/redis_filter.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>

#include "keys.hpp"
#include "redis_servers.hpp"
#include "report.hpp"

namespace bloomery::bench {
namespace {

struct Measured {
  double keys_a_second = 0;
  double keys_a_core = 0;
};

template <class Action>
Measured measure(const Servers& servers, std::size_t keys, unsigned repetitions, Action action) {
  Measured best;
  const std::vector<double> before = servers.processor_seconds();
  for (unsigned i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    action();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best.keys_a_second = std::max(best.keys_a_second, static_cast<double>(keys) / took.count());
  }
  std::vector<double> used = servers.processor_seconds();
  for (std::size_t i = 0; i < used.size(); ++i) used[i] -= before[i];
  const double busiest = *std::max_element(used.begin(), used.end());
  best.keys_a_core = static_cast<double>(keys) * repetitions / busiest;
  return best;
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  using namespace bloomery;
  using namespace bloomery::bench;
  std::uint64_t count = 200'000;
  unsigned repetitions = 5;
  std::string module, json;
  CLI::App app{"Keys a second of one filter over a Redis Cluster"};
  app.add_option("--keys", count)->capture_default_str();
  app.add_option("--repetitions", repetitions)->capture_default_str();
  app.add_option("--module", module, "bloomery.so, to measure its filters too");
  app.add_option("--json", json, "where to write the numbers");
  CLI11_PARSE(app, argc, argv);
  Report report("cluster_bench");
  report.heading(fmt::format(
      "10 million keys at 1 % in 12 shards, one client over loopback TCP, {} keys a run", count));
  const std::vector<std::uint64_t> keys = random_keys(0, count);
  std::vector<std::string> texts;
  for (const std::uint64_t key : keys) texts.push_back(fmt::format("{:016x}", key));
  const std::vector<std::string_view> items(texts.begin(), texts.end());

  Table table({"", "nodes", "keys a second, best", "keys a second a busiest core"});
  for (std::size_t nodes = 1; nodes <= 3; ++nodes) {
    std::vector<std::string> options;
    if (!module.empty()) options = {"--loadmodule", std::filesystem::absolute(module).string()};
    const Servers servers(nodes, options);
    const auto row = [&](const std::string& name, auto&& action) {
      action();
      const Measured measured = measure(servers, count, repetitions, action);
      table.row({name, std::to_string(nodes), fmt::format("{:.0f}", measured.keys_a_second),
                 fmt::format("{:.0f}", measured.keys_a_core)});
      report.number("keys a second of a busiest core", fmt::format("{}, {} nodes", name, nodes),
                    measured.keys_a_core);
    };
    auto strings = RedisFilter::create({servers.address(), "strings", 12}, plan(10'000'000, 0.01));
    row("strings, insert", [&] { strings.insert_many(keys); });
    row("strings, look up", [&] { (void)strings.may_contain_many(keys); });
    if (module.empty()) continue;
    auto filters = ModuleFilter::create({servers.address(), "filters", 12},
                                        {.capacity = 10'000'000, .fpr = 0.01});
    row("module, insert", [&] { filters.insert_many(items); });
    row("module, look up", [&] { (void)filters.may_contain_many(items); });
  }
  table.print();
  report.finish(json);
}
