// The memory that this process has, in bytes: addresses that it may use, and what is in memory of them (proc(5), statm).
#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace bloomery::test {

struct UsedMemory {
  std::uint64_t reserved, resident;
};

inline UsedMemory used_memory() {
  std::uint64_t reserved = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> reserved >> resident;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return {reserved * page, resident * page};
}

}  // namespace bloomery::test
