// The bits of a plain filter, read and written piece by piece wherever they are: in a file, a Redis
// string, or shards. So a filter of any size goes anywhere in a few megabytes.
#pragma once

#include <bloomery/filter_file.hpp>
#include <bloomery/redis_url.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "store/new_frozen_file.hpp"

namespace bloomery::detail {

// What bits mean. Two filters with equal parameters have the same bits for a key.
struct PlainParameters {
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

  [[nodiscard]] virtual PlainParameters parameters() const = 0;
  virtual void read(std::uint64_t from, std::span<std::byte> out) = 0;
  [[nodiscard]] virtual double estimated_items() = 0;
};

// Bits of zeros until they are written, each at most once. A sink that is dropped before it is published
// leaves what was there.
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
[[nodiscard]] std::unique_ptr<PlainSource> plain_source(const std::string& location);
// `replace`: a filter of the same kind may be replaced. Error{exists}; {wrong_kind}: bits in shards, for a
// place without; {mismatch}: for another number of shards; and those of the place.
// `sources`: the locations that it is filled from; users whom one of them keeps out cannot open a new file.
[[nodiscard]] std::unique_ptr<PlainSink> plain_sink(const std::string& location,
                                                    const PlainParameters& parameters, bool replace,
                                                    std::span<const std::string> sources);

// The same for addresses (redis_plain.cpp).
[[nodiscard]] std::unique_ptr<PlainSource> redis_source(const RedisUrl& url);
[[nodiscard]] std::unique_ptr<PlainSink> redis_sink(const RedisUrl& url,
                                                    const PlainParameters& parameters,
                                                    bool replace);

// Error{mismatch}: a key has other bits in the one than in the other.
void require_same_parameters(const PlainParameters& one, const PlainParameters& other);
// For a place that has no shards. Error{wrong_kind}.
void require_one_part(const std::string& name, const PlainParameters& parameters);

// Writes everything that is in any of the sources, which have the sink's parameters. Returns how many bits
// are ones.
std::uint64_t copy_bits(std::span<const std::unique_ptr<PlainSource>> sources, PlainSink& sink);

// A file of that name, to be written beside what has the name, if anything; the lock of that is held, so
// that no key can be acknowledged into it that the new one would not have.
// Users whom a file among the sources keeps out cannot open it.
[[nodiscard]] FilterFile file_beside(const std::string& name, const FilterPlan& plan,
                                     const Hasher& hasher, bool replace,
                                     std::span<const std::string> sources);
// The same of a frozen filter.
[[nodiscard]] NewFrozenFile frozen_beside(const std::string& name, const FrozenPlan& plan,
                                          std::uint64_t keys, const Hasher& hasher, bool replace,
                                          std::span<const std::string> sources);

}  // namespace bloomery::detail
