// The header, the bits and their sums of a new frozen filter.
#include "store/disk/new_frozen_file.hpp"

#include <bloomery/frozen_filter.hpp>

#include "format/contents.hpp"
#include "format/kinds.hpp"
#include "format/sums.hpp"

#include <algorithm>
#include <vector>

namespace bloomery::detail {

NewFrozenFile::NewFrozenFile(Os& os, const std::string& path, const FrozenPlan& plan,
                             std::uint64_t keys, const Hasher& hasher,
                             std::span<const Os::Stat> inputs)
    : path_(path) {
  at_edge(path_, [&] {
    validate(plan);
    header_.plan = plan;
    header_.hasher = hasher;
    header_.inserted = keys;
    const std::string target = resolved_or_new(os, path);
    old_ = lock_replaced(os, target, true);
    fresh_.emplace(os, target, layout_of(header_).clean_bytes, old_, inputs);
    write_first_header(fresh_->file(), header_);  // it identifies a leftover of a crash
  });
}

void NewFrozenFile::publish() {
  at_edge(path_, [&] {
    File& file = fresh_->file();
    const FileLayout layout = layout_of(header_);
    {
      const Mapping mapping = file.map(layout.clean_bytes, Os::Map::shared_read);
      (void)FrozenFilter::over(std::get<FrozenPlan>(header_.plan), header_.inserted, header_.hasher,
                               mapping.bytes().subspan(kBitsAt, layout.bits_bytes));
    }
    Sums sums;
    std::vector<std::byte> bits(std::min<std::uint64_t>(kChunkBytes, layout.bits_bytes));
    for (std::uint64_t chunk = 0; chunk < layout.chunks; ++chunk) {
      const std::uint64_t at = chunk * kChunkBytes;
      const auto part =
          std::span(bits).first(std::min<std::uint64_t>(kChunkBytes, layout.bits_bytes - at));
      file.read(part, kBitsAt + at);
      sums.push_back(chunk_sum(chunk, part));
    }
    const auto encoded = encode_sums(sums);
    seal(header_, sums, encoded);
    file.write(encoded, layout.sums_at);
    write_first_header(file, header_);
    file.sync();
    fresh_->publish(old_);
  });
}

}  // namespace bloomery::detail
