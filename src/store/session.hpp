// What stands behind a FilterFile: one class for a reader, one for a writer of a plain filter
// at each durability, and one for the writers of all other kinds.
#pragma once

#include <bloomery/error.hpp>
#include <bloomery/filter_file.hpp>

#include "store/contents.hpp"
#include "store/opened.hpp"

#include <memory>

namespace bloomery {

struct FilterFile::Impl {
  virtual ~Impl() = default;
  virtual bool insert_hash(Hash128 hash) = 0;
  virtual std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh) = 0;
  virtual std::size_t remove_hashes(std::span<const Hash128> hashes, std::span<bool> removed);
  virtual void advance(std::uint64_t now);
  virtual void merge(const FilterView& other) = 0;
  virtual void merge(const CountingView& other);
  virtual void merge_bytes(std::uint64_t at, std::span<const std::byte> bytes);
  // The same for one that writes a file which nobody else can see.
  virtual void merge_unseen(std::uint64_t at, std::span<const std::byte> bytes);
  virtual void sync() = 0;
  virtual void close() = 0;
  virtual void drop() { close(); }  // the handle's end, by one who has not closed it
  [[nodiscard]] virtual bool poisoned() const noexcept { return false; }
  virtual bool reload() { return false; }  // a writer's file is the one at the path
  // A file has the one or the other; null where it does not.
  [[nodiscard]] virtual const FilterView* plain() const noexcept { return nullptr; }
  [[nodiscard]] virtual detail::Contents* contents() const noexcept { return nullptr; }
  [[nodiscard]] virtual const detail::Opened& opened() const noexcept = 0;
};

namespace detail {

using Session = std::unique_ptr<FilterFile::Impl>;

[[nodiscard]] Session read_file(Os& os, const std::string& path);
// For a file that is locked; recovers it first.
[[nodiscard]] Session write_file(Opened opened, Durability durability);

// One for each durability; the file is clean.
[[nodiscard]] Session write_image(Opened opened);
[[nodiscard]] Session write_mapped(Opened opened);
[[nodiscard]] Session write_journaled(Opened opened);

// Of every kind but plain.
[[nodiscard]] Session write_operations(Opened opened, Durability durability);
// The same with a file that nobody else can see, whose sync writes it in place.
[[nodiscard]] Session write_unseen(Opened opened);

// Error{wrong_kind}: `can` says what the kind that was wanted can do, and this one cannot.
[[nodiscard]] Error wrong_kind(const Opened& opened, const std::string& can);

// The bits of a file in memory.
struct MappedBits {
  Mapping mapping;
  FilterView view;
  MappedBits(const Opened& opened, Os::Map how);
  [[nodiscard]] std::span<std::byte> bits() const noexcept {
    return mapping.bytes().subspan(kBitsAt);
  }
};

// How many keys were inserted, as far as the bits tell.
[[nodiscard]] std::uint64_t count_of(double estimated_items) noexcept;
[[nodiscard]] inline std::uint64_t estimated_count(const FilterView& view) noexcept {
  return count_of(view.estimated_items());
}

}  // namespace detail
}  // namespace bloomery
