// salvage: keeps the chunks whose sums match and fills the others with ones, so that no key is lost.
#include "format/kinds.hpp"
#include "format/make_contents.hpp"
#include "store/disk/holes.hpp"
#include "store/disk/new_file.hpp"
#include "store/files.hpp"
#include "store/journal/recover.hpp"

#include <algorithm>

namespace bloomery::detail {

namespace {

// Reads the bits of a damaged file chunk by chunk.
class ChunkReader {
 public:
  // Without a check, every readable chunk is valid. Error{corrupt}: most of the file is missing.
  ChunkReader(const Opened& source, ChunkCheck check)
      : file_(source.file), holes_(file_, source.header), check_(std::move(check)) {
    // In a frozen filter, ones in place of cells would lose keys.
    if (is_built_once(source.header.kind())) {
      const auto& plan = std::get<FrozenPlan>(source.header.plan);
      fillable_ = (plan.delta ? plan.delta->bytes() : 0) / kChunkBytes;
    }
    if (!check_.damaged.empty() && check_.damaged.back() >= fillable_) refuse_frozen();
    const auto missing = std::ranges::count_if(
        check_.damaged, [&](std::uint64_t chunk) { return holes_.has(chunk); });
    constexpr std::int64_t kFew = 1024;
    if (missing > kFew && static_cast<std::uint64_t>(missing) * kChunkBytes > holes_.data_bytes())
      throw Error(
          ErrorCode::corrupt,
          file_.path() + ": most of the file is missing, its place is holes; restore a backup");
  }
  [[nodiscard]] bool is_sparse() const noexcept { return !holes_.none(); }
  // Whether the chunk consists of zeros that need not be read.
  [[nodiscard]] bool is_hole(std::uint64_t chunk) const noexcept {
    return holes_.has(chunk) && !is_damaged(chunk);
  }
  [[nodiscard]] std::uint64_t sum_of_hole(std::uint64_t chunk) const noexcept {
    return holes_.sum(chunk);
  }
  // Reads a chunk. If no sum matches it, its blocks are filled with ones, and it is counted.
  void read(std::uint64_t chunk, std::span<std::byte> blocks) {
    const bool good = !is_damaged(chunk) &&
                      file_.try_read(blocks, kBitsAt + chunk * kChunkBytes) == 0 &&
                      (check_.read.empty() || chunk_sum(chunk, blocks) == check_.read[chunk]);
    if (good) return;
    if (chunk >= fillable_) refuse_frozen();
    std::ranges::fill(blocks, std::byte{0xFF});
    ++filled_;
  }
  [[nodiscard]] std::uint64_t filled() const noexcept { return filled_; }

 private:
  [[nodiscard]] bool is_damaged(std::uint64_t chunk) const noexcept {
    return std::ranges::binary_search(check_.damaged, chunk);
  }

  [[noreturn]] void refuse_frozen() const {
    throw Error(
        ErrorCode::corrupt,
        file_.path() + ": a damaged frozen filter cannot be salvaged; rebuild it from its keys");
  }

