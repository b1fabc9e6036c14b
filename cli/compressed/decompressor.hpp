// The text of one compressed input, whatever its format, from pieces of any size.
#pragma once

#include "compressed/codec.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace bloomery::cli {

class Decompressor {
 public:
  // `name`: of the input, for errors.
  Decompressor(Format format, std::string name);

  // Takes bytes from the front of `in` and writes text to `out`; returns how many bytes of text. 0, with
  // room in `out`: it needs more input. `last`: nothing comes after `in`; 0 is then the end. Zeros behind a
  // whole part, as tapes and devices have them, are no text and no error.
  //
  // Error{corrupt}: the bytes are damaged, or end too early; {too_large}: they need a window of more than
  // kMostWindow. Both say where, in bytes from the input's beginning, and come only when all text before
  // that place was given, and perhaps some of what a damaged block seems to say.
  std::size_t decode(std::string_view& in, std::span<char> out, bool last);

  // Whether everything that the input so far says was given, so that it is time for more of it.
  [[nodiscard]] bool drained() const noexcept { return drained_; }
  // Bytes of the input that were taken.
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

 private:
  [[noreturn]] void refuse(const Decoder::Step& failed) const;

  Format format_;
  std::string name_;
  std::unique_ptr<Decoder> decoder_;
  std::uint64_t taken_ = 0;
  Decoder::Step failed_;  // if it did: the text before the damage was still to be given
  bool within_ = false;   // a part
  bool drained_ = true;
};

}  // namespace bloomery::cli
