// Words that can be read once and not counted first, like those of a stream; and numbers made on the way.
// (std::views have such ranges too, which clang 14 does not compile with GCC's library.)
#pragma once

#include <cstddef>
#include <iterator>
#include <span>

namespace bloomery::test {

template <class T>
class ReadOnce {
 public:
  explicit ReadOnce(std::span<const T> all) : left_(all) {}

  class Iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(ReadOnce& range) : range_(&range) {}
    T operator*() const { return range_->left_.front(); }
    Iterator& operator++() {
      range_->left_ = range_->left_.subspan(1);
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return range_->left_.empty(); }

   private:
    ReadOnce* range_;
  };
  Iterator begin() { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  std::span<const T> left_;
};

}  // namespace bloomery::test
