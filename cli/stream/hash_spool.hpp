// Keeps the hashes of the lines in a filter on disk, so that a larger filter can be built from them: the bits of a
// filter do not tell its keys.
//
// The file has no name and ends with the process. It is in $TMPDIR or else in /var/tmp, which is on a disk
// even if /tmp is in memory.
#pragma once

#include <bloomery/hash.hpp>

#include "output/system.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace bloomery::cli {

class HashSpool {
 public:
  HashSpool();

  // False: there is no disk for the file, or no room on it. Then the hashes are kept in memory, and the disk is not
  // tried again: a full one may take a moment to refuse each of them.
  [[nodiscard]] bool add(Hash128 hash) {
    held_.push_back(hash);
    if (held_.size() < kHeld) return true;
    refused_ = refused_ || !write();
    return !refused_;
  }
  // Gives all hashes to `take`, in order, some at a time. Error{io}.
  void for_each(const std::function<void(std::span<const Hash128>)>& take) const;

 private:
  static constexpr std::size_t kHeld = 65'536;
  bool write();

  std::vector<Hash128> held_;           // after those in the file
  std::optional<FileDescriptor> file_;  // none before the first write
  std::uint64_t written_ = 0;           // hashes
  bool refused_ = false;
};

}  // namespace bloomery::cli
