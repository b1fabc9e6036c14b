// In-memory dedup of input with an unknown number of lines.
//
// A full filter is replaced by one for twice as many lines, built from the hashes on disk. So the memory is at most
// twice that of the right size, and a line is looked up in one filter. If the hashes cannot be kept on disk, the
// filter becomes a scalable one, which grows by sub-filters.
#pragma once

#include "stream/filter_lines.hpp"
#include "stream/hash_spool.hpp"

#include <cstdint>
#include <memory>

namespace bloomery::cli {

class GrowingLines : public FilterLines {
 public:
  // A plain filter for so many lines, and the request from which larger ones are planned.
  GrowingLines(AnyFilter& filter, const FilterSpec& spec);
  std::size_t decide_lines(const Lines& lines, std::span<bool> answers) override;

 private:
  void grow();
  void become_scalable();
  void refill(const FilterPlan& plan);

  FilterSpec spec_;
  std::uint64_t lines_ = 0;           // that the filter has taken
  std::unique_ptr<HashSpool> spool_;  // null: the filter is scalable
};

// The plan of a filter for about so many lines that is not expected to grow.
[[nodiscard]] ScalablePlan rarely_growing_plan(std::uint64_t lines, const FilterSpec& spec);

}  // namespace bloomery::cli
