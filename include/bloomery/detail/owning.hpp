// A filter that owns its bits: a view of its own memory. A move transfers the memory.
//
// View is FilterView or CountingView, Filter the class that derives from this.
#pragma once

#include <bloomery/detail/bit_memory.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

namespace bloomery::detail {

template <class Filter, class View>
class Owning : private BitMemory, public View {
 public:
  Owning(Owning&& other) noexcept
      : BitMemory(std::move(static_cast<BitMemory&>(other))), View(other) {
    other.detach();
  }
  Owning& operator=(Owning&& other) noexcept {
    if (this == &other) return *this;
    BitMemory::operator=(std::move(static_cast<BitMemory&>(other)));
    View::operator=(other);
    other.detach();
    return *this;
  }

  [[nodiscard]] Filter copy() const {
    Filter copied(View::plan(), View::hasher());
    std::memcpy(copied.mutable_bytes().data(), bytes().data(), bytes().size());
    return copied;
  }

  using View::bytes;
  [[nodiscard]] std::span<std::byte> mutable_bytes() noexcept { return BitMemory::bytes(); }

 protected:
  // Nothing is allocated before the plan is checked.
  Owning(const Plan& plan, const Hasher& hasher)
      : BitMemory(View::bytes_of(plan)), View(plan, hasher, BitMemory::bytes()) {}
};

}  // namespace bloomery::detail
