// The thread that gives pages back and makes huge ones.
#include "server/pages.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace bloomery::server {

std::atomic<bool> huge_pages_wanted = true;

namespace {

constexpr std::size_t kHuge = std::size_t{2} << 20;

// Moved pages are mappings of their own until they are given back, and the system allows a process
// some ten thousand mappings.
constexpr std::size_t kMostJobs = 1024;

// Linux 6.1; its number in the system's interface, which older headers lack.
constexpr int kCollapse = 25;

constexpr int kAttempts = 8;

// While it is false, let_be_small has nothing to do.
std::atomic<bool> had_huge_pages = false;

struct Job {
  enum class What : std::uint8_t { give_back, make };
  What what;
  std::byte* first;
  std::size_t bytes;
  std::size_t done = 0;
};

class Worker {
 public:
  // Null: no thread can be started, or this is the child of a fork, in which only the thread that
  // forked runs.
  static Worker* running() noexcept {
    static Worker* const one = start();
    return one != nullptr && one->process_ == getpid() ? one : nullptr;
  }

  // False: too many jobs are waiting, or there is no memory for another.
  bool take(const Job& job) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      if (jobs_.size() >= kMostJobs) return false;
      jobs_.push_back(job);
    } catch (const std::bad_alloc&) {
      return false;
    }
    wake_.notify_one();
    return true;
  }

  // Makes no more huge pages there, except for those that it is making now: these keep their
  // contents for the next owner of the memory.
  void forget(const std::byte* from, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(jobs_, [&](const Job& job) {
      return job.what == Job::What::make && job.first < from + bytes &&
             from < job.first + job.bytes;
    });
  }

 private:
  // The thread lives as long as the process: nothing waits for it when a server exits.
  static Worker* start() noexcept {
    // The server's signals are for its main thread.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    Worker* one = nullptr;
    try {
      one = new Worker;
      std::thread([one] { one->run(); }).detach();
    } catch (const std::exception&) {
      delete one;
      one = nullptr;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return one;
  }

  // Does the oldest job first, in steps: while the system works on pages, other threads wait for it.
  [[noreturn]] void run() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return !jobs_.empty(); });
      Job& oldest = jobs_.front();
      const Job job = oldest;
      const std::size_t step =
          std::min(job.what == Job::What::make ? kHuge : 2 * kHuge, job.bytes - job.done);
      oldest.done += step;
      const bool last = oldest.done == job.bytes;
      if (last) jobs_.pop_front();
      lock.unlock();
      work_on(job, step, last);
      lock.lock();
    }
  }

  static void work_on(const Job& job, std::size_t step, bool last) noexcept {
    if (job.what == Job::What::make) {
      make_huge(job.first + job.done, step);
      return;
    }
    madvise(job.first + job.done, step, MADV_DONTNEED);
    if (last) munmap(job.first, job.bytes);
  }

  static void make_huge(std::byte* from, std::size_t bytes) noexcept {
    if (!are_mostly_there(from, bytes) || madvise(from, bytes, MADV_HUGEPAGE) != 0) return;
    // Joins the small pages. Another thread or the system may hold one of them for a moment.
    for (int attempt = 0; attempt < kAttempts; ++attempt)
      if (madvise(from, bytes, kCollapse) == 0 || errno != EAGAIN) return;
  }

  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
};

#ifdef MREMAP_DONTUNMAP
// Whether the place that a moved page leaves can be used. An emulator of another CPU (qemu-user
// 7.2) treats it as free: system calls cannot write there, and some programs crash when they do.
bool can_move() noexcept {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const page =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  void* const moved = mremap(page, size, size, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, nullptr);
  const bool can =
      moved != MAP_FAILED && (getrandom(page, 1, GRND_NONBLOCK) == 1 || errno != EFAULT);
  if (moved != MAP_FAILED) munmap(moved, size);
  munmap(page, size);
  return can;
}
#endif

}  // namespace

std::span<std::byte> whole_units(std::byte* from, std::size_t bytes, std::size_t unit) noexcept {
  const std::size_t before = (unit - reinterpret_cast<std::uintptr_t>(from) % unit) % unit;
  if (bytes < before) return {from, 0};
  return {from + before, (bytes - before) / unit * unit};
}

