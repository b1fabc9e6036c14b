// The common part of the writers that store into the mapped file: of plain filters, and of deltas of frozen filters.
#pragma once

#include "format/kinds.hpp"
#include "format/sums.hpp"
#include "store/disk/holes.hpp"
#include "store/sessions/session.hpp"

namespace bloomery::detail {

class BitsWriter : public Writer {
 public:
  [[nodiscard]] Contents& contents() noexcept final { return *contents_; }
  [[nodiscard]] std::vector<File::Range> data() const final { return holes_.data(); }
  void require_undamaged() final;

 protected:
  // The file must be locked and clean. Error{no_space}: the device has no room for the whole file.
  explicit BitsWriter(Opened opened);

  // Sets the header's state and puts it on the device. After a failure the file is poisoned.
  void enter(State state);
  // Puts the bits, their sums and a clean header on the device. After a failure the file is poisoned.
  void make_clean();
  // Prepares a chunk for stores that do not keep its sum up to date: gives the chunk room, and checks it before its
  // first store, because a new sum of a damaged chunk would hide the damage. Error{corrupt | no_space}.
  void touch(std::uint64_t chunk);
  void touch_all();
  [[nodiscard]] bool all_touched() const noexcept { return untouched_ == 0; }
  // Computes the sums of the touched chunks from their bits.
  void sum_touched();

  [[nodiscard]] bool dirty() const noexcept { return opened_.header.state != State::clean; }
  [[nodiscard]] Header& header() noexcept { return opened_.header; }
  // The bits that keys turn on. They are the first bits of the file; in a frozen filter the bits of the list follow
  // them.
  [[nodiscard]] const FilterView& view() const noexcept { return contents_->filter(); }
  [[nodiscard]] std::span<std::byte> bits() const noexcept { return contents_->payload().bytes(); }
  [[nodiscard]] const Mapping& mapping() const noexcept { return contents_->payload().mapping(); }
  [[nodiscard]] std::uint64_t chunks_of_keys() const noexcept {
    return FileLayout(view().plan().bytes()).chunks;
  }

  FileLayout layout_;
  Holes holes_;
  std::unique_ptr<BitContents> contents_;
  Sums sums_;

 private:
  std::vector<std::uint8_t> touched_;  // one per chunk
  std::uint64_t untouched_;
};

}  // namespace bloomery::detail
