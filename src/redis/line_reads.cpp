// The commands of a transaction, and the bits in what it has read.
#include "redis/line_reads.hpp"

#include <bloomery/error.hpp>

#include <bloomery/plan.hpp>

#include <cstring>
#include <string>

#include "redis/redis_header.hpp"

namespace bloomery::detail {
namespace {

constexpr std::size_t kLineBytes = kLineBits / 8;

// The first byte of an offset's line in the string.
std::uint64_t line_of(std::uint64_t offset) {
  static_assert(kRedisHeaderBytes % kLineBytes == 0);
  return offset / kLineBits * kLineBytes;
}

// Calls line(first, last + 1) for each run of offsets in one line.
void each_line(std::span<const std::uint64_t> offsets, auto line) {
  for (std::size_t first = 0; first < offsets.size();) {
    std::size_t end = first + 1;
    while (end < offsets.size() && line_of(offsets[end]) == line_of(offsets[first])) ++end;
    line(first, end);
    first = end;
  }
}

}  // namespace

void LineReads::add(std::span<const std::uint64_t> offsets) {
  offsets_.insert(offsets_.end(), offsets.begin(), offsets.end());
}

std::size_t LineReads::ask(const std::function<Commands&()>& next) const {
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
    each_line(offsets, [&](std::size_t first, std::size_t) {
      read(line_of(offsets[first]), kLineBytes);
      ++commands;
    });
  }
  next().command({"EXEC"});
  return commands;
}

void LineReads::queued(const Reply& reply) const {
  require_type(reply, REDIS_REPLY_STATUS, string_->name());
}

void LineReads::answer(const Reply& reply,
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
    each_line(offsets, [&](std::size_t first, std::size_t end) {
      const std::string_view line = next_text();
      if (line.size() != kLineBytes)
        throw Error(ErrorCode::corrupt, string_->name() + " was cut short; build the filter anew");
      for (std::size_t j = first; j < end; ++j) {
        const auto byte = static_cast<unsigned char>(line[offsets[j] / 8 % kLineBytes]);
        all = all && (byte >> (7 - offsets[j] % 8) & 1) != 0;
      }
    });
    use(i / hashes, all);
  }
}

}  // namespace bloomery::detail
