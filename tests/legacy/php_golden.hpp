// What PHP 8.2 printed: hashes and positions of keys, in golden/php-vectors.json.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace bloomery::test {

inline nlohmann::json php_vectors() {
  std::ifstream file(std::string(BLOOMERY_GOLDEN) + "php-vectors.json");
  return nlohmann::json::parse(file);
}

}  // namespace bloomery::test
