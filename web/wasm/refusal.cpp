// What becomes of a PlanError in WebAssembly: its text goes to the page, and the call ends.
//
// Debian's C++ runtime for WebAssembly cannot unwind. The compiler turns `throw` into the two
// calls below; the second hands the text to the page's `refuse`, which throws in JavaScript and
// so leaves the module in the middle of a call. Nothing of the module is used again after that:
// the page makes a fresh instance of it. The only exception of the planner is PlanError.
#include <bloomery/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

// The fields have the names of the form.
static std::string_view name_of(bloomery::PlanField field) {
  constexpr std::string_view kNames[] = {
      "kind",     "items",  "false-positive rate", "memory", "hashes", "layout",
      "counters", "growth", "tightening",          "window", "slices", "delta"};
  return kNames[static_cast<unsigned>(field)];
}

extern "C" {

__attribute__((import_module("page"), import_name("refuse"), noreturn)) void page_refuse(
    const char* text, std::size_t length, std::uint32_t field);

void* __cxa_allocate_exception(std::size_t size) noexcept { return std::malloc(size); }

[[noreturn]] void __cxa_throw(void* object, void*, void (*)(void*)) {
  const auto& error = *static_cast<const bloomery::PlanError*>(object);
  const std::string text = error.message(name_of);
  page_refuse(text.data(), text.size(), static_cast<std::uint32_t>(error.field()));
}

}  // extern "C"
