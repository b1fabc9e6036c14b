// A filter that owns its bits.
#include <bloomery/filter.hpp>

#include <cstring>
#include <utility>

namespace bloomery {

namespace {
const Plan& validated(const Plan& plan) {
  validate(plan);
  return plan;
}
}  // namespace

Filter::Filter(const Plan& plan, const Hasher& hasher)
    : BitMemory(validated(plan).bytes()), FilterView(plan, hasher, BitMemory::bytes()) {}

Filter::Filter(Filter&& other) noexcept
    : BitMemory(std::move(static_cast<BitMemory&>(other))), FilterView(other) {
  other.detach();
}

Filter& Filter::operator=(Filter&& other) noexcept {
  if (this == &other) return *this;
  BitMemory::operator=(std::move(static_cast<BitMemory&>(other)));
  FilterView::operator=(other);
  other.detach();
  return *this;
}

Filter Filter::copy() const {
  Filter twin(plan(), hasher());
  std::memcpy(twin.mutable_bytes().data(), bytes().data(), bytes().size());
  return twin;
}

}  // namespace bloomery
