// The quality and the speed of the PHP hash families.
//
// Quality: every second key of a list of distinct keys goes into a filter, and the others are looked
// up. The share that is found is compared with (1 - e^(-kn/m))^k, the textbook's rate for random
// hashes. Speed: every hash on the same keys, and the Mersenne Twister in three forms: seeded
// completely, computed only as far as numbers are drawn, and eight interleaved.
#include <bloomery/php_filter.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <vector>

#include "contest.hpp"
#include "keys.hpp"
#include "report.hpp"

#include "legacy/php_crc32_mt.hpp"

namespace bloomery::bench {
namespace {

using Texts = std::vector<std::string>;
using Views = std::vector<std::string_view>;

// The lines of a file, shuffled.
Texts shuffled_lines(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read; ./dev bench makes it");
  Texts lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::mt19937_64 random(1);
  std::shuffle(lines.begin(), lines.end(), random);
  return lines;
}

// The names of the packages that the URLs fetch: the part of a file name before the first '_'.
Texts package_names(const Texts& urls) {
  Texts names;
  for (const std::string& url : urls) {
    if (!url.ends_with(".deb")) continue;
    const std::string file = url.substr(url.rfind('/') + 1);
    names.push_back(file.substr(0, file.find('_')));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::mt19937_64 random(2);
  std::shuffle(names.begin(), names.end(), random);
  return names;
}

// `count` made-up pages of a shop: 48 to 55 bytes.
Texts page_urls(std::uint64_t count) {
  Texts urls;
  for (std::uint64_t i = 0; i < count; ++i)
    urls.push_back(
        fmt::format("https://www.example.org/catalogue/{}/item-{}.html", random_key(i) % 1000, i));
  return urls;
}

Texts user_names(std::uint64_t count) {
  Texts names;
  for (std::uint64_t i = 0; i < count; ++i) names.push_back(fmt::format("user{}", i));
  return names;
}

Texts random_names(std::uint64_t count) {
  Texts names;
  for (std::uint64_t i = 0; i < count; ++i) names.push_back(fmt::format("{:016x}", random_key(i)));
  return names;
}

struct Fprs {
  double measured = 0;
  double theory = 0;
  std::size_t inserted = 0;
};

Fprs fprs_of(const PhpScheme& scheme, const Texts& keys) {
  Views inserted, asked;
  for (std::size_t i = 0; i < keys.size(); ++i) (i % 2 == 0 ? inserted : asked).push_back(keys[i]);
  PhpFilter filter(scheme);
  filter.insert_many(inserted);
  const auto found = static_cast<double>(filter.may_contain_many(asked));
  const double k = scheme.hash_count();
  const double load = k * static_cast<double>(inserted.size()) / static_cast<double>(scheme.bits());
  return {found / static_cast<double>(asked.size()), std::pow(-std::expm1(-load), k),
          inserted.size()};
}

void bench_string_hashes(Report& report, const std::string& name, const Texts& keys) {
  report.heading(fmt::format("{}: {} in a filter of 2^32 bits, as many others asked for", name,
                             keys.size() / 2));
  Table table({"hashes", "false positives", "theory", "times theory"});
  for (const char* names : {"JS", "PJW", "ELF", "BKDR", "SDBM", "DJB", "DEK", "FNV", "BKDR,SDBM,JS",
                            "JS,PJW,ELF,BKDR,SDBM,DJB,DEK,FNV"}) {
    const Fprs fprs = fprs_of(PhpScheme::string_hashes(names), keys);
    const std::string row = std::string(names).size() > 20 ? "all eight" : names;
    table.row({row, fmt::format("{:.3g} %", fprs.measured * 100),
               fmt::format("{:.2g} %", fprs.theory * 100),
               fmt::format("{:.3g}", fprs.measured / fprs.theory)});
    report.number(name + ", " + row, "fpr", fprs.measured);
    report.number(name + ", " + row, "theory", fprs.theory);
  }
  table.print();
}

void bench_floor(Report& report, std::uint64_t most) {
  report.heading("crc32 -> MT19937, random keys, 40 bits per item (k = 28): the floor of 32 bits");
  Table table({"items", "false positives", "theory", "n / 2^32"});
  for (std::uint64_t items = most / 100; items <= most; items *= 10) {
    const Fprs fprs = fprs_of(PhpScheme::crc32_mt(items * 40, items), random_names(items * 2));
    const double floor = static_cast<double>(items) / 0x1p32;
    table.row({fmt::format("{}", items), fmt::format("{:.3g} %", fprs.measured * 100),
               fmt::format("{:.2g} %", fprs.theory * 100), fmt::format("{:.3g} %", floor * 100)});
    report.number(fmt::format("floor, {} items", items), "fpr", fprs.measured);
    report.number(fmt::format("floor, {} items", items), "floor", floor);
  }
  table.print();
}

void bench_speed(Report& report, const std::string& name, const Texts& keys, unsigned repetitions) {
  const Views views(keys.begin(),
                    keys.begin() + std::min<std::ptrdiff_t>(20'000, keys.end() - keys.begin()));
  std::size_t bytes = 0;
  for (const std::string_view key : views) bytes += key.size();
  Contest contest;
  for (const PhpHash hash : kPhpHashes)
    contest.add({std::string(to_string(hash)), views.size(), [&views, hash] {
                   std::uint64_t sum = 0;
                   for (const std::string_view key : views) sum += php_hash(hash, key);
                   return sum;
                 }});
  const auto scheme = PhpScheme::crc32_mt(10'000'000, 1'000'000);
  std::vector<std::uint64_t> offsets(views.size() * scheme.hash_count());
  contest.add({"crc32", views.size(), [&] {
                 std::uint64_t sum = 0;
                 for (const std::string_view key : views) sum += detail::crc32(key);
                 return sum;
               }});
  contest.add({"crc32-mt, seeded whole", views.size(), [&] {
                 std::uint64_t sum = 0;
                 for (const std::string_view key : views) {
                   std::mt19937 twister(detail::crc32(key));
                   for (std::uint32_t i = 0; i < scheme.hash_count(); ++i)
                     sum += detail::draw_below(scheme.bits(), twister);
                 }
                 return sum;
               }});
  contest.add({"crc32-mt, as far as drawn", views.size(), [&] {
                 for (const std::string_view key : views) scheme.positions(key, offsets);
                 return offsets[0];
               }});
  contest.add({"crc32-mt, eight at once", views.size(), [&] {
                 scheme.positions(views, offsets);
                 return offsets[0];
               }});
  report.heading(fmt::format("{}: {:.0f} bytes per key, the fastest of {} runs", name,
                             static_cast<double>(bytes) / static_cast<double>(views.size()),
                             repetitions));
  Table table({"", "ns per key"});
  for (const Timing& timing : contest.run(repetitions)) {
    table.row({timing.name, fmt::format("{:.0f}", timing.fastest())});
    report.number("speed, " + name, timing.name, timing.fastest());
  }
  table.print();
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  using namespace bloomery::bench;
  std::string urls_file, json;
  std::uint64_t pages = 10'000'000;
  unsigned repetitions = 40;
  CLI::App app{"Quality and speed of the PHP families"};
  app.add_option("--urls", urls_file, "a file of distinct URLs, one per line")->required();
  app.add_option("--keys", pages, "how many made-up keys go into a filter")->capture_default_str();
  app.add_option("--repetitions", repetitions)->capture_default_str();
  app.add_option("--json", json, "where to write the numbers");
  CLI11_PARSE(app, argc, argv);
  Report report("php_bench");
  const Texts urls = shuffled_lines(urls_file);
  const Texts names = package_names(urls);
  bench_string_hashes(report, "URLs of the package index", urls);
  if (!names.empty()) bench_string_hashes(report, "names of packages", names);
  bench_string_hashes(report, "made-up page URLs", page_urls(pages * 2));
  bench_string_hashes(report, "made-up user names", user_names(pages * 2));
  bench_floor(report, pages);
  bench_speed(report, "URLs of the package index", urls, repetitions);
  if (!names.empty()) bench_speed(report, "names of packages", names, repetitions);
  report.finish(json);
}
