// The decoder and the encoder of a format, behind one interface for all libraries.
//
// Every format is a sequence of independent parts: gzip's members, zstd's frames, the streams of xz and
// bzip2. The concatenation of files of one format is a file of that format.
#pragma once

#include "compressed/formats.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace bloomery::cli {

// The largest window, which is the text that a decoder can refer back to: twice what xz -9 needs, and what zstd --ultra
// -22 and --long need. A larger window is refused, so that no input uses up the memory.
constexpr std::size_t kMostWindow = std::size_t{128} << 20;

class Decoder {
 public:
  struct Step {
    std::size_t taken = 0;  // bytes of the input that were consumed
    std::size_t made = 0;   // bytes of text
    bool ended = false;     // a part ended after the taken bytes; the next call begins another
    std::string_view damage = {};  // what is wrong with the bytes after those that were taken
    std::size_t held = 0;          // after damage: so many of the last taken bytes are part of it
    bool too_large = false;        // the only error is the size of the window
    [[nodiscard]] bool failed() const noexcept { return too_large || !damage.empty(); }
  };
  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  virtual ~Decoder() = default;

  // A decoder is unusable after a step that failed. std::bad_alloc.
  virtual Step decode(std::string_view in, std::span<char> out) = 0;
};

class Encoder {
 public:
  Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  virtual ~Encoder() = default;

  // Appends the compressed text so far to `out`; an encoder holds some of it back.
  virtual void add(std::string_view text, std::string& out) = 0;
  // Appends the rest and the end of the part. The next text begins another part.
  virtual void end(std::string& out) = 0;
};

// The encoder has the default level of the format's own program. std::bad_alloc.
[[nodiscard]] std::unique_ptr<Decoder> make_decoder(Format format);
[[nodiscard]] std::unique_ptr<Encoder> make_encoder(Format format);

// The decoder and the encoder of each format.
[[nodiscard]] std::unique_ptr<Decoder> gzip_decoder();
[[nodiscard]] std::unique_ptr<Encoder> gzip_encoder();
[[nodiscard]] std::unique_ptr<Decoder> zstd_decoder();
[[nodiscard]] std::unique_ptr<Encoder> zstd_encoder();
[[nodiscard]] std::unique_ptr<Decoder> xz_decoder();
[[nodiscard]] std::unique_ptr<Encoder> xz_encoder();
[[nodiscard]] std::unique_ptr<Decoder> bzip2_decoder();
[[nodiscard]] std::unique_ptr<Encoder> bzip2_encoder();

}  // namespace bloomery::cli
