// What is behind a handle of the C interface, and the edge that no exception passes.
#pragma once

#include <bloomery.h>
#include <bloomery/any_filter.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace bloomery::c {

// How often this process and its ancestors have been forked since the library was loaded.
extern std::atomic<std::uint64_t> forks;

// A call on a handle of another process.
class Inherited : public std::runtime_error {
  using runtime_error::runtime_error;
};

}  // namespace bloomery::c

struct bloomery_filter {
  // stays: in a child process it goes on, since it shares nothing with the parent.
  bloomery_filter(bloomery::AnyFilter any, bool stays)
      : filter(std::move(any)),
        stays_(stays),
        forks_(bloomery::c::forks.load(std::memory_order_relaxed)) {}
  bloomery_filter(const bloomery_filter&) = delete;
  bloomery_filter& operator=(const bloomery_filter&) = delete;

  [[nodiscard]] bool is_inherited() const noexcept {
    return !stays_ && forks_ != bloomery::c::forks.load(std::memory_order_relaxed);
  }
  // In any process, without an exception.
  [[nodiscard]] bool can_look_up_directly() const noexcept {
    return stays_ && filter.looks_up_directly();
  }
  [[nodiscard]] bool can_insert_directly() const noexcept {
    return stays_ && filter.inserts_directly();
  }
  // The filter, unless it is another process's. Inherited.
  [[nodiscard]] bloomery::AnyFilter& use() {
    if (is_inherited()) [[unlikely]]
      refuse_inherited();
    return filter;
  }

  bloomery::AnyFilter filter;
  std::size_t acknowledged = 0;  // of the last call that changed it

 private:
  [[noreturn]] void refuse_inherited() const;

  bool stays_;
  std::uint64_t forks_;
};

namespace bloomery::c {

[[noreturn]] void refuse_no_filter();

// The filter of a handle, which is NULL where an error was not looked at. Error{invalid_argument}, Inherited.
[[nodiscard]] inline AnyFilter& used(bloomery_filter* handle) {
  if (handle == nullptr) [[unlikely]]
    refuse_no_filter();
  return handle->use();
}

// Writes the exception that is being handled into *error, and returns its code.
std::int32_t report(bloomery_error* error) noexcept;

// Does the work of a function that returns a number, or a negative one if it fails.
template <class Work>
auto number_of(bloomery_error* error, Work&& work) noexcept -> decltype(work()) {
  try {
    return work();
  } catch (...) {
    return static_cast<decltype(work())>(-report(error));
  }
}
// Does the work of a function that returns 0 or a negative number.
template <class Work>
int outcome_of(bloomery_error* error, Work&& work) noexcept {
  return number_of(error, [&] {
    work();
    return 0;
  });
}
// Does the work of a function that returns a handle: work() makes an AnyFilter.
template <class Work>
bloomery_filter* handle_of(bloomery_error* error, bool stays, Work&& work) noexcept {
  try {
    return new bloomery_filter(work(), stays);
  } catch (...) {
    report(error);
    return nullptr;
  }
}

}  // namespace bloomery::c
