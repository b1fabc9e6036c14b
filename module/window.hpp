// A filter that forgets: the library's window filter in the server's memory.
//
// A window of time takes its time from the commands: who adds at the master is asked for the
// server's clock, and what it said is replicated before the item (BF.ADVANCE), so that a replica
// or an AOF turns the ring where the master did. Look-ups change nothing; they leave out the slices
// that the clock has outrun.
#pragma once

#include <bloomery/window_filter.hpp>

#include "value.hpp"

namespace bloomery::server {

class Window final : public Value {
 public:
  // Error{invalid_argument, too_large, no_memory}.
  [[nodiscard]] static ValuePointer<Window> make(const WindowPlan& plan,
                                                 const Hasher& hasher = Hasher());
  // As it was stored; `memory` has its bits. Error{mismatch}: no such state.
  [[nodiscard]] static ValuePointer<Window> restore(const WindowPlan& plan, const Hasher& hasher,
                                                    const WindowState& state, OwnedMemory memory);

  [[nodiscard]] Hash128 hash(std::string_view item) const noexcept override;
  void prefetch(Hash128 hash) const noexcept override;
  [[nodiscard]] bool may_contain(Hash128 hash, std::uint64_t now) const noexcept override;
  void may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                   std::uint64_t now) const noexcept override;
  [[nodiscard]] Added insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                             std::uint64_t) noexcept override;
  void clear() noexcept override;

  [[nodiscard]] bool is_of_time() const noexcept {
    return filter_.plan().unit == WindowUnit::seconds;
  }
  // True: the time has moved.
  bool advance(std::uint64_t now) noexcept;

  // All insert calls.
  [[nodiscard]] std::uint64_t size() const noexcept override { return filter_.inserted(); }
  [[nodiscard]] std::uint64_t capacity() const noexcept override { return filter_.capacity(); }
  [[nodiscard]] std::uint64_t bit_bytes() const noexcept override { return array_.bytes().size(); }
  [[nodiscard]] std::uint64_t footprint() const noexcept override {
    return sizeof *this + bit_bytes();
  }
  [[nodiscard]] bool full() const noexcept override { return false; }
  [[nodiscard]] const WindowFilter& filter() const noexcept { return filter_; }

  [[nodiscard]] std::vector<std::byte> header() const override;
  [[nodiscard]] std::span<std::byte> part_at(std::uint64_t offset,
                                             std::uint64_t most) const noexcept override {
    return array_.part_at(offset, most);
  }
  [[nodiscard]] AnyValue copy() const override;
  void defragment(DefragContext* context) noexcept override;
  [[nodiscard]] std::size_t memory() const noexcept override {
    return allocated_size(this) + array_.memory();
  }

 private:
  friend struct ValueAccess;
  Window(const WindowPlan& plan, const Hasher& hasher, const WindowState& state,
         OwnedMemory memory);
  // How many slices the clock is ahead of the ring.
  [[nodiscard]] std::uint64_t behind(std::uint64_t now) const noexcept;
  [[nodiscard]] bool is_in_young(Hash128 hash, std::uint64_t behind) const noexcept;

  Array array_;
  WindowFilter filter_;
};

}  // namespace bloomery::server
