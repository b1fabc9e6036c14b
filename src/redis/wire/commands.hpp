// Commands to a server, one after the other, encoded for the wire.
// Source: https://redis.io/docs/latest/develop/reference/protocol-spec/
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::detail {

class Commands {
 public:
  // Begins a command of so many words; word() and number() append them.
  Commands& begin(std::size_t words);
  Commands& word(std::string_view text);
  Commands& number(std::uint64_t value);
  Commands& command(std::initializer_list<std::string_view> words);
  Commands& command(const std::vector<std::string>& words);
  // Appends one whole command, as returned by bytes().
  Commands& append(std::string_view command);

  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  void clear() noexcept {
    bytes_.clear();
    count_ = 0;
  }

 private:
  std::string bytes_;
  std::size_t count_ = 0;
};

}  // namespace bloomery::detail
