// Decompresses part after part, and handles the bytes that may stand between and after them.
#include "compressed/decompressor.hpp"

#include <fmt/format.h>
#include <bloomery/error.hpp>

#include <algorithm>
#include <utility>

namespace bloomery::cli {

namespace {
// The length of a stream is a multiple of it, and so is that of the padding after it.
constexpr std::uint64_t kXzUnit = 4;
}  // namespace

Decompressor::Decompressor(Format format, std::string name)
    : format_(format), name_(std::move(name)), decoder_(make_decoder(format)) {}

std::size_t Decompressor::decode(std::string_view& in, std::span<char> out, bool last) {
  if (failed_.failed()) refuse(failed_);
  for (;;) {
    if (!within_) {
      const std::size_t zeros = std::min(in.find_first_not_of('\0'), in.size());
      in.remove_prefix(zeros);
      taken_ += zeros;
      drained_ = in.empty();
      if (drained_ && !last) return 0;
      if (format_ == Format::xz && taken_ % kXzUnit != 0) {
        failed_.damage = "the zeros after a stream are not a multiple of four bytes";
        refuse(failed_);
      }
      if (drained_) return 0;
    }
    const Decoder::Step step = decoder_->decode(in, out);
    in.remove_prefix(step.taken);
    taken_ += step.taken;
    within_ = !step.ended;
    drained_ = in.empty() && step.made < out.size();
    if (step.failed()) failed_ = step;
    if (step.made > 0) return step.made;
    if (step.failed()) refuse(step);
    if (in.empty() && within_) {
      if (!last) return 0;
      throw Error(ErrorCode::corrupt,
                  fmt::format("{}: the {} data ends too early, at byte {}; get the whole of it",
                              name_, to_string(format_), taken_));
    }
  }
}

void Decompressor::refuse(const Decoder::Step& failed) const {
  if (failed.too_large)
    throw Error(ErrorCode::too_large,
                fmt::format("{}: the {} data at byte {} takes a window of more than {} MiB; "
                            "decompress it with its own program, into a pipe",
                            name_, to_string(format_), taken_, kMostWindow >> 20));
  throw Error(ErrorCode::corrupt,
              fmt::format("{}: damaged {} data at byte {}: {}; get it again, or read it as it is "
                          "with --raw",
                          name_, to_string(format_), taken_ - failed.held, failed.damage));
}

}  // namespace bloomery::cli
