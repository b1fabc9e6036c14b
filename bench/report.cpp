// Prints tables aligned for people and collects their numbers for programs.
#include "report.hpp"

#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

namespace bloomery::bench {

namespace {

std::string value_in(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

// The width of a cell on the screen: UTF-8 continuation bytes take no room.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

void Table::print() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], width(row[i]));
    }
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width(row[i]), ' ');
      line += i == 0 ? row[i] + padding : "  " + padding + row[i];
    }
    fmt::print("{}\n", line);
  }
  std::fflush(stdout);
}

Report::Report(std::string bench) {
  utsname system{};
  uname(&system);
  const std::string cpu = value_in("/proc/cpuinfo", "model name");
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  json_["bench"] = bench;
  json_["machine"] = {{"cpu", cpu},
                      {"cpus", std::thread::hardware_concurrency()},
                      {"memory bytes", memory},
                      {"kernel", system.release},
                      {"compiler", __VERSION__}};
  fmt::print("{}: {}, {} CPUs, {:.0f} GiB, Linux {}, compiler {}\n", bench, cpu,
             std::thread::hardware_concurrency(), memory / (1 << 30), system.release, __VERSION__);
}

void Report::heading(const std::string& text) const {
  fmt::print("\n{}\n", text);
  std::fflush(stdout);
}

void Report::number(const std::string& section, const std::string& name, double value) {
  json_["numbers"][section][name] = value;
}

void Report::at_most(const std::string& what, double measured, double goal) {
  goals_.push_back({what, measured, goal, true});
}

void Report::at_least(const std::string& what, double measured, double goal) {
  goals_.push_back({what, measured, goal, false});
}

void Report::finish(const std::string& json_path) {
  if (!goals_.empty()) {
    heading("goals");
    Table table({"what", "measured", "goal", ""});
    for (const Goal& goal : goals_) {
      table.row({goal.what, fmt::format("{:.3g}", goal.measured),
                 fmt::format("{} {:g}", goal.at_most ? "≤" : "≥", goal.goal),
                 goal.met() ? "met" : "MISSED"});
      json_["goals"].push_back({{"what", goal.what},
                                {"measured", goal.measured},
                                {goal.at_most ? "at most" : "at least", goal.goal},
                                {"met", goal.met()}});
    }
    table.print();
  }
  if (json_path.empty()) return;
  const std::filesystem::path path(json_path);
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path);
  file << json_.dump(2) << '\n';
  if (!file.flush()) fmt::print(stderr, "cannot write {}\n", json_path);
}

std::string percent(double share) {
  return share >= 1e-4 ? fmt::format("{:g} %", share * 100) : fmt::format("{:g}", share);
}

std::uint64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace bloomery::bench
