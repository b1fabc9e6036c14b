// Two strings that change places in one script.
//
// A script and not WATCH and MULTI: inserts change the newer string all the time, and so would undo
// nearly every transaction that watches it; one that does not watch it could drop the older
// generation and then find that there is no newer one. A server executes a script alone, and logs
// and replicates its writes as one transaction.
#include <bloomery/rotating_redis_filter.hpp>

#include <bloomery/error.hpp>

#include <utility>
#include <vector>

#include "redis/shards/staged_keys.hpp"
#include "redis/strings/generations.hpp"
#include "redis/strings/header_io.hpp"

namespace bloomery {

using detail::BitOperation;
using detail::Cluster;
using detail::RedisHeader;
using detail::StringBits;

namespace {

// KEYS: newer, older, a name for what is being made. ARGV: the new header, the place of the last
// byte, and the identity and generation that the new one follows; 0: they are others.
constexpr std::string_view kRotate =
    "if redis.call('GETRANGE', KEYS[1], 64, 79) ~= ARGV[3] then return 0 end "
    "if redis.call('STRLEN', KEYS[1]) ~= ARGV[2] + 1 then return -1 end "
    // RENAME replaces the older one: until it succeeds, nothing has gone.
    "redis.call('UNLINK', KEYS[3]) make(KEYS[3], ARGV[1], ARGV[2], true) "
    "redis.call('RENAME', KEYS[1], KEYS[2]) put(KEYS[3], KEYS[1]) return 1";
// KEYS: newer, older; and, if a rotating filter may be replaced, names for what is being made.
// ARGV[3]: the header of the older generation. The old filter goes when both names were checked and
// both strings are made.
constexpr std::string_view kCreateBoth =
    "for i = 1, 2 do if redis.call('EXISTS', KEYS[i]) == 1 and "
    "(not KEYS[3] or redis.call('TYPE', KEYS[i]).ok ~= 'string' or "
    "redis.call('GETRANGE', KEYS[i], 0, 9) ~= string.sub(ARGV[1], 1, 10)) then return 0 end end "
    "make(KEYS[3] or KEYS[1], ARGV[1], ARGV[2], KEYS[3]) "
    "make(KEYS[4] or KEYS[2], ARGV[3], ARGV[2], KEYS[4]) "
    "if KEYS[3] then put(KEYS[3], KEYS[1]) put(KEYS[4], KEYS[2]) end return 1";

std::string script(std::string_view body) { return std::string(detail::kMakeAndPut).append(body); }

// The identity and the generation as a header has them.
std::string state_in(std::string_view header) {
  return std::string(header.substr(detail::kRedisIdentityAt, 16));
}

std::string last_byte(const RedisHeader& header) {
  return std::to_string(header.string_bytes() - 1);
}

void require_one_key(const RedisPlace& place) {
  if (place.shards)
    throw Error(ErrorCode::wrong_kind,
                "'" + place.key + "': a filter in shards does not rotate; leave the shards out");
}

const detail::BitString& string_of(const StringBits& bits) { return bits.strings()[0]; }

}  // namespace

std::string older_redis_key(std::string_view key) { return detail::name_beside(key, "older"); }

RotatingRedisFilter::RotatingRedisFilter(const RedisPlace& place, const RedisHeader& header)
    : plan_(header.plan), hasher_(header.hasher), identity_(header.identity) {
  const auto bits_of = [&](const std::string& key) {
    return StringBits(Cluster(place), header, std::vector{key});
  };
  generations_ = std::make_unique<Generations>(
      bits_of(place.key), bits_of(older_redis_key(place.key)),
      [plan = plan_](std::span<const Hash128> hashes) { return detail::bits_of(plan, 1, hashes); });
}
RotatingRedisFilter::RotatingRedisFilter(RotatingRedisFilter&&) noexcept = default;
RotatingRedisFilter& RotatingRedisFilter::operator=(RotatingRedisFilter&&) noexcept = default;
RotatingRedisFilter::~RotatingRedisFilter() = default;

RotatingRedisFilter RotatingRedisFilter::create(const RedisPlace& place, std::uint64_t capacity,
                                                double fpr, const Hasher& hasher,
                                                std::optional<Layout> layout, bool replace) {
  require_one_key(place);
  RedisHeader header = detail::header_of_string(bloomery::plan(capacity, fpr / 2, layout), hasher);
  header.generation = 1;
  const std::string older = detail::encode_redis_header(header);
  header.generation = 2;
  const std::string newer = detail::encode_redis_header(header);
  const std::string older_key = older_redis_key(place.key);
  std::vector<std::string> words = {"EVAL", script(kCreateBoth), replace ? "4" : "2", place.key,
                                    older_key};
  for (int i = 0; replace && i < 2; ++i) words.push_back(detail::scratch_name(place.key));
  words.insert(words.end(), {newer, last_byte(header), older});
  Cluster cluster(place);
  const detail::Reply created = cluster.ask(place.key, words);
  const std::string name = detail::name_of(cluster.name(), place.key);
  detail::require_type(created, REDIS_REPLY_INTEGER, name);
  if (created->integer != 1)
    throw Error(ErrorCode::exists,
                name + " or '" + older_key +
                    (replace ? "' exists and is no rotating filter, and only such a filter is "
                               "replaced; "
                             : "' exists already; open it, or ") +
                    "choose another key");
  return {place, header};
}

RotatingRedisFilter RotatingRedisFilter::open(const RedisPlace& place) {
  require_one_key(place);
  Cluster cluster(place);
  const detail::StringStart start = detail::read_start(cluster, place.key);
  const RedisHeader header = detail::header_in(start);
  if (header.generation == 0)
    throw Error(ErrorCode::wrong_kind, start.name +
                                           " is a filter that does not rotate; open it as what it "
                                           "is, or create one that does");
  return {place, header};
}

void RotatingRedisFilter::begin() const noexcept { generations_->begin(); }

std::size_t RotatingRedisFilter::do_insert(std::span<const Hash128> hashes, bool* fresh) {
  return generations_->run(BitOperation::set, hashes, detail::answers_for(hashes, fresh));
}

std::size_t RotatingRedisFilter::do_contain(std::span<const Hash128> hashes, bool* found) const {
  return generations_->run(BitOperation::test, hashes, detail::answers_for(hashes, found));
}

std::size_t RotatingRedisFilter::acknowledged() const noexcept {
  return generations_->acknowledged();
}

std::uint64_t RotatingRedisFilter::generation_in(StringBits& bits) const {
  const RedisHeader header =
      detail::header_in(detail::read_start(bits.cluster(), string_of(bits).key()));
  if (header.plan != plan_ || header.hasher.family() != hasher_.family() ||
      header.hasher.seed() != hasher_.seed() || header.identity != identity_ ||
      header.generation == 0)
    throw Error(ErrorCode::mismatch,
                string_of(bits).name() + " was replaced by another filter; open it again");
  return header.generation;
}

std::uint64_t RotatingRedisFilter::generation() { return generation_in(generations_->newer()); }

void RotatingRedisFilter::verify() {
  StringBits& older_bits = *generations_->older();
  std::uint64_t newer = generation(), older = generation_in(older_bits);
  while (older + 1 != newer) {
    detail::require_next(generations_->newer(), older_bits, newer, older);
    // The number of the older one is too large: because of a rotation in between, or for good.
    const std::uint64_t again = generation();
    if (again == newer)
      throw Error(ErrorCode::mismatch,
                  string_of(older_bits).name() + " is not the generation before that of '" +
                      string_of(generations_->newer()).key() + "'; rotate, which drops it");
    newer = again;
    older = generation_in(older_bits);
  }
}

bool RotatingRedisFilter::rotate(std::uint64_t from) {
  (void)generation();  // it is still this filter
  RedisHeader header{.plan = plan_, .hasher = hasher_, .identity = identity_, .generation = from};
  const std::string state = state_in(detail::encode_redis_header(header));
  header.generation = from + 1;
  const std::string next = detail::encode_redis_header(header);
  StringBits& newer = generations_->newer();
  const detail::BitString& string = string_of(newer);
  try {
    const detail::Reply reply = newer.cluster().ask(
        string.key(),
        {"EVAL", script(kRotate), "3", string.key(), string_of(*generations_->older()).key(),
         detail::name_beside(string.key(), "next"), next, last_byte(header), state});
    detail::require_type(reply, REDIS_REPLY_INTEGER, string.name());
    if (reply->integer < 0)
      throw Error(ErrorCode::corrupt, string.name() + " was cut short; build the filter anew");
    return reply->integer == 1;
  } catch (const Error& error) {
    // The server may have done it all the same.
    if (error.code() != ErrorCode::unavailable || generation() != from + 1) throw;
    return true;
  }
}

RotatingRedisFilter::BothStats RotatingRedisFilter::stats() {
  BothStats both{detail::stats_of(plan_, generations_->newer().share_of_ones()),
                 detail::stats_of(plan_, generations_->older()->share_of_ones()), 0};
  both.current_fpr = 1 - (1 - both.newer.current_fpr) * (1 - both.older.current_fpr);
  return both;
}

}  // namespace bloomery
