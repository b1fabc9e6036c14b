// Sets the time of day of a program that preloads it: the file SOAK_CLOCK contains it as eight bytes of seconds, and
// another program may change it at any moment. Clocks that count from a machine's start are unchanged.
//
// libfaketime cannot do this for redis-server, whose allocator asks for the time before libfaketime is ready.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t* seconds;

__attribute__((constructor)) static void begin(void) {
  const char* path = getenv("SOAK_CLOCK");
  const int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) _exit(96);
  void* memory = mmap(NULL, sizeof *seconds, PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) _exit(97);
  close(file);
  seconds = memory;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  if (seconds == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
    return (int)syscall(SYS_clock_gettime, clock, now);
  now->tv_sec = *seconds;
  now->tv_nsec = 0;
  return 0;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  (void)zone;
  struct timespec at;
  const int result = clock_gettime(CLOCK_REALTIME, &at);
  now->tv_sec = at.tv_sec;
  now->tv_usec = at.tv_nsec / 1000;
  return result;
}

time_t time(time_t* to) {
  struct timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  if (to != NULL) *to = at.tv_sec;
  return at.tv_sec;
}
