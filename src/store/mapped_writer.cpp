// Durability `process`: stores go straight into the mapped file, whose header says so first.
#include "store/bits_writer.hpp"

#include <algorithm>
#include <utility>

namespace bloomery::detail {

namespace {

// Which chunks this session has stored into. Each is checked before its first store: a sum
// made over damage would vouch for it.
class TouchedChunks {
 public:
  explicit TouchedChunks(std::uint64_t chunks) : touched_(chunks), untouched_(chunks) {}
  [[nodiscard]] bool all() const noexcept { return untouched_ == 0; }
  [[nodiscard]] bool has(std::uint64_t chunk) const noexcept { return touched_[chunk] != 0; }
  void add(std::uint64_t chunk) noexcept {
    touched_[chunk] = 1;
    --untouched_;
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return touched_.size(); }

 private:
  std::vector<std::uint8_t> touched_;
  std::uint64_t untouched_;
};

class MappedWriter final : public BitsWriter {
 public:
  explicit MappedWriter(Opened opened) : BitsWriter(std::move(opened)), touched_(layout_.chunks) {}

  bool insert_hash(Hash128 hash) override {
    prepare({&hash, 1});
    const bool fresh = bits_.view.insert_hash(hash);
    header().inserted += fresh;
    return fresh;
  }
  std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh) override {
    prepare(hashes);
    const std::size_t count = bits_.view.insert_hashes(hashes, fresh);
    header().inserted += count;
    return count;
  }
  void merge(const FilterView& other) override {
    require_writable();
    touch_all();
    if (!dirty()) enter(State::mapped);
    const std::uint64_t before = estimated_count(bits_.view);
    bits_.view.merge(other);
    header().inserted += estimated_count(bits_.view) - before;
    sync();
  }
  // The keys are counted when all of the pieces are there.
  void merge_unseen(std::uint64_t at, std::span<const std::byte> bytes) override {
    require_writable();
    if (bytes.empty()) return;
    for (std::uint64_t chunk = at / kChunkBytes; chunk <= (at + bytes.size() - 1) / kChunkBytes;
         ++chunk)
      touch(chunk);
    if (!dirty()) enter(State::mapped);
    std::byte* mine = bits_.bits().data() + at;
    for (std::size_t i = 0; i < bytes.size(); ++i) mine[i] |= bytes[i];
    in_pieces_ = true;
  }

  void sync() override {
    require_writable();
    if (!dirty()) return;
    if (std::exchange(in_pieces_, false))
      header().inserted = std::max(header().inserted, estimated_count(bits_.view));
    for (std::uint64_t chunk = 0; chunk < touched_.size(); ++chunk)
      if (touched_.has(chunk)) sums_[chunk] = chunk_sum(chunk, chunk_of(bits_.bits(), chunk));
    make_clean();
  }
  void close() override {
    close_after([&] { sync(); });
  }

 private:
  void prepare(std::span<const Hash128> hashes) {
    require_writable();
    if (!touched_.all()) {
      // Many keys are in all chunks sooner or later; looking each up would cost more.
      if (hashes.size() > touched_.size()) {
        touch_all();
      } else {
        for (const Hash128 hash : hashes)
          for_each_block(bits_.view.plan().layout, bits_.view.bit_array(), hash,
                         [&](std::uint64_t block) { touch(block / kBlocksPerChunk); });
      }
    }
    if (!dirty()) enter(State::mapped);
  }
  void touch_all() {
    for (std::uint64_t chunk = 0; chunk < touched_.size(); ++chunk) touch(chunk);
  }
  void touch(std::uint64_t chunk) {
    if (touched_.has(chunk)) return;
    if (chunk_sum(chunk, chunk_of(bits_.bits(), chunk)) != sums_[chunk])
      throw Error(ErrorCode::corrupt, opened_.file.path() + ": chunk " + std::to_string(chunk) +
                                          " of its bits is damaged; salvage it");
    touched_.add(chunk);
  }

  TouchedChunks touched_;
  bool in_pieces_ = false;
};

}  // namespace

Session write_mapped(Opened opened) { return std::make_unique<MappedWriter>(std::move(opened)); }

}  // namespace bloomery::detail
