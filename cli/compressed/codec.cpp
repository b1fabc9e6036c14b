// Selects the library for each format.
#include "compressed/codec.hpp"

namespace bloomery::cli {

std::unique_ptr<Decoder> make_decoder(Format format) {
  switch (format) {
    case Format::gzip:
      return gzip_decoder();
    case Format::zstd:
      return zstd_decoder();
    case Format::xz:
      return xz_decoder();
    case Format::bzip2:
      break;
  }
  return bzip2_decoder();
}

std::unique_ptr<Encoder> make_encoder(Format format) {
  switch (format) {
    case Format::gzip:
      return gzip_encoder();
    case Format::zstd:
      return zstd_encoder();
    case Format::xz:
      return xz_encoder();
    case Format::bzip2:
      break;
  }
  return bzip2_encoder();
}

}  // namespace bloomery::cli
