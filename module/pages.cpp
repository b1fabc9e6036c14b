// The thread that gives pages back.
#include "pages.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace bloomery::server {

namespace {

struct Pages {
  std::byte* first;
  std::size_t bytes;
};

class Returner {
 public:
  // Null: there is no thread, and no way to start one; or this is the child of a fork, where no
  // thread but the one that forked goes on.
  static Returner* running() noexcept {
    static Returner* const one = start();
    return one != nullptr && one->process_ == getpid() ? one : nullptr;
  }

  // Takes the pages over. False: it has no memory to remember them.
  bool take(Pages pages) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(pages);
    } catch (const std::bad_alloc&) {
      return false;
    }
    wake_.notify_one();
    return true;
  }

 private:
  // For as long as the process lives: a thread cannot be waited for when a server exits.
  static Returner* start() noexcept {
    // The server's signals are for its main thread.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    Returner* one = nullptr;
    try {
      one = new Returner;
      std::thread([one] { one->run(); }).detach();
    } catch (const std::exception&) {
      delete one;
      one = nullptr;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return one;
  }

  [[noreturn]] void run() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return !waiting_.empty(); });
      const Pages pages = waiting_.back();
      waiting_.pop_back();
      lock.unlock();
      give_back(pages);
      lock.lock();
    }
  }

  // In steps: while pages are given back, another thread that asks the system for memory waits.
  static void give_back(Pages pages) noexcept {
    constexpr std::size_t kStep = std::size_t{4} << 20;
    for (std::size_t at = 0; at < pages.bytes; at += kStep)
      madvise(pages.first + at, std::min(kStep, pages.bytes - at), MADV_DONTNEED);
    munmap(pages.first, pages.bytes);
  }

  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Pages> waiting_;
};

}  // namespace

bool take_pages_away(std::byte* from, std::size_t bytes) noexcept {
#ifdef MREMAP_DONTUNMAP
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(from) % page) % page;
  if (bytes < before + page) return false;
  const std::size_t whole = (bytes - before) / page * page;
  Returner* const returner = Returner::running();
  if (returner == nullptr) return false;
  // At the same place within 2 MiB, so that the system moves whole tables of pages.
  constexpr std::size_t kTable = std::size_t{2} << 20;
  const std::size_t room = whole + kTable;
  void* const reserved =
      mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return false;
  const auto shift = (reinterpret_cast<std::uintptr_t>(from + before) -
                      reinterpret_cast<std::uintptr_t>(reserved)) %
                     kTable;
  void* const moved =
      mremap(from + before, whole, whole, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
             static_cast<std::byte*>(reserved) + shift);
  const Pages pages{static_cast<std::byte*>(reserved), room};
  if (moved == MAP_FAILED) {
    munmap(pages.first, pages.bytes);
    return false;
  }
  if (!returner->take(pages)) munmap(pages.first, pages.bytes);
  return true;
#else
  (void)from;
  (void)bytes;
  return false;
#endif
}

}  // namespace bloomery::server
