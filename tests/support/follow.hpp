// A child under ptrace: a test sees the system calls of its main thread, and can step in at each.
#pragma once

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

namespace bloomery::test {

inline int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// Follows a child that asked to be traced and has stopped, until it ends, and returns how (waitpid's status).
// step_in(pid, call) comes at the beginning and at the end of each call; once it returns true the child runs on alone.
template <class StepIn>
int follow(pid_t child, StepIn step_in) {
  int status = wait_for(child);
  if (!WIFSTOPPED(status)) return status;
  ::ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  for (int pass_on = 0;;) {
    ::ptrace(PTRACE_SYSCALL, child, 0, pass_on);
    status = wait_for(child);
    if (!WIFSTOPPED(status)) return status;
    pass_on = 0;
    if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
      pass_on = WSTOPSIG(status);
      continue;
    }
    __ptrace_syscall_info call{};
    ::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof call, &call);
    if (!step_in(child, call)) continue;
    ::ptrace(PTRACE_DETACH, child, 0, 0);
    return wait_for(child);
  }
}

}  // namespace bloomery::test
