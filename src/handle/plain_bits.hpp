// The bits of a plain filter, read and written piece by piece in any place: a file, a Redis string, or shards. So a
// filter of any size can be copied with a few megabytes of memory.
#pragma once

#include <bloomery/filter_file.hpp>
#include <bloomery/redis_url.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "store/disk/new_frozen_file.hpp"

namespace bloomery::detail {

// The parameters that give the bits their meaning. Two filters with equal parameters have the same bits for a key.
struct PlainParameters {
  Plan plan;
  Hasher hasher;
  // Shards of blocked2 and standard are separate filters, one per shard; everything else is one filter.
  std::uint32_t parts = 1;
};

class PlainSource {
 public:
  PlainSource() = default;
  PlainSource(const PlainSource&) = delete;
  PlainSource& operator=(const PlainSource&) = delete;
  virtual ~PlainSource() = default;

  [[nodiscard]] virtual PlainParameters parameters() const = 0;
  virtual void read(std::uint64_t from, std::span<std::byte> out) = 0;
  // False: these bytes are zeros, and are not read.
  [[nodiscard]] virtual bool has_data(std::uint64_t /*from*/, std::uint64_t /*size*/) const {
    return true;
  }
  [[nodiscard]] virtual double estimated_items() = 0;
};

// A destination for bits. The bits are zeros until they are written, each at most once. If a sink is dropped before
// it is published, the old filter stays.
class PlainSink {
 public:
  PlainSink() = default;
  PlainSink(const PlainSink&) = delete;
  PlainSink& operator=(const PlainSink&) = delete;
  virtual ~PlainSink() = default;

  virtual void write(std::uint64_t at, std::span<const std::byte> bytes) = 0;
  virtual void publish() = 0;
};

// In any place (places.cpp). Error{wrong_kind}: the filter there is of another kind. Other errors are those of the
// place.
[[nodiscard]] std::unique_ptr<PlainSource> plain_source(const std::string& location);
// `replace`: a filter of the same kind may be replaced. Error{exists}; {wrong_kind}: bits in shards, but the place
// has no shards; {mismatch}: the place has another number of shards. Other errors are those of the place. `sources`:
// the locations that the sink is filled from; a user who has no access to one of them has no access to a new file.
[[nodiscard]] std::unique_ptr<PlainSink> plain_sink(const std::string& location,
                                                    const PlainParameters& parameters, bool replace,
                                                    std::span<const std::string> sources);

// The same for paths, and for addresses (redis_plain.cpp).
[[nodiscard]] std::unique_ptr<PlainSource> file_source(const std::string& path);
[[nodiscard]] std::unique_ptr<PlainSink> file_sink(const std::string& path,
                                                   const PlainParameters& parameters, bool replace,
                                                   std::span<const std::string> sources);
[[nodiscard]] std::unique_ptr<PlainSource> redis_source(const RedisUrl& url);
[[nodiscard]] std::unique_ptr<PlainSink> redis_sink(const RedisUrl& url,
                                                    const PlainParameters& parameters,
                                                    bool replace);

// Error{mismatch}: a key has different bits in the two.
void require_same_parameters(const PlainParameters& one, const PlainParameters& other);
// Error{wrong_kind}: the bits have several parts; for a place that has no shards.
void require_one_part(const std::string& name, const PlainParameters& parameters);

// Writes the union of all sources, which have the sink's parameters, to the sink. Returns the number of ones.
std::uint64_t copy_bits(std::span<const std::unique_ptr<PlainSource>> sources, PlainSink& sink);

// Makes a file of that name, which is written beside the file that has the name. If there is one, its lock is held,
// so no key can be acknowledged into the old file that the new file would not have. A user who has no access to a
// file among the sources has no access to the new file.
[[nodiscard]] FilterFile file_beside(const std::string& name, const FilterPlan& plan,
                                     const Hasher& hasher, bool replace,
                                     std::span<const std::string> sources);
// The same for a frozen filter.
[[nodiscard]] NewFrozenFile frozen_beside(const std::string& name, const FrozenPlan& plan,
                                          std::uint64_t keys, const Hasher& hasher, bool replace,
                                          std::span<const std::string> sources);

}  // namespace bloomery::detail
