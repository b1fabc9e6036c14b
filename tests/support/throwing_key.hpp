// A key whose conversion to text may throw, as that of a text in an encoding of its own.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomery::test {

class ThrowingKey {
 public:
  ThrowingKey(std::string text, bool throws = false) : text_(std::move(text)), throws_(throws) {}
  operator std::string_view() const {
    if (throws_) throw std::domain_error(text_);
    return text_;
  }

 private:
  std::string text_;
  bool throws_;
};

// `count` keys; the one at `at` throws.
inline std::vector<ThrowingKey> throwing_keys(std::size_t count, std::size_t at) {
  std::vector<ThrowingKey> keys;
  for (std::size_t i = 0; i < count; ++i) keys.emplace_back("key " + std::to_string(i), i == at);
  return keys;
}

}  // namespace bloomery::test
