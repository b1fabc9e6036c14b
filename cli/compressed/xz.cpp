// xz, by liblzma.
#include <lzma.h>

#include <new>

#include "compressed/pump.hpp"

namespace bloomery::cli {

namespace {

// Beside the window a decoder has tables of a few dozen kilobytes.
constexpr std::uint64_t kMostMemory = kMostWindow + (std::uint64_t{1} << 20);

std::string_view reason_of(lzma_ret result) {
  switch (result) {
    case LZMA_FORMAT_ERROR:
      return "it does not begin as an xz stream does";
    case LZMA_OPTIONS_ERROR:
      return "options that this version of liblzma does not know";
    default:
      return "a header, a block or a checksum is wrong";
  }
}

class XzDecoder : public Decoder {
 public:
  ~XzDecoder() override { ::lzma_end(&state_); }

  Step decode(std::string_view in, std::span<char> out) override {
    // The memory of the previous stream is reused.
    if (!begun_ && ::lzma_stream_decoder(&state_, kMostMemory, 0) != LZMA_OK)
      throw std::bad_alloc();
    begun_ = true;
    const Step given = give(state_, in, out);
    const lzma_ret result = ::lzma_code(&state_, LZMA_RUN);
    if (result == LZMA_MEM_ERROR) throw std::bad_alloc();
    Step step = done(state_, given);
    step.ended = result == LZMA_STREAM_END;
    begun_ = !step.ended;
    step.too_large = result == LZMA_MEMLIMIT_ERROR;
    if (result != LZMA_OK && result != LZMA_BUF_ERROR && !step.ended && !step.too_large)
      step.damage = reason_of(result);
    return step;
  }

 private:
  lzma_stream state_ = LZMA_STREAM_INIT;
  bool begun_ = false;
};

class XzEncoder : public Encoder {
 public:
  XzEncoder() { begin(); }
  ~XzEncoder() override { ::lzma_end(&state_); }

  void add(std::string_view text, std::string& out) override {
    pump(state_, text, out, [&] { return ::lzma_code(&state_, LZMA_RUN) == LZMA_STREAM_END; });
  }
  void end(std::string& out) override {
    pump(state_, {}, out, [&] { return ::lzma_code(&state_, LZMA_FINISH) == LZMA_STREAM_END; });
    begin();
  }

 private:
  void begin() {
    if (::lzma_easy_encoder(&state_, LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64) != LZMA_OK)
      throw std::bad_alloc();
  }

  lzma_stream state_ = LZMA_STREAM_INIT;
};

}  // namespace

std::unique_ptr<Decoder> xz_decoder() { return std::make_unique<XzDecoder>(); }
std::unique_ptr<Encoder> xz_encoder() { return std::make_unique<XzEncoder>(); }

}  // namespace bloomery::cli
