// The object behind a handle of the C interface, and the functions that stop every exception.
#pragma once

#include <bloomery.h>
#include <bloomery/any_filter.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace bloomery::c {

// The number of forks of this process and its ancestors since the library was loaded.
extern std::atomic<std::uint64_t> forks;

}  // namespace bloomery::c

struct bloomery_filter {
  // stays: the handle works in a child process too, because it shares nothing with the parent.
  bloomery_filter(bloomery::AnyFilter any, bool stays)
      : filter(std::move(any)),
        stays_(stays),
        forks_(bloomery::c::forks.load(std::memory_order_relaxed)),
        name_(filter.name()) {}
  bloomery_filter(const bloomery_filter&) = delete;
  bloomery_filter& operator=(const bloomery_filter&) = delete;

  [[nodiscard]] bool is_inherited() const noexcept {
    return !stays_ && forks_ != bloomery::c::forks.load(std::memory_order_relaxed);
  }
  // These work in any process and throw no exception.
  [[nodiscard]] bool can_look_up_directly() const noexcept {
    return stays_ && filter.looks_up_directly();
  }
  [[nodiscard]] bool can_insert_directly() const noexcept {
    return stays_ && filter.inserts_directly();
  }
  [[nodiscard]] const char* name() const noexcept { return name_.c_str(); }
  // Returns the filter. Error{inherited}: the handle belongs to another process.
  [[nodiscard]] bloomery::AnyFilter& use() {
    if (is_inherited()) [[unlikely]]
      refuse_inherited();
    return filter;
  }

  // Runs what acknowledges the keys of a load. If it fails, none of them is.
  template <class Work>
  void acknowledge_load(Work work) {
    const bool loads = filter.is_loading();
    try {
      work();
    } catch (...) {
      if (loads) acknowledged = 0;
      throw;
    }
  }

  bloomery::AnyFilter filter;
  std::size_t acknowledged = 0;  // keys of the last call that changed the filter

 private:
  [[noreturn]] void refuse_inherited() const;

  bool stays_;
  std::uint64_t forks_;
  std::string name_;  // the filter's own does not survive its close() on a server
};

namespace bloomery::c {

[[noreturn]] void refuse_no_filter();

// The filter of a handle. Error{invalid_argument}: the handle is NULL, because an error was ignored; {inherited}.
[[nodiscard]] inline AnyFilter& used(bloomery_filter* handle) {
  if (handle == nullptr) [[unlikely]]
    refuse_no_filter();
  return handle->use();
}

// Writes the current exception into *error and returns its code.
std::int32_t report(bloomery_error* error) noexcept;

// Runs the body of a function that returns a number, or a negative number if it fails.
template <class Work>
auto number_of(bloomery_error* error, Work&& work) noexcept -> decltype(work()) {
  try {
    return work();
  } catch (...) {
    return static_cast<decltype(work())>(-report(error));
  }
}
// Runs the body of a function that returns 0 or a negative number.
template <class Work>
int outcome_of(bloomery_error* error, Work&& work) noexcept {
  return number_of(error, [&] {
    work();
    return 0;
  });
}
// Runs the body of a function that returns a handle: work() makes an AnyFilter.
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
