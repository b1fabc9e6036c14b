// Two strings that change places in one script; for a filter in shards, the two strings of each shard.
//
// It uses a script and not WATCH and MULTI: inserts change the newer string all the time, so they would abort nearly
// every transaction that watches it; a transaction that does not watch it could drop the older generation and then
// find that there is no newer one. A server executes a script alone, and logs and replicates its writes as one
// transaction.
#include <bloomery/rotating_redis_filter.hpp>

#include <bloomery/error.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "redis/shards/shard_keys.hpp"
#include "redis/shards/shard_plan.hpp"
#include "redis/shards/staged_keys.hpp"
#include "redis/strings/generations.hpp"
#include "redis/strings/header_io.hpp"

namespace bloomery {

using detail::BitOperation;
using detail::Cluster;
using detail::RedisHeader;
using detail::StringBits;

namespace {

// KEYS: the newer string, the older string, a temporary name. ARGV: the new header, the offset of the last byte, the
// identity and generation that the new generation follows (the script returns 0 if it is in another one, -2 if it is
// not there or of another filter), and the last bytes of the new string. For a shard also the header of the generation
// that the new one follows: a shard that is behind, because a failover has lost its last rotation, gets it.
constexpr std::string_view kRotate =
    "local state = redis.call('GETRANGE', KEYS[1], 64, 79) "
    "if state ~= ARGV[3] then "
    "if #state < 16 or string.sub(state, 1, 8) ~= string.sub(ARGV[3], 1, 8) then return -2 end "
    "local function number(bytes) local n = 0 for i = 16, 9, -1 do n = n * 256 + "
    "string.byte(bytes, i) end return n end "
    "if ARGV[5] == '' or number(state) > number(ARGV[3]) then return 0 end end "
    "if redis.call('STRLEN', KEYS[1]) ~= ARGV[2] + 1 then return -1 end "
    // RENAME replaces the older string: until it succeeds, nothing is lost.
    "redis.call('UNLINK', KEYS[3]) make(KEYS[3], ARGV[1], ARGV[2], true) "
    "if ARGV[4] ~= '' then redis.call('SETRANGE', KEYS[3], ARGV[2] + 1 - #ARGV[4], ARGV[4]) end "
    "if state ~= ARGV[3] then redis.call('SETRANGE', KEYS[1], 0, ARGV[5]) end "
    "redis.call('RENAME', KEYS[1], KEYS[2]) put(KEYS[3], KEYS[1]) return 1";
// KEYS: the newer string, the older string; and, if a rotating filter may be replaced, temporary names. ARGV[3]: the
// header of the older generation. The old filter is removed when both names were checked and both new strings are
// made.
constexpr std::string_view kCreateBoth =
    "for i = 1, 2 do if redis.call('EXISTS', KEYS[i]) == 1 and "
    "(not KEYS[3] or redis.call('TYPE', KEYS[i]).ok ~= 'string' or "
    "redis.call('GETRANGE', KEYS[i], 0, 9) ~= string.sub(ARGV[1], 1, 10)) then return 0 end end "
    "make(KEYS[3] or KEYS[1], ARGV[1], ARGV[2], KEYS[3]) "
    "make(KEYS[4] or KEYS[2], ARGV[3], ARGV[2], KEYS[4]) "
    "if KEYS[3] then put(KEYS[3], KEYS[1]) put(KEYS[4], KEYS[2]) end return 1";

std::string script(std::string_view body) { return std::string(detail::kMakeAndPut).append(body); }

// The identity and the generation, as in a header.
std::string state_in(std::string_view header) {
  return std::string(header.substr(detail::kRedisIdentityAt, 16));
}

// The identity in the header at a key; empty if there is no header.
std::string identity_at(Cluster& cluster, const std::string& key) try {
  const std::string start = detail::read_start(cluster, key).bytes;
  if (!detail::begins_with_redis_header(start)) return {};
  return start.substr(detail::kRedisIdentityAt, 8);
} catch (const Error& error) {
  if (error.code() == ErrorCode::not_a_filter) return {};
  throw;
}

// The same of another filter's key, which the user perhaps may not read.
std::string identity_of_other(Cluster& cluster, const std::string& key) try {
  return identity_at(cluster, key);
} catch (const Error& error) {
  if (error.code() == ErrorCode::denied) return {};
  throw;
}

// Making a string of up to 512 MiB takes a server a tenth of a second.
constexpr std::size_t kShardsAtOnce = 16;

std::string last_byte(const RedisHeader& header) {
  return std::to_string(header.string_bytes() - 1);
}

std::vector<std::string> keys_of(const RedisPlace& place, const RedisHeader& header) {
  return header.shards == 0 ? std::vector{place.key} : detail::shard_keys(place.key, header.shards);
}

// Error{mismatch}: the key is that of the older generation of a filter. (To rotate or to replace that would drop it.)
void require_newer(Cluster& cluster, const std::string& key) {
  constexpr std::string_view kEnd = ":older";
  if (!key.ends_with(kEnd)) return;
  const std::string identity = identity_at(cluster, key);
  if (identity.empty()) return;
  const std::string whole = key.substr(0, key.size() - kEnd.size());
  const std::string inner = whole.size() > 2 ? whole.substr(1, whole.size() - 2) : whole;
  for (const std::string& newer : {whole, inner}) {
    if (older_redis_key(newer) == key && identity_of_other(cluster, newer) == identity)
      throw Error(ErrorCode::mismatch, cluster.name_of(key) + " is the older generation of " +
                                           detail::quoted_key(newer) + "; open that");
  }
}

// Error{exists}: the older generation would have the key that the one of another filter has, since 'x' and '{x}' have
// the same name for it.
void require_own_older(Cluster& cluster, const std::string& key) {
  const bool in_braces = key.size() > 2 && key.starts_with('{') && key.ends_with('}');
  const std::string other = in_braces ? key.substr(1, key.size() - 2) : "{" + key + "}";
  const std::string older = older_redis_key(key);
  if (older_redis_key(other) != older) return;
  const std::string identity = identity_at(cluster, older);
  if (!identity.empty() && identity_of_other(cluster, other) == identity)
    throw Error(ErrorCode::exists, cluster.name_of(older) + " is the older generation of " +
                                       detail::quoted_key(other) + "; choose another key");
}

// The first key represents the filter: it is made and rotated last.
RedisHeader create_shards(Cluster& cluster, const RedisPlace& place, const Plan& plan,
                          const Hasher& hasher) {
  const std::uint32_t shards =
      *place.shards != 0 ? *place.shards : detail::shards_for(plan, cluster.nodes());
  const RedisHeader made{.plan = detail::plan_for_shards(plan, shards),
                         .hasher = hasher,
                         .identity = detail::new_identity(),
                         .shards = shards,
                         .generation = 2};
  std::vector<detail::ShardString> strings;
  const auto keys = detail::shard_keys(place.key, shards);
  RedisHeader header = made;
  for (header.shard = 0; header.shard < shards; ++header.shard)
    for (header.generation = 2; header.generation > 0; --header.generation) {
      const std::string& key = keys[header.shard];
      strings.push_back({header.generation == 2 ? key : older_redis_key(key),
                         detail::encode_redis_header(header)});
    }
  detail::make_shard_strings(cluster, made.identity, strings, made.string_bytes());
  return made;
}

}  // namespace

std::string older_redis_key(std::string_view key) { return detail::name_beside(key, "older"); }

RotatingRedisFilter::RotatingRedisFilter(const RedisPlace& place, const RedisHeader& header,
                                         Cluster cluster)
    : plan_(header.plan),
      hasher_(header.hasher),
      identity_(header.identity),
      shards_(header.shards) {
  std::vector<std::string> keys = keys_of(place, header);
  StringBits newer(std::move(cluster), header, keys);
  for (std::string& key : keys) key = older_redis_key(key);
  generations_ = std::make_unique<Generations>(
      std::move(newer), StringBits(Cluster(place), header, keys),
      [plan = plan_, shards = std::max(shards_, 1U)](std::span<const Hash128> hashes) {
        return detail::bits_of(plan, shards, hashes);
      });
}
RotatingRedisFilter::RotatingRedisFilter(RotatingRedisFilter&&) noexcept = default;
RotatingRedisFilter& RotatingRedisFilter::operator=(RotatingRedisFilter&&) noexcept = default;
RotatingRedisFilter::~RotatingRedisFilter() = default;

RotatingRedisFilter RotatingRedisFilter::create(const RedisPlace& place, std::uint64_t capacity,
                                                double fpr, const Hasher& hasher,
                                                std::optional<Layout> layout, bool replace) {
  const Plan plan = bloomery::plan(capacity, fpr / 2, layout);
  Cluster cluster(place);
  if (place.shards) {
    if (replace)
      throw Error(ErrorCode::wrong_kind,
                  detail::quoted_key(place.key) +
                      ": a rotating filter in shards is not replaced; rotate it twice, or choose "
                      "another name");
    const RedisHeader made = create_shards(cluster, place, plan, hasher);
    return {place, made, std::move(cluster)};
  }
  RedisHeader header = detail::header_of_string(plan, hasher);
  header.generation = 1;
  const std::string older = detail::encode_redis_header(header);
  header.generation = 2;
  const std::string newer = detail::encode_redis_header(header);
  const std::string older_key = older_redis_key(place.key);
  if (replace) {
    require_newer(cluster, place.key);
    require_own_older(cluster, place.key);
  }
  std::vector<std::string> words = {"EVAL", script(kCreateBoth), replace ? "4" : "2", place.key,
                                    older_key};
  for (int i = 0; replace && i < 2; ++i) words.push_back(detail::scratch_name(place.key));
  words.insert(words.end(), {newer, last_byte(header), older});
  const detail::Reply created = cluster.ask(place.key, words);
  const std::string name = cluster.name_of(place.key);
  detail::require_type(created, REDIS_REPLY_INTEGER, name);
  if (created->integer != 1)
    throw Error(ErrorCode::exists,
                name + " or " + detail::quoted_key(older_key) +
                    (replace ? " exists and is not a rotating filter, and only such a filter is "
                               "replaced; "
                             : " exists already; open it, or ") +
                    "choose another key");
  return {place, header, std::move(cluster)};
}

RotatingRedisFilter RotatingRedisFilter::open(const RedisPlace& place) {
  Cluster cluster(place);
  const RedisHeader header = detail::header_at(cluster, place);
  if (header.generation == 0)
    throw Error(ErrorCode::wrong_kind, cluster.name_of(place.key) +
                                           " is a filter that does not rotate; open it as what it "
                                           "is, or create one that does");
  return open(place, header, std::move(cluster));
}

RotatingRedisFilter RotatingRedisFilter::open(const RedisPlace& place, const RedisHeader& header,
                                              Cluster cluster) {
  if (!place.shards) require_newer(cluster, place.key);
  return {place, header, std::move(cluster)};
}

void RotatingRedisFilter::begin_call() const noexcept { generations_->begin(); }

std::size_t RotatingRedisFilter::do_insert(std::span<const Hash128> hashes, bool* fresh) {
  return generations_->run(BitOperation::set, hashes, detail::answers_for(hashes, fresh));
}

std::size_t RotatingRedisFilter::do_contain(std::span<const Hash128> hashes, bool* found) const {
  return generations_->run(BitOperation::test, hashes, detail::answers_for(hashes, found));
}

std::size_t RotatingRedisFilter::acknowledged() const noexcept {
  return generations_->acknowledged();
}

std::uint64_t RotatingRedisFilter::generation_in(StringBits& bits, std::uint32_t shard) const {
  const detail::BitString& string = bits.strings()[shard];
  const detail::StringStart start = detail::read_start(bits.cluster(), string.key());
  const RedisHeader header = detail::header_in(start);
  if (header.plan != plan_ || header.hasher != hasher_ || header.identity != identity_ ||
      header.generation == 0 || header.shards != shards_ || header.shard != shard)
    throw Error(ErrorCode::mismatch,
                string.name() + " was replaced by another filter; open it again");
  if (start.length != header.string_bytes())
    throw Error(ErrorCode::corrupt, string.name() + " was cut short; build the filter again");
  return header.generation;
}

std::uint64_t RotatingRedisFilter::generation() { return generation_in(generations_->newer(), 0); }

std::string RotatingRedisFilter::older_key() const {
  return generations_->older()->strings()[0].key();
}

std::size_t RotatingRedisFilter::nodes() { return generations_->newer().cluster().nodes(); }

void RotatingRedisFilter::verify() {
  for (std::uint32_t shard = 0; shard < std::max(shards_, 1U); ++shard) verify_shard(shard);
}

void RotatingRedisFilter::verify_shard(std::uint32_t shard) {
  StringBits& newer_bits = generations_->newer();
  StringBits& older_bits = *generations_->older();
  std::uint64_t newer = generation_in(newer_bits, shard), older = generation_in(older_bits, shard);
  while (older + 1 != newer) {
    detail::require_next(newer_bits.strings()[shard], older_bits.strings()[shard], newer, older);
    // The number of the older generation is too large, either because of a rotation in between or permanently.
    const std::uint64_t again = generation_in(newer_bits, shard);
    if (again == newer)
      throw detail::not_next(newer_bits.strings()[shard], older_bits.strings()[shard]);
    newer = again;
    older = generation_in(older_bits, shard);
  }
}

detail::Request RotatingRedisFilter::rotation(std::uint32_t shard, std::uint64_t from) const {
  RedisHeader header{.plan = plan_,
                     .hasher = hasher_,
                     .identity = identity_,
                     .shard = shard,
                     .shards = shards_,
                     .generation = from};
  const std::string before = detail::encode_redis_header(header), state = state_in(before);
  header.generation = from + 1;
  const std::string& newer = generations_->newer().strings()[shard].key();
  return {newer,
          {"EVAL", script(kRotate), "3", newer, generations_->older()->strings()[shard].key(),
           detail::name_beside(newer, "next"), detail::encode_redis_header(header),
           last_byte(header), state, shards_ == 0 ? "" : state.substr(0, detail::kShardEndBytes),
           shard == 0 ? "" : before}};
}

bool RotatingRedisFilter::rotate(std::uint64_t from) {
  if (generation() != from) return false;  // it also checks that it is still this filter
  StringBits& bits = generations_->newer();
  // Whether the shard was in this generation: another client, or a rotation that was killed, may have rotated it
  // already.
  bool rotated = false;
  std::optional<std::uint32_t> absent;
  const auto run = [&](std::span<detail::Request> requests, std::uint32_t first) {
    bits.cluster().run_all(requests, [&](std::size_t i, std::size_t, const detail::Reply& reply) {
      const std::string& name = bits.strings()[first + i].name();
      detail::require_type(reply, REDIS_REPLY_INTEGER, name);
      if (reply->integer == -1)
        throw Error(ErrorCode::corrupt, name + " was cut short; build the filter again");
      if (reply->integer == -2) absent = first + static_cast<std::uint32_t>(i);
      rotated = reply->integer == 1;
    });
  };
  // The generation of shard 0 is that of the whole filter, so shard 0 is rotated last: until then another rotate()
  // continues with the remaining shards.
  std::vector<detail::Request> others;
  for (std::uint32_t shard = 1; shard < shards_; ++shard) others.push_back(rotation(shard, from));
  for (std::size_t done = 0; done < others.size(); done += kShardsAtOnce)
    run(std::span(others).subspan(done, std::min(kShardsAtOnce, others.size() - done)),
        static_cast<std::uint32_t>(1 + done));
  // Shard 0 stays behind, so that rotating again rotates no other shard twice.
  if (absent) {
    (void)generation_in(bits, *absent);
    throw Error(ErrorCode::unavailable,
                bits.strings()[*absent].name() + " was not there a moment ago; rotate again");
  }
  // That a connection ended meanwhile is told here: after the next command it would pass for a lost answer, if another
  // client has rotated.
  if (!others.empty()) (void)generation();
  try {
    std::vector first{rotation(0, from)};
    run(first, 0);
  } catch (const Error& error) {
    // The server may have rotated it although the answer was lost.
    if (error.code() != ErrorCode::unavailable || generation() != from + 1) throw;
    return true;
  }
  // If it was not in this generation, another client may also have removed or replaced it.
  if (!rotated) (void)generation();
  return rotated;
}

RotatingRedisFilter::BothStats RotatingRedisFilter::stats() {
  BothStats both{detail::stats_from(plan_, generations_->newer().share_of_ones()),
                 detail::stats_from(plan_, generations_->older()->share_of_ones()), 0};
  both.current_fpr = 1 - (1 - both.newer.current_fpr) * (1 - both.older.current_fpr);
  return both;
}

}  // namespace bloomery
