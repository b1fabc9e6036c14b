// Two buckets, and the rename that makes the newer one the older.
#include "generations.hpp"

#include <bloomery/error.hpp>

#include <utility>

using bloomery::Error;
using bloomery::ErrorCode;
using bloomery::PhpScheme;
using bloomery::RedisPhpFilter;

Generations::Generations(std::string socket)
    : place_({.socket = std::move(socket)}, "rptc"), bucket_(open()) {}

RedisPhpFilter Generations::open() const {
  auto bucket = RedisPhpFilter::create(place_, PhpScheme::string_hashes("BKDR,SDBM,JS"));
  bucket.ask_older();
  return bucket;
}

template <class Work>
auto Generations::in_spite_of_rotation(Work work) {
  constexpr int kTries = 10;
  for (int i = 1;; ++i) try {
      return work();
    } catch (const Error& error) {
      // A bucket that is missing or has become shorter was replaced.
      const bool rotated = error.code() == ErrorCode::missing ||
                           error.code() == ErrorCode::mismatch ||
                           error.code() == ErrorCode::corrupt;
      if (!rotated || i == kTries) throw;
      bucket_ = open();
    }
}

void Generations::add(std::span<const std::string_view> comments) {
  in_spite_of_rotation([&] { bucket_.insert_many(comments); });
}

std::size_t Generations::seen(std::span<const std::string_view> comments) {
  // The newer bucket is asked first: if a rotation moves it meanwhile, its keys are found in the older one.
  return in_spite_of_rotation([&] { return bucket_.may_contain_many(comments); });
}

void Generations::rotate() {
  // A rename, so atomic for all clients. The old older bucket is freed.
  RedisPhpFilter::rotate(place_);
  bucket_ = open();
}
