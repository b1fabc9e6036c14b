// The verbs: each runs one request to its end and returns the exit code.
#pragma once

#include "flags/options.hpp"
#include "output/output.hpp"

#include <fmt/format.h>
#include <bloomery/error.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::cli {

constexpr int kExitFound = 0;    // or done
constexpr int kExitNothing = 1;  // no line was printed
constexpr int kExitError = 2;
constexpr int kExitSignal = 128;  // plus the number of the signal

int run_plan(const Options& options);
int run_create(const Options& options);
int run_add(const Options& options);
int run_remove(const Options& options);
int run_check(const Options& options);
int run_dedup(const Options& options);
int run_info(const Options& options);
int run_merge(const Options& options);
int run_rebuild(const Options& options);
int run_verify(const Options& options);
int run_salvage(const Options& options);
int run_rotate(const Options& options);
int run_convert(const Options& options);

// Returns the worst exit code of one(location). The error of one of several locations is a remark, and does not keep
// the others from their turn; that of the output does.
template <class One>
int each_of(const std::vector<std::string>& locations, One one) {
  if (locations.size() == 1) return one(locations.front());
  int worst = kExitFound;
  for (const std::string& location : locations) try {
      worst = std::max(worst, one(location));
    } catch (const OutputError&) {
      throw;
    } catch (const Error& error) {
      remark(error.what());
      worst = kExitError;
    }
  return worst;
}

// ---- the planner page: the bytes that were built into the tool (page.cpp) -------------------------

// Empty if the page was not built before the tool (./dev web builds it).
[[nodiscard]] std::string_view page() noexcept;

// Writes the page and prints its name. Error{exists}: a file is there; `replace` is false, or it is not a page.
void write_page(const std::string& path, bool replace);

// ---- what to do about "exists", in words of the tool: the library knows no flags ------------------

// Does work that makes something at the path. If the flag was already given (`forced`), the library
// says why it replaces nothing.
template <class Work>
auto naming_force(const std::string& path, bool forced, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::exists || forced) throw;
    throw Error(
        ErrorCode::exists,
        fmt::format("{} exists; name another, or replace it with --force if it is a filter", path));
  }
}

}  // namespace bloomery::cli
