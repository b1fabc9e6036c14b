// The child of a fork.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace bloomery::test {

// Starts a child that ends with 0 if check() is true, and 1 otherwise.
inline pid_t start_child(const std::function<bool()>& check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check() ? 0 : 1);
  EXPECT_GT(child, 0);
  return child;
}
inline bool ended_well(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
// Whether check() is true in a child.
inline bool in_child(const std::function<bool()>& check) { return ended_well(start_child(check)); }

}  // namespace bloomery::test
