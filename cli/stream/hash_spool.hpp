// The hashes of lines that a filter has taken, kept on disk, so that a larger filter can be made of them: its bits
// say nothing of keys.
//
// The file has no name and ends with the process. It is in $TMPDIR, or in /var/tmp, which is a disk where /tmp
// is memory.
#pragma once

#include <bloomery/hash.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace bloomery::cli {

class HashSpool {
 public:
  HashSpool();
  ~HashSpool();
  HashSpool(const HashSpool&) = delete;
  HashSpool& operator=(const HashSpool&) = delete;

  // False: there is no disk for it, or no room there. The hashes are kept all the same, in memory.
  [[nodiscard]] bool add(Hash128 hash) {
    held_.push_back(hash);
    return held_.size() < kHeld || write();
  }
  // Gives all hashes to `take`, in order, some at a time. Error{io}.
  void for_each(const std::function<void(std::span<const Hash128>)>& take) const;

 private:
  static constexpr std::size_t kHeld = 65'536;
  bool write();

  std::vector<Hash128> held_;  // behind those in the file
  int file_ = -1;              // none before the first write
  std::uint64_t written_ = 0;  // hashes
};

}  // namespace bloomery::cli
