// Each kind's plan as a header.
#include "store/file_plan.hpp"

#include <bloomery/error.hpp>

namespace bloomery::detail {

Header header_of(const FilePlan& plan, const Hasher& hasher) {
  Header header;
  header.hasher = hasher;
  if (const Plan* plain = std::get_if<Plan>(&plan)) header.plan = *plain;
  if (const CountingPlan* counting = std::get_if<CountingPlan>(&plan)) {
    header.kind = Kind::counting;
    header.plan = counting->plan;
    if (counter_bits(header.plan.layout) == 0)
      throw Error(ErrorCode::invalid_argument,
                  "layout " + std::string(to_string(header.plan.layout)) +
                      " cannot count; plan with counting_layout(4) or (8)");
  }
  if (const ScalablePlan* scalable = std::get_if<ScalablePlan>(&plan)) {
    validate(*scalable);
    header.kind = Kind::scalable;
    header.plan = scalable->first;
    header.scalable = *scalable;
    header.sub_filters = {{scalable->first, 0}};
  }
  if (const WindowPlan* window = std::get_if<WindowPlan>(&plan)) {
    validate(*window);
    header.kind = Kind::window;
    header.plan = window->slice;
    header.window = *window;
  }
  validate(header.plan);
  return header;
}

}  // namespace bloomery::detail
