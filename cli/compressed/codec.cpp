// Selects the library for each format.
#include "compressed/codec.hpp"

namespace bloomery::cli {

namespace {

struct Codec {
  std::unique_ptr<Decoder> (*decoder)();
  std::unique_ptr<Encoder> (*encoder)();
};

Codec codec_of(Format format) noexcept {
  switch (format) {
    case Format::gzip:
      return {gzip_decoder, gzip_encoder};
    case Format::zstd:
      return {zstd_decoder, zstd_encoder};
    case Format::xz:
      return {xz_decoder, xz_encoder};
    case Format::bzip2:
      break;
  }
  return {bzip2_decoder, bzip2_encoder};
}

}  // namespace

std::unique_ptr<Decoder> make_decoder(Format format) { return codec_of(format).decoder(); }
std::unique_ptr<Encoder> make_encoder(Format format) { return codec_of(format).encoder(); }

}  // namespace bloomery::cli
