// The text of one input: its bytes, or what they are compressed of.
//
// Decompressing happens where this is read, straight into the reader's blocks: on the reader's thread,
// beside those that hash and write. Text is read as ever; of a compressed input a quarter of a megabyte is
// held at a time, and the window of its format.
#pragma once

#include "compressed/decompressor.hpp"
#include "output/system.hpp"
#include "stream/inputs.hpp"
#include "stream/interrupt.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::cli {

class InputBytes {
 public:
  // raw: whatever it begins with, it is text. Error{io}: it cannot be opened.
  InputBytes(const Input& input, bool raw, const Interrupt& interrupt);

  // Reads into `room`, at least kMostMagic bytes; 0: the end. Nothing: a stop is asked for, or nothing has
  // come and `wait` is false. Error: it cannot be read, or is damaged; the text before that was given.
  [[nodiscard]] std::optional<std::size_t> read(std::span<char> room, bool wait);

  [[nodiscard]] bool compressed() const noexcept { return decompressor_.has_value(); }
  // Bytes of the input that were read, compressed if it is.
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
  std::string start_;  // while nothing is decided
  std::optional<Decompressor> decompressor_;
  std::vector<char> compressed_;
  std::string_view left_;  // of it, to be decompressed
};

}  // namespace bloomery::cli
