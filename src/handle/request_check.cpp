// Compares a request with the filter that exists, field by field.
#include "handle/places.hpp"

#include <bloomery/spec.hpp>

#include <optional>

#include "plan/refuse.hpp"

namespace bloomery::detail {

namespace {

// A value, so that it is written differently from another one.
std::string value_text(Layout layout, Layout /*other*/) { return std::string(to_string(layout)); }
std::string value_text(double fpr, double other) { return number(fpr, digits_apart(fpr, other)); }
std::string value_text(std::uint32_t count, std::uint32_t /*other*/) { return grouped(count); }
std::string value_text(std::uint64_t count, std::uint64_t /*other*/) { return grouped(count); }

// The plan that a new filter gets in this place; nullopt: the request has none, for example if it leaves too much open.
std::optional<FilterPlan> plan_here(const AnyFilter::Impl& filter, const FilterSpec& spec) {
  try {
    return filter.plan_here(plan(spec));
  } catch (const Error&) {
    return std::nullopt;
  }
}

void require_same_numbers(const AnyFilter::Impl& filter, const std::optional<FilterPlan>& plan,
                          const FilterSpec& spec) {
  const auto refuse = [&](PlanField field, const std::string& what) {
    throw PlanError(ErrorCode::mismatch, field,
                    " " + what + "; leave it out, or name another filter", filter.name());
  };
  if (spec == FilterSpec()) return;
  const FilterSpec there = filter.spec();
  if (!there.kind)
    throw Error(
        ErrorCode::wrong_kind,
        filter.name() + " has the bits of a PHP class, and they have no numbers to compare");
  // The request may leave a field open, and a field of the existing filter may be unknown.
  const auto compare = [&](PlanField field, const auto& asked, const auto& made,
                           const char* pattern, const char* name) {
    if (asked && made && *asked != *made)
      refuse(field, fill_in(pattern, value_text(*made, *asked), name, value_text(*asked, *made)));
  };
  if (spec.kind && *spec.kind != *there.kind)
    refuse(PlanField::kind, fill_in("is a {} filter, and {} says {}", to_string(*there.kind),
                                    "{kind}", to_string(*spec.kind)));
  const auto require_kind = [&](bool asked, Kind kind, PlanField field, const char* name) {
    if (asked && *there.kind != kind)
      refuse(field, fill_in("is a {} filter, and {} is for a {} one", to_string(*there.kind), name,
                            to_string(kind)));
  };
  require_kind(spec.growth.has_value(), Kind::scalable, PlanField::growth, "{growth}");
  require_kind(spec.counter_bits.has_value(), Kind::counting, PlanField::counter_bits,
               "{counter_bits}");
  require_kind(spec.window.has_value(), Kind::window, PlanField::window, "{window}");
  require_kind(spec.slices.has_value(), Kind::window, PlanField::slices, "{slices}");
  compare(PlanField::growth, spec.growth, there.growth, "grows by {}, and {} says {}", "{growth}");
  compare(PlanField::counter_bits, spec.counter_bits, there.counter_bits,
          "has counters of {} bits, and {} says {}", "{counter_bits}");
  compare(PlanField::slices, spec.slices, there.slices, "has {} slices, and {} says {}",
          "{slices}");
  // The window of a plan is rounded up to whole slices.
  if (spec.window && there.window && there.slices &&
      (spec.window->unit != there.window->unit || spec.window->length > there.window->length ||
       there.window->length - spec.window->length >= *there.slices))
    refuse(PlanField::window,
           fill_in("has a window of {} {}, and {} says another", there.window->length,
                   to_string(there.window->unit), "{window}"));
  // A frozen filter has the capacity for the keys that it was built from.
  if (there.kind != Kind::frozen)
    compare(PlanField::capacity, spec.capacity, there.capacity,
            "was made for {} keys, and {} says {}", "{capacity}");
  compare(PlanField::delta, spec.delta, there.delta, "has a delta for {} keys, and {} says {}",
          "{delta}");
  if (spec.delta && !there.delta)
    refuse(PlanField::delta, "has no delta, and {delta} asks for one");
  // A module, which hashes keys itself, may use a lower rate than a high one that it was asked for.
  const bool may_be_lower = filter.hasher() == nullptr && there.fpr.value_or(0) >= 0.25;
  if (!may_be_lower || spec.fpr.value_or(0) < *there.fpr)
    compare(PlanField::fpr, spec.fpr, there.fpr,
            "was made for a false-positive rate of {}, and {} says {}", "{fpr}");
  compare(PlanField::layout, spec.layout, there.layout, "has the layout {}, and {} says {}",
          "{layout}");
  if (!plan || (*there.kind != Kind::plain && *there.kind != Kind::counting)) {
    if (spec.hashes) refuse(PlanField::hashes, "has no {hashes} that can be compared");
    if (spec.bits) refuse(PlanField::bits, "has no {bits} that can be compared");
    return;
  }
  const PlanTotals made = totals(*plan);
  compare(PlanField::hashes, spec.hashes, std::optional(made.hashes),
          "has {} hashes per key, and {} says {}", "{hashes}");
  if (!spec.bits) return;
  // A plan rounds the bits.
  FilterSpec with_bits = there;
  with_bits.fpr.reset();
  with_bits.bits = spec.bits;
  const auto asked = plan_here(filter, with_bits);
  if (!asked || totals(*asked).bytes != made.bytes)
    refuse(PlanField::bits, fill_in("has {} bits, and {} says {}", grouped(8 * made.bytes),
                                    "{bits}", grouped(*spec.bits)));
}

}  // namespace

void require_agreement(const AnyFilter::Impl& filter, const FilterSpec& spec,
                       const AnyOptions& options) {
  const std::optional<FilterPlan> plan = filter.plan();
  try {
    require_same_numbers(filter, plan, spec);
  } catch (const PlanError&) {
    // The plan that a request gives may state another rate or capacity than the request. (To plan takes longer than to
    // ask a server.)
    if (!plan || plan_here(filter, spec) != plan) throw;
  }
  const Hasher* const hasher = filter.hasher();
  if (hasher == nullptr) return;
  const auto refuse_hash = [&](const char* what) {
    throw Error(ErrorCode::mismatch, fill_in("{} was made with another {}; leave yours out, or "
                                             "name another filter",
                                             filter.name(), what));
  };
  if (options.hash && *options.hash != hasher->family()) refuse_hash("hash");
  if (options.seed && *options.seed != hasher->seed()) refuse_hash("seed");
}

}  // namespace bloomery::detail
