// Durability `process`: the writer stores straight into the mapped file; before that it marks the header.
#include "store/sessions/bits_writer.hpp"

#include <algorithm>
#include <utility>

namespace bloomery::detail {

namespace {

class MappedWriter final : public BitsWriter {
 public:
  explicit MappedWriter(Opened opened) : BitsWriter(std::move(opened)) {}

  bool insert_hash(Hash128 hash) override {
    require_writable();
    // The hash stays in registers: if it were put into memory to be read again, it would wait there for the stores of
    // the insert before this one, and those wait for their block.
    if (!all_touched() || !dirty()) [[unlikely]]
      prepare_one(hash);
    return contents_->insert(hash);
  }
  std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh) override {
    prepare(hashes);
    return contents_->insert(hashes, fresh);
  }
  void merge(const Contents& other) override {
    require_writable();
    contents_->require_mergeable(other, opened_.file.path());
    touch_all();
    if (!dirty()) enter(State::mapped);
    contents_->merge(other);
    save();
  }
  void merge_bytes(std::uint64_t at, std::span<const std::byte> bytes) override {
    if (!is_rebuilding()) return BitsWriter::merge_bytes(at, bytes);
    require_writable();
    if (bytes.empty()) return;
    for (std::uint64_t chunk = at / kChunkBytes; chunk <= (at + bytes.size() - 1) / kChunkBytes;
         ++chunk)
      touch(chunk);
    if (!dirty()) enter(State::mapped);
    contents_->merge_bytes(at, bytes);
    has_pieces_ = true;
  }

 private:
  void save() override {
    require_writable();
    if (!dirty()) return;
    count_pieces();
    sum_touched();
    make_clean();
  }
  [[gnu::noinline]] void prepare_one(Hash128 hash) { prepare({&hash, 1}); }
  void prepare(std::span<const Hash128> hashes) {
    require_writable();
    if (!all_touched()) {
      // Many keys touch all chunks sooner or later, and finding the chunks of each key would cost more.
      if (hashes.size() > chunks_of_keys()) {
        touch_all();
      } else {
        for (const Hash128 hash : hashes)
          for_each_block(view().plan().layout, view().bit_array(), hash,
                         [&](std::uint64_t block) { touch(block / kBlocksPerChunk); });
      }
    }
    if (!dirty()) enter(State::mapped);
  }
};

}  // namespace

std::unique_ptr<Writer> write_mapped(Opened opened) {
  return std::make_unique<MappedWriter>(std::move(opened));
}

}  // namespace bloomery::detail
