// The planner's seam: the library's plans, and the tool's way of reading numbers, as plain functions
// that a page can call.
//
// It is compiled to WebAssembly without a C++ runtime for exceptions (web/wasm/refusal.cpp says
// what becomes of a PlanError). Arguments and answers that are no single number stand in static
// objects, which planner.ts reads and writes; they are valid until the next call.
#include <bloomery/spec.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "flags/numbers.hpp"

namespace {

using namespace bloomery;

// What is asked for; `given` has bit i where PlanField i is given. 72 bytes, little-endian.
struct Request {
  std::uint32_t given;
  std::uint32_t kind;
  std::uint64_t capacity;
  double fpr;
  std::uint64_t bits;
  std::uint32_t hashes;
  std::uint32_t layout;
  std::uint32_t counter_bits;
  std::uint32_t growth;
  std::uint32_t slices;
  std::uint32_t window_unit;
  std::uint64_t window_length;
  std::uint64_t delta;
};
static_assert(sizeof(Request) == 72);
Request request;

// A plan as the page shows it. 152 bytes.
struct Answer {
  std::uint32_t kind;
  std::uint32_t layout;
  std::uint32_t hashes;
  std::uint32_t counter_bits;  // 0: does not count
  std::uint64_t bytes;
  std::uint64_t capacity;
  double fpr;
  Plan part;  // the first sub-filter, or a slice; of the other kinds the plan itself
  std::uint32_t growth;
  std::uint32_t slices;
  double tightening;
  std::uint64_t window_length;
  std::uint32_t fingerprint_bits;  // of a frozen filter; 0: it is none
  std::uint32_t narrow;            // so many of its partitions have one bit less
  std::uint64_t building_bytes, spool_bytes;
  std::uint64_t delta_items, delta_bytes;  // of keys that come later; zeros: none can
  double delta_fpr;
};
static_assert(sizeof(Plan) == 40 && sizeof(Answer) == 152);
Answer answer;

// The plan that the page works with: it keeps the bytes of each plan and puts them here again.
FilterPlan current;
static_assert(std::is_trivially_copyable_v<FilterPlan>);

// A number that was read. 24 bytes.
struct Read {
  std::uint64_t whole;
  double real;
  std::uint32_t unit;
};
Read read;
char text[64];

struct AddKind {
  void operator()(const Plan& it) const { answer.part = it; }
  void operator()(const CountingPlan& it) const {
    answer.part = it.plan;
    answer.counter_bits = counter_bits(it.plan.layout);
  }
  void operator()(const ScalablePlan& it) const {
    answer.part = it.first;
    answer.growth = it.growth;
    answer.tightening = it.tightening;
  }
  void operator()(const WindowPlan& it) const {
    answer.part = it.slice;
    answer.slices = it.slices;
    answer.window_length = it.window;
  }
  void operator()(const FrozenPlan& it) const {
    answer.part = it.array;
    answer.fingerprint_bits = it.fingerprint_bits;
    answer.narrow = it.narrow_partitions;
    answer.building_bytes = it.building_bytes();
    answer.spool_bytes = it.spool_bytes();
    if (!it.delta) return;
    answer.delta_items = it.delta->capacity;
    answer.delta_bytes = it.delta->bytes();
    answer.delta_fpr = it.delta->fpr;
  }
};

const Answer* answer_of(const FilterPlan& plan) {
  const PlanTotals all = totals(plan);
  answer = {};
  answer.kind = static_cast<std::uint32_t>(all.kind);
  answer.layout = static_cast<std::uint32_t>(all.layout);
  answer.hashes = all.hashes;
  answer.bytes = all.bytes;
  answer.capacity = all.capacity;
  answer.fpr = all.fpr;
  std::visit(AddKind{}, plan);
  return &answer;
}

bool given(PlanField field) { return (request.given >> static_cast<unsigned>(field) & 1) != 0; }

FilterSpec spec() {
  FilterSpec spec;
  spec.kind = static_cast<Kind>(request.kind);
  if (given(PlanField::capacity)) spec.capacity = request.capacity;
  if (given(PlanField::fpr)) spec.fpr = request.fpr;
  if (given(PlanField::bits)) spec.bits = request.bits;
  if (given(PlanField::hashes)) spec.hashes = request.hashes;
  if (given(PlanField::layout)) spec.layout = static_cast<Layout>(request.layout);
  if (given(PlanField::counter_bits)) spec.counter_bits = request.counter_bits;
  if (given(PlanField::growth)) spec.growth = request.growth;
  if (given(PlanField::slices)) spec.slices = request.slices;
  if (given(PlanField::delta)) spec.delta = request.delta;
  if (given(PlanField::window))
    spec.window = Window{static_cast<WindowUnit>(request.window_unit), request.window_length};
  return spec;
}

// Where all the bits of a filter, of a sub-filter or of a slice are said.
Plan& part_of(FilterPlan& plan) {
  if (auto* counting = std::get_if<CountingPlan>(&plan)) return counting->plan;
  if (auto* scalable = std::get_if<ScalablePlan>(&plan)) return scalable->first;
  if (auto* window = std::get_if<WindowPlan>(&plan)) return window->slice;
  if (auto* frozen = std::get_if<FrozenPlan>(&plan)) return frozen->array;
  return *std::get_if<Plan>(&plan);
}

constexpr double kAll = std::numeric_limits<double>::infinity();

// What is known of the sub-filters of a scalable plan.
struct Growth {
  ScalablePlan plan;
  std::vector<Plan> sub_filters;
  double room = 0;  // for so many keys
  bool all = false;
};

// Of the current scalable plan, at least as far as for `items` keys if it can grow so far. A curve
// asks for them at every point, and for each layout in turn, so they are kept.
const Growth& growth(double items) {
  static Growth known[4];
  const ScalablePlan& plan = *std::get_if<ScalablePlan>(&current);
  Growth& here = known[static_cast<unsigned>(plan.first.layout) % 4];
  if (here.plan == plan && (here.all || items <= here.room)) return here;
  here = {plan, sub_filter_plans(plan, items), 0, false};
  for (const Plan& each : here.sub_filters) here.room += static_cast<double>(each.capacity);
  here.all = here.room < items;
  return here;
}

}  // namespace

