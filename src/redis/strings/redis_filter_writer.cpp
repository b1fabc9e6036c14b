// Strings under staged names, which are filled with bits or keys and then put into their places.
#include <bloomery/redis_filter.hpp>

#include <bloomery/error.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "redis/shards/interrupted.hpp"
#include "redis/shards/shard_keys.hpp"
#include "redis/shards/shard_maker.hpp"
#include "redis/shards/shard_plan.hpp"
#include "redis/shards/staged_keys.hpp"
#include "redis/strings/header_io.hpp"
#include "redis/strings/redis_header.hpp"
#include "redis/strings/staged_strings.hpp"
#include "redis/strings/string_bits.hpp"

namespace bloomery {

using detail::Cluster;
using detail::RedisHeader;
using detail::StagedKeys;

namespace {

// ARGV: the header, the length of the string, and 1 if a filter may be replaced. If the server evicts the staged
// string, later writes make it again, and the one at the end as long as before; but nothing writes its header again.
constexpr StagedKeys::Rules kOneString = {
    .functions = {},
    .may_go =
        "ARGV[3] == '1' and redis.call('TYPE', KEYS[1]).ok == 'string' and "
        "redis.call('GETRANGE', KEYS[1], 0, 9) == string.sub(ARGV[1], 1, 10)",
    .is_longer = {},
    .is_whole =
        "redis.call('STRLEN', KEYS[2]) == tonumber(ARGV[2]) and "
        "redis.call('GETRANGE', KEYS[2], 0, 127) == ARGV[1]",
    .is_ours =
        "redis.call('TYPE', KEYS[1]).ok == 'string' and "
        "redis.call('GETRANGE', KEYS[1], 0, 127) == ARGV[1]"};
// KEYS: the claim, the staged shard 0, its place, and the name under which the old key is set aside. ARGV: the claim,
// the length. As in StagedKeys, rights are used before anything moves.
constexpr std::string_view kCommitCollected =
    "if redis.call('GETRANGE', KEYS[1], 0, 127) ~= ARGV[1] then return 0 end "
    "if redis.call('STRLEN', KEYS[2]) ~= tonumber(ARGV[2]) then return -1 end "
    "if KEYS[1] ~= KEYS[3] and "
    "(redis.call('TYPE', KEYS[3]).ok ~= 'string' or redis.call('GETRANGE', KEYS[3], 0, 9) ~= "
    "redis.call('GETRANGE', KEYS[2], 0, 9) or "
    "redis.call('STRLEN', KEYS[3]) > tonumber(ARGV[2])) then return 0 end "
    "redis.call('UNLINK', KEYS[4]) "
    "redis.call('PERSIST', KEYS[2]) redis.call('EXPIRE', KEYS[2], 600) "
    "if redis.call('EXISTS', KEYS[3]) == 1 then redis.call('RENAME', KEYS[3], KEYS[4]) end "
    "redis.call('RENAME', KEYS[2], KEYS[3]) redis.call('PERSIST', KEYS[3]) "
    "if KEYS[1] ~= KEYS[3] then redis.call('UNLINK', KEYS[1]) end "
    "redis.call('UNLINK', KEYS[4]) return 1";

Error taken(const std::string& name, bool replace) {
  return {ErrorCode::exists,
          name +
              (replace ? " exists and is not a plain filter in one string, and only such a "
                         "filter is replaced"
                       : " exists already") +
              "; choose another key"};
}

// What kOneString.may_go would refuse at the end is refused before any key is taken.
void require_place(Cluster& cluster, const RedisPlace& place, const RedisHeader& header,
                   bool replace) {
  const auto start = detail::read_start(cluster, place.key);
  const std::string known = detail::encode_redis_header(header).substr(0, 10);
  if (!start.bytes.empty() && !(replace && start.bytes.starts_with(known)))
    throw taken(start.name, replace);
}

// The header of the filter in shards that will be replaced.
std::optional<RedisHeader> find_replaced(Cluster& cluster, const RedisPlace& place, bool replace) {
  const auto start = detail::read_start(cluster, detail::first_shard_key(place.key));
  if (start.bytes.empty()) return std::nullopt;
  if (detail::is_claim(start.bytes)) throw detail::being_made(start.name);
  if (!replace)
    throw Error(ErrorCode::exists,
                start.name + " exists already; open the filter, or choose another name");
  RedisHeader header = detail::decode_redis_header(start.bytes, start.name);
  if (header.shards == 0)
    throw Error(ErrorCode::exists,
                start.name +
                    " exists and is not a filter in shards, and only such a filter "
                    "is replaced; choose another name");
  if (header.generation != 0)
    throw Error(ErrorCode::exists,
                start.name +
                    " exists and is a filter that rotates, and only one that does "
                    "not is replaced; choose another name");
  if (*place.shards != 0 && *place.shards != header.shards)
    throw Error(ErrorCode::mismatch,
                detail::quoted_key(place.key) + " has " + std::to_string(header.shards) +
                    " shards, and keeps that number; choose another name for " +
                    std::to_string(*place.shards));
  return header;
}

// A string that is still too long, or that cannot be cut, is refused when it is replaced.
void cut_replaced(Cluster& cluster, const RedisPlace& place, const RedisHeader& header) noexcept {
  try {
    detail::cut_to_length(cluster, header, detail::shard_keys(place.key, header.shards));
  } catch (const std::exception&) {
    return;
  }
}

// The numbers of shards that, one after the other, can have these bits.
std::vector<std::uint32_t> divisors_of(const Plan& plan) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t shards = 1; shards <= kMaxRedisShards; ++shards)
    if (plan.bits % (kBlockBits * shards) == 0 && plan.bits / shards <= kMaxRedisBits)
      numbers.push_back(shards);
  return numbers;
}

