// The experiments of the program. Each prints its table and returns whether everything was as
// expected.
#pragma once

#include <cstdint>
#include <string>

#include "row_filter.hpp"
#include "rows.hpp"

struct Setup {
  std::string postgres;  // the directory of its socket
  std::string redis;     // its socket
  std::uint64_t rows;
  double seconds;  // of each load
};

bool attack_experiment(const Setup& setup, RowFilter& filter);
bool swap_experiment(const Setup& setup, RowFilter& filter);
