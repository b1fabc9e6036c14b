// Strings under staged names, filled with bits or keys, and renamed as shard_maker.hpp has it.
#include <bloomery/sharded_redis_writer.hpp>

#include <bloomery/error.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "redis/redis_header.hpp"
#include "redis/shard_keys.hpp"
#include "redis/shard_maker.hpp"
#include "redis/shard_plan.hpp"
#include "redis/sharded_bits.hpp"
#include "redis/staged_shards.hpp"
#include "redis/whole_string.hpp"

namespace bloomery {
namespace detail {
namespace {

// Strings that are zeroed at once: 256 MiB each take a server a second or two.
constexpr std::size_t kMadeAtOnce = 16;

// ARGV: the header, the string's length, and 1 where shards with bits may go. A longer one never goes:
// who has it open writes behind the end of ours.
constexpr StagedShards::Kind kStrings = {
    .functions = {},
    .may_go =
        "redis.call('TYPE', KEYS[1]).ok == 'string' and "
        "redis.call('GETRANGE', KEYS[1], 0, 9) == string.sub(ARGV[1], 1, 10) and "
        "(ARGV[3] == '1' or redis.call('BITCOUNT', KEYS[1], 128, -9) == 0)",
    .is_longer = "redis.call('STRLEN', KEYS[1]) > tonumber(ARGV[2])",
    .is_whole = "redis.call('STRLEN', KEYS[2]) == tonumber(ARGV[2])",
    .is_ours = "redis.call('GETRANGE', KEYS[1], 0, 127) == ARGV[1]"};
// KEYS: the claim, the staged shard 0, its place, and where what is there goes first. ARGV: the
// claim, the length. As StagedShards's: what the user may not run is refused before anything is moved.
constexpr std::string_view kCommit =
    "if redis.call('GETRANGE', KEYS[1], 0, 127) ~= ARGV[1] then return 0 end "
    "if redis.call('STRLEN', KEYS[2]) ~= tonumber(ARGV[2]) then return -1 end "
    "if KEYS[1] ~= KEYS[3] and redis.call('EXISTS', KEYS[3]) == 1 and "
    "(redis.call('TYPE', KEYS[3]).ok ~= 'string' or redis.call('GETRANGE', KEYS[3], 0, 9) ~= "
    "redis.call('GETRANGE', KEYS[2], 0, 9) or "
    "redis.call('STRLEN', KEYS[3]) > tonumber(ARGV[2])) then return 0 end "
    "redis.call('UNLINK', KEYS[4]) "
    "redis.call('PERSIST', KEYS[2]) redis.call('EXPIRE', KEYS[2], 600) "
    "if redis.call('EXISTS', KEYS[3]) == 1 then redis.call('RENAME', KEYS[3], KEYS[4]) end "
    "redis.call('RENAME', KEYS[2], KEYS[3]) redis.call('PERSIST', KEYS[3]) "
    "if KEYS[1] ~= KEYS[3] then redis.call('UNLINK', KEYS[1]) end "
    "redis.call('UNLINK', KEYS[4]) return 1";

// The filter that is to be replaced.
std::optional<RedisHeader> find(Cluster& cluster, const std::string& first, bool replace) {
  const std::string what = name_of(cluster.name(), first);
  const Reply start =
      cluster.ask(first, {"GETRANGE", first, "0", std::to_string(kRedisHeaderBytes - 1)});
  require_type(start, REDIS_REPLY_STRING, what);
  const std::string_view bytes(start->str, start->len);
  if (bytes.empty()) return std::nullopt;
  if (is_claim(bytes)) throw being_made(what);
  if (!replace)
    throw Error(ErrorCode::exists,
                what + " exists already; open the filter, or choose another name");
  const RedisHeader header = decode_redis_header(bytes, what);
  if (header.shards == 0)
    throw Error(ErrorCode::exists,
                what +
                    " exists and is no filter in shards, which alone is replaced; choose "
                    "another name");
  return header;
}

// Numbers of shards that have these bits, one after the other.
std::vector<std::uint32_t> numbers_for(const Plan& plan) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t shards = 1; shards <= kMostShards; ++shards)
    if (plan.bits % (kBlockBits * shards) == 0 && plan.bits / shards <= kMaxRedisBits)
      numbers.push_back(shards);
  return numbers;
}

std::uint32_t nearest(const std::vector<std::uint32_t>& numbers, std::uint32_t wanted,
                      std::size_t nodes) {
  // Nodes with unequal loads are worth a factor of two.
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
                  "; build the filter anew from its keys, or with bits that divide");
}

}  // namespace

