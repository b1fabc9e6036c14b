// Durability `none`: the bits live in memory, and the file is only ever replaced whole.
#include <bloomery/filter.hpp>

#include "format/sums.hpp"
#include "store/new_file.hpp"
#include "store/session.hpp"

namespace bloomery::detail {

namespace {

Filter load(const Opened& opened) {
  Filter filter(opened.header.plan, opened.header.hasher);
  opened.file.read(filter.mutable_bytes(), kBitsAt);
  if (total_of(sums_of(filter.bytes())) != opened.header.total)
    throw Error(
        ErrorCode::corrupt,
        opened.file.path() + ": the bits are damaged; verify says where, salvage saves the rest");
  return filter;
}

class ImageWriter final : public FilterFile::Impl {
 public:
  explicit ImageWriter(Opened opened) : opened_(std::move(opened)), filter_(load(opened_)) {}

  bool insert_hash(Hash128 hash) override {
    require_open();
    changed_ = true;
    const bool fresh = filter_.insert_hash(hash);
    opened_.header.inserted += fresh;
    return fresh;
  }
  std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh) override {
    require_open();
    changed_ = true;
    const std::size_t count = filter_.insert_hashes(hashes, fresh);
    opened_.header.inserted += count;
    return count;
  }
  void merge(const FilterView& other) override {
    require_open();
    changed_ = true;
    const std::uint64_t before = estimated_count(filter_);
    filter_.merge(other);
    opened_.header.inserted += estimated_count(filter_) - before;
    sync();
  }

  // What fails here is the new file, which nobody has seen: the old one is whole, and another
  // sync tries again with another new one.
  void sync() override {
    require_open();
    if (!changed_) return;
    const FileLayout layout(opened_.header.plan);
    const Sums sums = sums_of(filter_.bytes());
    Header header = opened_.header;
    header.total = total_of(sums);
    ++header.generation;
    NewFile fresh(opened_.file.os(), opened_.file.path(), layout.clean_bytes, opened_.file);
    write_first_header(fresh.file(), header);
    fresh.file().write(filter_.bytes(), kBitsAt);
    fresh.file().write(encode_sums(sums), layout.sums_at);
    fresh.file().sync();
    fresh.name(opened_.file);
    opened_ = {fresh.take(), header, 0};
    fresh.make_name_last();
    changed_ = false;
  }
  void close() override {
    if (!opened_.file.is_open()) return;
    sync();
    opened_.file.close();
  }

  [[nodiscard]] const FilterView* plain() const noexcept override { return &filter_; }
  [[nodiscard]] const Opened& opened() const noexcept override { return opened_; }

 private:
  void require_open() const {
    if (!opened_.file.is_open())
      throw Error(ErrorCode::read_only, opened_.file.path() + ": is closed; open it again");
  }

  Opened opened_;
  Filter filter_;
  bool changed_ = false;
};

}  // namespace

Session write_image(Opened opened) { return std::make_unique<ImageWriter>(std::move(opened)); }

}  // namespace bloomery::detail
