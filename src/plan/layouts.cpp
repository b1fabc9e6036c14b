// The table of layouts, and the values that are read from it.
#include "plan/layouts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "plan/fpr.hpp"
#include "plan/refuse.hpp"

namespace bloomery {

namespace {

using detail::counted;
using detail::fpr_of;
using detail::refuse;
using Field = PlanField;

struct Facts {
  Layout layout;
  std::string_view name;
  std::uint32_t block_bits;  // or counters; 0: a key's bits are anywhere
  std::uint32_t key_blocks;  // blocks of a key
  std::uint32_t counter_bits;
  std::uint32_t max_hashes;
};
constexpr std::array kLayouts = {
    Facts{Layout::blocked, "blocked", 512, 1, 0, 16},
    Facts{Layout::blocked2, "blocked2", 512, 2, 0, 32},
    Facts{Layout::standard, "standard", 0, 1, 0, 64},
    Facts{Layout::blocked128, "blocked128", 128, 1, 4, 16},
    Facts{Layout::blocked64, "blocked64", 64, 1, 8, 16},
    Facts{Layout::blocked2x128, "blocked2x128", 128, 2, 4, 32},
    Facts{Layout::blocked2x64, "blocked2x64", 64, 2, 8, 32},
};
// The row for a number that is no layout, from a file or a program.
constexpr Facts kUnknown = {Layout{}, "unknown", 0, 1, 0, 0};

constexpr const Facts& facts(Layout layout) noexcept {
  for (const Facts& each : kLayouts)
    if (each.layout == layout) return each;
  return kUnknown;
}

}  // namespace

std::string_view to_string(Layout layout) noexcept { return facts(layout).name; }
std::uint32_t counter_bits(Layout layout) noexcept { return facts(layout).counter_bits; }
std::uint32_t max_hashes(Layout layout) noexcept { return facts(layout).max_hashes; }
std::uint32_t detail::key_blocks(Layout layout) noexcept { return facts(layout).key_blocks; }
std::uint64_t max_bits(Layout layout) noexcept {
  return kMaxBits / std::max(1U, counter_bits(layout));
}

Layout detail::default_layout(double fpr) noexcept {
  if (fpr >= 1e-4) return Layout::blocked;
  return fpr >= 1e-10 ? Layout::blocked2 : Layout::standard;
}

std::string detail::limit_of(Layout layout) {
  return "2^" + std::to_string(std::countr_zero(max_bits(layout))) +
         (counter_bits(layout) == 0 ? " bits" : " counters") + " (128 GiB)";
}

// ---- checks -------------------------------------------------------------------------------------

void detail::check_layout(Layout layout) {
  if (max_hashes(layout) == 0)
    refuse(Field::layout, "layout " + std::to_string(static_cast<int>(layout)) +
                              " is unknown; use blocked, blocked2 or standard");
}

void detail::check_hashes(Layout layout, std::uint32_t hashes) {
  check_layout(layout);
  if (hashes != 0 && hashes <= max_hashes(layout) && hashes % key_blocks(layout) == 0) return;
  const std::string most = std::to_string(max_hashes(layout));
  refuse(Field::hashes, "layout " + std::string(to_string(layout)) + " takes " +
                            (key_blocks(layout) == 1 ? "1 to " + most + " hashes"
                                                     : "an even number of hashes, 2 to " + most) +
                            ", not " + grouped(hashes));
}

void detail::check_capacity(std::uint64_t capacity) {
  if (capacity == 0) refuse(Field::capacity, "capacity is 0; give at least 1 key");
  if (capacity > kMaxCapacity)
    refuse(ErrorCode::too_large, Field::capacity,
           "capacity " + grouped(capacity) + " is above the limit of 10^13 keys");
}

void detail::check_fpr(double fpr) {
  if (!(fpr >= kMinFpr && fpr <= kMaxFpr)) refuse_fpr(fpr, ";", kMinFpr);
}

void validate(const Plan& plan) {
  detail::check_hashes(plan.layout, plan.hashes);
  const std::uint64_t most = max_bits(plan.layout);
  if (plan.bits > most || plan.bits < kBlockBits || plan.bits % kBlockBits != 0)
    refuse(plan.bits > most ? ErrorCode::too_large : ErrorCode::invalid_argument, Field::bits,
           counted(plan.bits, "bit") +
               " are out of range; a filter has a multiple of 512, up to 2^" +
               std::to_string(std::countr_zero(most)));
  detail::check_capacity(plan.capacity);
  if (!(plan.fpr > 0 && plan.fpr < 1))
    refuse(Field::fpr, fpr_of(plan.fpr) + " is not between 0 and 1");
}

// ---- rates --------------------------------------------------------------------------------------

bool detail::too_many_hashes(Layout layout, std::uint64_t bits, std::uint32_t hashes,
                             double items) {
  const Facts& of = facts(layout);
  const auto m = static_cast<double>(bits);
  if (of.block_bits == 0) return standard_slope(m, hashes, items) > 0;
  return blocked_slope(m / of.block_bits, hashes / static_cast<double>(of.key_blocks),
                       of.key_blocks * items, of.block_bits) > 0;
}

double predicted_fpr(Layout layout, std::uint64_t bits, std::uint32_t hashes, double items) {
  detail::check_hashes(layout, hashes);
  if (bits < kBlockBits)
    refuse(Field::bits, counted(bits, "bit") + " are too few; give at least 512");
  if (std::isnan(items) || items < 0)
    refuse(Field::capacity, "the number of keys is negative or not a number");
  const Facts& of = facts(layout);
  if (of.block_bits == 0) return detail::standard_fpr(static_cast<double>(bits), hashes, items);
  const double blocks = static_cast<double>(bits) / of.block_bits;
  return of.key_blocks == 1 ? detail::blocked_fpr(blocks, hashes, items, of.block_bits)
                            : detail::two_blocks_fpr(blocks, hashes / 2, 2 * items, of.block_bits);
}

double predicted_fpr(const Plan& plan, double items) {
  return predicted_fpr(plan.layout, plan.bits, plan.hashes, items);
}

double textbook_fpr(double bits_per_key, double hashes) noexcept {
  return std::pow(-std::expm1(-hashes / bits_per_key), hashes);
}

double lower_bound_bits(double fpr) noexcept { return -std::log2(fpr); }

}  // namespace bloomery
