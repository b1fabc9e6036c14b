// Runs a program and says what it took, for the scripts of this folder.
//
//   usage DESCRIPTOR COMMAND...
//
// It writes one line to the descriptor: seconds on the clock, of user code and of system code, KiB of memory at the
// peak, and blocks of 512 bytes that were written to devices. Its exit code is the command's.
//
// A script cannot measure this itself: the peak of a process is at least the memory of the process that started it,
// and Python takes more than `wc`.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int to = std::atoi(argv[1]);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child < 0) return 2;
  if (child == 0) {
    ::close(to);
    ::execvp(argv[2], argv + 2);
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  if (::wait4(child, &status, 0, &used) != child) return 2;
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  ::dprintf(to, "%.6f %.6f %.6f %ld %ld\n", time.count(), seconds_of(used.ru_utime),
            seconds_of(used.ru_stime), used.ru_maxrss, used.ru_oublock);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
