// `bloomery info`: what a filter file is, what is in it, how much room is left.
#include "inputs.hpp"
#include "key_filter.hpp"
#include "output.hpp"
#include "plots.hpp"
#include "statistics.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <bloomery/filter_file.hpp>

namespace bloomery::cli {

namespace {

std::string row(std::string_view name, const std::string& value) {
  return fmt::format("{:<16} {}\n", name, value);
}

// In a word or two; the sentence is verify's.
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

// What only filters of its kind have.
std::string kind_rows(const FilterState& state) {
  if (const auto* counting = std::get_if<CountingState>(&state.details))
    return row("counters", fmt::format("{} of {} bits, {} saturated", group_digits(state.plan.bits),
                                       counting->counter_bits, group_digits(counting->saturated)));
  std::string out;
  if (const auto* scalable = std::get_if<ScalableState>(&state.details)) {
    out = row("growth", fmt::format("{} per sub-filter", counted(scalable->growth, "time")));
    std::size_t number = 0;
    for (const ScalableState::SubFilter& sub_filter : scalable->sub_filters)
      out += row(
          fmt::format("sub-filter {}", ++number),
          fmt::format("{}, {} of {}, current fpr {}",
                      bytes_text(static_cast<double>(sub_filter.plan.bytes())),
                      group_digits(sub_filter.inserted), counted(sub_filter.plan.capacity, "key"),
                      fpr_text(sub_filter.current_fpr)));
  } else if (const auto* window = std::get_if<WindowDetails>(&state.details)) {
    out = row("window", fmt::format("{} in {}", window_text(window->plan),
                                    counted(window->plan.slices, "slice")));
    out += row("live slices", group_digits(std::uint64_t{window->live_slices}));
  }
  return out;
}

std::string info_text(const FilterFile& file, const FilterState& state,
                      const VerifyReport& report) {
  const Plan& plan = state.plan;
  std::string out = row("file", file.path());
  out += row("kind", std::string(to_string(state.kind)));
  out += row("layout", fmt::format("{}, {} hashes", to_string(plan.layout), plan.hashes));
  out += row("bits", fmt::format("{} ({})", group_digits(state.bytes * 8),
                                 bytes_text(static_cast<double>(state.bytes))));
  out +=
      row("made for", fmt::format("{} at {}", counted(plan.capacity, "key"), fpr_text(plan.fpr)));
  out += row("hash", hash_text(file.hasher()));
  out += row("identity", file.identity());
  out += row("state", report.detail.empty() || report.detail.starts_with(file.path())
                          ? std::string(condition(report))
                          : fmt::format("{}: {}", condition(report), report.detail));
  out += row("inserted", group_digits(file.inserted()));
  out += row("estimated items", group_digits(state.estimated_items));
  out += row("fill", share_text(state.fill));
  out += row("current fpr", fpr_text(state.current_fpr));
  out += row("room left", group_digits(state.room_left()));
  out += kind_rows(state);
  return out;
}

Json info_json(const FilterFile& file, const FilterState& state, const VerifyReport& report) {
  Json json = {{"file", file.path()}, {"identity", file.identity()}};
  json.update(state_json(state));
  json["seed"] = seed_text(file.hasher());
  json["state"] = condition(report);
  json["inserted"] = file.inserted();
  return json;
}

}  // namespace

int run_info(const Options& options) {
  const std::string mend = "create a larger one and add everything again";
  if (const auto keys = open_key_filter(options, options.files.front(), Access::read)) {
    if (options.plot)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: --plot draws filter files; info without it counts the ones",
                              keys->name()));
    const Standing standing = keys->standing(mend);
    if (options.json) {
      Json json = {{"filter", keys->name()}};
      json.update(standing.json);
      print_json(json);
    } else {
      std::string text;
      for (const auto& [name, value] : keys->rows()) text += row(name, value);
      print_result(text);
    }
    warn_if_overfull(standing);
    return kExitFound;
  }
  refuse_output_into(options.files.front());
  const FilterFile file = FilterFile::open(options.files.front());
  const FilterState state(file);
  const VerifyReport report = verify(options.files.front());
  if (options.json) {
    print_json(info_json(file, state, report));
  } else {
    std::string text = info_text(file, state, report);
    if (options.plot) text.append("\n").append(fill_plot(file));
    print_result(text);
  }
  warn_if_overfull(state, mend);
  return kExitFound;
}

}  // namespace bloomery::cli
