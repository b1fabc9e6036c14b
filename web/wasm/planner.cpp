// The planner's seam: the library's plan as four plain functions that a page can call.
//
// It is compiled to WebAssembly without a C++ runtime for exceptions (web/wasm/refusal.cpp says
// what becomes of an Error). Answers stand in one static object, valid until the next call.
#include <bloomery/plan.hpp>

#include <cstdint>

namespace {

using namespace bloomery;

// Which numbers of a request are given.
constexpr std::uint32_t kCapacity = 1, kFpr = 2, kBits = 4, kHashes = 8;

// As web/src/planner.ts reads it: 32 bytes, little-endian.
struct Answer {
  std::uint64_t bits;
  std::uint64_t capacity;
  double fpr;
  std::uint32_t hashes;
  std::uint32_t layout;
};
static_assert(sizeof(Answer) == 32);
Answer answer;

}  // namespace

#define EXPORT(name) __attribute__((export_name(#name))) name

extern "C" {

// layout 0: the default one.
const Answer* EXPORT(planner_solve)(std::uint32_t given, std::uint64_t capacity, double fpr,
                                    std::uint64_t bits, std::uint32_t hashes,
                                    std::uint32_t layout) {
  PlanRequest request;
  if ((given & kCapacity) != 0) request.capacity = capacity;
  if ((given & kFpr) != 0) request.fpr = fpr;
  if ((given & kBits) != 0) request.bits = bits;
  if ((given & kHashes) != 0) request.hashes = hashes;
  if (layout != 0) request.layout = static_cast<Layout>(layout);
  const Plan plan = solve(request);
  answer = {plan.bits, plan.capacity, plan.fpr, plan.hashes,
            static_cast<std::uint32_t>(plan.layout)};
  return &answer;
}

double EXPORT(planner_fpr)(std::uint32_t layout, std::uint64_t bits, std::uint32_t hashes,
                           double items) {
  return predicted_fpr(static_cast<Layout>(layout), bits, hashes, items);
}

double EXPORT(planner_textbook_fpr)(double bits_per_key, double hashes) {
  return textbook_fpr(bits_per_key, hashes);
}

double EXPORT(planner_lower_bound_bits)(double fpr) { return lower_bound_bits(fpr); }

}  // extern "C"
