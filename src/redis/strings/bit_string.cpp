// The commands about a string of bits, and the checks of their replies.
#include "redis/strings/bit_string.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <utility>

#include "base/endian.hpp"
#include "redis/strings/redis_header.hpp"

namespace bloomery::detail {
namespace {

// Removes only a string without a header, because no client can have stored keys in it.
constexpr std::string_view kRemoveStray =
    "if redis.call('GETRANGE', KEYS[1], 0, 127) == string.rep('\\0', 128) then "
    "return redis.call('DEL', KEYS[1]) end return 0";
// Does what BITFIELD does if the string has ARGV[1] bytes; otherwise it replies with the length of the string. The
// identity and, if ARGV[2] is 2, the generation are returned as bytes, because Lua's numbers have 53 bits.
constexpr std::string_view kSetAtEnd =
    "local bytes = redis.call('STRLEN', KEYS[1]) "
    "if bytes ~= tonumber(ARGV[1]) then return bytes end "
    "local bits = redis.call('BITFIELD', KEYS[1], unpack(ARGV, 3)) "
    "for i = tonumber(ARGV[2]), 1, -1 do "
    "table.insert(bits, 1, redis.call('GETRANGE', KEYS[1], 56 + 8 * i, 63 + 8 * i)) end return "
    "bits";

// The bytes of a header field; BITFIELD reads them as a big-endian number.
std::array<char, 8> field_in(const redisReply& element) {
  std::array<char, 8> field{};
  if (element.type == REDIS_REPLY_STRING)
    std::copy_n(element.str, std::min(element.len, field.size()), field.data());
  else
    store_le64(field.data(), __builtin_bswap64(static_cast<std::uint64_t>(element.integer)));
  return field;
}

}  // namespace

BitString::BitString(std::string key, std::string name, const Guard& guard, std::size_t hashes)
    : key_(std::move(key)), name_(std::move(name)), guard_(guard), hashes_(hashes) {}

std::uint64_t BitString::bits_begin() const noexcept {
  return guard_.identity ? kRedisHeaderBytes : 0;
}

std::uint64_t BitString::bits_bytes() const noexcept {
  return guard_.bytes - bits_begin() - (guard_.is_shard ? kShardEndBytes : 0);
}

void BitString::ask_length(Request& to) const { to.next().command({"STRLEN", key_}); }

void BitString::ask_identity(Request& to) const {
  ask_range(to, kRedisIdentityAt, sizeof(Identity));
}

void BitString::ask_generation(Request& to) const {
  static_assert(kRedisGenerationAt == kRedisIdentityAt + sizeof(Identity));
  ask_range(to, kRedisIdentityAt, sizeof(Identity) + 8);
}

std::uint64_t BitString::generation_in(const redisReply& reply) const {
  require_type(reply, REDIS_REPLY_STRING, name_);
  if (reply.len != sizeof(Identity) + 8) gone();
  require_identity(std::string_view(reply.str, sizeof(Identity)));
  return load_le64(reply.str + sizeof(Identity));
}

void BitString::ask_proof(Request& to) const {
  if (guard_.is_shard) return ask_range(to, guard_.bytes - kShardEndBytes, kShardEndBytes);
  ask_length(to);
  ask_identity(to);
}

void BitString::ask_range(Request& to, std::uint64_t from, std::uint64_t bytes) const {
  to.next().begin(4).word("GETRANGE").word(key_).number(from).number(from + bytes - 1);
}

void BitString::ask_bits(Request& to, BitOperation operation,
                         std::span<const std::uint64_t> offsets) const {
  const bool setting = operation == BitOperation::set;
  const std::size_t fields = (guard_.identity ? 1 : 0) + (guard_.rotates ? 1 : 0);
  const std::size_t bits = offsets.size() * (setting ? 4 : 3);
  const bool to_the_end =
      setting && guard_.identity && std::ranges::any_of(offsets, [&](std::uint64_t offset) {
        return offset / 8 + 1 == guard_.bytes;
      });
  Commands& command = to.next();
  if (to_the_end) {
    command.begin(6 + bits).word("EVAL").word(kSetAtEnd).word("1").word(key_);
    command.number(guard_.bytes).number(fields);
  } else {
    command.begin(2 + fields * 3 + bits).word(setting ? "BITFIELD" : "BITFIELD_RO").word(key_);
    if (guard_.identity) command.word("GET").word("i64").number(kRedisIdentityAt * 8);
    if (guard_.rotates) command.word("GET").word("i64").number(kRedisGenerationAt * 8);
  }
  for (const std::uint64_t offset : offsets) {
    command.word(setting ? "SET" : "GET").word("u1").number(offset);
    if (setting) command.word("1");
  }
}

void BitString::check_length(const redisReply& reply) {
  require_type(reply, REDIS_REPLY_INTEGER, name_);
  const auto bytes = static_cast<std::uint64_t>(reply.integer);
  if (bytes == 0 && (guard_.identity || guard_.least_bytes != 0)) gone();
  if (bytes < (guard_.identity ? guard_.bytes : guard_.least_bytes))
    throw Error(ErrorCode::corrupt,
                name_ + " was cut short, or replaced by a smaller one: it has " +
                    std::to_string(bytes) +
                    " bytes and had more; open it again, and if that fails build it again");
  if (bytes > guard_.bytes && guard_.identity)
    throw Error(ErrorCode::mismatch,
                name_ +
                    " was replaced by another filter, a larger one, or a client of such a one has "
                    "written behind its end; open it again");
  if (bytes > guard_.bytes)
    throw Error(ErrorCode::mismatch, name_ + " has " + std::to_string(bytes) +
                                         " bytes, more than the " + std::to_string(guard_.bytes) +
                                         " of its scheme; check the key and the scheme");
  guard_.least_bytes = bytes;
}

void BitString::check_identity(const redisReply& reply) const {
  require_type(reply, REDIS_REPLY_STRING, name_);
  require_identity(text_of(reply));
}

void BitString::check_proof(std::size_t command, const redisReply& reply) {
  if (!guard_.is_shard) return command == 0 ? check_length(reply) : check_identity(reply);
  require_type(reply, REDIS_REPLY_STRING, name_);
  if (reply.len != kShardEndBytes)
    throw Error(ErrorCode::corrupt, name_ + " was cut short or deleted; build the filter again");
  check_identity(reply);
}

BitString::Answer BitString::answer_of(BitOperation operation, const redisReply& reply) {
  const bool setting = operation == BitOperation::set;
  if (setting && reply.type == REDIS_REPLY_INTEGER) check_length(reply);
  require_type(reply, REDIS_REPLY_ARRAY, name_);
  const std::size_t fields = (guard_.identity ? 1 : 0) + (guard_.rotates ? 1 : 0);
  require_elements(reply, fields + hashes_, name_);
  const std::span elements(reply.element, reply.elements);
  if (guard_.identity) {
    const std::array<char, 8> found = field_in(*elements[0]);
    require_identity({found.data(), found.size()});
  }
  bool all = true;
  for (const redisReply* bit : elements.subspan(fields)) all = is_one(*bit) && all;
  return {setting ? !all : all, guard_.rotates ? load_le64(field_in(*elements[1]).data()) : 0};
}

bool BitString::is_one(const redisReply& bit) const {
  require_type(bit, REDIS_REPLY_INTEGER, name_);
  return bit.integer == 1;
}

void BitString::require_identity(std::string_view found) const {
  const std::string_view expected(guard_.identity->data(), guard_.identity->size());
  if (found == expected) return;
  if (std::ranges::all_of(found, [](char each) { return each == 0; })) gone();
  throw Error(ErrorCode::mismatch,
              name_ + " was replaced by another filter; open it again if that is yours");
}

Request BitString::removal_of_stray() const { return {key_, {"EVAL", kRemoveStray, "1", key_}}; }

void BitString::reaches(std::uint64_t bytes) {
  guard_.least_bytes = std::max(guard_.least_bytes, bytes);
}

void BitString::gone() const {
  throw Error(ErrorCode::missing,
              name_ + " is no longer there: deleted, expired or evicted; build the filter again");
}

}  // namespace bloomery::detail
