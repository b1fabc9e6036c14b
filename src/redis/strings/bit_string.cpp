// The commands about a string of bits, and the checks of their replies.
#include "redis/strings/bit_string.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <utility>

#include "base/endian.hpp"
#include "redis/strings/redis_header.hpp"

namespace bloomery::detail {
namespace {

// ARGV: the most bits that it may have.
constexpr std::string_view kRemoveStray =
    "if redis.call('GETRANGE', KEYS[1], 0, 127) == string.rep('\\0', 128) and "
    "redis.call('BITCOUNT', KEYS[1]) <= tonumber(ARGV[1]) then "
    "return redis.call('DEL', KEYS[1]) end return 0";
constexpr std::size_t kClientsOfStray = 16;

// Does what BITFIELD does if the string has ARGV[1] bytes and the identity ARGV[2]; otherwise it replies with the
// length, or with the identity and the generation that the string has. These are bytes, because Lua's numbers have 53
// bits.
constexpr std::string_view kSetIfWhole =
    "local bytes = redis.call('STRLEN', KEYS[1]) "
    "if bytes ~= tonumber(ARGV[1]) then return bytes end "
    "local state = redis.call('GETRANGE', KEYS[1], 64, 79) "
    "if string.sub(state, 1, 8) ~= ARGV[2] then return state end "
    "local bits = redis.call('BITFIELD', KEYS[1], unpack(ARGV, 3)) "
    "table.insert(bits, 1, state) return bits";
static_assert(kRedisIdentityAt == 64 && kRedisGenerationAt == 72);
constexpr std::size_t kFewKeys = 4;

// The bytes of a header field, which BITFIELD reads as a big-endian number.
std::array<char, 8> field_in(const redisReply& element) {
  std::array<char, 8> field{};
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

BitString::Check BitString::check_of(BitOperation operation, std::size_t keys) const noexcept {
  if (!guard_.identity) return Check::length_first;
  if (operation == BitOperation::test) return Check::proof_last;
  return keys <= kFewKeys && !guard_.is_shard ? Check::in_scripts : Check::length_first;
}

void BitString::ask_bits(Request& to, BitOperation operation,
                         std::span<const std::uint64_t> offsets, Check check) const {
  const bool setting = operation == BitOperation::set;
  const std::size_t words = offsets.size() * (setting ? 4 : 3);
  const bool to_the_end =
      setting && guard_.identity && std::ranges::any_of(offsets, [&](std::uint64_t offset) {
        return offset / 8 + 1 == guard_.bytes;
      });
  Commands& command = to.next();
  if (check == Check::in_scripts || to_the_end) {
    command.begin(6 + words).word("EVAL").word(kSetIfWhole).word("1").word(key_);
    command.number(guard_.bytes).word({guard_.identity->data(), guard_.identity->size()});
  } else {
    const std::size_t fields = (guard_.identity ? 1 : 0) + (guard_.rotates ? 1 : 0);
    command.begin(2 + fields * 3 + words).word(setting ? "BITFIELD" : "BITFIELD_RO").word(key_);
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

// The bits follow the header's fields: of a script they are one string, of BITFIELD an integer each.
BitString::Answer BitString::answer_of(BitOperation operation, const redisReply& reply) {
  const bool setting = operation == BitOperation::set;
  if (setting && reply.type == REDIS_REPLY_INTEGER) check_length(reply);
  if (setting && guard_.identity && reply.type == REDIS_REPLY_STRING) (void)generation_in(reply);
  require_type(reply, REDIS_REPLY_ARRAY, name_);
  const bool by_script =
      guard_.identity && reply.elements > 0 && reply.element[0]->type == REDIS_REPLY_STRING;
  const std::size_t fields = by_script ? 1 : (guard_.identity ? 1 : 0) + (guard_.rotates ? 1 : 0);
  require_elements(reply, fields + hashes_, name_);
  const std::span elements(reply.element, reply.elements);
  std::uint64_t generation = 0;
  if (by_script) {
    generation = generation_in(*elements[0]);
  } else if (guard_.identity) {
    const std::array<char, 8> identity = field_in(*elements[0]);
    require_identity({identity.data(), identity.size()});
    if (guard_.rotates) generation = load_le64(field_in(*elements[1]).data());
  }
  bool all = true;
  for (const redisReply* bit : elements.subspan(fields)) all = is_one(*bit) && all;
  return {setting ? !all : all, guard_.rotates ? generation : 0};
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

Request BitString::removal_of_stray(std::size_t bits) const {
  return {key_, {"EVAL", kRemoveStray, "1", key_, std::to_string(kClientsOfStray * bits)}};
}

void BitString::reaches(std::uint64_t bytes) {
  guard_.least_bytes = std::max(guard_.least_bytes, bytes);
}

void BitString::gone() const {
  throw Error(ErrorCode::missing,
              name_ + " is no longer there: deleted, expired or evicted; build the filter again");
}

}  // namespace bloomery::detail
