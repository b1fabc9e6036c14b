#include "support/scarce_memory.hpp"

#include <stdlib.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <new>

namespace bloomery::test {
namespace {

bool fails(std::size_t size) noexcept {
  asked_for += size;
  if (fail_after < 0 || size < fail_from || fail_after-- != 0) return false;
  ++allocations_failed;
  return true;
}

void* allocate(std::size_t size) {
  void* const memory = fails(size) ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace
}  // namespace bloomery::test

[[gnu::noinline]] void* operator new(std::size_t size) { return bloomery::test::allocate(size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return bloomery::test::allocate(size); }
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  void* memory = nullptr;
  if (bloomery::test::fails(size) ||
      ::posix_memalign(&memory, static_cast<std::size_t>(alignment), size) != 0)
    throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

// The names are the linker's.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
void* __real_mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset);
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  return bloomery::test::fails(size) ? nullptr : __real_aligned_alloc(alignment, size);
}
void* __wrap_mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset) {
  if (!bloomery::test::fails(size)) return __real_mmap(at, size, protection, flags, file, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}
// The name with _FILE_OFFSET_BITS=64, with which the library is compiled if it has hiredis.
void* __wrap_mmap64(void* at, std::size_t size, int protection, int flags, int file, off_t offset) {
  return __wrap_mmap(at, size, protection, flags, file, offset);
}
}
// NOLINTEND(bugprone-reserved-identifier)