std::uint32_t nearest(const std::vector<std::uint32_t>& numbers, std::uint32_t wanted,
                      std::size_t nodes) {
  // An unequal number of shards per node counts as much as a factor of two.
  const auto distance = [&](std::uint32_t number) {
    return std::abs(std::log2(static_cast<double>(number) / wanted)) +
           (number % nodes != 0 ? 1 : 0);
  };
  return *std::ranges::min_element(numbers, {}, distance);
}

void require_division(const Plan& plan, std::uint32_t shards,
                      const std::vector<std::uint32_t>& numbers) {
  if (std::ranges::find(numbers, shards) != numbers.end()) return;
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(numbers.size(), 12); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  throw Error(ErrorCode::invalid_argument,
              std::to_string(plan.blocks()) + " blocks of bits do not divide into " +
                  (shards == 0 ? "shards that strings hold" : std::to_string(shards) + " shards") +
                  (text.empty() ? "" : ", but into " + text + (numbers.size() > 12 ? " …" : "")) +
                  "; build the filter again from its keys, or with bits that divide");
}

std::uint32_t shards_for_bits(Cluster& cluster, const Plan& plan, std::uint32_t asked) {
  const auto numbers = divisors_of(plan);
  if (asked == 0 && !detail::one_block_per_key(plan.layout)) asked = 1;
  if (asked == 0 && !numbers.empty()) {
    const std::size_t nodes = cluster.nodes();
    asked = nearest(numbers, detail::shards_for(plan, nodes), nodes);
  }
  require_division(plan, asked, numbers);
  return asked;
}

}  // namespace

class RedisFilterWriter::NewStrings {
 public:
  // `collects`: keys are collected in memory. `replaced`: there is a filter in shards, whose shard 0 represents it
  // until the new shard 0 takes its place.
  NewStrings(Cluster cluster, const RedisHeader& header, StagedKeys keys, bool replace,
             bool replaced, bool collects)
      : header_(header),
        headers_(detail::headers_of(header)),
        replace_(replace),
        replaced_(replaced),
        bits_(std::move(cluster), header, keys.names()),
        staged_(bits_.cluster(), std::move(keys), header.string_bytes()) {
    if (collects) collected_.emplace(header.plan, header.hasher);
    make();
  }