#define EXPORT(name) __attribute__((export_name(#name))) name

extern "C" {

Request* EXPORT(planner_request)() { return &request; }
FilterPlan* EXPORT(planner_plan)() { return &current; }
std::uint32_t EXPORT(planner_plan_size)() { return sizeof current; }

// Plans the request, as the current one.
const Answer* EXPORT(planner_solve)() {
  // Building needs no number of keys, but the page shows a size.
  if (static_cast<Kind>(request.kind) == Kind::frozen && !given(PlanField::capacity))
    throw PlanError(ErrorCode::invalid_argument, PlanField::capacity,
                    "{capacity} is missing: how many different keys there are");
  current = plan(spec());
  return answer_of(current);
}

// Of the current scalable plan: how many sub-filters it can have, and each of them as a plain plan.
std::uint32_t EXPORT(planner_sub_filters)() {
  return static_cast<std::uint32_t>(growth(kAll).sub_filters.size());
}
const Answer* EXPORT(planner_sub_filter)(std::uint32_t i) {
  return answer_of(growth(kAll).sub_filters[i]);
}

// Of the current plan; not a number where it cannot grow so far.
double EXPORT(planner_fpr)(double items) {
  if (!std::holds_alternative<ScalablePlan>(current)) return predicted_fpr(current, items);
  const Growth& known = growth(items);
  if (known.room < items) return std::numeric_limits<double>::quiet_NaN();
  return predicted_fpr(known.sub_filters, items);
}

// The same with other hashes, and `factor` times its bits.
double EXPORT(planner_fpr_with)(double factor, std::uint32_t hashes, double items) {
  FilterPlan other = current;
  Plan& part = part_of(other);
  part.bits =
      static_cast<std::uint64_t>(static_cast<double>(part.bits) * factor) / kBlockBits * kBlockBits;
  if (part.bits < kBlockBits) part.bits = kBlockBits;
  part.hashes = hashes;
  return predicted_fpr(other, items);
}

// Of the current counting plan at its capacity.
double EXPORT(planner_saturation)(std::uint32_t times) {
  const CountingPlan& it = *std::get_if<CountingPlan>(&current);
  return predicted_saturation(it, static_cast<double>(it.plan.capacity), times);
}

double EXPORT(planner_layout_fpr)(std::uint32_t layout, std::uint64_t bits, std::uint32_t hashes,
                                  double items) {
  return predicted_fpr(static_cast<Layout>(layout), bits, hashes, items);
}

double EXPORT(planner_textbook_fpr)(double bits_per_key, double hashes) {
  return textbook_fpr(bits_per_key, hashes);
}

double EXPORT(planner_lower_bound_bits)(double fpr) { return lower_bound_bits(fpr); }

// ---- numbers, from the first `length` bytes of planner_text() ------------------------------------

char* EXPORT(planner_text)() { return text; }

// what: 0 a count, 1 an amount, 2 a false-positive rate, 3 a size (real: bits per key), 4 a window.
// Null: it is none.
const Read* EXPORT(planner_read)(std::uint32_t what, std::uint32_t length) {
  const std::string_view from(text, length);
  read = {};
  const auto kept = [](const auto& value, auto& place) {
    if (value) place = *value;
    return value ? &read : nullptr;
  };
  if (what == 0) return kept(cli::read_count(from), read.whole);
  if (what == 1) return kept(cli::read_amount(from), read.real);
  if (what == 2) return kept(cli::read_fpr(from), read.real);
  if (what == 3) {
    const auto size = cli::read_size(from);
    if (size) read = {size->bits, size->bits_per_key, 0};
    return size ? &read : nullptr;
  }
  const auto window = cli::read_window(from);
  if (window) read = {window->length, 0, static_cast<std::uint32_t>(window->unit)};
  return window ? &read : nullptr;
}

}  // extern "C"
