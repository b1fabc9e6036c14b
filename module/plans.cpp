// The latest plans, by what was asked for.
#include "plans.hpp"

#include <array>
#include <cstddef>
#include <tuple>

namespace bloomery::server {

namespace {

template <class Made, class... Words>
class Remembered {
 public:
  template <class Make>
  Made get(const std::tuple<Words...>& words, Make make) {
    for (const One& one : latest_)
      if (one.made && one.words == words) return *one.made;
    One& oldest = latest_[next_ % latest_.size()];
    const Made made = std::apply(make, words);
    oldest = {words, made};
    ++next_;
    return made;
  }

 private:
  struct One {
    std::tuple<Words...> words;
    std::optional<Made> made;
  };
  std::array<One, 64> latest_;
  std::size_t next_ = 0;
};

}  // namespace

Plan plan_once(std::uint64_t capacity, double fpr, std::optional<Layout> layout) {
  static Remembered<Plan, std::uint64_t, double, std::optional<Layout>> latest;
  return latest.get({capacity, fpr, layout}, [](auto... words) { return plan(words...); });
}

WindowPlan window_plan_once(WindowUnit unit, std::uint64_t window, std::uint64_t capacity,
                            double fpr, std::uint32_t slices) {
  static Remembered<WindowPlan, WindowUnit, std::uint64_t, std::uint64_t, double, std::uint32_t>
      latest;
  return latest.get({unit, window, capacity, fpr, slices},
                    [](auto... words) { return window_plan(words...); });
}

}  // namespace bloomery::server
