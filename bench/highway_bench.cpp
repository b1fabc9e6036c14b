// Why intrinsics: the primitives of `blocked` compared with the same primitives over Highway.
//
// All give the same bits and answers, which is checked first. Ratios are relative to our intrinsics.
#include <bloomery/filter.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

#include "contest.hpp"
#include "highway.hpp"
#include "keys.hpp"
#include "report.hpp"

namespace bloomery::bench {
namespace {

std::vector<Hash128> some_hashes(const Filter& filter, std::uint64_t first, std::uint64_t count) {
  std::vector<Hash128> out;
  for (const std::uint64_t key : random_keys(first, count)) out.push_back(filter.hash(key));
  return out;
}

// The library's own call through its table, to compare with each_call.
Primitives our_each_call() {
  static const detail::Kernel* const kernel = detail::kernels_of(Layout::blocked).back();
  return {fmt::format("intrinsics, each key by the table ({})", kernel->name),
          [](const detail::BitArray& array, std::span<const Hash128> keys) {
            return each(keys, [&](Hash128 key) { return kernel->contains(array, key); });
          },
          [](const detail::BitArray& array, std::span<const Hash128> keys) {
            return each(keys, [&](Hash128 key) { return kernel->insert(array, key); });
          }};
}

bool all_agree(std::span<const Primitives> all, Filter& filter, std::span<const Hash128> present,
               std::span<const Hash128> absent) {
  filter.clear();
  filter.insert_hashes(present);
  const Filter wanted = filter.copy();
  const std::uint64_t found = wanted.may_contain_hashes(absent);
  bool agree = true;
  for (const Primitives& one : all) {
    filter.clear();
    one.set(filter.bit_array(), present);
    if (std::memcmp(filter.bytes().data(), wanted.bytes().data(), wanted.bytes().size()) != 0 ||
        one.test(filter.bit_array(), present) != present.size() ||
        one.test(filter.bit_array(), absent) != found) {
      fmt::print(stderr, "highway_bench: {} gives other bits or answers\n", one.name);
      agree = false;
    }
  }
  return agree;
}

void compare(Report& report, const std::string& section, const std::vector<Primitives>& all,
             Filter& filter, std::span<const Hash128> keys, unsigned repetitions) {
  Contest contest;
  // Few keys are looked up repeatedly, so that one round is long enough to time.
  const std::uint64_t rounds = std::max<std::uint64_t>(1, 4'000'000 / keys.size());
  const auto add = [&](const std::string& name, auto once) {
    contest.add({name, keys.size() * rounds, [once, rounds] {
                   std::uint64_t yes = 0;
                   for (std::uint64_t i = 0; i < rounds; ++i) yes += once();
                   return yes;
                 }});
  };
  const detail::BitArray array = filter.bit_array();
  for (const Primitives& one : all) {
    add(one.name, [&one, array, keys] { return one.test(array, keys); });
    add(one.name, [&one, array, keys] { return one.set(array, keys); });
    if (one.ring == nullptr) continue;
    add(one.name, [&one, array, keys] {
      return one.ring->contains_hashes(array, keys.data(), keys.size(), nullptr);
    });
    add(one.name, [&one, array, keys] {
      return one.ring->insert_hashes(array, keys.data(), keys.size(), nullptr);
    });
  }
  const auto timings = contest.run(repetitions);
  report.heading(section);
  const char* const columns[] = {"test", "set", "test in the ring", "set in the ring"};
  Table table({"ns per key (times ours)"}, columns);
  for (std::size_t i = 0, row = 0; i < timings.size(); ++row) {
    std::vector<std::string> counters = {all[row].name};
    for (std::size_t column = 0; column < (all[row].ring != nullptr ? 4U : 2U); ++column, ++i) {
      const double ours = timings[column].median(), here = timings[i].median();
      counters.push_back(fmt::format("{:.2f} ({:.2f})", here, here / ours));
      report.number(section, fmt::format("{}: {}", all[row].name, columns[column]), here);
    }
    counters.resize(5);
    table.row(counters);
  }
  table.print();
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  using namespace bloomery;
  std::uint64_t keys = 20'000'000, cached_keys = 20'000;
  unsigned repetitions = 15;
  std::string json;
  CLI::App app{"The primitives of layout blocked, in intrinsics and over Highway"};
  app.add_option("--keys", keys, "keys of a filter in memory")->capture_default_str();
  app.add_option("--cached-keys", cached_keys, "keys of a filter in cache")->capture_default_str();
  app.add_option("--repetitions", repetitions)->capture_default_str();
  app.add_option("--json", json, "where to write the numbers");
  CLI11_PARSE(app, argc, argv);
  bench::Report report("highway_bench");
  const std::vector<bench::Primitives> all = {bench::our_primitives(), bench::highway_static(),
                                              bench::highway_dynamic(), bench::our_each_call(),
                                              bench::highway_each_call()};
  for (const std::uint64_t count : {cached_keys, keys}) {
    Filter filter(plan(count, 0.001, Layout::blocked));
    const auto present = bench::some_hashes(filter, 0, count);
    const auto absent = bench::some_hashes(filter, count, count);
    if (!bench::all_agree(all, filter, present, absent)) return 1;
    bench::compare(report, fmt::format("{} keys at 0.1 %, k = {}", count, filter.plan().hashes),
                   all, filter, present, repetitions);
  }
  report.finish(json);
}
