// Two strings that change places in one script.
//
// A script and not WATCH and MULTI: inserts change the newer string all the time, and so would
// undo nearly every transaction that watches it; and one that does not watch it could drop the
// older generation and then find that there is no newer one. A server runs a script alone, and
// logs and replicates its writes as one transaction.
#include <bloomery/rotating_redis_filter.hpp>

#include <bloomery/error.hpp>

#include <utility>

#include "base/endian.hpp"
#include "redis/one_string.hpp"
#include "redis/script.hpp"
#include "redis/whole_string.hpp"

namespace bloomery {
namespace {

using detail::Connection;
using detail::RedisBits;
using detail::RedisHeader;
using detail::script;

// KEYS: newer, older, a name for what is being made. ARGV: the new header, the last byte's place.
// ARGV[3]: identity and generation that are to be followed. 0: they are others.
constexpr std::string_view kRotate =
    "if redis.call('GETRANGE', KEYS[1], 64, 79) ~= ARGV[3] then return 0 end "
    "if redis.call('STRLEN', KEYS[1]) ~= ARGV[2] + 1 then return -1 end ";
// Of the older one RENAME takes the place: while it is refused, nothing has gone.
constexpr std::string_view kTurn =
    "redis.call('UNLINK', KEYS[3]) make(KEYS[3], ARGV[1], ARGV[2], true) "
    "redis.call('RENAME', KEYS[1], KEYS[2]) put(KEYS[3], KEYS[1]) return 1";
// KEYS: newer, older; and, where a filter of this kind may be replaced, names for what is being
// made. ARGV[3]: the older generation's header. The old filter goes when both names were looked at
// and both strings are made.
constexpr std::string_view kCreate =
    "for i = 1, 2 do if redis.call('EXISTS', KEYS[i]) == 1 and "
    "(not KEYS[3] or redis.call('TYPE', KEYS[i]).ok ~= 'string' or "
    "redis.call('GETRANGE', KEYS[i], 0, 9) ~= string.sub(ARGV[1], 1, 10)) then return 0 end end "
    "make(KEYS[3] or KEYS[1], ARGV[1], ARGV[2], KEYS[3]) "
    "make(KEYS[4] or KEYS[2], ARGV[3], ARGV[2], KEYS[4]) "
    "if KEYS[3] then put(KEYS[3], KEYS[1]) put(KEYS[4], KEYS[2]) end return 1";
constexpr std::string_view kRotatePhp =
    "if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end "
    "if redis.call('TYPE', KEYS[1]).ok ~= 'string' then return -1 end "
    "local older = redis.call('TYPE', KEYS[2]).ok "
    "if older ~= 'string' and older ~= 'none' then return -2 end "
    "redis.call('RENAME', KEYS[1], KEYS[2]) return 1";

std::unique_ptr<RedisBits> bits_of(const RedisAddress& address, std::string_view key,
                                   const RedisHeader& header) {
  const RedisBits::Guard guard{
      .identity = header.identity, .bytes = header.string_bytes(), .rotates = true};
  return std::make_unique<RedisBits>(Connection(address), std::string(key), guard,
                                     header.plan.hashes);
}

// Identity and generation as they stand in a header.
std::string state_in(std::string_view header) {
  return std::string(header.substr(detail::kRedisIdentityAt, 16));
}

std::string last_byte(const RedisHeader& header) {
  return std::to_string(header.string_bytes() - 1);
}

}  // namespace

std::string older_redis_key(std::string_view key) { return detail::name_beside(key, "older"); }

RotatingRedisFilter::RotatingRedisFilter(const RedisHeader& header,
                                         std::unique_ptr<RedisBits> newer,
                                         std::unique_ptr<RedisBits> older)
    : plan_(header.plan),
      hasher_(header.hasher),
      identity_(header.identity),
      newer_(std::move(newer)),
      older_(std::move(older)) {}
RotatingRedisFilter::RotatingRedisFilter(RotatingRedisFilter&&) noexcept = default;
RotatingRedisFilter& RotatingRedisFilter::operator=(RotatingRedisFilter&&) noexcept = default;
RotatingRedisFilter::~RotatingRedisFilter() = default;

RotatingRedisFilter RotatingRedisFilter::create(const RedisAddress& address, std::string_view key,
                                                std::uint64_t capacity, double fpr,
                                                const Hasher& hasher, std::optional<Layout> layout,
                                                bool replace) {
  RedisHeader header{.plan = bloomery::plan(capacity, fpr / 2, layout), .hasher = hasher};
  detail::require_string_fits(header.plan);
  header.identity = detail::new_identity();
  header.generation = 1;
  const std::string older = detail::encode_redis_header(header);
  header.generation = 2;
  const std::string newer = detail::encode_redis_header(header);
  const std::string older_key = older_redis_key(key);
  Connection connection(address);
  const std::string last = last_byte(header);
  const std::string text = script({detail::kMakeAndPut, kCreate});
  const detail::Reply created =
      replace ? connection.ask({"EVAL", text, "4", key, older_key, detail::scratch_name(key),
                                detail::scratch_name(key), newer, last, older})
              : connection.ask({"EVAL", text, "2", key, older_key, newer, last, older});
  const std::string name = detail::name_of(connection.name(), key);
  detail::require_type(created, REDIS_REPLY_INTEGER, name);
  if (created->integer != 1)
    throw Error(ErrorCode::exists,
                name + " or '" + older_key +
                    (replace ? "' exists and is no rotating filter, which alone is replaced; "
                             : "' exists already; open it, or ") +
                    "choose another key");
  return {header, bits_of(address, key, header), bits_of(address, older_key, header)};
}

RotatingRedisFilter RotatingRedisFilter::open(const RedisAddress& address, std::string_view key) {
  Connection connection(address);
  const RedisHeader header = detail::read_redis_header(connection, key);
  if (header.generation == 0)
    throw Error(ErrorCode::wrong_kind, detail::name_of(connection.name(), key) +
                                           " is a filter that does not rotate; open it as what it "
                                           "is, or create one that does");
  return {header, bits_of(address, key, header), bits_of(address, older_redis_key(key), header)};
}

void RotatingRedisFilter::require_next(std::uint64_t newer, std::uint64_t older) const {
  // A rotation in between makes the older one's number larger, never smaller.
  if (older + 1 < newer)
    throw Error(ErrorCode::mismatch, older_->name() + " is not the generation before that of '" +
                                         newer_->key() + "'; rotate, which drops it");
}

std::vector<bool> RotatingRedisFilter::ask_older(std::span<const Hash128> hashes,
                                                 std::span<const std::size_t> asked,
                                                 std::vector<std::uint64_t>& generations) {
  std::vector<Hash128> some;
  some.reserve(asked.size());
  for (const std::size_t i : asked) some.push_back(hashes[i]);
  const auto answers = std::make_unique<bool[]>(some.size());
  std::vector<std::uint64_t> older(some.size());
  older_->test(some.size(), detail::offsets_of(plan_, some),
               std::span<bool>(answers.get(), some.size()), older);
  for (std::size_t i = 0; i < some.size(); ++i) {
    require_next(generations[asked[i]], older[i]);
    generations[asked[i]] = older[i];
  }
  return std::vector<bool>(answers.get(), answers.get() + some.size());
}

std::size_t RotatingRedisFilter::insert_hashes(std::span<const Hash128> hashes,
                                               std::span<bool> fresh) {
  const auto answers = std::make_unique<bool[]>(hashes.size());
  std::vector<std::uint64_t> into(hashes.size());
  newer_->set(hashes.size(), detail::offsets_of(plan_, hashes),
              std::span<bool>(answers.get(), hashes.size()), into);
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < hashes.size(); ++i)
    if (answers[i]) asked.push_back(i);
  std::vector<std::uint64_t> generations = into;
  const std::vector<bool> older = ask_older(hashes, asked, generations);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    // A rotation in between has made our own bits the older ones, and dropped those that could have
    // held the key before: it was new to its generation, and so it is new.
    const bool rotated = generations[asked[i]] >= into[asked[i]];
    answers[asked[i]] = rotated || !older[i];
  }
  std::size_t count = 0;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (!fresh.empty()) fresh[i] = answers[i];
    count += answers[i] ? 1 : 0;
  }
  return count;
}

