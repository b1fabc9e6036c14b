// Untrusted descriptions of filters on servers: dump files, and the headers of dumps and strings. Any
// bytes give an Error with a text, or encode to the same bytes again.
#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "bytes.hpp"
#include "handle/dump_file.hpp"
#include "legacy/redisbloom.hpp"
#include "redis/module/module_record.hpp"
#include "redis/strings/redis_header.hpp"
#include "require.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <bloomery/error.hpp>
#include <bloomery/module_dump.hpp>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace bloomery;
using fuzz::require;

// `use` must throw no Error without a text. True: it threw none.
bool attempt(auto use) {
  try {
    use();
    return true;
  } catch (const Error& error) {
    require(*error.what() != 0);
    return false;
  }
}

// ---- headers ------------------------------------------------------------------------------------

void repair(std::string& header, std::size_t checksum_at) {
  if (header.size() < checksum_at + 8) return;
  detail::store_le64(header.data() + checksum_at,
                     detail::checksum(std::as_bytes(std::span(header).first(checksum_at))));
}

// RedisBloom's headers: every bit of every field matters.
void try_their_header(std::string_view bytes) {
  attempt([&] {
    const auto header = legacy::redisbloom::decode(std::as_bytes(std::span(bytes)));
    const auto again = legacy::redisbloom::encode(header);
    require(again.size() == bytes.size() &&
            std::memcmp(again.data(), bytes.data(), bytes.size()) == 0);
  });
}

void try_module_header(std::string_view bytes) {
  attempt([&] {
    const ModuleContents in = contents_in_module_header(bytes);
    const auto* frozen = std::get_if<FrozenPlan>(&in.plan);
    const std::string again = frozen != nullptr
                                  ? module_header(*frozen, in.hasher, 7)
                                  : module_header(std::get<Plan>(in.plan), in.hasher, 7);
    const ModuleContents same = contents_in_module_header(again);
    require(same.plan == in.plan && same.hasher.family() == in.hasher.family() &&
            same.hasher.seed() == in.hasher.seed() && same.items == 7);
    require(again.size() == bytes.size());
  });
}

void try_string_header(std::string_view bytes) {
  attempt([&] {
    const detail::RedisHeader header = detail::decode_redis_header(bytes, "it");
    require(detail::encode_redis_header(header) == bytes.substr(0, detail::kRedisHeaderBytes));
    require(header.string_bytes() > detail::kRedisHeaderBytes);
  });
}

void try_record(std::string_view bytes) {
  attempt([&] {
    const detail::ModuleRecord record = detail::decode_module_record(bytes, "it");
    require(detail::encode_module_record(record) == bytes);
    require(record.capacity_of_each() > 0 && record.markers(record.shards - 1).size() >= 4);
  });
}

// ---- files --------------------------------------------------------------------------------------

// A file in memory, with a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : fd_(::memfd_create("dump", MFD_CLOEXEC)) {
    require(fd_ >= 0);
    require(::write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(fd_); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

// All chunks, or an Error.
std::vector<ModuleChunk> chunks_in(const std::string& path) {
  detail::DumpReader reader(path);
  std::vector<ModuleChunk> chunks;
  for (ModuleChunk chunk = reader.next(); chunk.iterator != 0; chunk = reader.next())
    chunks.push_back(std::move(chunk));
  return chunks;
}

// An independent implementation of the format in handle/dump_file.hpp.
std::string file_of(std::span<const ModuleChunk> chunks) {
  const auto number = [](std::uint64_t value) {
    std::string out(8, '\0');
    detail::store_le64(out.data(), value);
    return out;
  };
  std::string out(
      "\x89"
      "BLD\r\n\x1a\n\1\0\0\0\0\0\0\0",
      16);
  for (const ModuleChunk& chunk : chunks)
    out += number(chunk.iterator) + number(chunk.bytes.size()) + chunk.bytes;
  out += number(0) + number(0);
  // The checksums of the pieces; each one is the seed of the next.
  std::uint64_t sum = 0;
  const auto add = [&](std::string_view piece) {
    sum = detail::checksum(std::as_bytes(std::span(piece)), sum);
  };
  std::string_view left = out;
  const auto take = [&](std::size_t size) {
    add(left.substr(0, size));
    left.remove_prefix(size);
  };
  take(16);
  for (const ModuleChunk& chunk : chunks) {
    take(16);
    take(chunk.bytes.size());
  }
  take(16);
  return out + number(sum);
}

void try_file(std::string_view bytes) {
  const MemoryFile file(bytes);
  attempt([&] { require(file_of(chunks_in(file.path())) == bytes); });
}

bool rises(std::span<const ModuleChunk> chunks) {
  std::uint64_t before = 0;
  for (const ModuleChunk& chunk : chunks)
    if (chunk.iterator <= std::exchange(before, chunk.iterator)) return false;
  return true;
}

// A valid file with chunks from the input; then one byte of it is changed, or it is cut.
void try_chunks(fuzz::Bytes input) {
  std::vector<ModuleChunk> chunks(input.byte() % 5);
  for (ModuleChunk& chunk : chunks) {
    chunk.iterator = input.byte() % 8 == 7 ? ~std::uint64_t{input.byte()} : input.word();
    chunk.bytes.resize(input.byte());
    for (char& byte : chunk.bytes) byte = static_cast<char>(input.byte());
  }
  std::string bytes = file_of(chunks);
  bool ends = false;  // a chunk of two zeros ends the file
  for (const ModuleChunk& chunk : chunks) ends |= chunk.iterator == 0 && chunk.bytes.empty();
  const bool whole = attempt([&] {
    const MemoryFile file(bytes);
    const auto read = chunks_in(file.path());
    require(read.size() == chunks.size());
    for (std::size_t i = 0; i < read.size(); ++i)
      require(read[i].iterator == chunks[i].iterator && read[i].bytes == chunks[i].bytes);
  });
  require(whole == (rises(chunks) && !ends));
  if (!whole) return;
  const std::size_t at = input.word() % bytes.size();
  const std::uint8_t change = input.byte();
  if (change == 0)
    bytes.resize(at);
  else
    bytes[at] = static_cast<char>(bytes[at] ^ change);
  const MemoryFile file(bytes);
  require(!attempt([&] { (void)chunks_in(file.path()); }));
}

}  // namespace

// The first byte says what the others are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 8) {
    case 0:
      try_their_header(bytes);
      break;
    case 1:
      try_module_header(bytes);
      break;
    case 2:
    case 3:
      if (data[0] % 8 == 3) repair(bytes, detail::kRedisHeaderBytes - 8);
      try_string_header(bytes);
      break;
    case 4:
    case 5:
      if (data[0] % 8 == 5) repair(bytes, detail::kRecordBytes - 8);
      try_record(bytes);
      break;
    case 6:
      try_file(bytes);
      break;
    default:
      try_chunks(fuzz::Bytes(data + 1, size - 1));
  }
  return 0;
}