  void write(std::uint64_t at, std::span<const std::byte> bytes) {
    if (!collected_) return send(at, bytes);
    const auto to = collected_->mutable_bytes().subspan(at);
    for (std::size_t i = 0; i < bytes.size(); ++i) to[i] |= bytes[i];
  }
  std::size_t insert(std::span<const Hash128> hashes, std::span<bool> fresh) {
    detail::require_room(fresh, hashes.size());
    keep_alive();
    if (collected_) return collected_->insert_hashes(hashes, fresh);
    bits_.begin();
    try {
      return bits_.run(detail::BitOperation::set,
                       detail::bits_of(header_.plan, bits_.shards(), hashes), fresh);
    } catch (const Error& error) {
      staged_.unmoved().explain(error);
    }
  }
  // A string that only holds room for collected keys is made again.
  void keep_alive() {
    if (!collected_) staged_.unmoved().require();
    try {
      staged_.keep_alive();
    } catch (const Error& error) {
      if (!collected_ || error.code() != ErrorCode::no_space) throw;
      make();
    }
  }

  Stats stats() {
    if (!collected_) return detail::stats_from(header_.plan, bits_.share_of_ones());
    return collected_->stats(Precision::exact);
  }

  void publish() {
    if (collected_) {
      make();
      send(0, collected_->bytes());
    }
    staged_.unmoved().require_history();
    if (header_.shards == 0)
      publish_string();
    else
      publish_shards();
    staged_.published();
  }

  [[nodiscard]] const RedisHeader& header() const noexcept { return header_; }

 private:
  // The last byte of collected keys is not cleared, because an earlier publish() may still be on its way.
  void make() {
    const char last = collected_ ? static_cast<char>(collected_->bytes().back()) : '\0';
    std::vector<std::string> ends;
    for (const std::string& start : headers_)
      ends.push_back(header_.shards == 0
                         ? std::string(1, last)
                         : start.substr(detail::kRedisIdentityAt, detail::kShardEndBytes));
    staged_.make(headers_, ends);
  }

  void send(std::uint64_t at, std::span<const std::byte> bytes) {
    const std::uint64_t per_string = bits_.strings()[0].bits_bytes();
    while (!bytes.empty()) {
      const std::uint64_t within = at % per_string;
      const auto part = bytes.first(std::min<std::uint64_t>(bytes.size(), per_string - within));
      staged_.write(at / per_string, detail::kRedisHeaderBytes + within, part);
      at += part.size();
      bytes = bytes.subspan(part.size());
    }
    staged_.flush();
  }

  [[nodiscard]] std::vector<std::string> arguments(std::size_t shard) const {
    return {headers_[shard], std::to_string(header_.string_bytes()), replace_ ? "1" : "0"};
  }

  void publish_string() {
    if (staged_.keys().publish_only(bits_.cluster(), arguments(0))) return;
    throw taken(bits_.cluster().name_of(staged_.keys().places()[0]), replace_);
  }

  void publish_shards() {
    const StagedKeys& keys = staged_.keys();
    const std::string& first = keys.places()[0];
    const std::string claimed = replaced_ ? detail::claim_beside(first) : first;
    const std::string length = std::to_string(header_.string_bytes());
    detail::make_shards(
        bits_.cluster(),
        {.first = first,
         .claimed = claimed,
         .identity = header_.identity,
         .keys = {keys.places().begin() + 1, keys.places().end()},
         .committed = headers_[0],
         .after_claim =
             [&] { detail::undo_noted(bits_.cluster(), first, detail::strings_of_note(first)); },
         .note = detail::encode_note(keys.number(), headers_[0]),
         .make = [&](std::size_t i) { return keys.place(i + 1, arguments(i + 1)); },
         .remove = [&](std::size_t i,
                       bool put_back) { return keys.remove(i + 1, arguments(i + 1), put_back); },
         .commit =
             [&](const std::string& claim) {
               return std::vector<std::string>{"EVAL",
                                               std::string(kCommitCollected),
                                               "4",
                                               claimed,
                                               keys.names()[0],
                                               first,
                                               keys.replaced(0),
                                               claim,
                                               length};
             },
         .unmoved = &staged_.unmoved(),
         .after_commit = [&] { keys.drop_replaced(bits_.cluster()); }});
  }

