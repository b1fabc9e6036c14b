// salvage: what can still be vouched for, and ones for the rest, so that no key is lost.
#include <bloomery/filter_file.hpp>

#include "store/chunk_check.hpp"
#include "store/edge.hpp"
#include "store/new_file.hpp"
#include "store/recover.hpp"
#include "store/snapshot.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace bloomery {

using namespace detail;

namespace {

// Gives a chunk of the damaged file, or says that it cannot.
using ReadChunk = std::function<bool(std::uint64_t chunk, std::span<std::byte> blocks)>;

ReadChunk from_file(const Opened& opened, const ChunkCheck& check) {
  return [&opened, &check](std::uint64_t chunk, std::span<std::byte> blocks) {
    return !std::binary_search(check.damaged.begin(), check.damaged.end(), chunk) &&
           opened.file.try_read(blocks, kBitsAt + chunk * kChunkBytes) == 0 &&
           (check.read.empty() || chunk_sum(chunk, blocks) == check.read[chunk]);
  };
}

ReadChunk from_memory(std::span<const std::byte> bits) {
  return [bits](std::uint64_t chunk, std::span<std::byte> blocks) {
    const auto from = chunk_of(bits, chunk);
    std::copy(from.begin(), from.end(), blocks.begin());
    return true;
  };
}

SalvageReport write_salvaged(NewFile& out, Header& header, const ReadChunk& read_chunk) {
  const FileLayout layout(header.plan);
  SalvageReport report;
  report.chunks = layout.chunks;
  Sums sums(layout.chunks);
  std::vector<std::byte> buffer(kChunkBytes);
  for (std::uint64_t chunk = 0; chunk < layout.chunks; ++chunk) {
    const auto blocks = std::span(buffer).first(layout.chunk_bytes(chunk));
    if (!read_chunk(chunk, blocks)) {
      std::fill(blocks.begin(), blocks.end(), std::byte{0xFF});
      ++report.filled_chunks;
    }
    sums[chunk] = chunk_sum(chunk, blocks);
    out.file().write(blocks, kBitsAt + chunk * kChunkBytes);
  }
  out.file().write(encode_sums(sums), layout.sums_at);
  header.total = total_of(sums);
  write_first_header(out.file(), header);
  return report;
}

// The contents of a kind other than plain: its snapshot, with ones for what is damaged (that is,
// saturated counters), and its journal on top.
std::unique_ptr<Contents> salvaged_contents(const Opened& source, SalvageReport& report) {
  const Header& header = source.header;
  const ChunkCheck check = check_chunks(source.file, header);
  const ReadChunk read_chunk = from_file(source, check);
  const FileLayout layout = layout_of(header);
  Payload payload(layout.bits_bytes);
  report.chunks = layout.chunks;
  for (std::uint64_t chunk = 0; chunk < layout.chunks; ++chunk) {
    const auto blocks = payload.bytes().subspan(chunk * kChunkBytes, layout.chunk_bytes(chunk));
    if (read_chunk(chunk, blocks)) continue;
    std::ranges::fill(blocks, std::byte{0xFF});
    ++report.filled_chunks;
  }
  auto contents = make_contents(header, std::move(payload));
  if (has_journal(header.state)) {
    Position end;
    replay_operations(source.file, header, *contents, end);
  }
  return contents;
}

[[noreturn]] void refuse_in_use(const Opened& source) {
  throw Error(ErrorCode::locked,
              source.file.path() + ": a writer has it open; close that writer first");
}

}  // namespace

SalvageReport salvage(const std::string& path, const std::string& out, bool replace, Os* os) {
  return at_edge(path, [&] {
    Os& system = os != nullptr ? *os : real_os();
    Opened source = open_for_reading(system, path);
    if (source.file.locked()) refuse_in_use(source);
    Header header = source.header;
    if (is_lost(header, system)) throw unclean_error(header, path);

    SalvageReport report;
    ChunkCheck check;
    std::unique_ptr<Contents> contents;
    std::optional<MappedBits> recovered;
    if (header.kind != Kind::plain) {
      contents = salvaged_contents(source, report);
      contents->describe(header);
    } else if (header.state == State::clean) {
      check = check_chunks(source.file, header);
    } else if (header.state == State::journaled) {
      recovered.emplace(source, Os::Map::private_write);
      // Where bits and journal disagree, nothing tells which of the chunks are damaged.
      header.inserted = replay(source.file, header, *recovered).inserted;
    }

    const std::string target = place_of(system, out);
    const File replaced = lock_replaced(system, target, replace);
    header.identity = random_id(system, out);
    header.state = State::clean;
    header.generation = 1;
    header.epoch = 0;
    header.journal_bytes = 0;
    NewFile fresh(system, target, layout_of(header).clean_bytes, replaced);
    if (contents)
      write_snapshot(fresh.file(), header, *contents);
    else
      report = write_salvaged(
          fresh, header, recovered ? from_memory(recovered->bits()) : from_file(source, check));
    // What was read is of this header only if it is still the header.
    if (read_headers(source.file).header.generation != source.header.generation)
      refuse_in_use(source);
    fresh.file().sync();
    fresh.publish(replaced);
    const Opened saved{fresh.take(), header, 0};
    report.current_fpr = contents ? contents->current_fpr()
                                  : MappedBits(saved, Os::Map::shared_read).view.current_fpr();
    return report;
  });
}

}  // namespace bloomery
