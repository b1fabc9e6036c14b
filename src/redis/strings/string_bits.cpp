// A batch is split by the strings of its keys; bits are read in pieces, several at a time.
#include "redis/strings/string_bits.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <bloomery/detail/layout.hpp>
#include "redis/cluster/transaction.hpp"
#include "redis/shards/interrupted.hpp"
#include "redis/shards/shard_keys.hpp"
#include "redis/shards/shard_plan.hpp"
#include "redis/strings/bit_parts.hpp"
#include "redis/strings/staged_strings.hpp"

namespace bloomery::detail {
namespace {

constexpr std::size_t kPiecesAtOnce = 4;

std::vector<BitString> strings_of(const Cluster& cluster, RedisHeader header,
                                  const std::vector<std::string>& keys) {
  std::vector<BitString> strings;
  strings.reserve(keys.size());
  const bool in_blocks = has_blocks(header.plan.layout) && header.generation == 0;
  for (header.shard = 0; header.shard < keys.size(); ++header.shard) {
    const BitString::Guard guard{.identity = string_identity(header),
                                 .bytes = header.string_bytes(),
                                 .is_shard = header.shards != 0,
                                 .has_blocks = in_blocks,
                                 .rotates = header.generation != 0};
    const std::string& key = keys[header.shard];
    strings.emplace_back(key, cluster.name_of(key), guard, header.plan.hashes);
  }
  return strings;
}

}  // namespace

NextKeyBits bits_of(const Plan& whole, std::uint32_t shards, std::span<const Hash128> hashes) {
  return [positions = Positions(plan_of_shard(whole, shards)), k = std::size_t{whole.hashes},
          shards, left = hashes](std::size_t most, KeyBits& to) mutable {
    const std::size_t count = std::min(most, left.size());
    to.strings.reserve(count);
    to.offsets.resize(count * k);
    for (std::size_t i = 0; i < count; ++i) {
      const InShard key = in_shard(left[i], shards);
      const auto offsets = std::span(to.offsets).subspan(i * k, k);
      positions(key.hash, offsets);
      for (std::uint64_t& offset : offsets) offset = redis_offset(offset);
      to.strings.push_back(key.shard);
    }
    left = left.subspan(count);
    return count;
  };
}

void require_within(const Plan& plan, std::uint64_t from, std::uint64_t bytes) {
  if (from <= plan.bytes() && bytes <= plan.bytes() - from) return;
  throw Error(ErrorCode::invalid_argument, "a filter of " + std::to_string(plan.bytes()) +
                                               " bytes has no " + std::to_string(bytes) +
                                               " bytes from byte " + std::to_string(from) + " on");
}

StringBits::StringBits(Cluster cluster, std::vector<BitString> strings)
    : cluster_(std::move(cluster)), strings_(std::move(strings)) {}

StringBits::StringBits(Cluster cluster, RedisHeader header, const std::vector<std::string>& keys)
    : cluster_(std::move(cluster)), strings_(strings_of(cluster_, header, keys)) {}

void StringBits::split(KeyBits bits, BitOperation operation, KeyBatches::Parts& parts) {
  const auto keys = static_cast<std::uint32_t>(bits.strings.size());
  const std::size_t hashes = strings_[0].hashes();
  std::vector<std::vector<std::uint32_t>> keys_of(strings_.size());
  for (std::uint32_t key = 0; key < keys; ++key) keys_of[bits.strings[key]].push_back(key);
  for (std::size_t i = 0; i < strings_.size(); ++i) {
    if (keys_of[i].empty()) continue;
    if (keys_of[i].size() == keys) {  // the other strings have none
      parts.push_back(
          bit_part(strings_[i], operation, std::move(keys_of[i]), std::move(bits.offsets)));
      return;
    }
    std::vector<std::uint64_t> offsets;
    offsets.reserve(keys_of[i].size() * hashes);
    for (const std::size_t key : keys_of[i]) {
      const auto* first = bits.offsets.data() + key * hashes;
      offsets.insert(offsets.end(), first, first + hashes);
    }
    parts.push_back(bit_part(strings_[i], operation, std::move(keys_of[i]), std::move(offsets)));
  }
}

std::size_t StringBits::run(BitOperation operation, const NextKeyBits& next,
                            std::span<bool> answers, std::span<std::uint64_t> generations) {
  const BitString::Guard& guard = strings_[0].guard();
  bool check_first = operation == BitOperation::set && !guard.is_shard &&
                     (guard.identity || guard.least_bytes != 0);
  const auto next_parts = [&](std::size_t most, KeyBatches::Parts& parts) {
    KeyBits bits;
    const std::size_t count = next(most, bits);
    if (count == 0) return count;
    if (std::exchange(check_first, false) &&
        strings_[0].check_of(operation, count) == BitString::Check::length_first)
      check_lengths();
    split(std::move(bits), operation, parts);
    return count;
  };
  try {
    return batches_.run(cluster_, strings_.size(), next_parts, answers, generations);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::mismatch && undo_interrupted())
      throw was_undone(strings_[0].name());
    throw;
  }
}

void StringBits::set_one(std::span<const std::uint64_t> offsets, std::span<bool> before) {
  BitString& string = strings_[0];
  if (string.guard().least_bytes != 0) check_lengths();
  Request request(string.key());
  string.ask_bits(request, BitOperation::set, offsets, BitString::Check::length_first);
  const Reply reply = cluster_.reply_to(request);
  require_type(*reply, REDIS_REPLY_ARRAY, string.name());
  require_elements(*reply, offsets.size(), string.name());
  for (std::size_t i = 0; i < offsets.size(); ++i) before[i] = string.is_one(*reply->element[i]);
  string.reaches(*std::ranges::max_element(offsets) / 8 + 1);
}

