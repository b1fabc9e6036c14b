#include "structs.hpp"

#include <bloomery/plan.hpp>

#include <optional>
#include <type_traits>

namespace bloomery::c {

namespace {

static_assert(std::is_trivially_copyable_v<bloomery_spec> && sizeof(bloomery_spec) == 112);
static_assert(std::is_trivially_copyable_v<bloomery_options> && sizeof(bloomery_options) == 112);
static_assert(std::is_trivially_copyable_v<bloomery_plan> && sizeof(bloomery_plan) == 96);
static_assert(std::is_trivially_copyable_v<bloomery_stats> && sizeof(bloomery_stats) == 176);

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

// An enumerator from 1 to `last`, or nullopt for 0.
std::optional<std::uint32_t> one_of(std::uint32_t given, std::uint32_t last, const char* name) {
  if (given == 0) return std::nullopt;
  if (given > last)
    refuse("there is no " + std::string(name) + " " + std::to_string(given) + "; use 1 to " +
           std::to_string(last));
  return given;
}

template <class Number>
std::optional<Number> unless_zero(Number given) {
  return given == 0 ? std::nullopt : std::optional(given);
}

template <class To, class Number>
std::optional<To> as(std::optional<Number> given) {
  return given ? std::optional(static_cast<To>(*given)) : std::nullopt;
}

std::optional<Durability> durability_of(std::uint32_t given) {
  constexpr Durability levels[] = {Durability::sync, Durability::process, Durability::none};
  const auto number = one_of(given, BLOOMERY_NONE, "durability");
  return number ? std::optional(levels[*number - BLOOMERY_SYNC]) : std::nullopt;
}

std::optional<PhpScheme> scheme_of(const bloomery_options& given) {
  if (given.php_hashes != nullptr) {
    if (given.php_bits != 0 || given.php_items != 0)
      refuse("a PHP class has php_hashes, or php_bits and php_items; set the others to 0");
    return PhpScheme::string_hashes(std::string_view(given.php_hashes));
  }
  if (given.php_bits == 0 && given.php_items == 0) return std::nullopt;
  return PhpScheme::crc32_mt(given.php_bits, given.php_items);
}

}  // namespace

std::string text_of(const char* location) {
  if (location == nullptr) refuse("the location is NULL; give a path or an address");
  if (*location == 0) refuse("the location is empty; give a path or an address");
  return location;
}

void refuse_null(const char* name) {
  refuse("the bloomery_" + std::string(name) + " is NULL; give one");
}

void refuse_size(const char* name, std::size_t size) {
  refuse("bloomery_" + std::string(name) + " says that it has " + std::to_string(size) +
         " bytes; set its size to sizeof(bloomery_" + name + ")");
}

void refuse_rest(const char* name) {
  refuse("bloomery_" + std::string(name) +
         " asks for something that this version does not know; initialize all of it with "
         "{.size = sizeof(bloomery_" +
         name + ")}, or use a newer library");
}

FilterSpec spec_of(const bloomery_spec* given) {
  const bloomery_spec& from = taken(given, "spec");
  FilterSpec spec{
      .kind = as<Kind>(one_of(from.kind, BLOOMERY_FROZEN, "kind")),
      .capacity = unless_zero(from.capacity),
      .fpr = from.fpr == 0 ? std::nullopt : std::optional(from.fpr),
      .bits = unless_zero(from.bits),
      .hashes = unless_zero(from.hashes),
      .layout = as<Layout>(one_of(from.layout, BLOOMERY_STANDARD, "layout")),
      .counter_bits = unless_zero(from.counter_bits),
      .growth = unless_zero(from.growth),
      .slices = unless_zero(from.slices),
      .delta = unless_zero(from.delta),
  };
  const auto unit = as<WindowUnit>(one_of(from.window_unit, BLOOMERY_SECONDS, "window unit"));
  if (from.window != 0)
    spec.window = Window{unit.value_or(WindowUnit::seconds), from.window};
  else if (unit)
    refuse("a window_unit needs a window");
  return spec;
}

AnyOptions options_of(const bloomery_options* given) {
  if (given == nullptr) return {};
  const bloomery_options& from = taken(given, "options");
  constexpr std::uint32_t known =
      BLOOMERY_RANDOM_SEED | BLOOMERY_REPLACE | BLOOMERY_ROTATING | BLOOMERY_SHARED;
  if ((from.flags & ~known) != 0 || from.reserved_word != 0) refuse_rest("options");
  if (from.seed_bytes != 0 && from.seed_bytes != 8 && from.seed_bytes != 16)
    refuse("seed_bytes is 8 or 16, or 0 for the default, and not " +
           std::to_string(from.seed_bytes));
  if ((from.seed_bytes < 8 && from.seed[0] != 0) || (from.seed_bytes < 16 && from.seed[1] != 0))
    refuse("the seed is longer than seed_bytes says");
  if (from.seed_bytes == 8 && from.hash == BLOOMERY_SIPHASH)
    refuse("the seed of siphash has 16 bytes; half of one would be guessed sooner");
  if (from.seed_bytes != 0 && (from.flags & BLOOMERY_RANDOM_SEED) != 0)
    refuse("a seed is given or random, and not both");
  AnyOptions options{
      .hash = as<HashFamily>(one_of(from.hash, BLOOMERY_SIPHASH, "hash")),
      .random_seed = (from.flags & BLOOMERY_RANDOM_SEED) != 0,
      .durability = durability_of(from.durability),
      .shared = (from.flags & BLOOMERY_SHARED) != 0,
      .replace = (from.flags & BLOOMERY_REPLACE) != 0,
      .rotating = (from.flags & BLOOMERY_ROTATING) != 0,
      .scheme = scheme_of(from),
  };
  if (from.seed_bytes != 0) options.seed = Seed{.low = from.seed[0], .high = from.seed[1]};
  return options;
}

bloomery_spec spec_of(const FilterSpec& spec) {
  const auto number = [](const auto& value) {
    return value ? static_cast<std::uint32_t>(*value) : 0;
  };
  bloomery_spec out{};
  out.kind = number(spec.kind);
  out.capacity = spec.capacity.value_or(0);
  out.fpr = spec.fpr.value_or(0);
  out.layout = number(spec.layout);
  out.counter_bits = number(spec.counter_bits);
  out.growth = number(spec.growth);
  if (spec.window) {
    out.window = spec.window->length;
    out.window_unit = static_cast<std::uint32_t>(spec.window->unit);
  }
  out.slices = number(spec.slices);
  out.delta = spec.delta.value_or(0);
  return out;
}

bloomery_plan plan_of(const FilterPlan& plan) {
  const PlanTotals all = totals(plan);
  bloomery_plan out{};
  out.kind = static_cast<std::uint32_t>(all.kind);
  out.capacity = all.capacity;
  out.fpr = all.fpr;
  out.bytes = all.bytes;
  out.hashes = all.hashes;
  out.layout = all.kind == Kind::frozen ? 0 : static_cast<std::uint32_t>(all.layout);
  out.bits_per_key = all.bits_per_key();
  return out;
}

bloomery_stats stats_of(const FilterStats& stats) {
  bloomery_stats out{};
  out.kind = stats.kind ? static_cast<std::uint32_t>(*stats.kind) : 0;
  out.capacity = stats.capacity;
  out.fpr = stats.fpr;
  out.bytes = stats.bytes;
  if (stats.plan) {
    out.hashes = stats.plan->hashes;
    out.layout = stats.frozen ? 0 : static_cast<std::uint32_t>(stats.plan->layout);
  }
  if (!stats.fill_known) out.unknown |= BLOOMERY_NO_FILL;
  if (!stats.inserted) out.unknown |= BLOOMERY_NO_INSERTED;
  out.inserted = stats.inserted.value_or(0);
  out.fill = stats.fill;
  out.estimated_items = stats.estimated_items;
  out.current_fpr = stats.current_fpr;
  out.over_capacity = stats.over_capacity ? 1 : 0;
  out.sampled = stats.sampled ? 1 : 0;
  if (stats.counters) {
    out.counter_bits = stats.counters->bits;
    out.saturated_counters = stats.counters->saturated;
  }
  out.sub_filters = static_cast<std::uint32_t>(stats.sub_filters.size());
  if (stats.window) {
    out.window = stats.window->window;
    out.window_unit = static_cast<std::uint32_t>(stats.window->unit);
    out.slices = stats.window->slices;
  }
  return out;
}

}  // namespace bloomery::c