#ifdef MREMAP_DONTUNMAP
namespace {

// False: nothing has happened.
bool move_away(Worker& worker, std::span<std::byte> pages) noexcept {
  // To the same place within 2 MiB, so that the system moves whole page tables. The place is only a
  // wish: if another thread has taken it meanwhile, or the move fails, nothing is lost.
  const std::size_t room = pages.size() + kHuge;
  void* const found =
      mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return false;
  munmap(found, room);
  const auto shift =
      (reinterpret_cast<std::uintptr_t>(pages.data()) - reinterpret_cast<std::uintptr_t>(found)) %
      kHuge;
  void* const moved =
      mremap(pages.data(), pages.size(), pages.size(), MREMAP_MAYMOVE | MREMAP_DONTUNMAP,
             static_cast<std::byte*>(found) + shift);
  if (moved == MAP_FAILED) return false;
  if (!worker.take({Job::What::give_back, static_cast<std::byte*>(moved), pages.size()}))
    munmap(moved, pages.size());
  return true;
}

// Memory that had pages of both sizes may be several mappings, and only one mapping moves at a time.
void move_away_in_parts(Worker& worker, std::span<std::byte> pages) noexcept {
  if (move_away(worker, pages)) return;
  if (pages.size() < 2 * kHuge) {
    if (madvise(pages.data(), pages.size(), MADV_DONTNEED) != 0)
      std::memset(pages.data(), 0, pages.size());
    return;
  }
  const std::size_t half = pages.size() / kHuge / 2 * kHuge;
  move_away_in_parts(worker, pages.first(half));
  move_away_in_parts(worker, pages.subspan(half));
}

}  // namespace
#endif

std::span<std::byte> take_pages_away(std::byte* from, std::size_t bytes) noexcept {
#ifdef MREMAP_DONTUNMAP
  static const bool possible = can_move();
  if (!possible) return {};
  // Before Linux 6.17 only pages of one size move in one call.
  const std::span<std::byte> pages = whole_units(
      from, bytes, had_huge_pages ? kHuge : static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  Worker* const worker = Worker::running();
  if (pages.size() == 0 || worker == nullptr) return {};
  if (had_huge_pages)
    move_away_in_parts(*worker, pages);
  else if (!move_away(*worker, pages))
    return {};
  return pages;
#else
  (void)from;
  (void)bytes;
  return {};
#endif
}

// mincore would also count the system's page of zeros, which a look-up maps where nothing was written,
// and pages that a fork shares.
bool are_mostly_there(const std::byte* from, std::size_t bytes) noexcept {
  constexpr std::uint64_t kOwnPage = std::uint64_t{1} << 63 | std::uint64_t{1} << 56;
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::span<std::byte> pages = whole_units(const_cast<std::byte*>(from), bytes, size);
  const int table = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (table < 0) return false;
  std::array<std::uint64_t, kHuge / kSmallPage> entries;  // the result of one system call
  const std::size_t count = pages.size() / size;
  const std::size_t first = reinterpret_cast<std::uintptr_t>(pages.data()) / size;
  std::size_t seen = 0;
  for (std::size_t at = 0; at < count;) {
    const std::size_t some = std::min(entries.size(), count - at);
    if (pread(table, entries.data(), some * sizeof entries[0],
              static_cast<off_t>((first + at) * sizeof entries[0])) !=
        static_cast<ssize_t>(some * sizeof entries[0]))
      break;
    seen += static_cast<std::size_t>(
        std::ranges::count_if(std::span(entries).first(some),
                              [](std::uint64_t entry) { return (entry & kOwnPage) == kOwnPage; }));
    at += some;
  }
  close(table);
  return seen * 2 >= count;
}

void let_be_huge(std::byte* from, std::size_t bytes) noexcept {
  if (!huge_pages_wanted || bytes < kManyPages) return;
  const std::span<std::byte> pages = whole_units(from, bytes, kHuge);
  if (madvise(pages.data(), pages.size(), MADV_HUGEPAGE) == 0) had_huge_pages = true;
}

void make_pages_huge(std::byte* from, std::size_t bytes) noexcept {
  if (!huge_pages_wanted || bytes < kManyPages) return;
  const std::span<std::byte> pages = whole_units(from, bytes, kHuge);
  Worker* const worker = Worker::running();
  if (worker == nullptr) return;
  had_huge_pages = true;
  worker->take({Job::What::make, pages.data(), pages.size()});
}

void let_be_small(std::byte* from, std::size_t bytes) noexcept {
  if (!had_huge_pages || bytes < kManyPages) return;
  const std::span<std::byte> pages = whole_units(from, bytes, kHuge);
  if (Worker* const worker = Worker::running()) worker->forget(pages.data(), pages.size());
  madvise(pages.data(), pages.size(), MADV_NOHUGEPAGE);
}

}  // namespace bloomery::server
