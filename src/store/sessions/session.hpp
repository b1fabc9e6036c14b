// The implementation of a FilterFile: a reader, or a writer for each way of writing.
//
//   kind        durability   writer
//   plain       process      mapped_writer.cpp: stores into the mapped file
//   plain       sync         journal_writer.cpp: the same, behind a journal of keys
//   any         none         snapshot_writer.cpp: in memory, the file is replaced
//   not plain   any          snapshot_writer.cpp: the same, with a journal of operations
//   plain       process      shared_writer.cpp: beside other writers, into the mapped file
#pragma once

#include <bloomery/durability.hpp>

#include "format/contents.hpp"
#include "store/disk/new_file.hpp"
#include "store/disk/opened.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::detail {

class Session {
 public:
  virtual ~Session() = default;

  virtual bool insert_hash(Hash128 hash) = 0;
  virtual std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh) = 0;
  // The number of keys per call with which insert_hashes and remove_hashes need no more commits than one call with
  // all keys.
  [[nodiscard]] virtual std::size_t keys_per_commit() const noexcept { return 65'536; }

  // As in FilterFile: until end_load(), changes are acknowledged by end_load(), sync() and close().
  virtual bool begin_load(std::uint64_t /*expected*/) noexcept { return false; }
  virtual void end_load() {}

  // Begins or resumes a batch of that name. Returns how many of its keys are done: the next calls of insert_hashes
  // and remove_hashes leave out that many of their first keys. By default 0: doing the operations again changes
  // nothing.
  virtual std::uint64_t begin_batch(std::string_view name);

  // By default Error{wrong_kind}.
  virtual std::size_t remove_hashes(std::span<const Hash128> hashes, std::span<bool> removed);
  virtual void advance(std::uint64_t now);
  virtual void set_back(std::uint64_t now);

  virtual void merge(const Contents& other) = 0;
  // By default Error{invalid_argument}: no reader may see a part of a filter.
  virtual void merge_bytes(std::uint64_t at, std::span<const std::byte> bytes);
  // The bytes of the bits that may not be zeros, as ranges. By default all.
  [[nodiscard]] virtual std::vector<File::Range> data() const;
  // Called before all bits are copied: the copy has sums of its own, which would vouch for damaged bits.
  // Error{corrupt}. Reads all bits, but no holes. By default nothing: what a writer holds in memory was checked when it
  // was loaded, and writers that share a file have no sums.
  virtual void require_undamaged() {}
  // The ones of a plain filter. Only data() is read.
  [[nodiscard]] std::uint64_t count_ones();

  virtual void sync() = 0;
  virtual void close() = 0;
  // Error{missing}: what a writer adds would be lost, because it is no longer its file that is there.
  virtual void require_place() {}
  virtual void drop() { close(); }         // the handle is destroyed without close()
  virtual bool reload() { return false; }  // a writer always has the file at the path

  [[nodiscard]] virtual Contents& contents() noexcept = 0;
  [[nodiscard]] virtual const Opened& opened() const noexcept = 0;
};

[[nodiscard]] std::unique_ptr<Session> read_file(Os& os, const std::string& path);
// Opens a locked file for writing; recovers it first.
[[nodiscard]] std::unique_ptr<Session> write_file(Opened opened, Durability durability);
// One of several writers of a plain filter. The first function takes a file with the exclusive lock held; the second
// takes the file at a path, and check() may refuse its header.
[[nodiscard]] std::unique_ptr<Session> share_locked(Opened opened);
[[nodiscard]] std::unique_ptr<Session> share_file(Os& os, const std::string& path,
                                                  const std::function<void(const Header&)>& check);
// Builds a filter beside the one that it will replace. `opened`: the file of `fresh`, an empty filter that is on the
// device. When the session is closed, the new file takes the place of `replaced`; if the session is dropped, the new
// file is removed. The bits of a plain filter are stored into the mapped file, so they may be larger than the memory;
// filters of the other kinds are written by close().
[[nodiscard]] std::unique_ptr<Session> rebuild_file(File replaced, std::unique_ptr<NewFile> fresh,
                                                    Opened opened);

// The common part of all writers.
class Writer : public Session {
 public:
  [[nodiscard]] const Opened& opened() const noexcept final { return opened_; }
  void sync() final;
  // After an Error the file is still open, unless it is poisoned.
  void close() final;
  void require_place() final;
  void drop() final;

  void replace_at_close(File replaced, std::unique_ptr<NewFile> fresh) noexcept {
    replaced_ = std::move(replaced);
    fresh_ = std::move(fresh);
  }

 protected:
  explicit Writer(Opened opened) noexcept : opened_(std::move(opened)) {}
  // Error: the file is closed or inherited, or an earlier write has failed.
  void require_writable() const { require_writer(opened_); }
  // No other process can see the file yet.
  [[nodiscard]] bool is_rebuilding() const noexcept { return fresh_ != nullptr; }
  // Whether room for all of the new file was reserved. Called while is_rebuilding().
  [[nodiscard]] bool has_room() const noexcept { return fresh_->has_room(); }
  // Counts the keys of all pieces that merge_bytes() took.
  void count_pieces();
  // Makes every operation so far survive a power loss.
  virtual void save() = 0;
  // Does the same, and makes the file clean.
  virtual void finish() { save(); }

 private:
  void let_go() noexcept;

  // Destroyed in the opposite order: the name of a new file is removed while its lock is held, and its lock is
  // released while the lock of the old file is held.
  File replaced_;

 protected:
  Opened opened_;
  bool has_pieces_ = false;  // whose keys are not counted yet

 private:
  std::unique_ptr<NewFile> fresh_;
};

// These two are for clean files.
[[nodiscard]] std::unique_ptr<Writer> write_mapped(Opened opened);
[[nodiscard]] std::unique_ptr<Writer> write_journaled(Opened opened);
// This is for files of any kind; files that are stored in place must be recovered.
[[nodiscard]] std::unique_ptr<Writer> write_snapshots(Opened opened, Durability durability);

}  // namespace bloomery::detail
