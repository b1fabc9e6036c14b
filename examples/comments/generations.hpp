// The bucket of a PHP class in two generations, so that it never forgets everything at once.
//
// Comments go into the newer one and are looked up in both. rotate() drops the older one and makes the
// newer one the older. The PHP class, with its two new lines, uses both in the same way.
#pragma once

#include <bloomery/redis_php_filter.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

class Generations {
 public:
  explicit Generations(std::string socket);

  void add(std::span<const std::string_view> comments);
  // How many of them were probably posted before; the others certainly were not.
  [[nodiscard]] std::size_t seen(std::span<const std::string_view> comments);
  [[nodiscard]] bloomery::Stats stats() { return bucket_.stats(); }
  void rotate();

 private:
  // Repeats `work` on newly opened buckets if another client rotated meanwhile.
  template <class Work>
  auto in_spite_of_rotation(Work work);
  [[nodiscard]] bloomery::RedisPhpFilter open() const;

  bloomery::RedisPlace place_;
  bloomery::RedisPhpFilter bucket_;
};
