// gzip, by zlib.
#include <zlib.h>

#include <new>

#include "compressed/pump.hpp"

namespace bloomery::cli {

namespace {

constexpr int kWindowBits = 15 + 16;  // the largest window, and gzip's header and trailer around it

class GzipDecoder : public Decoder {
 public:
  GzipDecoder() {
    if (::inflateInit2(&state_, kWindowBits) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecoder() override { ::inflateEnd(&state_); }

  Step decode(std::string_view in, std::span<char> out) override {
    const Step given = give(state_, in, out);
    const int result = ::inflate(&state_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    Step step = done(state_, given);
    step.ended = result == Z_STREAM_END;
    if (step.ended) {
      ::inflateReset(&state_);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      step.damage = state_.msg != nullptr ? state_.msg : "a dictionary is missing";
    }
    return step;
  }

 private:
  z_stream state_{};
};

class GzipEncoder : public Encoder {
 public:
  GzipEncoder() {
    constexpr int kMemoryLevel = 8;
    if (::deflateInit2(&state_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindowBits, kMemoryLevel,
                       Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~GzipEncoder() override { ::deflateEnd(&state_); }

  void add(std::string_view text, std::string& out) override {
    pump(state_, text, out, [&] { return ::deflate(&state_, Z_NO_FLUSH) == Z_STREAM_END; });
  }
  void end(std::string& out) override {
    pump(state_, {}, out, [&] { return ::deflate(&state_, Z_FINISH) == Z_STREAM_END; });
    ::deflateReset(&state_);
  }

 private:
  z_stream state_{};
};

}  // namespace

std::unique_ptr<Decoder> gzip_decoder() { return std::make_unique<GzipDecoder>(); }
std::unique_ptr<Encoder> gzip_encoder() { return std::make_unique<GzipEncoder>(); }

}  // namespace bloomery::cli
