// Calls of the system that fail, in a process of their own.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <optional>

namespace bloomery::test {

// Runs the check in a process of its own, which may take from itself what no test may lose; ends with the number of the
// first expectation that fails, counted from 1.
inline int failed_in_child(const std::function<int()>& check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check());
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

inline constexpr int kNoFilter = 99;

// Lets a call of the system fail in this process, which must be one of its own; if `third` is given, only with this
// third argument. False: the system has no such filters.
inline bool refuse_from_now_on(unsigned call, int error, std::optional<unsigned> third = {}) {
  const bool little = std::endian::native == std::endian::little;
  std::array<sock_filter, 6> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2]) + (little ? 0 : 4)),
      BPF_JUMP(BPF_JMP | (third ? BPF_JEQ : BPF_JGE) | BPF_K, third.value_or(0), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{program.size(), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace bloomery::test
