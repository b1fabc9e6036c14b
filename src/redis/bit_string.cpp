// What is asked of a string of bits, and what its answers have to be.
#include "redis/bit_string.hpp"

#include <algorithm>
#include <utility>

#include "redis/redis_header.hpp"

#include "base/endian.hpp"

namespace bloomery::detail {
namespace {

// Nobody can have stored there what has no header.
constexpr std::string_view kRemoveDebris =
    "if redis.call('GETRANGE', KEYS[1], 0, 127) == string.rep('\\0', 128) then "
    "return redis.call('DEL', KEYS[1]) end return 0";
// What BITFIELD does to a string that has all of its bytes, ARGV[1], still; else its length. The
// identity and, where ARGV[2] is 2, the generation come as bytes: Lua's numbers have 53 bits.
constexpr std::string_view kSetAtEnd =
    "local bytes = redis.call('STRLEN', KEYS[1]) "
    "if bytes ~= tonumber(ARGV[1]) then return bytes end "
    "local bits = redis.call('BITFIELD', KEYS[1], unpack(ARGV, 3)) "
    "for i = tonumber(ARGV[2]), 1, -1 do "
    "table.insert(bits, 1, redis.call('GETRANGE', KEYS[1], 56 + 8 * i, 63 + 8 * i)) end return "
    "bits";

// The bytes of a field of the header; BITFIELD reads big-endian.
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

void BitString::ask_length(Commands& to) const { to.command({"STRLEN", key_}); }

void BitString::ask_identity(Commands& to) const {
  to.begin(4).word("GETRANGE").word(key_);
  to.number(kRedisIdentityAt).number(kRedisIdentityAt + sizeof(Identity) - 1);
}

void BitString::ask_end(Commands& to) const {
  to.begin(4).word("GETRANGE").word(key_);
  to.number(guard_.bytes - kShardEndBytes).number(guard_.bytes - 1);
}

void BitString::ask(Commands& to, Change change, std::span<const std::uint64_t> offsets) const {
  const bool setting = change == Change::set;
  const std::size_t fields = (guard_.identity ? 1 : 0) + (guard_.rotates ? 1 : 0);
  const std::size_t bits = offsets.size() * (setting ? 4 : 3);
  const bool to_the_end =
      setting && guard_.identity && std::ranges::any_of(offsets, [&](std::uint64_t offset) {
        return offset / 8 + 1 == guard_.bytes;
      });
  if (to_the_end) {
    to.begin(6 + bits).word("EVAL").word(kSetAtEnd).word("1").word(key_);
    to.number(guard_.bytes).number(fields);
  } else {
    to.begin(2 + fields * 3 + bits).word(setting ? "BITFIELD" : "BITFIELD_RO").word(key_);
    if (guard_.identity) to.word("GET").word("i64").number(kRedisIdentityAt * 8);
    if (guard_.rotates) to.word("GET").word("i64").number(kRedisGenerationAt * 8);
  }
  for (const std::uint64_t offset : offsets) {
    to.word(setting ? "SET" : "GET").word("u1").number(offset);
    if (setting) to.word("1");
  }
}

void BitString::check_length(const redisReply& reply) {
  require_type(reply, REDIS_REPLY_INTEGER, name_);
  const auto bytes = static_cast<std::uint64_t>(reply.integer);
  if (bytes == 0 && (guard_.identity || guard_.least != 0)) gone();
  if (bytes < (guard_.identity ? guard_.bytes : guard_.least))
    throw Error(ErrorCode::corrupt, name_ + " was cut short: it has " + std::to_string(bytes) +
                                        " bytes and had more; build the filter anew");
  if (bytes > guard_.bytes && guard_.identity)
    throw Error(ErrorCode::mismatch,
                name_ + " was replaced by another filter, a larger one; open it again");
  if (bytes > guard_.bytes)
    throw Error(ErrorCode::mismatch, name_ + " has " + std::to_string(bytes) +
                                         " bytes, more than the " + std::to_string(guard_.bytes) +
                                         " of its scheme; check the key and the scheme");
  guard_.least = bytes;
}

bool BitString::answer_of(Change change, const Reply& reply) {
  if (change == Change::set && reply->type == REDIS_REPLY_INTEGER) check_length(reply);
  require_type(reply, REDIS_REPLY_ARRAY, name_);
  const std::size_t before = (guard_.identity ? 1 : 0) + (guard_.rotates ? 1 : 0);
  if (reply->elements != before + hashes_)
    throw Error(ErrorCode::io, name_ + ": an answer of another length; check the address");
  const std::span elements(reply->element, reply->elements);
  if (guard_.identity) {
    const std::array<char, 8> found = field_in(*elements[0]);
    check_identity({found.data(), found.size()});
  }
  const bool all =
      std::all_of(elements.begin() + static_cast<std::ptrdiff_t>(before), elements.end(),
                  [](const redisReply* bit) { return bit->integer == 1; });
  return change == Change::set ? !all : all;
}

void BitString::check_identity(const redisReply& reply) const {
  require_type(reply, REDIS_REPLY_STRING, name_);
  check_identity(std::string_view(reply.str, reply.len));
}

void BitString::check_end(const redisReply& reply) const {
  require_type(reply, REDIS_REPLY_STRING, name_);
  if (reply.len != kShardEndBytes)
    throw Error(ErrorCode::corrupt, name_ + " was cut short or deleted; build the filter anew");
  check_identity(std::string_view(reply.str, reply.len));
}

void BitString::check_identity(std::string_view found) const {
  const std::string_view expected(guard_.identity->data(), guard_.identity->size());
  if (found == expected) return;
  if (std::all_of(found.begin(), found.end(), [](char each) { return each == 0; })) gone();
  throw Error(ErrorCode::mismatch,
              name_ + " was replaced by another filter; open it again if that is yours");
}

std::uint64_t BitString::generation_of(const Reply& reply) {
  return load_le64(field_in(*reply->element[1]).data());
}

void BitString::ask_to_remove_debris(Commands& to) const {
  to.command({"EVAL", kRemoveDebris, "1", key_});
}

void BitString::reaches(std::uint64_t bytes) { guard_.least = std::max(guard_.least, bytes); }

void BitString::gone() const {
  throw Error(ErrorCode::missing,
              name_ + " is not there any more: deleted, expired or evicted; build the filter anew");
}

}  // namespace bloomery::detail
