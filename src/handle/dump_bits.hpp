// The filter of a dump, if it is one array of bits: a plain filter that has not grown, or a frozen one.
#pragma once

#include <bloomery/module_dump.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "handle/places.hpp"

namespace bloomery::detail {

class DumpBits {
 public:
  // Reads the header from the first chunk. `most`: no more bytes than these can follow. Error{wrong_kind}: the dump
  // holds something else; {corrupt}.
  DumpBits(NextChunk next, std::string name, std::uint64_t most);
  [[nodiscard]] const ModuleContents& contents() const noexcept { return contents_; }
  // Calls take(at, part) for all bits in order. Error{corrupt}: there are more or fewer than the header says.
  using Take = std::function<void(std::uint64_t at, std::span<const std::byte> part)>;
  void read(const Take& take);
  // With the name of the dump, and what to do.
  [[nodiscard]] Error refused(ErrorCode code, const char* what) const;

 private:
  NextChunk next_;
  std::string name_;
  ModuleContents contents_;
  std::uint64_t bytes_ = 0;
};

}  // namespace bloomery::detail
