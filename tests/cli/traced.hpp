// The tool under ptrace: a test sees the system calls of its main thread, and can step in at each.
#pragma once

#include "tool.hpp"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

namespace bloomery::test {

inline int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// Runs the tool in the directory, with its stderr in the file `said` there, until it ends, and returns how
// (waitpid's status). step_in(pid, call) comes at the beginning and at the end of each call; once it returns
// true the tool runs on alone.
template <class StepIn>
int run_traced(Arguments words, const std::string& directory, const char* said, StepIn step_in) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int number : {SIGHUP, SIGINT, SIGTERM}) std::signal(number, SIG_DFL);
    words.insert(words.begin(), BLOOMERY_TOOL_FILE);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    if (::chdir(directory.c_str()) != 0) ::_exit(99);
    const int null = ::open("/dev/null", O_RDWR);
    for (const int fd : {0, 1}) ::dup2(null, fd);
    ::dup2(::open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    if (::ptrace(PTRACE_TRACEME, 0, 0, 0) == 0) ::execv(argv[0], argv.data());
    ::_exit(99);
  }
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

// Runs the tool, and kills it where it is about to sync its output.
inline int run_to_sync_of_output(const Arguments& words, const std::string& directory) {
  return run_traced(
      words, directory, "/dev/null", [](pid_t tool, const __ptrace_syscall_info& call) {
        return call.op == PTRACE_SYSCALL_INFO_ENTRY && call.entry.nr == SYS_fdatasync &&
               call.entry.args[0] == STDOUT_FILENO && ::kill(tool, SIGKILL) == 0;
      });
}

}  // namespace bloomery::test
