// A string is there whole or not at all: its pieces are written under another name, which expires, and
// take the key's place at once.
#pragma once

#include <bloomery/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "redis/connection.hpp"

namespace bloomery::detail {

// A name beside `key` that a cluster keeps in the same slot: "{key}:end", or "key:end" where the
// key has a {tag} already.
[[nodiscard]] std::string name_beside(std::string_view key, std::string_view end);

// A name beside it that nobody else has, and how long the server keeps what is written there.
[[nodiscard]] std::string scratch_name(std::string_view key);
// The end of such names: 16 digits, random.
[[nodiscard]] std::string random_name();
constexpr std::string_view kScratchSeconds = "600";

// Bytes that are read or written by one command.
constexpr std::size_t kPiece = std::size_t{1} << 20;
[[nodiscard]] bool is_zero(std::span<const std::byte> bytes);

// The bytes from `from` on, all that `out` has room for. Error{missing}: there are fewer. `name`
// names the key in it.
void read_string(Connection& connection, std::string_view key, const std::string& name,
                 std::uint64_t from, std::span<std::byte> out);

// Error{invalid_argument}: the bits of a filter end before these bytes do.
void require_within(const Plan& plan, std::uint64_t from, std::uint64_t bytes);

// What may stand where a new string goes.
enum class Over : std::uint8_t {
  nothing,  // no key
  filter,   // no key, or a string that begins with the same ten bytes
  string,   // no key, or any string
};

// The key has what it had until publish(), and then all of the new bytes. A writer that dies before
// leaves a string of another name, which the server drops ten minutes after the last write to it.
class StringWriter {
 public:
  // Error: as every command.
  StringWriter(Connection& connection, std::string_view key, std::uint64_t bytes);
  StringWriter(const StringWriter&) = delete;
  StringWriter& operator=(const StringWriter&) = delete;
  ~StringWriter();

  // Error{no_space}: the server has dropped what was written.
  void write(std::uint64_t at, std::span<const std::byte> bytes);
  // Error{exists}: the key holds what `over` keeps.
  void publish(Over over);

 private:
  void take_replies(std::size_t most_left);
  void keep_alive();
  void discard() noexcept;

  Connection& connection_;
  std::string key_;
  std::string scratch_;
  std::string name_;
  std::uint64_t bytes_;
  std::size_t on_the_way_ = 0;  // pieces whose replies are to come
  bool published_ = false;
};

}  // namespace bloomery::detail
