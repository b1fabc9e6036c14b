// `bloomery plan`: what a filter takes, layout by layout, before anything is built.
#include <bloomery/plan.hpp>

#include "output.hpp"
#include "page.hpp"
#include "plots.hpp"
#include "statistics.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

namespace bloomery::cli {

namespace {

constexpr std::array kLayouts{Layout::blocked, Layout::blocked2, Layout::standard};
constexpr std::array kLoads{1, 2, 3, 4};

// A layout's plan, or why it has none.
struct Row {
  Layout layout;
  std::optional<Plan> plan;
  std::string refusal;
};

double fpr_at(const Plan& plan, int load) {
  return predicted_fpr(plan, static_cast<double>(plan.capacity) * load);
}

// Every layout that was not ruled out. Error if none can be had: the first one's reason.
std::vector<Row> make_rows(const Options& options) {
  std::vector<Row> rows;
  std::optional<Error> first;
  bool any = false;
  for (const Layout layout : kLayouts) {
    if (options.layout && *options.layout != layout) continue;
    PlanRequest request = options.plan_request();
    request.layout = layout;
    try {
      rows.push_back({layout, solve(request), {}});
      any = true;
    } catch (const Error& error) {
      rows.push_back({layout, std::nullopt, error.what()});
      if (!first) first = error;
    }
  }
  if (!any && first) throw *first;
  return rows;
}

std::optional<Layout> default_layout(const Options& options) {
  try {
    return solve(options.plan_request()).layout;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string row_text(const Row& row, bool is_default) {
  const std::string name = fmt::format("{}{}", to_string(row.layout), is_default ? " *" : "");
  if (!row.plan) return fmt::format("{:<10} {}\n", name, row.refusal);
  const Plan& plan = *row.plan;
  std::string text =
      fmt::format("{:<10} {:>17} {:>11} {:>6} {:>9.2f} {:>15}", name, group_digits(plan.bits),
                  bytes_text(static_cast<double>(plan.bytes())), plan.hashes, plan.bits_per_key(),
                  group_digits(plan.capacity));
  for (const int load : kLoads) text += fmt::format(" {:>9}", fpr_text(fpr_at(plan, load)));
  return text + "\n";
}

std::string rows_text(const std::vector<Row>& rows, std::optional<Layout> best) {
  std::string out =
      fmt::format("{:<10} {:>17} {:>11} {:>6} {:>9} {:>15} {:>9} {:>9} {:>9} {:>9}\n", "layout",
                  "bits", "bytes", "hashes", "bits/key", "keys", "fpr", "at 2x", "at 3x", "at 4x");
  double fpr = 0;
  for (const Row& row : rows) {
    out += row_text(row, best == row.layout);
    if (row.plan) fpr = row.plan->fpr;
  }
  if (rows.size() > 1 && best) out += "* the layout taken unless --layout says otherwise\n";
  return out + fmt::format("No filter of any kind takes fewer than {:.2f} bits per key at {}.\n",
                           lower_bound_bits(fpr), fpr_text(fpr));
}

// The default layout's plan, or the first that there is.
const Plan& drawn_of(const std::vector<Row>& rows, std::optional<Layout> best) {
  const Row* drawn = nullptr;
  for (const Row& row : rows)
    if (row.plan && (drawn == nullptr || row.layout == best)) drawn = &row;
  return *drawn->plan;
}

Json rows_json(const std::vector<Row>& rows, std::optional<Layout> best) {
  Json layouts = Json::array();
  for (const Row& row : rows) {
    Json json = {{"layout", to_string(row.layout)}};
    if (row.plan) {
      json = plan_json(*row.plan);
      json["lower_bound_bits_per_key"] = lower_bound_bits(row.plan->fpr);
      json["fpr_at"] = Json::object();
      for (const int load : kLoads)
        json["fpr_at"][fmt::format("{}x", load)] = fpr_at(*row.plan, load);
    } else {
      json["error"] = row.refusal;
    }
    json["default"] = best == row.layout;
    layouts.push_back(json);
  }
  return {{"layouts", layouts}};
}

// The table of rates: m/n down, k across.
constexpr int kLeastBits = 2, kMostBits = 32, kMostHashes = 8;

std::optional<double> table_fpr(const Options& options, int bits_per_key, int hashes) {
  if (!options.layout) return textbook_fpr(bits_per_key, hashes);
  if (*options.layout == Layout::blocked2 && hashes % 2 != 0) return std::nullopt;
  constexpr std::uint64_t kBits = std::uint64_t{1} << 30;  // so many that their number is no matter
  return predicted_fpr(*options.layout, kBits, static_cast<std::uint32_t>(hashes),
                       static_cast<double>(kBits) / bits_per_key);
}

std::string table_text(const Options& options) {
  std::string out =
      fmt::format("False-positive rates, {}: bits per key down, hashes across\n      ",
                  options.layout ? fmt::format("layout {}", to_string(*options.layout))
                                 : "the textbook's formula");
  for (int k = 1; k <= kMostHashes; ++k) out += fmt::format(" {:>9}", k);
  out += "\n";
  for (int bits = kLeastBits; bits <= kMostBits; ++bits) {
    out += fmt::format("{:>6}", bits);
    for (int k = 1; k <= kMostHashes; ++k) {
      const auto fpr = table_fpr(options, bits, k);
      out += fpr ? fmt::format(" {:>9.3g}", *fpr) : fmt::format(" {:>9}", "-");
    }
    out += "\n";
  }
  return out;
}

Json table_json(const Options& options) {
  Json rows = Json::array();
  for (int bits = kLeastBits; bits <= kMostBits; ++bits)
    for (int k = 1; k <= kMostHashes; ++k)
      if (const auto fpr = table_fpr(options, bits, k))
        rows.push_back({{"bits_per_key", bits}, {"hashes", k}, {"fpr", *fpr}});
  return {{"formula", options.layout ? to_string(*options.layout) : "textbook"}, {"fprs", rows}};
}

}  // namespace

int run_plan(const Options& options) {
  if (options.web) {
    write_page(options.files.empty() ? "planner.html" : options.files.front(), options.force);
    return kExitFound;
  }
  if (options.table) {
    if (options.json) {
      print_json(table_json(options));
    } else {
      print_result(table_text(options));
    }
    return kExitFound;
  }
  const std::vector<Row> rows = make_rows(options);
  const std::optional<Layout> best = default_layout(options);
  if (options.json) {
    print_json(rows_json(rows, best));
  } else {
    std::string text = rows_text(rows, best);
    if (options.plot) text.append("\n").append(fpr_plot(drawn_of(rows, best)));
    print_result(text);
  }
  return kExitFound;
}

}  // namespace bloomery::cli
