// How much a test does: more in the nightly run, less under a sanitizer, which makes it slow.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace bloomery::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // GCC's macros
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

inline bool is_night() noexcept { return std::getenv("BLOOMERY_NIGHTLY") != nullptr; }

// More samples. A sanitizer would take days for them, and they are no other code.
inline bool nightly() noexcept { return is_night() && !kSanitized; }

// A sample is enough: the build without a sanitizer and the nightly run test everything.
inline bool hurried() noexcept { return kSanitized && !is_night(); }

// For tests that stop some work at each of its system calls: most of them run the same code.
inline std::uint64_t step_of_calls() noexcept { return hurried() ? 13 : 1; }

}  // namespace bloomery::test