  RedisHeader header_;
  std::vector<std::string> headers_;  // of each string
  bool replace_;                      // whether a filter with bits may be replaced
  bool replaced_;
  detail::StringBits bits_;
  detail::StagedStrings staged_;
  std::optional<Filter> collected_;
};

RedisFilterWriter::RedisFilterWriter(std::unique_ptr<NewStrings> strings)
    : strings_(std::move(strings)) {}
RedisFilterWriter::RedisFilterWriter(RedisFilterWriter&&) noexcept = default;
RedisFilterWriter& RedisFilterWriter::operator=(RedisFilterWriter&&) noexcept = default;
RedisFilterWriter::~RedisFilterWriter() = default;

RedisFilterWriter RedisFilterWriter::begin(Source source, const RedisPlace& place, const Plan& plan,
                                           const Hasher& hasher, bool replace) {
  validate(plan);
  Cluster cluster(place);
  if (!place.shards) {
    const RedisHeader header = detail::header_of_string(plan, hasher);
    require_place(cluster, place, header, replace);
    return RedisFilterWriter(std::make_unique<NewStrings>(std::move(cluster), header,
                                                          StagedKeys({place.key}, kOneString),
                                                          replace, false, source == Source::keys));
  }
  const auto replaced = find_replaced(cluster, place, replace);
  if (replaced) cut_replaced(cluster, place, *replaced);
  std::uint32_t shards = replaced ? replaced->shards : *place.shards;
  if (source == Source::bits)
    shards = shards_for_bits(cluster, plan, shards);
  else if (shards == 0)
    shards = detail::shards_for(plan, cluster.nodes());
  std::vector<std::string> keys = detail::shard_keys(place.key, shards);
  const RedisHeader header{
      .plan = source == Source::bits ? plan : detail::plan_for_shards(plan, shards),
      .hasher = hasher,
      .identity = detail::new_identity(),
      .shards = shards};
  if (replaced && header.string_bytes() < replaced->string_bytes())
    throw Error(
        ErrorCode::mismatch,
        "the shards of " + detail::quoted_key(place.key) +
            " would become shorter, and clients that still have the old filter open would write "
            "beyond their end; choose another name, or at least as many bits");
  return RedisFilterWriter(std::make_unique<NewStrings>(
      std::move(cluster), header, StagedKeys(std::move(keys), detail::kShardStrings), replace,
      replaced.has_value(), false));
}

RedisFilterWriter RedisFilterWriter::of_bits(const RedisPlace& place, const Plan& plan,
                                             const Hasher& hasher, bool replace) {
  return begin(Source::bits, place, plan, hasher, replace);
}
RedisFilterWriter RedisFilterWriter::of_keys(const RedisPlace& place, const Plan& plan,
                                             const Hasher& hasher, bool replace) {
  return begin(Source::keys, place, plan, hasher, replace);
}

void RedisFilterWriter::write(std::uint64_t at, std::span<const std::byte> bytes) {
  detail::require_within(plan(), at, bytes.size());
  strings_->write(at, bytes);
}
std::size_t RedisFilterWriter::insert_hashes(std::span<const Hash128> hashes,
                                             std::span<bool> fresh) {
  return strings_->insert(hashes, fresh);
}
void RedisFilterWriter::keep_alive() { strings_->keep_alive(); }
Stats RedisFilterWriter::stats() { return strings_->stats(); }
void RedisFilterWriter::publish() { strings_->publish(); }
const Plan& RedisFilterWriter::plan() const noexcept { return strings_->header().plan; }
const Hasher& RedisFilterWriter::hasher() const noexcept { return strings_->header().hasher; }
std::optional<std::uint32_t> RedisFilterWriter::shards() const noexcept {
  const std::uint32_t shards = strings_->header().shards;
  return shards == 0 ? std::nullopt : std::optional(shards);
}

}  // namespace bloomery
