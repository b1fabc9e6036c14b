// The cost of a filter that deletes and grows with 10 bits per key: a prototype of a quotient filter,
// beside counting filters and the module's cuckoo filter.
//
// All hold the same keys. Inserts begin with an empty filter and end with a full one; look-ups ask the full
// one; removals take the first fifth of the keys. Churn replaces random keys of a full filter one by
// one. The prototype's calls are inlined and compiled for this CPU; those of counting filters go through the
// table of kernels. The time is processor time. The prototype is checked against an exact multiset first.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <map>

#include "contest.hpp"
#include "quotient_candidates.hpp"
#include "quotient_check.hpp"
#include "report.hpp"

namespace bloomery::bench {
namespace {

constexpr std::uint64_t kAbsent = std::uint64_t{1} << 40;  // where absent keys begin in the stream
constexpr std::array kOperations = {"insert",      "hit",      "miss",      "remove",
                                    "bulk insert", "bulk hit", "bulk miss", "bulk remove"};

struct Options {
  unsigned repetitions = 5;
  double fpr = 0.01;
  bool fastest = false;
  [[nodiscard]] double time_of(const Timing& timing) const {
    return fastest ? timing.fastest() : timing.median();
  }
};

std::shared_ptr<QuotientFilter> quotient_filter(std::uint64_t keys, double load, double fpr) {
  const auto n = static_cast<double>(keys);
  return std::make_shared<QuotientFilter>(static_cast<std::uint64_t>(n / load) + 1,
                                          QuotientFilter::fingerprint_bits_for(n, fpr));
}

// Ends the process unless the candidate said yes to all keys, or to almost all if it may refuse some.
void must_have(const Candidate& candidate, const char* what, std::uint64_t yes,
               std::uint64_t keys) {
  if (yes == keys || (candidate.may_refuse && (keys - yes) * 100 <= keys)) return;
  fmt::print(stderr, "{}: {} of {} keys were not {}\n", candidate.name, keys - yes, keys, what);
  std::abort();
}

double measured_fpr(const Candidate& candidate) {
  constexpr std::uint64_t kAsked = 1 << 20, kRounds = 4;
  std::uint64_t found = 0;
  for (std::uint64_t round = 1; round <= kRounds; ++round)
    found += candidate.bulk_contains(random_keys(kAbsent * 2 + round * kAsked, kAsked));
  return static_cast<double>(found) / static_cast<double>(kAsked * kRounds);
}

std::string two_digits(double value) { return fmt::format("{:.2f}", value); }
std::string percents(double value) { return fmt::format("{:.2f} %", 100 * value); }

// ---- operations ----------------------------------------------------------------------------------

// Each case leaves the filter in the state that its next case needs; the filter is full at the end.
void add_cases(Contest& contest, const Candidate& candidate, Keys present, Keys absent) {
  const Keys slice = present.first(present.size() / 5);
  const auto add = [&](const char* operation, Keys keys, const auto& call, auto prepare) {
    contest.add({candidate.name + ": " + operation, keys.size(),
                 [&call, keys] { return call(keys); }, prepare});
  };
  const auto nothing = [] {};
  const auto refill = [&candidate, slice] { candidate.bulk_insert(slice); };
  add("insert", present, candidate.insert, candidate.clear);
  add("bulk insert", present, candidate.bulk_insert, candidate.clear);
  add("hit", slice, candidate.contains, nothing);
  add("miss", absent, candidate.contains, nothing);
  add("bulk hit", slice, candidate.bulk_contains, nothing);
  add("bulk miss", absent, candidate.bulk_contains, nothing);
  add("remove", slice, candidate.remove, nothing);
  add("bulk remove", slice, candidate.bulk_remove, refill);
}

void bench_operations(Report& report, const std::string& section,
                      const std::vector<Candidate>& candidates, Keys present,
                      const Options& options) {
  report.heading(section);
  const auto absent = random_keys(kAbsent, present.size() / 5);
  Contest contest(Clock::processor);
  for (const Candidate& candidate : candidates) add_cases(contest, candidate, present, absent);
  std::map<std::string, double> times;
  for (const Timing& timing : contest.run(options.repetitions))
    times[timing.name] = options.time_of(timing);

  Table table({"ns per key", "bits per key", "fpr"}, kOperations);
  for (const Candidate& candidate : candidates) {
    candidate.bulk_insert(present.first(present.size() / 5));
    must_have(candidate, "found", candidate.bulk_contains(present), present.size());
    const double fpr = measured_fpr(candidate);
    report.number(section, candidate.name + ": bits per key", candidate.bits_per_key);
    report.number(section, candidate.name + ": rate", fpr);
    std::vector<std::string> row = {candidate.name, two_digits(candidate.bits_per_key),
                                    percents(fpr)};
    for (const char* operation : kOperations) {
      const double time = times.at(candidate.name + ": " + operation);
      row.push_back(two_digits(time));
      report.number(section, candidate.name + ": " + operation, time);
    }
    table.row(row);
  }
  table.print();
}

// ---- churn ---------------------------------------------------------------------------------------

struct Moved {
  std::uint64_t median, high, most;  // high: 999 of 1,000 inserts move at most so many slots
};
Moved moved_by_inserts(const QuotientFilter& filter) {
  constexpr std::size_t kInserts = 1'000'000;
  std::vector<std::uint64_t> moved(kInserts);
  for (std::size_t i = 0; i < kInserts; ++i)
    moved[i] = filter.moved_by(Hasher()(random_key(3 * kAbsent + i)));
  std::sort(moved.begin(), moved.end());
  return {moved[kInserts / 2], moved[kInserts / 1000 * 999], moved.back()};
}

// Replaces random keys of `present` in batches; all candidates take turns.
std::vector<Timing> churn(const std::vector<Candidate>& candidates,
                          std::span<std::uint64_t> present, std::uint64_t pairs,
                          std::uint64_t& drawn) {
  constexpr std::uint64_t kBatch = 1 << 16;
  std::vector<Timing> timings(candidates.size());
  std::vector<std::uint64_t> old(kBatch), fresh(kBatch);
  for (std::uint64_t done = 0; done < pairs; done += kBatch) {
    for (std::uint64_t i = 0; i < kBatch; ++i) {
      fresh[i] = random_key(4 * kAbsent + drawn++);
      std::uint64_t& chosen = present[random_key(5 * kAbsent + drawn) % present.size()];
      old[i] = std::exchange(chosen, fresh[i]);
    }
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const std::clock_t start = std::clock();  // processor time, as in the contests
      const std::uint64_t yes = candidates[i].replace(old, fresh);
      const auto time = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC * 1e9;
      must_have(candidates[i], "replaced", yes, kBatch);
      timings[i].samples.push_back(time / static_cast<double>(kBatch));
    }
  }
  return timings;
}

void bench_churn(Report& report, const std::string& section,
                 const std::vector<Candidate>& candidates, const QuotientFilter& first,
                 std::vector<std::uint64_t> present, const Options& options) {
  report.heading(section + ", keys replaced one by one");
  const auto absent = random_keys(kAbsent, present.size() / 5);
  Table table({"ns per key", "replaced, times the keys", "replace", "fpr", "keys refused", "hit",
               "miss", "bulk hit", "bulk miss"});
  Table moves(
      {"slots an insert moves", "median", "99.9 %", "most of 1,000,000", "longest cluster"});
  std::uint64_t drawn = 0, replaced = 0;
  for (const std::uint64_t factor : {0, 1, 5, 10}) {
    const auto timings = churn(candidates, present, (factor - replaced) * present.size(), drawn);
    replaced = factor;
    const Keys slice = Keys(present).first(absent.size());
    Contest contest(Clock::processor);
    for (const Candidate& candidate : candidates)
      for (const auto* call : {&candidate.contains, &candidate.bulk_contains}) {
        contest.add({"hit", slice.size(), [call, slice] { return (*call)(slice); }});
        contest.add({"miss", absent.size(), [call, &absent] { return (*call)(absent); }});
      }
    const auto asked = contest.run(options.repetitions);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const std::uint64_t found = candidates[i].bulk_contains(present);
      must_have(candidates[i], "found", found, present.size());
      const double fpr = measured_fpr(candidates[i]);
      const std::string name = fmt::format("{}, {}x: ", candidates[i].name, factor);
      std::vector<std::string> row = {candidates[i].name, fmt::format("{}", factor), "",
                                      percents(fpr), fmt::format("{}", present.size() - found)};
      if (factor != 0) {
        row[2] = two_digits(options.time_of(timings[i]));
        report.number(section, name + "replace", options.time_of(timings[i]));
      }
      report.number(section, name + "rate", fpr);
      for (std::size_t j = 0; j < 4; ++j)
        row.push_back(two_digits(options.time_of(asked[4 * i + j])));
      table.row(row);
    }
    const Moved moved = moved_by_inserts(first);
    moves.row({fmt::format("{}, {}x", candidates[0].name, factor), fmt::format("{}", moved.median),
               fmt::format("{}", moved.high), fmt::format("{}", moved.most),
               fmt::format("{}", first.longest_cluster())});
  }
  table.print();
  moves.print();
}

