// Reads the fuzzer's bytes one after the other, and zeros after the end.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bloomery::fuzz {

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  [[nodiscard]] bool empty() const { return left_ == 0; }
  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  std::uint16_t word() {
    const std::uint8_t low = byte();
    return static_cast<std::uint16_t>(low | byte() << 8);
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

}  // namespace bloomery::fuzz
