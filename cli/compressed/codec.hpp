// One format's decoder and encoder, as the libraries have them, behind one interface.
//
// Every format is a row of parts, each whole in itself: gzip's members, zstd's frames, the streams of xz
// and bzip2. Files of one format that are put one behind the other are a file of that format.
#pragma once

#include "compressed/formats.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace bloomery::cli {

// A decoder may keep this much of the text to refer back to it: twice what xz -9 needs, and what zstd
// --ultra -22 and --long do. Who asks for more is refused, so that no input takes the memory.
constexpr std::size_t kMostWindow = std::size_t{128} << 20;

class Decoder {
 public:
  struct Step {
    std::size_t taken = 0;  // bytes of the input that are done with
    std::size_t made = 0;   // bytes of text
    bool ended = false;     // a part ended just behind what was taken; the next call begins another
    std::string_view damage = {};  // what is wrong with the bytes behind those that were taken
    bool too_large = false;        // nothing is wrong but the size of the window
    [[nodiscard]] bool failed() const noexcept { return too_large || !damage.empty(); }
  };
  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  virtual ~Decoder() = default;

  // Of no use after a step that failed. std::bad_alloc.
  virtual Step decode(std::string_view in, std::span<char> out) = 0;
};

class Encoder {
 public:
  Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  virtual ~Encoder() = default;

  // Appends to `out` what the text has become so far; an encoder keeps some of it.
  virtual void add(std::string_view text, std::string& out) = 0;
  // Appends the rest and the end of the part. The next text begins another.
  virtual void end(std::string& out) = 0;
};

// At the level that the format's own program takes by default. std::bad_alloc.
[[nodiscard]] std::unique_ptr<Decoder> make_decoder(Format format);
[[nodiscard]] std::unique_ptr<Encoder> make_encoder(Format format);

// The same of each format.
[[nodiscard]] std::unique_ptr<Decoder> gzip_decoder();
[[nodiscard]] std::unique_ptr<Encoder> gzip_encoder();
[[nodiscard]] std::unique_ptr<Decoder> zstd_decoder();
[[nodiscard]] std::unique_ptr<Encoder> zstd_encoder();
[[nodiscard]] std::unique_ptr<Decoder> xz_decoder();
[[nodiscard]] std::unique_ptr<Encoder> xz_encoder();
[[nodiscard]] std::unique_ptr<Decoder> bzip2_decoder();
[[nodiscard]] std::unique_ptr<Encoder> bzip2_encoder();

}  // namespace bloomery::cli
