// The process in which an object was made. What has an effect outside of a process, such as giving up a lock, sending
// on a connection or removing a temporary file, must not happen in the child of a fork: the parent goes on with it.
//
// A file of its own because connections to servers ask it too, and have nothing to do with files (file.hpp).
#pragma once

#include <atomic>
#include <cstdint>

namespace bloomery::detail {

// The forks of this process and its ancestors. A child of a bare clone() is not counted.
extern std::atomic<std::uint64_t> forks;

class Origin {
 public:
  // Whether this process was forked from the one in which the object was made.
  [[nodiscard]] bool is_inherited() const noexcept {
    return forks_ != forks.load(std::memory_order_relaxed);
  }

 private:
  std::uint64_t forks_ = forks.load(std::memory_order_relaxed);
};

}  // namespace bloomery::detail
