// What a file of a kind other than plain holds: in memory, or for a reader mapped from the file.
//
// One face for all those kinds, so that snapshots, journals, writers and readers are written
// once.
#pragma once

#include <bloomery/counting_view.hpp>
#include <bloomery/detail/bit_memory.hpp>
#include <bloomery/scalable_filter.hpp>
#include <bloomery/window_filter.hpp>

#include "base/file.hpp"
#include "format/header.hpp"
#include "format/sums.hpp"

#include <memory>
#include <span>
#include <string>

namespace bloomery::detail {

// The bits of all sub-filters, or the counters, one after the other.
class Payload {
 public:
  // Zeros in memory. Error{no_memory}.
  explicit Payload(std::uint64_t bytes)
      : memory_(static_cast<std::size_t>(bytes)), bytes_(memory_.bytes()) {}
  // As they are in a mapped file.
  Payload(Mapping mapping, std::uint64_t bytes) noexcept
      : mapping_(std::move(mapping)),
        bytes_(mapping_.bytes().subspan(kBitsAt, static_cast<std::size_t>(bytes))) {}
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  BitMemory memory_;
  Mapping mapping_;
  std::span<std::byte> bytes_;
};

class Contents {
 public:
  virtual ~Contents() = default;

  // Has ready what inserting these keys next may need, so that the insert cannot fail.
  // Error{too_large | no_memory}: nothing has changed.
  virtual void prepare(std::span<const Hash128> hashes) = 0;
  // As insert_hashes and may_contain_hashes of the kind.
  virtual std::size_t insert(std::span<const Hash128> hashes, std::span<bool> fresh) = 0;
  [[nodiscard]] virtual std::size_t may_contain(std::span<const Hash128> hashes,
                                                std::span<bool> found) const noexcept = 0;
  // One key, without what it costs to begin with many.
  [[nodiscard]] virtual bool may_contain(Hash128 hash) const noexcept = 0;

  // Of a counting filter alone: as its merge, and counts the keys that were new by estimate.
  virtual void merge(const CountingView& /*other*/) {}

  // Writes into a header what these contents are by now, but for the sums.
  virtual void describe(Header& header) const = 0;
  // The bits, as they follow each other in a file.
  [[nodiscard]] virtual Pieces pieces() const = 0;

  [[nodiscard]] virtual std::uint64_t inserted() const noexcept = 0;
  [[nodiscard]] virtual double current_fpr() const noexcept = 0;

  // The one of these that it is; the others are null.
  [[nodiscard]] virtual CountingView* counting() noexcept { return nullptr; }
  [[nodiscard]] virtual const ScalableFilter* scalable() const noexcept { return nullptr; }
  [[nodiscard]] virtual WindowFilter* window() noexcept { return nullptr; }
};

// What a header describes, over its payload.
[[nodiscard]] std::unique_ptr<Contents> make_contents(const Header& header, Payload payload);

}  // namespace bloomery::detail