std::size_t RotatingRedisFilter::may_contain_hashes(std::span<const Hash128> hashes,
                                                    std::span<bool> found) {
  const auto answers = std::make_unique<bool[]>(hashes.size());
  std::vector<std::uint64_t> generations(hashes.size());
  newer_->test(hashes.size(), detail::offsets_of(plan_, hashes),
               std::span<bool>(answers.get(), hashes.size()), generations);
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < hashes.size(); ++i)
    if (!answers[i]) asked.push_back(i);
  const std::vector<bool> older = ask_older(hashes, asked, generations);
  for (std::size_t i = 0; i < asked.size(); ++i) answers[asked[i]] = older[i];
  std::size_t count = 0;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (!found.empty()) found[i] = answers[i];
    count += answers[i] ? 1 : 0;
  }
  return count;
}

std::size_t RotatingRedisFilter::acknowledged() const noexcept { return newer_->acknowledged(); }

std::uint64_t RotatingRedisFilter::generation_in(RedisBits& bits) const {
  const RedisHeader header = detail::read_redis_header(bits.connection(), bits.key());
  if (header.plan != plan_ || header.hasher.family() != hasher_.family() ||
      header.hasher.seed() != hasher_.seed() || header.identity != identity_ ||
      header.generation == 0)
    throw Error(ErrorCode::mismatch,
                bits.name() + " was replaced by another filter; open it again");
  return header.generation;
}