std::uint64_t StringBits::generation_of(std::uint32_t string) {
  Request request(strings_[string].key());
  strings_[string].ask_generation(request);
  return strings_[string].generation_in(*cluster_.reply_to(request));
}

bool StringBits::undo_interrupted() noexcept {
  if (!strings_[0].guard().is_shard || strings_[0].guard().rotates) return false;
  const std::string& first = strings_[0].key();
  return detail::undo_interrupted(cluster_, first, strings_of_note(first));
}

void StringBits::check_lengths() {
  std::vector<Request> requests;
  for (const BitString& string : strings_) string.ask_length(requests.emplace_back(string.key()));
  cluster_.run_all(requests, [&](std::size_t i, std::size_t, const Reply& reply) {
    strings_[i].check_length(*reply);
  });
}

void StringBits::check_shards(RedisHeader header) {
  std::vector<Request> requests;
  for (const BitString& string : strings_) {
    Request& request = requests.emplace_back(string.key());
    string.ask_length(request);
    string.ask_range(request, 0, kRedisHeaderBytes);
    string.ask_proof(request);
  }
  cluster_.run_all(requests, [&](std::size_t shard, std::size_t command, const Reply& reply) {
    BitString& string = strings_[shard];
    if (command == 0) return string.check_length(*reply);
    if (command == 2) return string.check_proof(0, *reply);
    require_type(reply, REDIS_REPLY_STRING, string.name());
    header.shard = static_cast<std::uint32_t>(shard);
    if (text_of(*reply) != encode_redis_header(header))
      throw Error(ErrorCode::mismatch, string.name() + " is not shard " + std::to_string(shard) +
                                           " of " + std::to_string(header.shards) +
                                           " of this filter: another is being put in its place, "
                                           "or was left there half way; try again, and if that "
                                           "does not help build the filter again");
  });
}

Share StringBits::share_of_ones() {
  OnesSample sample(strings_[0].bits_bytes(), strings_.size());
  std::vector<Request> requests;
  for (const BitString& string : strings_) {
    Request& request = requests.emplace_back(string.key());
    string.ask_length(request);
    for (std::uint64_t i = 0; i < sample.ranges(); ++i)
      sample.ask(i, string.key(), string.bits_begin(), request.next());
  }
  cluster_.run_all(requests, [&](std::size_t i, std::size_t command, const Reply& reply) {
    if (command == 0)
      strings_[i].check_length(*reply);
    else
      sample.take(*reply, strings_[i].name());
  });
  return sample.share();
}

void StringBits::read(std::uint64_t from, std::span<std::byte> out) {
  const std::uint64_t per_string = strings_[0].bits_bytes();
  while (!out.empty()) {
    std::vector<Piece> pieces;
    while (!out.empty() && pieces.size() < kPiecesAtOnce) {
      const std::uint64_t at = from % per_string;
      const std::uint64_t size = std::min<std::uint64_t>({kPiece, out.size(), per_string - at});
      BitString& string = strings_[from / per_string];
      pieces.push_back({&string, string.bits_begin() + at, out.first(size)});
      from += size;
      out = out.subspan(size);
    }
    if (strings_[0].guard().is_shard)
      read_of_shards(pieces);
    else
      read_of_string(pieces);
  }
}

void StringBits::read_of_string(std::span<const Piece> pieces) {
  std::vector<Request> requests;
  std::vector<Reply> bits(pieces.size());
  for (const Piece& piece : pieces) {
    Request& request = requests.emplace_back(piece.string->key());
    piece.string->ask_range(request, piece.at, piece.out.size());
    if (piece.string->guard().identity) piece.string->ask_proof(request);
  }
  cluster_.run_all(requests, [&](std::size_t i, std::size_t command, Reply reply) {
    if (command == 0)
      bits[i] = std::move(reply);
    else
      pieces[i].string->check_proof(command - 1, *reply);
  });
  for (std::size_t i = 0; i < pieces.size(); ++i) copy(*bits[i], pieces[i]);
}

// If a writer fails, it puts back the shards that it has replaced. So between two pieces with the right end there may
// have been a shard of another filter; therefore each piece is read together with the end.
void StringBits::read_of_shards(std::span<const Piece> pieces) {
  std::vector<Transaction> transactions;
  for (const Piece& piece : pieces) {
    const BitString& string = *piece.string;
    const auto range = [&](std::uint64_t first, std::uint64_t bytes) {
      return std::vector<std::string>{"GETRANGE", string.key(), std::to_string(first),
                                      std::to_string(first + bytes - 1)};
    };
    transactions.push_back({string.key(),
                            string.name(),
                            {range(string.guard().bytes - kShardEndBytes, kShardEndBytes),
                             range(piece.at, piece.out.size())}});
  }
  run_transactions(cluster_, transactions,
                   [&](std::size_t i, std::span<redisReply* const> replies) {
                     pieces[i].string->check_proof(0, *replies[0]);
                     copy(*replies[1], pieces[i]);
                   });
}

void StringBits::copy(const redisReply& bits, const Piece& piece) {
  require_type(bits, REDIS_REPLY_STRING, piece.string->name());
  if (bits.len != piece.out.size())
    throw Error(ErrorCode::corrupt, piece.string->name() +
                                        " was cut short or deleted while it was read; build the "
                                        "filter again");
  std::memcpy(piece.out.data(), bits.str, bits.len);
}

}  // namespace bloomery::detail
