// A frozen filter without a delta whose bits come piece by piece, as a new file: the bytes that encode() gives, with no
// more of them in memory than a piece.
#pragma once

#include <bloomery/frozen_plan.hpp>
#include <bloomery/hash.hpp>

#include "format/header.hpp"
#include "store/new_file.hpp"

#include <optional>
#include <string>

namespace bloomery::detail {

class NewFrozenFile {
 public:
  // Another filter file at the path is locked, and replaced by publish(). `inputs` as of NewFile. Errors as of
  // Files::create.
  NewFrozenFile(Os& os, const std::string& path, const FrozenPlan& plan, std::uint64_t keys,
                const Hasher& hasher, std::span<const Os::Stat> inputs = {});
  // `at`: of plan.bytes().
  void write(std::uint64_t at, std::span<const std::byte> bits) {
    fresh_->file().write(bits, kBitsAt + at);
  }
  // All bits are there. Error{corrupt}: they are not those of such a filter.
  void publish();

 private:
  std::string path_;
  Header header_;
  File old_;
  std::optional<NewFile> fresh_;
};

}  // namespace bloomery::detail
