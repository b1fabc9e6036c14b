// zstd, by libzstd.
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <bit>
#include <new>

#include "compressed/codec.hpp"

namespace bloomery::cli {

namespace {

struct Free {
  void operator()(ZSTD_DCtx* context) const noexcept { ::ZSTD_freeDCtx(context); }
  void operator()(ZSTD_CCtx* context) const noexcept { ::ZSTD_freeCCtx(context); }
};

class ZstdDecoder : public Decoder {
 public:
  ZstdDecoder() : context_(::ZSTD_createDCtx()) {
    if (!context_) throw std::bad_alloc();
    ::ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, std::countr_zero(kMostWindow));
  }

  Step decode(std::string_view in, std::span<char> out) override {
    if (of_frame_ < kMagic && !begins_frame(in))
      return {.damage = "not a frame, or a frame in a format older than zstd 0.8"};
    // Each call gets the block that the library asks for, after all text of the block before was returned. A call that
    // fails tells neither how far it came nor what text it made, so earlier calls must have returned all text.
    // While the header is not complete, Debian's library looks in each piece for the magic of the formats from before
    // RFC 8878, and for a whole frame of any format. So it gets less than a magic.
    const std::size_t most = of_frame_ < kMostHeader ? std::min(wanted_, kMagic - 1) : wanted_;
    ZSTD_inBuffer from{in.data(), given_ ? std::min(in.size(), most) : 0, 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t wanted = ::ZSTD_decompressStream(context_.get(), &to, &from);
    Step step{.taken = from.pos, .made = to.pos};
    given_ = to.pos < to.size;
    of_frame_ += from.pos;
    of_block_ = from.pos == wanted_ ? 0 : of_block_ + from.pos;
    if (::ZSTD_isError(wanted) == 0) {
      step.ended = wanted == 0;
      if (step.ended) of_frame_ = of_block_ = 0;
      wanted_ = step.ended ? kFirst : wanted;
      return step;
    }
    const ZSTD_ErrorCode code = ::ZSTD_getErrorCode(wanted);
    if (code == ZSTD_error_memory_allocation) throw std::bad_alloc();
    step.too_large = code == ZSTD_error_frameParameter_windowTooLarge;
    if (!step.too_large) step.damage = ::ZSTD_getErrorName(wanted);
    // The library holds back the bytes of a block that comes in pieces, and looks at them when it has all.
    if (of_frame_ >= kMostHeader) step.held = of_block_;
    return step;
  }

 private:
  static constexpr std::size_t kMagic = 4, kMostHeader = 18;  // RFC 8878
  static constexpr std::size_t kFirst =
      5;  // the magic and the byte that says how much the header has

  // Formats from before RFC 8878 have no largest window, and how much text the library returns of a damaged frame in
  // them depends on the pieces in which the frame comes.
  bool begins_frame(std::string_view in) {
    const std::size_t more = std::min(in.size(), kMagic - of_frame_);
    std::copy_n(in.begin(), more, magic_.begin() + static_cast<std::ptrdiff_t>(of_frame_));
    const std::size_t size = of_frame_ + more;
    const Sniffed found = sniff({magic_.data(), size});
    return found.format == Format::zstd || (!found.decided && size < kMagic);
  }

  std::unique_ptr<ZSTD_DCtx, Free> context_;
  std::size_t wanted_ = kFirst;
  std::array<char, kMagic> magic_{};
  std::size_t of_frame_ = 0;  // taken bytes of the frame
  std::size_t of_block_ = 0;  // of these, of what the library has asked for and not all got
  bool given_ = true;         // all text of the taken bytes was returned
};

class ZstdEncoder : public Encoder {
 public:
  ZstdEncoder() : context_(::ZSTD_createCCtx()) {
    if (!context_) throw std::bad_alloc();
    ::ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);  // as the zstd program does
  }

  void add(std::string_view text, std::string& out) override { pass(text, ZSTD_e_continue, out); }
  void end(std::string& out) override { pass({}, ZSTD_e_end, out); }

 private:
  void pass(std::string_view text, ZSTD_EndDirective what, std::string& out) {
    std::array<char, std::size_t{64} << 10> room;
    ZSTD_inBuffer from{text.data(), text.size(), 0};
    for (bool more = true; more;) {
      ZSTD_outBuffer to{room.data(), room.size(), 0};
      const std::size_t left = ::ZSTD_compressStream2(context_.get(), &to, &from, what);
      if (::ZSTD_isError(left) != 0) throw std::bad_alloc();  // the only possible error
      out.append(room.data(), to.pos);
      more = what == ZSTD_e_end ? left != 0 : from.pos < from.size;
    }
  }

  std::unique_ptr<ZSTD_CCtx, Free> context_;
};

}  // namespace

std::unique_ptr<Decoder> zstd_decoder() { return std::make_unique<ZstdDecoder>(); }
std::unique_ptr<Encoder> zstd_encoder() { return std::make_unique<ZstdEncoder>(); }

}  // namespace bloomery::cli
