// The text of one input: its bytes, or their decompressed content.
//
// Decompressing happens where this is read, straight into the reader's blocks: on the reader's thread,
// beside those that hash and write. Uncompressed text is read directly; for a compressed input, a quarter
// of a megabyte at a time and the window of its format are in memory.
#pragma once

#include "compressed/decompressor.hpp"
#include "input/inputs.hpp"
#include "output/interrupt.hpp"
#include "output/system.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::cli {

class InputBytes {
 public:
  // raw: the input is text, whatever its first bytes are. Error{io}: it cannot be opened.
  InputBytes(const Input& input, bool raw, const Interrupt& interrupt);

  // Reads into `room`, which has at least kMostMagic bytes; 0: the end. Nothing: a stop is requested, or no input has
  // come and `wait` is false. Error: the input cannot be read or is damaged; the text before that was returned.
  [[nodiscard]] std::optional<std::size_t> read(std::span<char> room, bool wait);

  [[nodiscard]] bool compressed() const noexcept { return decompressor_.has_value(); }
  // The bytes of the input that were read, before decompression.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  std::optional<std::size_t> read_plain(std::span<char> room, bool wait);
  std::optional<std::size_t> read_start(std::span<char> room, bool wait);
  std::optional<std::size_t> read_compressed(std::span<char> room, bool wait);

  const Input& input_;
  const Interrupt& interrupt_;
  FileDescriptor fd_;
  bool regular_;
  bool sniffed_;
  bool at_end_ = false;
  std::uint64_t bytes_read_ = 0;
  std::string start_;  // the first bytes, until the format is decided
  std::optional<Decompressor> decompressor_;
  std::vector<char> compressed_;
  std::string_view left_;  // the part of compressed_ that is still to be decompressed
};

}  // namespace bloomery::cli
