// Dumps over the wire, and the header of ours (module/dump.hpp has its table).
#include <bloomery/module_dump.hpp>

#include <bloomery/error.hpp>

#include <bit>
#include <cstring>

#include "base/endian.hpp"
#include "redis/connection.hpp"
#include "redis/module_chunks.hpp"
#include "redis/script.hpp"
#include "redis/whole_string.hpp"

namespace bloomery {
namespace {

using detail::Reply;
using detail::require_chunk_reply;

constexpr std::string_view kMagic = "BLOOMERY";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kChain = 1;
constexpr std::uint32_t kNoScaling = 8;
constexpr std::uint32_t kKeyed = 16;
constexpr std::size_t kHeadBytes = 36;
constexpr std::size_t kLinkBytes = 40;

constexpr std::string_view kPublish =
    "local function is_filter(key) local kind = redis.call('TYPE', key).ok "
    "return kind == 'bloomery-' or kind == 'MBbloom--' end "
    "if redis.call('EXISTS', KEYS[2]) == 1 and (ARGV[1] ~= '1' or not is_filter(KEYS[2])) "
    "then return 0 end "
    "if redis.call('EXISTS', KEYS[1]) == 0 then return -1 end "
    "if not is_filter(KEYS[1]) then return -2 end ";

}  // namespace

ModuleDumper::ModuleDumper(const RedisAddress& address, std::string_view key)
    : connection_(std::make_unique<detail::Connection>(address)),
      address_(address),
      key_(key),
      name_(detail::name_of(connection_->name(), key)) {}
ModuleDumper::~ModuleDumper() = default;

// The question comes before each chunk, and so behind each but the last, which has no bits.
ModuleChunk ModuleDumper::next() {
  if (watched_)
    (void)watched_->info();
  else
    watched_ = ModuleFilter::open(address_, key_);
  detail::Commands commands;
  connection_->send(commands.command({"BF.SCANDUMP", key_, std::to_string(iterator_)}));
  const Reply reply = connection_->receive();
  ModuleChunk chunk = detail::chunk_of(*reply, iterator_, name_);
  iterator_ = chunk.iterator;
  return chunk;
}

ModuleLoader::ModuleLoader(const RedisAddress& address, std::string_view key)
    : connection_(std::make_unique<detail::Connection>(address)),
      key_(key),
      scratch_(detail::scratch_name(key)),
      name_(detail::name_of(connection_->name(), key)) {}

ModuleLoader::~ModuleLoader() {
  if (published_) return;
  try {
    connection_->drop();
    connection_->ask({"UNLINK", scratch_});
  } catch (...) {
    // The server drops it in time.
  }
}

void ModuleLoader::load(const ModuleChunk& chunk) {
  detail::Commands commands;
  commands.command({"BF.LOADCHUNK", scratch_, std::to_string(chunk.iterator), chunk.bytes});
  commands.command({"EXPIRE", scratch_, detail::kScratchSeconds});
  connection_->send(commands);
  const Reply loaded = connection_->receive();
  const Reply expires = connection_->receive();
  require_chunk_reply(*loaded, REDIS_REPLY_STATUS, name_);
  require_chunk_reply(*expires, REDIS_REPLY_INTEGER, name_);
}

void ModuleLoader::restore(std::string_view payload) {
  detail::Commands commands;
  commands.command({"RESTORE", scratch_, "600000", payload});
  connection_->send(commands);
  require_chunk_reply(*connection_->receive(), REDIS_REPLY_STATUS, name_);
}

void ModuleLoader::publish(bool replace) {
  const Reply reply = connection_->ask({"EVAL", detail::script({kPublish, detail::kIntoPlace}), "2",
                                        scratch_, key_, replace ? "1" : "0"});
  require_chunk_reply(*reply, REDIS_REPLY_INTEGER, name_);
  if (reply->integer == 0)
    throw Error(ErrorCode::exists,
                name_ +
                    (replace ? " exists and is no filter of a module, which alone is replaced"
                             : " exists already") +
                    "; choose another key");
  if (reply->integer == -1)
    throw Error(ErrorCode::no_space,
                name_ +
                    ": the server dropped the new filter before it was whole; raise its "
                    "maxmemory");
  if (reply->integer != 1)
    throw Error(ErrorCode::not_a_filter, name_ + ": what was restored is no filter of a module");
  published_ = true;
}

std::string module_header(const Plan& plan, const Hasher& hasher, std::uint64_t items) {
  const bool keyed = hasher.family() == HashFamily::siphash;
  if (!keyed && hasher.seed() != Seed{})
    throw Error(
        ErrorCode::wrong_kind,
        "the module's hash has no seed, and this filter has one; build it anew from its keys");
  if (counter_bits(plan.layout) != 0)
    throw Error(ErrorCode::wrong_kind, "the module has no plain filter of that layout");
  std::string out(kHeadBytes + kLinkBytes + (keyed ? 16 : 0), '\0');
  char* p = out.data();
  std::memcpy(p, kMagic.data(), kMagic.size());
  detail::store_le(p + 8, kVersion);
  detail::store_le(p + 12, kChain);
  detail::store_le64(p + 16, items);
  detail::store_le(p + 28, kNoScaling | (keyed ? kKeyed : 0));
  detail::store_le(p + 32, std::uint32_t{1});
  p += kHeadBytes;
  detail::store_le64(p, plan.bits);
  detail::store_le64(p + 8, plan.capacity);
  detail::store_le64(p + 16, items);
  detail::store_le64(p + 24, std::bit_cast<std::uint64_t>(plan.fpr));
  detail::store_le(p + 32, plan.hashes);
  detail::store_le(p + 36, static_cast<std::uint32_t>(plan.layout));
  if (keyed) {
    detail::store_le64(p + 40, hasher.seed().low);
    detail::store_le64(p + 48, hasher.seed().high);
  }
  return out;
}

ModulePlain plain_in_module_header(std::string_view header) {
  const auto refuse = [](ErrorCode code, const char* what) { throw Error(code, what); };
  if (!header.starts_with(kMagic))
    refuse(
        ErrorCode::wrong_kind,
        "the filter has RedisBloom's layout, whose bits no filter of ours can hold; keep it in a "
        "module, or build a new one from its keys");
  if (header.size() < kHeadBytes + kLinkBytes) refuse(ErrorCode::corrupt, "its header is cut off");
  const char* p = header.data();
  if (detail::load_le<std::uint32_t>(p + 8) != kVersion)
    refuse(ErrorCode::newer_format, "its dump is of a newer version; use a newer bloomery");
  const auto options = detail::load_le<std::uint32_t>(p + 28);
  const bool keyed = (options & kKeyed) != 0;
  if (detail::load_le<std::uint32_t>(p + 12) != kChain ||
      detail::load_le<std::uint32_t>(p + 32) != 1)
    refuse(ErrorCode::wrong_kind,
           "the filter has grown, counts or forgets, and a plain filter is one array of bits; keep "
           "it in a module, or build a new one from its keys");
  if ((options & ~(kNoScaling | kKeyed)) != 0 ||
      header.size() != kHeadBytes + kLinkBytes + (keyed ? 16 : 0))
    refuse(ErrorCode::corrupt, "its header is damaged");
  p += kHeadBytes;
  ModulePlain plain;
  plain.plan = {.layout = static_cast<Layout>(detail::load_le<std::uint32_t>(p + 36)),
                .bits = detail::load_le64(p),
                .hashes = detail::load_le<std::uint32_t>(p + 32),
                .capacity = detail::load_le64(p + 8),
                .fpr = std::bit_cast<double>(detail::load_le64(p + 24))};
  if (detail::load_le<std::uint32_t>(p + 36) > 3)
    refuse(ErrorCode::corrupt, "its header has an unknown layout");
  try {
    validate(plain.plan);
  } catch (const Error&) {
    refuse(ErrorCode::corrupt, "its header has numbers that no filter has");
  }
  if (keyed)
    plain.hasher = Hasher(HashFamily::siphash,
                          {.low = detail::load_le64(p + 40), .high = detail::load_le64(p + 48)});
  return plain;
}

}  // namespace bloomery
