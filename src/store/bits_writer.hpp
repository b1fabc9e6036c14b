// What the writers that store into the mapped file have in common.
#pragma once

#include "format/sums.hpp"
#include "store/recover.hpp"
#include "store/session.hpp"

namespace bloomery::detail {

class BitsWriter : public FilterFile::Impl {
 public:
  [[nodiscard]] const FilterView* plain() const noexcept final { return &bits_.view; }
  [[nodiscard]] const Opened& opened() const noexcept final { return opened_; }
  [[nodiscard]] bool poisoned() const noexcept final { return poisoned_; }

 protected:
  // The file is locked and clean. Error{no_space}: the device has no room for all of it.
  explicit BitsWriter(Opened opened);

  // Error: the file is closed, or a write has failed before.
  void require_writable() const;
  // Sets the header's state, on the device. A failure poisons.
  void enter(State state);
  // The bits, their sums and a clean header on the device. A failure poisons.
  void make_clean();
  // Lets go of the file after some last work, or, once poisoned, whatever comes of it.
  template <class Work>
  void close_after(Work work) {
    if (!opened_.file.is_open()) return;
    try {
      require_writable();
      work();
    } catch (...) {
      if (poisoned_) opened_.file.close();
      throw;
    }
    opened_.file.close();
  }
  // Does work whose failure leaves it unknown what the device has.
  template <class Work>
  void or_poison(Work work) {
    try {
      work();
    } catch (...) {
      poisoned_ = true;
      throw;
    }
  }

  [[nodiscard]] bool dirty() const noexcept { return opened_.header.state != State::clean; }
  [[nodiscard]] Header& header() noexcept { return opened_.header; }

  Opened opened_;
  FileLayout layout_;
  MappedBits bits_;
  Sums sums_;
  bool poisoned_ = false;
};

}  // namespace bloomery::detail
