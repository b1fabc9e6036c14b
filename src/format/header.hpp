// The header of a filter file: what the bits mean, and in what state their writer left them.
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

// Bits of a plain filter only turn on, and turning one on twice is the same as once. So its writers
// store into the bits of the file. The operations of the other kinds may not be done twice: the bits
// in their files are a snapshot, which the journal follows and a new file replaces.
// Frozen filters are built, and then their files are only ever replaced; but one with a delta takes keys into that as
// a plain filter does.
[[nodiscard]] constexpr bool is_built_once(Kind kind) noexcept { return kind == Kind::frozen; }
[[nodiscard]] inline bool has_delta(const FilterPlan& plan) noexcept {
  const auto* frozen = std::get_if<FrozenPlan>(&plan);
  return frozen != nullptr && frozen->delta.has_value();
}
[[nodiscard]] inline bool is_stored_in_place(const FilterPlan& plan) noexcept {
  return kind_of(plan) == Kind::plain || has_delta(plan);
}

enum class State : std::uint8_t {
  clean = 0,      // the bits are complete, and the sums are theirs
  mapped = 1,     // in place: a writer stores into the bits; they need the memory of this boot
  journaled = 2,  // the journal has every operation since `total` was taken
  merging = 3,    // in place: a `sync` writer adds another filter that it has not acknowledged
  failed = 4,     // in place: the device refused bits that had been acknowledged
  noted = 5,      // a snapshot: as journaled, but the journal needs the memory of this boot
};

// A sub-filter of a scalable filter.
struct SubFilterEntry {
  Plan plan;
  std::uint64_t inserted = 0;
  friend bool operator==(const SubFilterEntry&, const SubFilterEntry&) = default;
};

// Operations under a name of their user, who can repeat them all after a crash: those that are done are
// left out. A file knows its latest batch.
struct Batch {
  Os::Id id{};               // of the name; zeros: there was none
  std::uint64_t done = 0;    // keys, up to the snapshot; behind it come those of the journal
  std::uint64_t digest = 0;  // of these keys, in order, and of whether they were removed
  bool open = false;         // the operations of the journal are of the batch

  void add(std::span<const Hash128> hashes, bool removed) noexcept {
    for (const Hash128 hash : hashes)
      digest = (digest ^ hash.low) * 0x9E3779B97F4A7C15 + hash.high + (removed ? 1 : 0);
    done += hashes.size();
  }
  friend bool operator==(const Batch&, const Batch&) = default;
};
[[nodiscard]] Os::Id batch_id(std::string_view name) noexcept;

struct Header {
  FilterPlan plan;  // the type says the kind
  Hasher hasher;
  std::vector<SubFilterEntry> sub_filters;  // of a scalable filter alone; the oldest first
  WindowState window_state;                 // of a window alone
  Os::Id identity{};

  State state = State::clean;
  std::uint64_t generation = 1;     // counts the headers that this file has had
  std::uint64_t inserted = 0;       // inserts that were certainly new; of a window, all
  std::uint64_t total = 0;          // of the bits; meaningless while mapped or merging
  std::uint64_t epoch = 0;          // of the journal: records of another one are stale
  std::uint64_t journal_bytes = 0;  // of the room for it; 0 unless the state has a journal
  Os::Id boot{};                    // the machine's start in which the state was set
  Batch batch;

  [[nodiscard]] Kind kind() const noexcept { return kind_of(plan); }
};

[[nodiscard]] constexpr bool has_journal(State state) noexcept {
  return state == State::journaled || state == State::merging || state == State::noted;
}
// Whether the journal has what the bits may lack.
[[nodiscard]] constexpr bool has_records(State state) noexcept {
  return state == State::journaled || state == State::noted;
}

}  // namespace bloomery::detail
