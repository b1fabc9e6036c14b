// What the writers that store into the mapped file do alike: of plain filters, and of the deltas of frozen ones.
#pragma once

#include "format/kinds.hpp"
#include "format/sums.hpp"
#include "store/holes.hpp"
#include "store/session.hpp"

namespace bloomery::detail {

class BitsWriter : public Writer {
 public:
  [[nodiscard]] Contents& contents() noexcept final { return *contents_; }

 protected:
  // The file is locked and clean. Error{no_space}: the device has no room for all of it.
  explicit BitsWriter(Opened opened);

  // Sets the header's state, on the device. A failure poisons.
  void enter(State state);
  // The bits, their sums and a clean header on the device. A failure poisons.
  void make_clean();
  // Makes a chunk ready to be stored into other than by its changes: gives it room, and checks it before its first
  // store, as a sum made over damage would vouch for it. Error{corrupt | no_space}.
  void touch(std::uint64_t chunk);
  void touch_all();
  [[nodiscard]] bool all_touched() const noexcept { return untouched_ == 0; }
  // Makes the sums of the touched chunks again, from their bits.
  void sum_touched();
  // Does work that leaves it unknown, if it fails, what the device has.
  template <class Work>
  void or_poison(Work work) {
    try {
      work();
    } catch (...) {
      opened_.poisoned = true;
      throw;
    }
  }

  [[nodiscard]] bool dirty() const noexcept { return opened_.header.state != State::clean; }
  [[nodiscard]] Header& header() noexcept { return opened_.header; }
  // The bits that keys turn on. They are the first of all bits of the file, which are those of a list besides.
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
  std::vector<std::uint8_t> touched_;  // of each chunk
  std::uint64_t untouched_;
};

}  // namespace bloomery::detail
