// A new file of a frozen filter without a delta whose bits arrive piece by piece. The bytes are those that encode()
// returns, but only one piece is in memory at a time.
#pragma once

#include <bloomery/frozen_plan.hpp>
#include <bloomery/hash.hpp>

#include "format/header.hpp"
#include "store/disk/new_file.hpp"

#include <optional>
#include <string>

namespace bloomery::detail {

class NewFrozenFile {
 public:
  // Locks another filter file at the path; publish() replaces it. `inputs` as for NewFile. Errors as for
  // Files::create.
  NewFrozenFile(Os& os, const std::string& path, const FrozenPlan& plan, std::uint64_t keys,
                const Hasher& hasher, std::span<const Os::Stat> inputs = {});
  // `at`: an offset below plan.bytes().
  void write(std::uint64_t at, std::span<const std::byte> bits) {
    fresh_->file().write(bits, kBitsAt + at);
  }
  // Called when all bits are there. Error{corrupt}: they are not the bits of such a filter.
  void publish();

 private:
  std::string path_;
  Header header_;
  File old_;
  std::optional<NewFile> fresh_;
};

}  // namespace bloomery::detail
