// What becomes of an Error in WebAssembly: its text goes to the page, and the call ends.
//
// Debian's C++ runtime for WebAssembly cannot unwind. The compiler turns `throw` into the two
// calls below; the second hands the text to the page's `refuse`, which throws in JavaScript and
// so leaves the module in the middle of a call. Nothing of the module is used again after that:
// the page makes a fresh instance of it. The only exception of the planner is bloomery::Error.
#include <bloomery/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {

__attribute__((import_module("page"), import_name("refuse"), noreturn)) void page_refuse(
    const char* text, std::size_t length, std::uint32_t code);

void* __cxa_allocate_exception(std::size_t size) noexcept { return std::malloc(size); }

[[noreturn]] void __cxa_throw(void* object, void*, void (*)(void*)) {
  const auto& error = *static_cast<const bloomery::Error*>(object);
  page_refuse(error.what(), std::strlen(error.what()), static_cast<std::uint32_t>(error.code()));
}

}  // extern "C"
