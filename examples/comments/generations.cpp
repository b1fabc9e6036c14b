// Two buckets, and the rename that makes one the other.
#include "generations.hpp"

#include <bloomery/error.hpp>
#include <bloomery/rotating_redis_filter.hpp>

#include <memory>
#include <utility>
#include <vector>

using bloomery::Error;
using bloomery::ErrorCode;
using bloomery::PhpScheme;
using bloomery::RedisPhpFilter;

namespace {

constexpr std::string_view kNewer = "rptc";

}  // namespace

Generations::Generations(std::string socket)
    : socket_(std::move(socket)),
      newer_(open(kNewer)),
      older_(open(bloomery::older_redis_key(kNewer))) {}

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
      older_ = open(bloomery::older_redis_key(kNewer));
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
  // At once for everybody: a rename. What was older is freed.
  bloomery::rotate_php_bucket({.socket = socket_}, kNewer);
  newer_ = open(kNewer);
  older_ = open(bloomery::older_redis_key(kNewer));
}
