// The bucket of a PHP class in two generations, so that it forgets without a moment of amnesia.
//
// Comments go into the newer one and are asked of both. rotate() makes the newer the older; the one
// that was older is gone. The PHP class, with its two new lines, does the same beside it.
#pragma once

#include <bloomery/php_filter.hpp>
#include <bloomery/redis_filter.hpp>

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
  [[nodiscard]] bloomery::RedisFill watch() { return newer_.watch(); }
  void rotate();

 private:
  // Does `work` again, on buckets that were opened anew, where somebody rotated meanwhile.
  template <class Work>
  auto in_spite_of_rotation(Work work);
  [[nodiscard]] bloomery::RedisPhpFilter open(std::string_view bucket) const;

  std::string socket_;
  bloomery::RedisPhpFilter newer_;
  bloomery::RedisPhpFilter older_;
};
