// Filters as metrics in the text format of Prometheus (version 0.0.4), for a textfile collector or a scrape.
// Names and labels are stable: docs/operations.md lists them.
#pragma once

#include <bloomery/any_filter.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomery::cli {

class Metrics {
 public:
  // `name`: the location as it was given, without secrets, so that it is the same if the filter cannot be read.
  // `damaged`: whether its bytes do not match their checksums.
  void add(std::string_view name, const FilterStats& stats, bool damaged);
  // A filter that could not be read.
  void add_unreadable(std::string_view name);
  // Every metric once, with the values of all filters.
  [[nodiscard]] std::string text() const;

 private:
  void put(std::string_view metric, double value, const std::string& labels);

  std::vector<std::pair<std::string_view, std::string>>
      values_;  // those of one metric, each a line without its name
};

}  // namespace bloomery::cli
