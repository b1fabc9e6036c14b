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
// ARGV: the identity, at kRedisIdentityAt.
constexpr std::string_view kDisown =
    "if redis.call('GETRANGE', KEYS[1], 64, 71) == ARGV[1] then "
    "redis.call('SETRANGE', KEYS[1], 64, string.rep('\\0', 8)) end return 0";

}  // namespace

BitString::BitString(std::string key, std::string name, const Guard& guard, std::size_t hashes)
    : key_(std::move(key)), name_(std::move(name)), guard_(guard), hashes_(hashes) {}

void BitString::ask_length(Commands& to) const { to.command({"STRLEN", key_}); }

void BitString::ask(Commands& to, Change change, std::span<const std::uint64_t> offsets) const {
  const bool setting = change == Change::set;
  to.begin(2 + (guard_.identity ? 3 : 0) + (guard_.rotates ? 3 : 0) +
           offsets.size() * (setting ? 4 : 3));
  to.word(setting ? "BITFIELD" : "BITFIELD_RO").word(key_);
  if (guard_.identity) to.word("GET").word("i64").number(kRedisIdentityAt * 8);
  if (guard_.rotates) to.word("GET").word("i64").number(kRedisGenerationAt * 8);
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

bool BitString::answer_of(Change change, const Reply& reply) const {
  require_type(reply, REDIS_REPLY_ARRAY, name_);
  const std::size_t before = (guard_.identity ? 1 : 0) + (guard_.rotates ? 1 : 0);
  if (reply->elements != before + hashes_)
    throw Error(ErrorCode::io, name_ + ": an answer of another length; check the address");
  const std::span elements(reply->element, reply->elements);
  if (guard_.identity) {
    // BITFIELD reads big-endian.
    std::array<char, 8> found;
    store_le64(found.data(), __builtin_bswap64(static_cast<std::uint64_t>(elements[0]->integer)));
    check_identity({found.data(), found.size()});
  }
  const bool all =
      std::all_of(elements.begin() + static_cast<std::ptrdiff_t>(before), elements.end(),
                  [](const redisReply* bit) { return bit->integer == 1; });
  return change == Change::set ? !all : all;
}

void BitString::check_identity(std::string_view found) const {
  const std::string_view expected(guard_.identity->data(), guard_.identity->size());
  if (found == expected) return;
  if (std::all_of(found.begin(), found.end(), [](char each) { return each == 0; })) gone();
  throw Error(ErrorCode::mismatch,
              name_ + " was replaced by another filter; open it again if that is yours");
}

std::uint64_t BitString::generation_of(const Reply& reply) {
  return __builtin_bswap64(static_cast<std::uint64_t>(reply->element[1]->integer));
}

void BitString::ask_to_remove_debris(Commands& to) const {
  to.command({"EVAL", kRemoveDebris, "1", key_});
}

void BitString::ask_to_disown(Commands& to) const {
  to.command({"EVAL", kDisown, "1", key_, {guard_.identity->data(), guard_.identity->size()}});
}

void BitString::reaches(std::uint64_t bytes) { guard_.least = std::max(guard_.least, bytes); }

void BitString::gone() const {
  throw Error(ErrorCode::missing,
              name_ + " is not there any more: deleted, expired or evicted; build the filter anew");
}

}  // namespace bloomery::detail
