// The header of a filter file: what the bits mean, and in what state their writer left them.
//
// It is written twice, one copy after the other is on the device, and the newer copy that is
// whole counts. So a torn write of one, or damage to one, leaves the other; and because no
// writer goes on before both are there, the other is always safe to believe.
//
// Where the device has refused to sync a copy, that one may be seen and yet not last. So the
// copy that was written last is the first to be written over: a header of generation g goes
// first over copy g mod 2. Copies of different generations are a header half written, of which
// the older copy is the one that lasts.
#pragma once

#include <bloomery/hash.hpp>
#include <bloomery/kind.hpp>
#include <bloomery/plan.hpp>
#include <bloomery/scalable_plan.hpp>
#include <bloomery/window_filter.hpp>

#include "base/os.hpp"
#include "format/layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bloomery::detail {

enum class State : std::uint8_t {
  clean = 0,      // the bits are whole and the sums are theirs
  mapped = 1,     // a writer stores into the bits; whole as long as this boot's memory is
  journaled = 2,  // the same, and the journal has every key since `total` was taken
  merging = 3,    // a `sync` writer adds another filter that it has not acknowledged
  failed = 4,     // the device refused bits that had been acknowledged
  // Of the kinds other than plain, whose bits are never stored into (they know 0, 2 and 5):
  // every operation since `total` was taken is in the journal, but only this boot's memory may
  // have it.
  noted = 5,
};

// A sub-filter of a scalable filter.
struct SubFilterEntry {
  Plan plan;
  std::uint64_t inserted = 0;
  friend bool operator==(const SubFilterEntry&, const SubFilterEntry&) = default;
};

struct Header {
  Kind kind = Kind::plain;
  // Of a counting filter: one bit for each counter. Of a scalable one: its first sub-filter's. Of a
  // window: each slice's.
  Plan plan;
  ScalablePlan scalable;                    // of that kind alone, as
  std::vector<SubFilterEntry> sub_filters;  // these, the oldest first
  WindowPlan window;                        // of that kind alone, as
  WindowState window_state;                 // this
  Hasher hasher;
  Os::Id identity{};

  State state = State::clean;
  std::uint64_t generation = 1;     // counts the headers that this file has had
  std::uint64_t inserted = 0;       // inserts that were certainly new
  std::uint64_t total = 0;          // of the bits; meaningless while mapped or merging
  std::uint64_t epoch = 0;          // of the journal: records of another one are stale
  std::uint64_t journal_bytes = 0;  // of the room for it; 0 unless the state has a journal
  Os::Id boot{};                    // the machine's start in which the state was set
};

[[nodiscard]] constexpr bool has_journal(State state) noexcept {
  return state == State::journaled || state == State::merging || state == State::noted;
}
[[nodiscard]] FileLayout layout_of(const Header& header) noexcept;

void encode_header(const Header& header, std::span<std::byte, kHeaderBytes> page) noexcept;

struct FoundHeader {
  Header header;
  unsigned copy = 0;    // which of the two it is
  unsigned whole = 0;   // how many are undamaged
  bool settled = true;  // both are, and say the same
  unsigned first = 0;   // the copy that the next header goes over first
};
// `start`: the first 8192 bytes, or all where there are fewer. Checks every field, and that
// a file of `file_bytes` has room for all that they say. Error{not_a_filter, newer_format,
// wrong_kind, corrupt}; `name` names the file in it.
[[nodiscard]] FoundHeader decode_headers(std::span<const std::byte> start, std::uint64_t file_bytes,
                                         const std::string& name);
// How every filter file begins, and whether bytes begin so.
[[nodiscard]] std::array<std::byte, 8> magic() noexcept;
[[nodiscard]] bool has_magic(std::span<const std::byte> start) noexcept;

}  // namespace bloomery::detail
