// Files as sources and sinks of bits, and the loop that copies between them.
#include "handle/plain_bits.hpp"

#include <bloomery/detail/kernel.hpp>
#include <bloomery/error.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/text.hpp"
#include "base/zeros.hpp"
#include "filter/statistics.hpp"
#include "format/kinds.hpp"
#include "handle/impl.hpp"
#include "store/disk/rights.hpp"
#include "store/files.hpp"

namespace bloomery::detail {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{4} << 20;

class FileSource final : public PlainSource {
 public:
  explicit FileSource(const std::string& name) : file_(FilterFile::open(name)) {
    if (file_.kind() != Kind::plain)
      throw Error(
          ErrorCode::wrong_kind,
          fill_in("{}: is a {} filter; only plain ones are copied to another place, and frozen "
                  "ones to a module; use cp for the file, or bloomery rebuild to make a "
                  "filter from its keys",
                  name, to_string(file_.kind())));
    Files::require_undamaged(file_);
    data_ = Files::data(file_);
  }
  [[nodiscard]] PlainParameters parameters() const override {
    return {file_.view().plan(), file_.hasher()};
  }
  void read(std::uint64_t from, std::span<std::byte> out) override {
    const std::span<const std::byte> bytes = file_.view().bytes();
    const std::uint64_t end = from + out.size();
    std::uint64_t at = from;
    for (auto next = next_data(from); next != data_.end() && next->from < end; ++next) {
      const std::uint64_t begin = std::max(from, next->from), stop = std::min(end, next->to);
      std::fill(out.begin() + (at - from), out.begin() + (begin - from), std::byte{0});
      std::memcpy(out.data() + (begin - from), bytes.data() + begin, stop - begin);
      at = stop;
    }
    std::fill(out.begin() + (at - from), out.end(), std::byte{0});
  }
  [[nodiscard]] bool has_data(std::uint64_t from, std::uint64_t size) const override {
    const auto next = next_data(from);
    return next != data_.end() && next->from < from + size;
  }
  [[nodiscard]] double estimated_items() override {
    const Plan& plan = file_.view().plan();
    const auto ones = static_cast<double>(Files::count_ones(file_));
    return detail::estimated_items(plan, ones / static_cast<double>(plan.bits));
  }

 private:
  // The first range that ends after a byte.
  [[nodiscard]] std::vector<File::Range>::const_iterator next_data(std::uint64_t from) const {
    return std::ranges::upper_bound(data_, from, {}, &File::Range::to);
  }

  FilterFile file_;
  std::vector<File::Range> data_;
};

class FileSink final : public PlainSink {
 public:
  FileSink(const std::string& name, const PlainParameters& parameters, bool replace,
           std::span<const std::string> sources)
      : file_(file_beside(name, parameters.plan, parameters.hasher, replace, sources)) {}
  void write(std::uint64_t at, std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const auto part = bytes.first(std::min(kChunkBytes - at % kChunkBytes, bytes.size()));
      if (!is_zeros(part)) file_.merge_bytes(at, part);
      at += part.size();
      bytes = bytes.subspan(part.size());
    }
  }
  void publish() override { file_.close(); }

 private:
  FilterFile file_;
};

void refuse_existing_file(const std::string& name, bool replace) {
  std::error_code ignored;
  if (!replace && std::filesystem::exists(std::filesystem::symlink_status(name, ignored)))
    throw Error(ErrorCode::exists, name + " exists; name another file, or replace it explicitly");
}

// A filter that is made from sparse files is sparse too.
Room room_for(const FilterPlan& plan, std::span<const Os::Stat> inputs, std::size_t sources) {
  const std::uint64_t all = layout_of(header_of(plan, Hasher())).clean_bytes;
  const auto is_sparse = [all](const Os::Stat& input) { return input.allocated < all / 2; };
  const bool are_files = !inputs.empty() && inputs.size() == sources;
  return are_files && std::ranges::all_of(inputs, is_sparse) ? Room::as_needed : Room::at_once;
}

}  // namespace

NewFrozenFile frozen_beside(const std::string& name, const FrozenPlan& plan, std::uint64_t keys,
                            const Hasher& hasher, bool replace,
                            std::span<const std::string> sources) {
  refuse_existing_file(name, replace);
  return {real_os(), name, plan, keys, hasher, rights_of(real_os(), sources)};
}

FilterFile file_beside(const std::string& name, const FilterPlan& plan, const Hasher& hasher,
                       bool replace, std::span<const std::string> sources) {
  refuse_existing_file(name, replace);
  const std::vector<Os::Stat> inputs = rights_of(real_os(), sources);
  FilterFile file = Files(real_os()).rebuild(
      name, plan, {.hasher = hasher, .durability = Durability::process, .replace = replace}, inputs,
      room_for(plan, inputs, sources.size()));
  refuse_existing_file(name, replace);  // a file may have appeared meanwhile
  return file;
}

std::unique_ptr<PlainSource> file_source(const std::string& path) {
  return std::make_unique<FileSource>(path);
}

std::unique_ptr<PlainSink> file_sink(const std::string& path, const PlainParameters& parameters,
                                     bool replace, std::span<const std::string> sources) {
  require_one_part(path, parameters);
  return std::make_unique<FileSink>(path, parameters, replace, sources);
}

void require_one_part(const std::string& name, const PlainParameters& parameters) {
  if (parameters.parts != 1)
    throw Error(ErrorCode::wrong_kind,
                fill_in("{}: in {} shards the layout {} has other bits than in one piece; name "
                        "shards of the same number for them, or rebuild the filter from its keys",
                        name, parameters.parts, to_string(parameters.plan.layout)));
}

void require_same_parameters(const PlainParameters& one, const PlainParameters& other) {
  require_same_scheme(one.plan, one.hasher, other.plan, other.hasher);
  if (one.parts != other.parts)
    throw Error(ErrorCode::mismatch,
                fill_in("the layout {} has other bits in every number of shards, and these are in "
                        "{} and {}; rebuild one of them from its keys",
                        to_string(one.plan.layout), one.parts, other.parts));
}

std::uint64_t copy_bits(std::span<const std::unique_ptr<PlainSource>> sources, PlainSink& sink) {
  const std::uint64_t bytes = sources.front()->parameters().plan.bytes();
  std::vector<std::byte> sum(static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, bytes)));
  std::vector<std::byte> more(sources.size() > 1 ? sum.size() : 0);
  std::uint64_t ones = 0;
  for (std::uint64_t at = 0; at < bytes; at += sum.size()) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(sum.size(), bytes - at));
    const std::span all(sum.data(), size);
    sources.front()->read(at, all);
    for (const auto& source : sources.subspan(1)) {
      if (!source->has_data(at, size)) continue;
      source->read(at, std::span(more.data(), size));
      for (std::size_t i = 0; i < size; ++i) sum[i] |= more[i];
    }
    // Pieces consist of whole words, and the vector's memory is aligned for them.
    if (!is_zeros(all))
      ones += count_ones(reinterpret_cast<const std::uint32_t*>(all.data()), size * 8);
    sink.write(at, all);
  }
  return ones;
}

}  // namespace bloomery::detail
