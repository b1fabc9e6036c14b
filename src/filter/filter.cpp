// A filter that owns its bits.
#include <bloomery/filter.hpp>

#include <cstring>

namespace bloomery {

namespace {
const Plan& validated(const Plan& plan) {
  validate(plan);
  return plan;
}
}  // namespace

Filter::Filter(const Plan& plan, const Hasher& hasher)
    : BitMemory(validated(plan).bytes()), FilterView(plan, hasher, BitMemory::bytes()) {}

Filter Filter::copy() const {
  Filter twin(plan(), hasher());
  std::memcpy(twin.mutable_bytes().data(), bytes().data(), bytes().size());
  return twin;
}

}  // namespace bloomery