  const File& file_;
  Holes holes_;
  ChunkCheck check_;
  std::uint64_t fillable_ = UINT64_MAX;  // only this many of the first chunks may be filled
  std::uint64_t filled_ = 0;
};

// Copies bits that need no journal chunk by chunk, because they may be larger than the memory.
void copy_chunks(ChunkReader& from, File& to, Header& header) {
  const FileLayout layout = layout_of(header);
  Sums sums(layout.chunks);
  std::vector<std::byte> buffer(kChunkBytes);
  for (std::uint64_t chunk = 0; chunk < layout.chunks; ++chunk) {
    if (from.is_hole(chunk)) {
      sums[chunk] = from.sum_of_hole(chunk);
      continue;
    }
    const auto blocks = std::span(buffer).first(layout.chunk_bytes(chunk));
    from.read(chunk, blocks);
    sums[chunk] = chunk_sum(chunk, blocks);
    to.write(blocks, kBitsAt + chunk * kChunkBytes);
  }
  to.write(encode_sums(sums), layout.sums_at);
  header.total = total_of(sums);
  write_first_header(to, header);
}

// Writes bits that are in memory, except for holes.
void write_bits(const BitContents& contents, const Holes& holes, File& to, Header& header) {
  const FileLayout layout = layout_of(header);
  const std::span<const std::byte> bits = contents.payload().bytes();
  const Sums sums = holes.sums_of(bits);
  for (std::uint64_t chunk = 0; chunk < layout.chunks; ++chunk)
    if (!holes.has(chunk)) to.write(chunk_of(bits, chunk), kBitsAt + chunk * kChunkBytes);
  to.write(encode_sums(sums), layout.sums_at);
  header.total = total_of(sums);
  write_first_header(to, header);
}

// A snapshot with its damaged chunks filled, and with its journal replayed.
std::unique_ptr<Contents> fill_and_replay(ChunkReader& from, const Opened& source,
                                          JournalPosition& end) {
  const FileLayout layout = layout_of(source.header);
  Payload payload(layout.bits_bytes);
  for (std::uint64_t chunk = 0; chunk < layout.chunks; ++chunk)
    if (!from.is_hole(chunk))
      from.read(chunk, payload.bytes().subspan(chunk * kChunkBytes, layout.chunk_bytes(chunk)));
  auto contents = make_contents(source.header, std::move(payload));
  replay_operations(source.file, source.header, *contents, end);
  return contents;
}

[[noreturn]] void refuse_in_use(const Opened& source) {
  throw Error(ErrorCode::locked,
              source.file.path() + ": a writer has it open; close that writer first");
}

}  // namespace

SalvageReport Files::salvage(const std::string& path, const std::string& out, bool replace) const {
  return at_edge(path, [&] {
    const Opened source = open_for_reading(*os_, path);
    if (source.file.locked()) refuse_in_use(source);
    Header header = source.header;
    if (is_lost(header, *os_, path)) throw unclean_error(header, path);

    // While a writer was storing in place, the bits had no valid sums.
    const bool in_place = is_stored_in_place(header.plan);
    const bool checkable = header.state == State::clean || !in_place;
    const ChunkCheck check = checkable ? check_chunks(source.file, header) : ChunkCheck{};
    ChunkReader reader(source, check);
    std::unique_ptr<Contents> contents;
    Holes holes(source.file, source.header);
    if (has_records(header.state)) {
      // If bits in place and journal disagree, it is unknown which chunks are damaged.
      JournalPosition end;
      contents =
          in_place ? replayed_contents(source, end, holes) : fill_and_replay(reader, source, end);
      contents->describe(header);
      if (!in_place) header.batch = end.batch;
    } else if (!checkable) {
      require_list(source);
    }
    header.batch.open = false;

    const std::string target = resolved_or_new(*os_, out);
    const File replaced = lock_replaced(*os_, target, replace);
    header.identity = random_id(*os_, out);
    header.state = State::clean;
    header.generation = 1;
    header.journal_bytes = 0;
    const Os::Stat input = source.file.rights();
    NewFile fresh(*os_, target, reader.is_sparse() ? 0 : layout_of(header).clean_bytes, replaced,
                  {&input, 1});
    if (contents && in_place)
      write_bits(static_cast<const BitContents&>(*contents), holes, fresh.file(), header);
    else if (contents)
      write_snapshot(fresh.file(), header, *contents, reader.is_sparse());
    else
      copy_chunks(reader, fresh.file(), header);
    // The bits that were read belong to this header only if it is still the file's header.
    if (read_headers(source.file).header.generation != source.header.generation)
      refuse_in_use(source);
    fresh.file().sync();
    fresh.publish(replaced);
    // A sample may miss chunks that were filled with ones; but in a sparse file an exact count would read all holes.
    const Precision precision = reader.is_sparse() ? Precision::sampled : Precision::exact;
    const Opened saved{fresh.take(), header, 0};
    return SalvageReport{.chunks = layout_of(source.header).chunks,
                         .filled_chunks = reader.filled(),
                         .current_fpr = map_contents(saved)->stats(precision).current_fpr};
  });
}

}  // namespace bloomery::detail

namespace bloomery {

SalvageReport salvage(const std::string& path, const std::string& out, bool replace) {
  return detail::Files(real_os()).salvage(path, out, replace);
}

}  // namespace bloomery
