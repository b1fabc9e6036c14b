// `bloomery info`: what a filter is, what is in it, how much room is left.
#include "input/inputs.hpp"
#include "output/message.hpp"
#include "output/metrics.hpp"
#include "output/output.hpp"
#include "output/plots.hpp"
#include "output/statistics.hpp"
#include "stream/filter_lines.hpp"
#include "verbs/verbs.hpp"

#include <fmt/format.h>

#include <map>
#include <string>

namespace bloomery::cli {

namespace {

// The state in a word or two; verify prints a sentence.
std::string_view condition(const VerifyReport& report) {
  if (!report.ok()) return "damaged";
  switch (report.state) {
    case VerifyReport::State::in_use:
      return "in use";
    case VerifyReport::State::recoverable:
      return "recoverable";
    default:
      return "whole";
  }
}

std::string rows_text(const Rows& rows) {
  std::string text;
  for (const auto& [name, value] : rows) text += fmt::format("{:<16} {}\n", name, printable(value));
  return text;
}

AnyFilter opened(const Options& options, const std::string& location) {
  refuse_output_into(location);
  AnyFilter filter = AnyFilter::open(location, Access::read, options.place());
  if (filter.needs_time()) filter.advance(seconds_now());
  return filter;
}

// Sorts the filters of a server, so that two scrapes are alike. A server that fails half-way gives no metrics. False: a
// filter cannot be read.
bool add_matching(Metrics& metrics, const std::string& location) {
  std::map<std::string, FilterStats> found;
  std::map<std::string, std::string> refused;
  AnyFilter::for_each(
      location,
      [&](const std::string& address, const FilterStats& stats) { found.emplace(address, stats); },
      [&](const std::string& address, const Error& error) {
        refused.emplace(address, error.what());
      });
  for (const auto& [address, stats] : found) metrics.add(address, stats, false);
  for (const auto& [address, why] : refused) {
    remark(why);
    metrics.add_unreadable(address);
  }
  return refused.empty();
}

// The error of one filter is a remark, since it does not affect the others.
int print_metrics(const Options& options) {
  Metrics metrics;
  int code = kExitFound;
  for (const std::string& location : options.files) try {
      if (AnyFilter::is_pattern(location)) {
        if (!add_matching(metrics, location)) code = kExitError;
        continue;
      }
      AnyFilter filter = opened(options, location);
      const auto stats = filter.stats(options.exact ? Precision::exact : Precision::sampled);
      metrics.add(without_secrets(location), stats, !filter.verify().ok());
    } catch (const Error& error) {
      remark(error.what());
      metrics.add_unreadable(without_secrets(location));
      code = kExitError;
    }
  print_result(metrics.text());
  return code;
}

// `before`: what separates it from the description before.
void describe(const Options& options, const std::string& location, const char* before) {
  AnyFilter filter = opened(options, location);
  const FilterStats stats = filter.stats(options.exact ? Precision::exact : Precision::sampled);
  const VerifyReport report = filter.verify();
  if (options.plot && filter.arrays().empty())
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{}: --plot draws files whose filters fill up; leave it out", filter.name()));
  if (options.json) {
    Json json = {{"filter", filter.name()}};
    if (!stats.identity.empty()) json["identity"] = stats.identity;
    json.update(filter_json(stats, filter.hasher()));
    if (filter.hasher() != nullptr) json["seed"] = seed_text(*filter.hasher());
    if (report.chunks != 0) json["state"] = condition(report);
    print_json(json);
  } else {
    Rows rows = {{"filter", filter.name()}};
    for (const auto& each : made_rows(stats, filter.hasher())) rows.push_back(each);
    if (report.chunks != 0)
      rows.emplace_back("state", report.detail.empty() || report.detail.starts_with(filter.name())
                                     ? std::string(condition(report))
                                     : fmt::format("{}: {}", condition(report), report.detail));
    for (const auto& each : fill_rows(stats)) rows.push_back(each);
    std::string text = before + rows_text(rows);
    if (options.plot) text.append("\n").append(fill_plot(filter.arrays()));
    print_result(text);
  }
  warn_if_over_capacity(stats, "create a larger one and add everything again");
}

}  // namespace

int run_info(const Options& options) {
  if (options.prometheus) return print_metrics(options);
  return each_of(options.files, [&, next = ""](const std::string& location) mutable {
    describe(options, location, next);
    if (!options.json) next = "\n";
    return kExitFound;
  });
}

}  // namespace bloomery::cli
