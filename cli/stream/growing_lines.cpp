// Replaces each full filter by one for twice as many lines.
#include "stream/growing_lines.hpp"

#include <algorithm>

namespace bloomery::cli {

ScalablePlan rarely_growing_plan(std::uint64_t lines, const FilterSpec& spec) {
  // The first sub-filter has half of the requested rate, which costs a bit and a half per line; the default of
  // scalable filters costs four bits, for growth that is rare here.
  constexpr std::uint32_t kGrowth = 8;
  constexpr double kTightening = 0.5;
  return scalable_plan(lines, *spec.fpr, kGrowth, kTightening, spec.layout);
}

GrowingLines::GrowingLines(AnyFilter& filter, const FilterSpec& spec)
    : FilterLines(filter), spec_(spec), spool_(std::make_unique<HashSpool>()) {}

std::size_t GrowingLines::decide_lines(const Lines& lines, std::span<bool> answers) {
  for (std::size_t done = 0; done < lines.count;) {
    const std::uint64_t room = spool_ ? *spec_.capacity - lines_ : lines.count;
    if (room == 0) {
      grow();
      continue;
    }
    const std::size_t step = std::min<std::uint64_t>(room, lines.count - done);
    const auto hashes = lines.hashes.subspan(done, step);
    const auto fresh = answers.subspan(done, step);
    lines_ += filter_.apply(Operation::insert_absent, hashes, fresh);
    bool kept = true;
    for (std::size_t i = 0; i < step && spool_; ++i)
      if (fresh[i]) kept &= spool_->add(hashes[i]);
    if (!kept) become_scalable();
    done += step;
  }
  return lines.count;
}

void GrowingLines::grow() {
  *spec_.capacity *= 2;
  refill(plan(spec_));
}

void GrowingLines::become_scalable() {
  refill(rarely_growing_plan(*spec_.capacity, spec_));
  spool_.reset();
}

void GrowingLines::refill(const FilterPlan& larger) {
  const Hasher hasher = *filter_.hasher();
  filter_ = AnyFilter(plan(1, 0.5));  // the two must not be in memory together
  filter_ = AnyFilter(larger, hasher);
  spool_->for_each([this](auto hashes) { filter_.apply(Operation::insert, hashes); });
}

}  // namespace bloomery::cli
