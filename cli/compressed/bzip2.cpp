// bzip2, by libbz2.
#include <bzlib.h>

#include <new>

#include "compressed/pump.hpp"

namespace bloomery::cli {

namespace {

constexpr int kQuiet = 0;

class Bzip2Decoder : public Decoder {
 public:
  ~Bzip2Decoder() override { stop(); }

  Step decode(std::string_view in, std::span<char> out) override {
    constexpr int kFast = 0;  // not the algorithm that needs less memory
    if (!begun_ && ::BZ2_bzDecompressInit(&state_, kQuiet, kFast) != BZ_OK) throw std::bad_alloc();
    begun_ = true;
    const Step given = give(state_, in, out);
    const int result = ::BZ2_bzDecompress(&state_);
    if (result == BZ_MEM_ERROR) throw std::bad_alloc();
    Step step = done(state_, given);
    step.ended = result == BZ_STREAM_END;
    if (result == BZ_DATA_ERROR_MAGIC) {
      step.damage = "it does not begin as a bzip2 stream does";
    } else if (result != BZ_OK && !step.ended) {
      step.damage = "a block or its checksum is wrong";
    }
    if (step.ended) stop();
    return step;
  }

 private:
  void stop() noexcept {
    if (begun_) ::BZ2_bzDecompressEnd(&state_);
    begun_ = false;
  }

  bz_stream state_{};
  bool begun_ = false;
};

class Bzip2Encoder : public Encoder {
 public:
  Bzip2Encoder() { begin(); }
  ~Bzip2Encoder() override { ::BZ2_bzCompressEnd(&state_); }

  void add(std::string_view text, std::string& out) override {
    if (text.empty()) return;  // the library reports it as an error
    pump(state_, text, out, [&] { return ::BZ2_bzCompress(&state_, BZ_RUN) == BZ_STREAM_END; });
  }
  void end(std::string& out) override {
    pump(state_, {}, out, [&] { return ::BZ2_bzCompress(&state_, BZ_FINISH) == BZ_STREAM_END; });
    ::BZ2_bzCompressEnd(&state_);
    begin();
  }

 private:
  void begin() {
    constexpr int kBlock = 9;       // times 100,000 bytes
    constexpr int kWorkFactor = 0;  // the default one
    if (::BZ2_bzCompressInit(&state_, kBlock, kQuiet, kWorkFactor) != BZ_OK) throw std::bad_alloc();
  }

  bz_stream state_{};
};

}  // namespace

std::unique_ptr<Decoder> bzip2_decoder() { return std::make_unique<Bzip2Decoder>(); }
std::unique_ptr<Encoder> bzip2_encoder() { return std::make_unique<Bzip2Encoder>(); }

}  // namespace bloomery::cli
