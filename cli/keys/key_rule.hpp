// Which bytes of a line are its key, as the flags say it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bloomery::cli {

struct KeyRule {
  // The numbers of fields, from 1, in the key's order; none: the whole line.
  std::vector<std::size_t> fields = {};
  char delimiter = '\t';        // between fields, and between those of a key
  bool whitespace = false;      // runs of blanks are between fields instead, and one in a key
  bool ignore_case = false;     // A to Z count as a to z
  std::string json_field = {};  // the key is this one's value, unless it is empty
};

}  // namespace bloomery::cli
