// What files that are made have no right to, until the end of the scope.
#pragma once

#include <sys/stat.h>

namespace bloomery::test {

class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

 private:
  const mode_t before_;
};

}  // namespace bloomery::test