// ---- growth --------------------------------------------------------------------------------------

// A table planned for `keys` begins with room for a sixteenth of them and doubles whenever it is 90 % full.
void bench_growth(Report& report, std::uint64_t keys, const Options& options) {
  const std::string section =
      fmt::format("a table planned for {} keys at {} doubles", keys, percent(options.fpr));
  report.heading(section);
  const auto present = random_keys(0, keys);
  const unsigned bits =
      QuotientFilter::fingerprint_bits_for(static_cast<double>(keys), options.fpr);
  Table table({"keys", "bits per key", "remainder bits", "fpr", "doubling, ns per key",
               "inserting again", "bulk", "both tables over the new one"});
  const auto fill = [&](const std::shared_ptr<QuotientFilter>& filter, std::uint64_t from,
                        std::uint64_t to) {
    const Candidate candidate = quotient_candidate(filter, to);
    must_have(candidate, "inserted", candidate.bulk_insert(Keys(present).subspan(from, to - from)),
              to - from);
    must_have(candidate, "found", candidate.bulk_contains(Keys(present).first(to)), to);
    return candidate;
  };
  auto filter = std::make_shared<QuotientFilter>(keys / 16 * 10 / 9 + 1, bits);
  std::uint64_t held = 0;
  for (std::uint64_t now = keys / 16; now <= keys; now *= 2) {
    const Candidate candidate = fill(filter, held, now);
    held = now;
    std::vector<std::string> row = {fmt::format("{}", now), two_digits(candidate.bits_per_key),
                                    fmt::format("{}", filter->value_bits()),
                                    percents(measured_fpr(candidate))};
    if (now * 2 <= keys) {
      std::shared_ptr<QuotientFilter> larger;
      const auto again = std::make_shared<QuotientFilter>(filter->slots() * 2, bits);
      const Candidate other = quotient_candidate(again, now);
      const Keys all = Keys(present).first(now);
      const auto clear = [&] { again->clear(); };
      Contest contest(Clock::processor);
      contest.add({"double", now, [&] {
                     larger =
                         std::make_shared<QuotientFilter>(filter->resized(filter->slots() * 2));
                     return larger->size();
                   }});
      contest.add({"insert", now, [&] { return other.insert(all); }, clear});
      contest.add({"bulk insert", now, [&] { return other.bulk_insert(all); }, clear});
      for (const Timing& timing : contest.run(options.repetitions)) {
        row.push_back(two_digits(options.time_of(timing)));
        report.number(section, fmt::format("{} keys: {}", now, timing.name),
                      options.time_of(timing));
      }
      row.push_back(two_digits(static_cast<double>(filter->bytes() + larger->bytes()) /
                               static_cast<double>(larger->bytes())));
      filter = larger;
    }
    table.row(row);
  }
  table.print();
}

