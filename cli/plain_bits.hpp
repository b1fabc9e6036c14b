// The bits of a plain filter, read and written piece by piece wherever they are: in a file, a Redis
// string, or shards. So a filter of any size goes anywhere in a few megabytes.
#pragma once

#include "statistics.hpp"

#include <bloomery/filter_file.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace bloomery::cli {

// What bits mean. Two filters of one shape have the same bits for a key.
struct PlainShape {
  Plan plan;
  Hasher hasher;
  // blocked2 and standard in shards are a filter for each shard; all else is one.
  std::uint32_t parts = 1;
};

constexpr std::size_t kPieceBytes = std::size_t{4} << 20;

class PlainSource {
 public:
  PlainSource() = default;
  PlainSource(const PlainSource&) = delete;
  PlainSource& operator=(const PlainSource&) = delete;
  virtual ~PlainSource() = default;

  [[nodiscard]] virtual PlainShape shape() const = 0;
  virtual void read(std::uint64_t from, std::span<std::byte> out) = 0;
  [[nodiscard]] virtual double estimated_items() = 0;
};

// Bits of zeros until they are written, each at most once. Dropped before it is published, it leaves
// what was there.
class PlainSink {
 public:
  PlainSink() = default;
  PlainSink(const PlainSink&) = delete;
  PlainSink& operator=(const PlainSink&) = delete;
  virtual ~PlainSink() = default;

  virtual void write(std::uint64_t at, std::span<const std::byte> bytes) = 0;
  virtual void publish() = 0;
};

// Error{wrong_kind}: what is there is a filter of another kind; and those of the place.
[[nodiscard]] std::unique_ptr<PlainSource> plain_source(const std::string& name);
// `force`: a filter of the same kind may be replaced. Error{exists}; {wrong_kind}: bits in shards, for a
// place without; {mismatch}: for another number of shards; and those of the place.
[[nodiscard]] std::unique_ptr<PlainSink> plain_sink(const std::string& name,
                                                    const PlainShape& shape, bool force);

// Error{mismatch}: a key has other bits in the one than in the other.
void require_same_shape(const PlainShape& one, const PlainShape& other);

// For a place that has no shards. Error{wrong_kind}.
void require_one_part(const std::string& name, const PlainShape& shape);

// Everything that is in any of these, which have the sink's shape.
void pour(std::span<const std::unique_ptr<PlainSource>> sources, PlainSink& sink);

// A file of that name, to be written beside what has the name, if anything; that is held as by any
// writer, so that no key can be acknowledged into it that the new one would not have.
[[nodiscard]] FilterFile file_beside(const std::string& name, const FilterPlan& plan,
                                     const Hasher& hasher, bool force);

}  // namespace bloomery::cli
