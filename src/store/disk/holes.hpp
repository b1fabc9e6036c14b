// The chunks of a file's bits that are holes: zeros that take no room on the device.
//
// A file that Bloomery wrote has no holes. A sparse copy of a file has holes, and so has a small file that claims to
// be a large filter. The claimed size of such a file must cost neither memory nor disk: a hole is not read, its sum
// is the sum of zeros, and it gets room when the first key needs it.
#pragma once

#include "format/layout.hpp"
#include "format/sums.hpp"
#include "store/disk/opened.hpp"

#include <bloomery/filter_view.hpp>

#include <span>
#include <vector>

namespace bloomery::detail {

class Holes {
 public:
  Holes(const File& file, const Header& header);

  [[nodiscard]] bool none() const noexcept { return left_ == 0; }
  [[nodiscard]] bool has(std::uint64_t chunk) const noexcept { return left_ != 0 && holes_[chunk]; }
  // The sum of a chunk that is a hole.
  [[nodiscard]] std::uint64_t sum(std::uint64_t chunk) const noexcept;
  // The sums of all chunks; sums of chunks that are not holes are computed from `bits`, which are all bits of the
  // file.
  [[nodiscard]] Sums sums_of(std::span<const std::byte> bits) const;

  // The bytes of the bits that are not in holes, as ranges from the first byte of the bits on.
  [[nodiscard]] std::vector<File::Range> data() const;
  // The most bytes of the file that are read.
  [[nodiscard]] std::uint64_t data_bytes() const noexcept {
    return std::min(layout_.bits_bytes, (layout_.chunks - left_) * kChunkBytes);
  }

  // Called before a store into a chunk, or into the chunks of these keys: they stop being holes and get room in
  // `file`, or, if `file` is null, are stored to in memory. Error{no_space}.
  void fill(File* file, std::uint64_t chunk);
  void fill(File* file, const FilterView& view, std::span<const Hash128> hashes);

 private:
  FileLayout layout_;
  std::vector<bool> holes_;       // chunks that are holes; empty if the file has all of its room
  std::vector<bool> needs_room_;  // chunks that are holes or contain holes
  std::uint64_t left_ = 0;
  std::uint64_t unweighted_sum_ = 0;  // the sum of a whole chunk of zeros
};

}  // namespace bloomery::detail