std::uint64_t RotatingRedisFilter::generation() { return generation_in(*newer_); }

void RotatingRedisFilter::verify() {
  std::uint64_t newer = generation(), older = generation_in(*older_);
  while (older + 1 != newer) {
    require_next(newer, older);
    // The older one's number is too large: by a rotation in between, or for ever.
    const std::uint64_t again = generation();
    if (again == newer)
      throw Error(ErrorCode::mismatch, older_->name() + " is not the generation before that of '" +
                                           newer_->key() + "'; rotate, which drops it");
    newer = again;
    older = generation_in(*older_);
  }
}

bool RotatingRedisFilter::rotate(std::uint64_t from) {
  (void)generation();  // it is this filter still
  RedisHeader header{.plan = plan_, .hasher = hasher_, .identity = identity_, .generation = from};
  const std::string state = state_in(detail::encode_redis_header(header));
  header.generation = from + 1;
  const std::string next = detail::encode_redis_header(header);
  const std::string made = detail::name_beside(newer_->key(), "next");
  const std::string text = script({detail::kMakeAndPut, kRotate, kTurn});
  try {
    const detail::Reply reply = newer_->connection().ask(
        {"EVAL", text, "3", newer_->key(), older_->key(), made, next, last_byte(header), state});
    detail::require_type(reply, REDIS_REPLY_INTEGER, newer_->name());
    if (reply->integer < 0)
      throw Error(ErrorCode::corrupt, newer_->name() + " was cut short; build the filter anew");
    return reply->integer == 1;
  } catch (const Error& error) {
    // The server may have done it all the same.
    if (error.code() != ErrorCode::unavailable || generation() != from + 1) throw;
    return true;
  }
}

RotatingRedisFilter::Fill RotatingRedisFilter::watch() {
  const auto of = [&](RedisBits& bits) {
    return detail::fill_of(plan_, bits.share_of_ones(detail::kRedisHeaderBytes));
  };
  Fill fill{of(*newer_), of(*older_), 0};
  fill.current_fpr = 1 - (1 - fill.newer.current_fpr) * (1 - fill.older.current_fpr);
  return fill;
}

bool rotate_php_bucket(const RedisAddress& address, std::string_view key) {
  Connection connection(address);
  const detail::Reply reply = connection.ask({"EVAL", kRotatePhp, "2", key, older_redis_key(key)});
  const std::string name = detail::name_of(connection.name(), key);
  detail::require_type(reply, REDIS_REPLY_INTEGER, name);
  if (reply->integer < 0)
    throw Error(
        ErrorCode::not_a_filter,
        (reply->integer == -1 ? name : detail::name_of(connection.name(), older_redis_key(key))) +
            " is no string; check the key");
  return reply->integer == 1;
}

}  // namespace bloomery
