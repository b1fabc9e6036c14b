// The output of a bench: tables for people on stdout, the same numbers as JSON in a file.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace bloomery::bench {

// A table whose first column is text and whose others are right-aligned.
class Table {
 public:
  explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}
  // The headings of the first columns, and those of the others.
  template <class Columns>
  Table(std::vector<std::string> first, const Columns& others) : Table(std::move(first)) {
    rows_[0].insert(rows_[0].end(), std::begin(others), std::end(others));
  }
  void row(std::vector<std::string> counters) { rows_.push_back(std::move(counters)); }
  void print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

class Report {
 public:
  // Prints the bench's name and the machine.
  explicit Report(std::string bench);

  void heading(const std::string& text) const;
  // A number of the run, kept in the JSON under section and name.
  void number(const std::string& section, const std::string& name, double value);
  void at_most(const std::string& what, double measured, double goal);
  void at_least(const std::string& what, double measured, double goal);
  // Prints the goals with the measured values, and writes the JSON if a path is given.
  void finish(const std::string& json_path);

 private:
  struct Goal {
    std::string what;
    double measured;
    double goal;
    bool at_most;
    [[nodiscard]] bool met() const { return at_most ? measured <= goal : measured >= goal; }
  };
  nlohmann::ordered_json json_;
  std::vector<Goal> goals_;
};

// "1 %", "0.01 %", "1e-05".
std::string percent(double share);
// The peak resident memory of this process, in bytes.
std::uint64_t peak_memory();

}  // namespace bloomery::bench
