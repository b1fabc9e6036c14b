// The distance between two names: the number of typing errors between them.
#include "flags/parse.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bloomery::cli {

namespace {

// Damerau's distance, without his restriction to words of equal length: similar words have a small one.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                             cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string suggestion(std::string_view given, const std::vector<std::string>& names) {
  if (given.size() > 64) return {};
  std::size_t best = std::max<std::size_t>(1, given.size() / 3) + 1;
  std::string name;
  for (const auto& candidate : names) {
    const std::size_t d = distance(given, candidate);
    if (d < best) {
      best = d;
      name = candidate;
    }
  }
  return name.empty() ? std::string() : fmt::format("; did you mean {}?", name);
}

}  // namespace bloomery::cli
