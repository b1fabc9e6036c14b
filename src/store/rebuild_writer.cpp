// Building a filter beside the one that it will replace, and swapping them at once.
//
// The new filter is a file with the lock and the name of a NewFile. A plain one is stored into
// like any mapped one; so room is reserved from the start, and the filter may be larger than the
// memory. One of another kind is in memory, and written at the end.
#include "store/session.hpp"

#include <utility>

namespace bloomery::detail {

namespace {

class RebuildWriter final : public FilterFile::Impl {
 public:
  RebuildWriter(File replaced, std::unique_ptr<NewFile> fresh, Session writer) noexcept
      : replaced_(std::move(replaced)), writer_(std::move(writer)), fresh_(std::move(fresh)) {}

  bool insert_hash(Hash128 hash) override { return writer_->insert_hash(hash); }
  std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh) override {
    return writer_->insert_hashes(hashes, fresh);
  }
  std::size_t remove_hashes(std::span<const Hash128> hashes, std::span<bool> removed) override {
    return writer_->remove_hashes(hashes, removed);
  }
  void advance(std::uint64_t now) override { writer_->advance(now); }
  void merge(const Contents& other) override { writer_->merge(other); }
  void merge_bytes(std::uint64_t at, std::span<const std::byte> bytes) override {
    writer_->merge_bytes(at, bytes);
  }

  void sync() override {
    throw Error(ErrorCode::invalid_argument,
                opened().file.path() + ": is being rebuilt; close() puts it in its place");
  }
  void close() override {
    if (!opened().file.is_open()) return;
    try {
      writer_->sync();
      fresh_->publish(replaced_);
    } catch (...) {
      if (opened().poisoned) let_go();
      throw;
    }
    writer_->close();
    replaced_.close();
  }
  void drop() override {}

  [[nodiscard]] Contents& contents() noexcept override { return writer_->contents(); }
  [[nodiscard]] const Opened& opened() const noexcept override { return writer_->opened(); }

 private:
  void let_go() {
    fresh_.reset();
    try {
      writer_->close();
    } catch (const Error&) {
      // It says again that it is poisoned.
    }
    replaced_.close();
  }

  // Destroyed in the opposite order: the new file's name goes while its lock is held, and its lock
  // goes while that of the old one is held.
  File replaced_;
  Session writer_;
  std::unique_ptr<NewFile> fresh_;
};

}  // namespace

Session rebuild_file(File replaced, std::unique_ptr<NewFile> fresh, Opened opened) {
  Session writer = is_stored_in_place(opened.header.kind)
                       ? write_mapped(std::move(opened), Seen::by_nobody)
                       : write_operations(std::move(opened), Durability::none, Seen::by_nobody);
  return std::make_unique<RebuildWriter>(std::move(replaced), std::move(fresh), std::move(writer));
}

}  // namespace bloomery::detail
