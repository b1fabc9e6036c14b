// The commands of a transaction, and the bits in what it has read.
#include "redis/block_reads.hpp"

#include <bloomery/error.hpp>

#include <bloomery/plan.hpp>

#include <cstring>
#include <string>

#include "redis/redis_header.hpp"

namespace bloomery::detail {
namespace {

constexpr std::size_t kBlockBytes = kBlockBits / 8;

// The first byte of an offset's block in the string.
std::uint64_t block_of(std::uint64_t offset) {
  static_assert(kRedisHeaderBytes % kBlockBytes == 0);
  return offset / kBlockBits * kBlockBytes;
}

// Calls block(first, last + 1) for each run of offsets in one block.
void each_block(std::span<const std::uint64_t> offsets, auto block) {
  for (std::size_t first = 0; first < offsets.size();) {
    std::size_t end = first + 1;
    while (end < offsets.size() && block_of(offsets[end]) == block_of(offsets[first])) ++end;
    block(first, end);
    first = end;
  }
}

}  // namespace

void BlockReads::add(std::span<const std::uint64_t> offsets) {
  offsets_.insert(offsets_.end(), offsets.begin(), offsets.end());
}

std::size_t BlockReads::ask(const std::function<Commands&()>& next) const {
  const std::string& key = string_->key();
  std::size_t commands = 4;
  const auto read = [&](std::uint64_t from, std::uint64_t bytes) {
    next().begin(4).word("GETRANGE").word(key).number(from).number(from + bytes - 1);
  };
  next().command({"MULTI"});
  string_->ask_length(next());
  string_->ask_identity(next());
  const std::size_t hashes = string_->hashes();
  for (std::size_t i = 0; i < offsets_.size(); i += hashes) {
    const auto offsets = std::span(offsets_).subspan(i, hashes);
    each_block(offsets, [&](std::size_t first, std::size_t) {
      read(block_of(offsets[first]), kBlockBytes);
      ++commands;
    });
  }
  next().command({"EXEC"});
  return commands;
}

void BlockReads::queued(const Reply& reply) const {
  require_type(reply, REDIS_REPLY_STATUS, string_->name());
}

void BlockReads::answer(const Reply& reply,
                        const std::function<void(std::size_t, bool)>& use) const {
  require_type(reply, REDIS_REPLY_ARRAY, string_->name());
  std::size_t taken = 0;
  const auto next = [&](int type) -> const redisReply& {
    if (taken == reply->elements)
      throw Error(ErrorCode::io,
                  string_->name() + ": an answer of another length; check the address");
    const redisReply& each = *reply->element[taken++];
    require_type(each, type, string_->name());
    return each;
  };
  const auto next_text = [&]() -> std::string_view {
    const redisReply& text = next(REDIS_REPLY_STRING);
    return {text.str, text.len};
  };
  string_->check_length(next(REDIS_REPLY_INTEGER));
  string_->check_identity(next(REDIS_REPLY_STRING));
  const std::size_t hashes = string_->hashes();
  for (std::size_t i = 0; i < offsets_.size(); i += hashes) {
    const auto offsets = std::span(offsets_).subspan(i, hashes);
    bool all = true;
    each_block(offsets, [&](std::size_t first, std::size_t end) {
      const std::string_view block = next_text();
      if (block.size() != kBlockBytes)
        throw Error(ErrorCode::corrupt, string_->name() + " was cut short; build the filter anew");
      for (std::size_t j = first; j < end; ++j) {
        const auto byte = static_cast<unsigned char>(block[offsets[j] / 8 % kBlockBytes]);
        all = all && (byte >> (7 - offsets[j] % 8) & 1) != 0;
      }
    });
    use(i / hashes, all);
  }
}

}  // namespace bloomery::detail