class ShardsInTheMaking {
 public:
  ShardsInTheMaking(Cluster cluster, const RedisHeader& header, std::string_view name,
                    const ShardedRedisWriterOptions& options,
                    const std::optional<RedisHeader>& replaced)
      : header_(header),
        replace_(options.replace),
        replaces_(replaced.has_value()),
        staged_(shard_keys(name, header.shards), kStrings),
        bits_(std::move(cluster), header, staged_.names()) {
    try {
      make();
    } catch (...) {
      staged_.drop_staged(bits_.cluster());
      throw;
    }
  }
  ShardsInTheMaking(const ShardsInTheMaking&) = delete;
  ShardsInTheMaking& operator=(const ShardsInTheMaking&) = delete;
  ~ShardsInTheMaking() {
    if (!published_) staged_.drop_staged(bits_.cluster());
  }

  void write(std::uint64_t at, std::span<const std::byte> bytes) {
    const std::uint64_t shard_bytes = header_.plan.bytes() / header_.shards;
    while (!bytes.empty()) {
      keep_alive();
      // As much as is on the way at once.
      std::vector<Order> orders;
      std::size_t sent = 0;
      for (; !bytes.empty() && sent < 4 * kPiece;) {
        const std::uint64_t shard = at / shard_bytes;
        const std::uint64_t within = at % shard_bytes;
        const auto piece =
            bytes.first(std::min<std::uint64_t>({kPiece, bytes.size(), shard_bytes - within}));
        if (!is_zero(piece)) {  // as the string is already
          Order& order = orders.emplace_back(staged_.names()[shard]);
          order.next()
              .begin(4)
              .word("SETRANGE")
              .word(staged_.names()[shard])
              .number(kRedisHeaderBytes + within)
              .word({reinterpret_cast<const char*>(piece.data()), piece.size()});
          staged_.expire(shard, order.next());
          sent += piece.size();
        }
        at += piece.size();
        bytes = bytes.subspan(piece.size());
      }
      run(orders);
    }
  }

  std::size_t insert(std::span<const Hash128> hashes, std::span<bool> fresh) {
    keep_alive();
    return bits_.run(ShardedBits::Change::set, hashes, fresh);
  }
  void keep_alive() { staged_.keep_alive(bits_.cluster(), header_.shards); }
  RedisFill watch() { return fill_of(header_.plan, bits_.share_of_ones()); }

  void publish() {
    std::vector<std::string> headers;
    RedisHeader header = header_;
    for (header.shard = 0; header.shard < header.shards; ++header.shard)
      headers.push_back(encode_redis_header(header));
    const std::string length = std::to_string(header.string_bytes());
    const std::vector<std::string>& places = staged_.places();
    const std::string claimed = replaces_ ? claim_beside(places[0]) : places[0];
    using Words = ShardsToMake::Words;
    const auto arguments = [&](std::size_t i) {
      return Words{headers[i + 1], length, replace_ ? "1" : "0"};
    };
    make_shards(bits_.cluster(),
                {.first = places[0],
                 .claimed = claimed,
                 .identity = header_.identity,
                 .keys = {places.begin() + 1, places.end()},
                 .committed = headers[0],
                 .make = [&](std::size_t i) { return staged_.place(i + 1, arguments(i)); },
                 .remove = [&](std::size_t i) { return staged_.put_back(i + 1, arguments(i)); },
                 .commit =
                     [&](const std::string& claim) {
                       return Words{
                           "EVAL",    std::string(kCommit), "4",   claimed, staged_.names()[0],
                           places[0], staged_.replaced(0),  claim, length};
                     }});
    published_ = true;
    staged_.drop_replaced(bits_.cluster());
  }

  [[nodiscard]] const RedisHeader& header() const noexcept { return header_; }

 private:
  // Empty shards, whole but for what is written yet.
  void make() {
    const std::string end = std::to_string(header_.string_bytes() - kShardEndBytes);
    RedisHeader header = header_;
    for (header.shard = 0; header.shard < header.shards;) {
      std::vector<Order> orders;
      for (; header.shard < header.shards && orders.size() < kMadeAtOnce; ++header.shard) {
        const std::string start = encode_redis_header(header);
        const std::string& name = staged_.names()[header.shard];
        Order& order = orders.emplace_back(name);
        // The end first: a server that cannot hold it then holds nothing.
        order.next().command({"SETRANGE", name, end,
                              std::string_view(start).substr(kRedisIdentityAt, kShardEndBytes)});
        staged_.expire(header.shard, order.next());
        order.next().command({"SETRANGE", name, "0", start});
      }
      run(orders);
    }
  }

  // Orders of SETRANGE and EXPIRE.
  void run(std::vector<Order>& orders) {
    const auto whole = static_cast<long long>(header_.string_bytes());
    const std::string& name = bits_.cluster().name();
    bits_.cluster().run_all(orders, [&](std::size_t, std::size_t, const Reply& reply) {
      require_type(reply, REDIS_REPLY_INTEGER, name);
      if (reply->integer != whole && reply->integer != 1)
        throw Error(ErrorCode::no_space,
                    name +
                        ": the server dropped a new shard while it was written; raise its "
                        "maxmemory");
    });
  }

