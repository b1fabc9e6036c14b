// The text of one compressed input of any format, which arrives in pieces of any size.
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
  // `name`: the name of the input, for errors.
  Decompressor(Format format, std::string name);

  // Takes bytes from the front of `in` and writes text to `out`; returns the number of bytes of text. 0,
  // with room in `out`: it needs more input. `last`: no input follows `in`; 0 then means the end. Zeros
  // after a complete part, as on tapes and devices, are neither text nor an error; after a stream of xz their number is
  // a multiple of four.
  //
  // Error{corrupt}: the bytes are damaged, or end too early; {too_large}: they need a window of more than
  // kMostWindow. Both give the place in bytes from the input's beginning. They are thrown only after all
  // text before that place was returned, perhaps with some text of a damaged block.
  std::size_t decode(std::string_view& in, std::span<char> out, bool last);

  // Whether all text of the input so far was returned, so that it needs more input.
  [[nodiscard]] bool drained() const noexcept { return drained_; }
  // Bytes of the input that were taken.
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

 private:
  [[noreturn]] void refuse(const Decoder::Step& failed) const;

  Format format_;
  std::string name_;
  std::unique_ptr<Decoder> decoder_;
  std::uint64_t taken_ = 0;
  Decoder::Step failed_;  // if one did: text before the damage had to be returned first
  bool within_ = false;   // inside a part
  bool drained_ = true;
};

}  // namespace bloomery::cli