void bench(Report& report, std::uint64_t keys, const Options& options, bool churned) {
  auto present = random_keys(0, keys);
  const auto first = quotient_filter(keys, 0.90, options.fpr);
  std::vector<Candidate> candidates;
  candidates.push_back(quotient_candidate(first, keys));
  candidates.push_back(counting_candidate(keys, options.fpr, 4));
  candidates.push_back(counting_candidate(keys, options.fpr, 8));
  candidates.push_back(cuckoo_candidate(keys));
  const std::size_t in_churn = candidates.size();
  for (const double load : {0.75, 0.95})
    candidates.push_back(quotient_candidate(quotient_filter(keys, load, options.fpr), keys));
  const std::string section = fmt::format("{} keys at {}", keys, percent(options.fpr));
  bench_operations(report, section, candidates, present, options);
  candidates.resize(in_churn);
  if (churned) bench_churn(report, section, candidates, *first, std::move(present), options);
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  using namespace bloomery::bench;
  std::vector<std::uint64_t> keys = {1'250'000, 20'000'000};
  std::uint64_t growing = 20'000'000;
  bool without_churn = false;
  Options options;
  std::string json;
  CLI::App app{"A quotient filter beside counting and cuckoo filters"};
  app.add_option("--keys", keys, "keys of the filters")->capture_default_str();
  app.add_option("--growing", growing, "keys of the table that grows")->capture_default_str();
  app.add_option("--fpr", options.fpr)->capture_default_str();
  app.add_option("--repetitions", options.repetitions)->capture_default_str();
  app.add_flag("--without-churn", without_churn);
  app.add_flag("--fastest", options.fastest,
               "the fastest repetition, not the median: for a busy machine");
  app.add_option("--json", json, "where to write the numbers");
  CLI11_PARSE(app, argc, argv);
  check_quotient_filter();
  Report report("quotient_bench");
  for (const std::uint64_t count : keys) bench(report, count, options, !without_churn);
  bench_growth(report, growing, options);
  report.finish(json);
}
