// The header of a filter file: what the bits mean, and in which state their last writer left them.
#pragma once

#include <bloomery/hash.hpp>
#include <bloomery/kind.hpp>
#include <bloomery/window_filter.hpp>

#include "base/os.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bloomery::detail {

// Bits of a plain filter only turn on, and turning a bit on twice is the same as once, so its writers store into the
// bits of the file. Operations of the other kinds must not be done twice: the bits in their files are a snapshot; a
// journal follows the snapshot, and a new file replaces it.
// A frozen filter is built, and after that its file can only be replaced. A frozen filter with a delta takes keys
// into the delta as a plain filter does.
[[nodiscard]] constexpr bool is_built_once(Kind kind) noexcept { return kind == Kind::frozen; }
[[nodiscard]] inline bool has_delta(const FilterPlan& plan) noexcept {
  const auto* frozen = std::get_if<FrozenPlan>(&plan);
  return frozen != nullptr && frozen->delta.has_value();
}
[[nodiscard]] inline bool is_stored_in_place(const FilterPlan& plan) noexcept {
  return kind_of(plan) == Kind::plain || has_delta(plan);
}

enum class State : std::uint8_t {
  clean = 0,      // the bits are complete, and the sums match them
  mapped = 1,     // in place: a writer stores into the bits; they are valid only in this boot
  journaled = 2,  // the journal has every operation after `total` was computed
  merging = 3,    // in place: a `sync` writer adds another filter and has not acknowledged it yet
  failed = 4,     // in place: the device refused bits that had been acknowledged
  noted = 5,      // a snapshot: like journaled, but the journal is valid only in this boot
};
// Whether a file in this state is lost when the machine stops.
[[nodiscard]] constexpr bool ends_with_boot(State state) noexcept {
  return state == State::mapped || state == State::noted;
}

// A sub-filter of a scalable filter.
struct SubFilterEntry {
  Plan plan;
  std::uint64_t inserted = 0;
  friend bool operator==(const SubFilterEntry&, const SubFilterEntry&) = default;
};

// A batch of operations with a name that the user gives. After a crash the user can repeat all of them: the file
// leaves out the operations that are done. A file knows only its latest batch.
struct Batch {
  Os::Id id{};             // of the name; zeros: there was no batch
  std::uint64_t done = 0;  // keys done up to the snapshot; the keys in the journal come after them
  std::uint64_t digest = 0;  // of these keys, in order, and of whether each was removed
  bool open = false;         // the operations in the journal belong to this batch

  void add(std::span<const Hash128> hashes, bool removed) noexcept {
    for (const Hash128 hash : hashes)
      digest = (digest ^ hash.low) * 0x9E3779B97F4A7C15 + hash.high + (removed ? 1 : 0);
    done += hashes.size();
  }
  friend bool operator==(const Batch&, const Batch&) = default;
};
[[nodiscard]] Os::Id batch_id(std::string_view name) noexcept;

struct Header {
  FilterPlan plan;  // its type tells the kind
  Hasher hasher;
  std::vector<SubFilterEntry> sub_filters;  // only of a scalable filter; the oldest first
  WindowState window_state;                 // only of a window
  Os::Id identity{};

  State state = State::clean;
  std::uint64_t generation = 1;  // the number of headers that this file has had
  std::uint64_t inserted = 0;  // inserts of keys that were certainly new; for a window, all inserts
  std::uint64_t total = 0;     // the total of the bits; meaningless while mapped or merging
  std::uint64_t epoch = 0;     // the epoch of the journal: records of another epoch are stale
  std::uint64_t journal_bytes = 0;  // the reserved size of the journal; 0: the state has no journal
  Os::Id boot{};                    // the boot of the machine in which the state was set
  Batch batch;

  [[nodiscard]] Kind kind() const noexcept { return kind_of(plan); }
};

[[nodiscard]] constexpr bool has_journal(State state) noexcept {
  return state == State::journaled || state == State::merging || state == State::noted;
}
// Whether the journal may have operations that the bits do not have.
[[nodiscard]] constexpr bool has_records(State state) noexcept {
  return state == State::journaled || state == State::noted;
}

}  // namespace bloomery::detail