  RedisHeader header_;
  bool replace_;   // what is in the way may have bits
  bool replaces_;  // there is a filter, whose shard 0 stands for it until the new one does
  StagedShards staged_;
  ShardedBits bits_;
  bool published_ = false;
};

}  // namespace detail

namespace {

using detail::RedisHeader;

// The number that is replaced, unless another was asked for.
std::uint32_t asked_shards(const ShardedRedisWriterOptions& options,
                           const std::optional<RedisHeader>& replaced, std::string_view name) {
  if (!replaced) return options.shards;
  if (options.shards != 0 && options.shards != replaced->shards)
    throw Error(ErrorCode::mismatch,
                "'" + std::string(name) + "' has " + std::to_string(replaced->shards) +
                    " shards, and keeps that number; choose another name for " +
                    std::to_string(options.shards));
  return replaced->shards;
}

std::unique_ptr<detail::ShardsInTheMaking> begin(detail::Cluster cluster, std::string_view name,
                                                 const Plan& plan, const Hasher& hasher,
                                                 std::uint32_t shards,
                                                 const ShardedRedisWriterOptions& options,
                                                 const std::optional<RedisHeader>& replaced) {
  const RedisHeader header{
      .plan = plan, .hasher = hasher, .identity = detail::new_identity(), .shards = shards};
  if (replaced && header.string_bytes() < replaced->string_bytes())
    throw Error(ErrorCode::mismatch,
                "the shards of '" + std::string(name) +
                    "' would become shorter, and whoever still has the old filter open would write "
                    "behind their end; choose another name, or at least as many bits");
  return std::make_unique<detail::ShardsInTheMaking>(std::move(cluster), header, name, options,
                                                     replaced);
}

}  // namespace

ShardedRedisWriter::ShardedRedisWriter(std::unique_ptr<detail::ShardsInTheMaking> shards)
    : shards_(std::move(shards)) {}
ShardedRedisWriter::ShardedRedisWriter(ShardedRedisWriter&&) noexcept = default;
ShardedRedisWriter& ShardedRedisWriter::operator=(ShardedRedisWriter&&) noexcept = default;
ShardedRedisWriter::~ShardedRedisWriter() = default;

ShardedRedisWriter ShardedRedisWriter::of_bits(const RedisAddress& address, std::string_view name,
                                               const Plan& plan, const Hasher& hasher,
                                               const ShardedRedisWriterOptions& options) {
  validate(plan);
  detail::Cluster cluster(address);
  const auto replaced = detail::find(cluster, detail::first_shard_key(name), options.replace);
  const auto numbers = detail::numbers_for(plan);
  std::uint32_t shards = asked_shards(options, replaced, name);
  if (shards == 0 && !detail::one_block_per_key(plan.layout)) shards = 1;
  if (shards == 0 && !numbers.empty()) {
    const std::size_t nodes = cluster.nodes();
    shards = detail::nearest(numbers, detail::shards_for(plan, nodes), nodes);
  }
  detail::require_division(plan, shards, numbers);
  return ShardedRedisWriter(
      begin(std::move(cluster), name, plan, hasher, shards, options, replaced));
}

ShardedRedisWriter ShardedRedisWriter::of_keys(const RedisAddress& address, std::string_view name,
                                               const Plan& plan, const Hasher& hasher,
                                               const ShardedRedisWriterOptions& options) {
  validate(plan);
  detail::Cluster cluster(address);
  const auto replaced = detail::find(cluster, detail::first_shard_key(name), options.replace);
  std::uint32_t shards = asked_shards(options, replaced, name);
  if (shards == 0) shards = detail::shards_for(plan, cluster.nodes());
  if (shards > kMaxRedisShards) (void)detail::shard_keys(name, shards);  // says that it is too many
  return ShardedRedisWriter(begin(std::move(cluster), name, detail::plan_for_shards(plan, shards),
                                  hasher, shards, options, replaced));
}

void ShardedRedisWriter::write(std::uint64_t at, std::span<const std::byte> bytes) {
  detail::require_within(plan(), at, bytes.size());
  shards_->write(at, bytes);
}
std::size_t ShardedRedisWriter::insert_hashes(std::span<const Hash128> hashes,
                                              std::span<bool> fresh) {
  return shards_->insert(hashes, fresh);
}
void ShardedRedisWriter::keep_alive() { shards_->keep_alive(); }
RedisFill ShardedRedisWriter::watch() { return shards_->watch(); }
void ShardedRedisWriter::publish() { shards_->publish(); }
const Plan& ShardedRedisWriter::plan() const noexcept { return shards_->header().plan; }
const Hasher& ShardedRedisWriter::hasher() const noexcept { return shards_->header().hasher; }
std::uint32_t ShardedRedisWriter::shards() const noexcept { return shards_->header().shards; }

}  // namespace bloomery
