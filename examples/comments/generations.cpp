// Two buckets, and the rename that makes one the other.
#include "generations.hpp"

#include <hiredis/hiredis.h>
#include <bloomery/error.hpp>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

using bloomery::Error;
using bloomery::ErrorCode;
using bloomery::PhpScheme;
using bloomery::RedisPhpFilter;

namespace {

constexpr std::string_view kNewer = "rptc";
constexpr std::string_view kOlder = "rptc:older";

}  // namespace

Generations::Generations(std::string socket)
    : socket_(std::move(socket)), newer_(open(kNewer)), older_(open(kOlder)) {}

RedisPhpFilter Generations::open(std::string_view bucket) const {
  return RedisPhpFilter::create({.socket = socket_}, bucket,
                                PhpScheme::string_hashes("BKDR,SDBM,JS"));
}

template <class Work>
auto Generations::in_spite_of_rotation(Work work) {
  constexpr int kTries = 10;
  for (int i = 1;; ++i) try {
      return work();
    } catch (const Error& error) {
      // A bucket that is gone, or has become shorter, is another one now.
      const bool rotated = error.code() == ErrorCode::missing ||
                           error.code() == ErrorCode::mismatch ||
                           error.code() == ErrorCode::corrupt;
      if (!rotated || i == kTries) throw;
      newer_ = open(kNewer);
      older_ = open(kOlder);
    }
}

void Generations::add(std::span<const std::string_view> comments) {
  in_spite_of_rotation([&] { newer_.insert_many(comments); });
}

std::size_t Generations::seen(std::span<const std::string_view> comments) {
  return in_spite_of_rotation([&] {
    // The newer one first: what is moved from there to the older one meanwhile is found in that.
    const auto found = std::make_unique<bool[]>(comments.size());
    std::size_t count = newer_.may_contain_many(comments, {found.get(), comments.size()});
    std::vector<std::string_view> others;
    for (std::size_t i = 0; i < comments.size(); ++i)
      if (!found[i]) others.push_back(comments[i]);
    count += older_.may_contain_many(others);
    return count;
  });
}

void Generations::rotate() {
  const std::unique_ptr<redisContext, decltype(&redisFree)> redis(redisConnectUnix(socket_.c_str()),
                                                                  redisFree);
  if (!redis || redis->err != 0) throw std::runtime_error("cannot connect to " + socket_);
  // At once for everybody; what was called rptc:older is freed.
  const std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply(
      static_cast<redisReply*>(redisCommand(redis.get(), "RENAME rptc rptc:older")),
      [](void* object) { freeReplyObject(object); });
  if (!reply || reply->type == REDIS_REPLY_ERROR)
    throw std::runtime_error(std::string("cannot rotate: ") + (reply ? reply->str : redis->errstr));
  newer_ = open(kNewer);
  older_ = open(kOlder);
}
