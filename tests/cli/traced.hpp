// The tool under ptrace.
#pragma once

#include "tool.hpp"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "support/follow.hpp"

namespace bloomery::test {

// Follows the tool, which runs in the directory with its stderr in the file `said` there.
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
  return follow(child, step_in);
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
