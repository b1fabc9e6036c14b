// A counting filter that owns its counters.
#include <bloomery/counting_filter.hpp>

#include <cstring>
#include <utility>

namespace bloomery {

namespace {
// So that nothing is allocated for a plan that cannot be had.
std::uint64_t checked_bytes(const Plan& plan) {
  validate_counting(plan);
  return counting_bytes(plan);
}
}  // namespace

CountingFilter::CountingFilter(const Plan& plan, const Hasher& hasher)
    : BitMemory(checked_bytes(plan)), CountingView(plan, hasher, BitMemory::bytes()) {}

CountingFilter::CountingFilter(CountingFilter&& other) noexcept
    : BitMemory(std::move(static_cast<BitMemory&>(other))), CountingView(other) {
  other.detach();
}

CountingFilter& CountingFilter::operator=(CountingFilter&& other) noexcept {
  if (this == &other) return *this;
  BitMemory::operator=(std::move(static_cast<BitMemory&>(other)));
  CountingView::operator=(other);
  other.detach();
  return *this;
}

CountingFilter CountingFilter::copy() const {
  CountingFilter twin(plan(), hasher());
  std::memcpy(twin.mutable_bytes().data(), bytes().data(), bytes().size());
  return twin;
}

}  // namespace bloomery
