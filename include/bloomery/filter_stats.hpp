// The statistics of a filter of any kind in any place: its plan, its keys, its current false-positive
// rate.
//
// For a filter in memory or in a file all values are known; for a filter on a server, those that the server reports.
#pragma once

#include <bloomery/kind.hpp>
#include <bloomery/php_filter.hpp>
#include <bloomery/plan.hpp>
#include <bloomery/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bloomery {

struct FilterStats : Stats {
  // False: fill, estimated_items and current_fpr of Stats are 0, because the place does not report them (for a
  // filter of a module that counts, forgets or is frozen). For other filters of a module they are computed from the
  // number of items.
  bool fill_known = true;
  std::optional<Kind>
      kind{};  // nullopt: a module does not report it, or the bits are a PHP class's
  // The number of keys up to which the stated false-positive rate holds: for a scalable filter in all of
  // its sub-filters, for a rotating filter in one generation.
  std::uint64_t capacity = 0;
  double fpr = 0;           // the stated rate of the whole; 0: unknown
  std::uint64_t bytes = 0;  // of all bits, counters, sub-filters or slices together; 0: unknown
  // The bits of the whole filter. For a counting filter these are its counters. For a scalable filter they are
  // the bits of all sub-filters, with the hash count of the newest. For a rotating filter they are the bits of
  // one generation.
  std::optional<Plan> plan{};
  std::optional<std::uint64_t>
      inserted{};          // inserts that were certainly new; of a window filter all inserts
  std::string identity{};  // of a file: FilterFile::identity()

  struct Counters {
    std::uint32_t bits = 0;  // of a counter
    std::uint64_t saturated = 0;
  };
  std::optional<Counters> counters{};  // of a counting filter

  struct SubFilter {
    Plan plan;
    std::uint64_t inserted = 0;
    double current_fpr = 0;
  };
  std::optional<std::uint64_t> growth{};  // of a scalable filter
  std::vector<SubFilter>
      sub_filters{};  // empty if the filter is not scalable or the place does not report them

  std::optional<WindowPlan> window{};
  std::uint32_t live_slices = 0;       // of a window filter: how many slices hold keys
  std::optional<FrozenPlan> frozen{};  // if set, `plan` has its bytes and hashes, and no layout
  // The delta of a frozen filter: the keys that came after it was built. `inserted`, `capacity`, `current_fpr` and
  // `estimated_items` above are for the list and the delta together; over_capacity is for the delta alone.
  struct Delta {
    Plan plan;
    std::uint64_t inserted = 0;  // without the inserts of a writer that was killed
    double estimated_items = 0;
    double current_fpr = 0;
  };
  std::optional<Delta> delta{};

  struct Shards {
    std::uint32_t count = 0;
    std::size_t nodes = 0;
  };
  std::optional<Shards> shards{};

  // The generations of a rotating filter. The values above describe the newer generation, except fpr and
  // current_fpr, which describe both generations together.
  struct Generations {
    std::uint64_t newer = 0;  // its number
    Stats older;
  };
  std::optional<Generations> generations{};

  std::optional<std::uint64_t> module_arrays{};  // of a module's filter: the number of its arrays
  std::optional<PhpScheme> scheme{};             // if set, current_fpr is a lower bound
};

}  // namespace bloomery
