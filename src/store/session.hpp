// What stands behind a FilterFile: a reader, a writer for each way of writing, or a rebuild.
//
//   kind        durability   writer
//   plain       process      mapped_writer.cpp: stores into the mapped file
//   plain       sync         journal_writer.cpp: the same, behind a journal of keys
//   any         none         operation_writer.cpp: in memory, the file is replaced
//   not plain   any          operation_writer.cpp: the same, with a journal of operations
#pragma once

#include <bloomery/error.hpp>
#include <bloomery/filter_file.hpp>

#include "format/contents.hpp"
#include "store/new_file.hpp"
#include "store/opened.hpp"

#include <memory>

namespace bloomery {

struct FilterFile::Impl {
  virtual ~Impl() = default;

  virtual bool insert_hash(Hash128 hash) = 0;
  virtual std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh) = 0;
  // So many keys at a time, insert_hashes and remove_hashes need no more commits than with all of
  // them at once.
  [[nodiscard]] virtual std::size_t keys_per_commit() const noexcept { return 65'536; }

  // Error{wrong_kind}, unless overridden.
  virtual std::size_t remove_hashes(std::span<const Hash128> hashes, std::span<bool> removed);
  virtual void advance(std::uint64_t now);

  virtual void merge(const detail::Contents& other) = 0;
  // Error{invalid_argument}, unless overridden: nobody else may see a part of a filter.
  virtual void merge_bytes(std::uint64_t at, std::span<const std::byte> bytes);

  virtual void sync() = 0;
  virtual void close() = 0;
  virtual void drop() { close(); }         // the handle's end, if it was not closed
  virtual bool reload() { return false; }  // a writer's file is the one at the path

  [[nodiscard]] virtual detail::Contents& contents() noexcept = 0;
  [[nodiscard]] virtual const detail::Opened& opened() const noexcept = 0;
};

namespace detail {

using Session = std::unique_ptr<FilterFile::Impl>;

[[nodiscard]] Session read_file(Os& os, const std::string& path);
// For a file that is locked; recovers it first.
[[nodiscard]] Session write_file(Opened opened, Durability durability);
// Builds a filter beside the one that it will replace. `opened`: the file of `fresh`, an empty filter
// that is on the device. It takes the place of `replaced` when the session is closed, and is removed
// if the session is dropped.
[[nodiscard]] Session rebuild_file(File replaced, std::unique_ptr<NewFile> fresh, Opened opened);

// Whether others can see the file of a writer.
enum class Seen : std::uint8_t { by_all, by_nobody };

// For clean files.
[[nodiscard]] Session write_mapped(Opened opened, Seen seen);
[[nodiscard]] Session write_journaled(Opened opened);
// For files of any kind, recovered if they are stored in place.
[[nodiscard]] Session write_operations(Opened opened, Durability durability, Seen seen);

// What all writers do alike.
class Writer : public FilterFile::Impl {
 public:
  [[nodiscard]] const Opened& opened() const noexcept final { return opened_; }
  // Does the last work and lets go of the file. After an Error the file is still open, unless it is
  // poisoned.
  void close() final;

 protected:
  explicit Writer(Opened opened) noexcept : opened_(std::move(opened)) {}
  // Error: the file is closed, or a write has failed before.
  void require_writable() const;
  // Makes the file clean, with everything that was done.
  virtual void finish() = 0;

  Opened opened_;
};

}  // namespace detail
}  // namespace bloomery
