// The kinds, for tests of their files: small plans of each, operations on them, and a model in memory
// that says what a file has to hold.
#pragma once

#include <bloomery/bloomery.hpp>

#include "store/images.hpp"
#include "store/operations.hpp"
#include "store/scratch.hpp"
#include "support/random.hpp"

#include <ostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace bloomery::test {

struct KindCase {
  const char* name;
  FilterPlan plan;
  [[nodiscard]] bool counts() const { return std::holds_alternative<CountingPlan>(plan); }
  [[nodiscard]] bool has_time() const {
    const auto* window = std::get_if<WindowPlan>(&plan);
    return window != nullptr && window->unit == WindowUnit::seconds;
  }
};

// The kinds other than plain. Small, so that counters get saturated, sub-filters get full and slices are
// forgotten. Planned once, because each test is a process.
inline const std::vector<KindCase>& kind_cases() {
  static const std::vector<KindCase> cases = {
      {"counting4", CountingPlan{{Layout::blocked128, 512 * 5, 4, 300, 0.01}}},
      {"counting8", CountingPlan{{Layout::blocked64, 512 * 3, 4, 150, 0.01}}},
      {"counting2x4", CountingPlan{{Layout::blocked2x128, 512 * 4, 6, 300, 0.01}}},
      {"scalable", scalable_plan(90, 0.01, 10)},
      {"insertions", window_plan(WindowUnit::insertions, 100, 100, 0.01, 4)},
      {"seconds", window_plan(WindowUnit::seconds, 90, 60, 0.01, 3, Layout::blocked2)},
  };
  return cases;
}
// All kinds.
inline std::vector<KindCase> all_kind_cases() {
  std::vector<KindCase> cases = kind_cases();
  cases.insert(cases.begin(), {"plain", Plan{Layout::blocked2, 512 * 10, 6, 300, 0.01}});
  return cases;
}
inline std::string name_of(const KindCase& one) { return one.name; }
inline void PrintTo(const KindCase& one, std::ostream* out) { *out << one.name; }

// The tests of a kind and a level of durability.
class KindAndLevel : public testing::TestWithParam<std::tuple<KindCase, Durability>> {
 protected:
  [[nodiscard]] static const KindCase& kind() { return std::get<0>(GetParam()); }
  [[nodiscard]] static Durability durability() { return std::get<1>(GetParam()); }
};

// A filter in memory that goes through the same operations.
class KindModel {
 public:
  explicit KindModel(const FilterPlan& plan, const Hasher& hasher = Hasher())
      : filter_(make(plan, hasher)) {}
  [[nodiscard]] KindModel copy() const {
    return std::visit([](const auto& filter) { return KindModel(filter.copy()); }, filter_);
  }

  // The answer of an insert or a removal.
  bool apply(const Operation& operation) {
    return std::visit([&](auto& filter) { return apply_to(filter, operation); }, filter_);
  }
  void apply(const Operations& operations) {
    for (const Operation& operation : operations) apply(operation);
  }
  [[nodiscard]] bool may_contain(std::uint64_t key) const {
    return std::visit([&](const auto& filter) { return filter.may_contain(key); }, filter_);
  }
  [[nodiscard]] std::vector<std::byte> encode() const {
    return std::visit([](const auto& filter) { return bloomery::encode(filter); }, filter_);
  }
  [[nodiscard]] Image image() const {
    return std::visit([](const auto& filter) { return image_of(filter); }, filter_);
  }

 private:
  using Any = std::variant<Filter, CountingFilter, ScalableFilter, WindowFilter>;
  explicit KindModel(Any filter) : filter_(std::move(filter)) {}
  static Any make(const FilterPlan& plan, const Hasher& hasher) {
    struct Make {
      const Hasher& hasher;
      Any operator()(const Plan& of_plain) const { return Filter(of_plain, hasher); }
      Any operator()(const CountingPlan& counting) const {
        return CountingFilter(counting.plan, hasher);
      }
      Any operator()(const ScalablePlan& scalable) const {
        return ScalableFilter(scalable, hasher);
      }
      Any operator()(const WindowPlan& window) const { return WindowFilter(window, hasher); }
      Any operator()(const FrozenPlan& /*frozen*/) const {
        throw std::logic_error("a frozen filter takes no operations");
      }
    };
    return std::visit(Make{hasher}, plan);
  }
  template <class F>
  static bool apply_to(F& filter, const Operation& operation) {
    if (operation.what == Operation::insert) return filter.insert(operation.key);
    if constexpr (std::is_same_v<F, CountingFilter>) {
      if (operation.what == Operation::remove) return filter.remove(operation.key);
      if (operation.what == Operation::merge) filter.merge(what_a_merge_adds(filter));
    }
    if constexpr (std::is_same_v<F, WindowFilter>)
      if (operation.what == Operation::advance) filter.advance(operation.key);
    return false;
  }

  Any filter_;
};

// Runs of inserts and, where the kind has them, of removals, and steps of time.
class RandomOperations {
 public:
  // Of so many keys.
  RandomOperations(const KindCase& kind, std::uint64_t seed, std::uint64_t keys)
      : kind_(kind), random_(seed), keys_(keys) {}
  Operations operator()(std::size_t count) {
    Operations operations;
    while (operations.size() < count) {
      const bool removes = kind_.counts() && random_.below(3) == 0;
      const std::size_t run = std::min(1 + random_.below(400), count - operations.size());
      for (std::size_t i = 0; i < run; ++i)
        operations.push_back(
            {removes ? Operation::remove : Operation::insert, random_.below(keys_)});
      // Now and then backwards, or over everything.
      if (kind_.has_time()) {
        now_ += random_.below(10) == 0 ? 200 : random_.below(20);
        operations.back() = {Operation::advance, now_ - random_.below(5)};
      }
    }
    return operations;
  }

 private:
  const KindCase& kind_;
  Random random_;
  std::uint64_t keys_;
  std::uint64_t now_ = 1000;
};

}  // namespace bloomery::test
