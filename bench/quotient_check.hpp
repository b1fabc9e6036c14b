// Compares the quotient filter with an exact multiset of its fingerprints, before it is timed.
//
// Small tables of odd sizes are filled to 95 %, emptied to 30 % and grown, again and again, with fingerprints
// that repeat. Every answer must be that of the multiset. The first that differs ends the process.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <cstdlib>
#include <unordered_map>
#include <vector>

#include "keys.hpp"
#include "quotient_filter.hpp"

namespace bloomery::bench {

class QuotientCheck {
 public:
  QuotientCheck(std::uint64_t slots, unsigned fingerprint_bits)
      : bits_(fingerprint_bits), filter_(slots, fingerprint_bits) {}

  // Random operations; a full table grows or is emptied.
  void run(std::uint64_t operations) {
    bool filling = true;
    for (std::uint64_t i = 0; i < operations; ++i) {
      const std::uint64_t load = filter_.size() * 100 / filter_.slots();
      if (filling && load >= 95) {
        compare_all();
        filling = next() % 2 == 0 && grow();
      } else if (!filling && load <= 30) {
        compare_all();
        filling = true;
      }
      if (next() % 10 < (filling ? 7U : 3U))
        insert();
      else if (!there_.empty())
        remove();
      // A fingerprint near a present one, so that it has the same home or the next.
      ask(there_.empty() ? 0 : (there_[next() % there_.size()] + next() % 9) & last());
    }
    compare_all();
  }

 private:
  [[nodiscard]] std::uint64_t next() { return random_key(drawn_++); }
  [[nodiscard]] std::uint64_t last() const { return (std::uint64_t{1} << bits_) - 1; }
  [[nodiscard]] Hash128 hash_of(std::uint64_t fingerprint) const {
    return {fingerprint << (64 - bits_), 0};
  }
  void must(bool holds, const char* what) const {
    if (holds) return;
    fmt::print(stderr, "the quotient filter is wrong: {} ({} of {} slots, {} bits, step {})\n",
               what, filter_.size(), filter_.slots(), bits_, drawn_);
    std::abort();
  }

  void insert() {
    // One in eight fingerprints is already present.
    const std::uint64_t fingerprint = !there_.empty() && next() % 8 == 0
                                          ? there_[next() % there_.size()]
                                          : next() >> (64 - bits_);
    must(filter_.insert(hash_of(fingerprint)), "an insert is refused");
    there_.push_back(fingerprint);
    ++counts_[fingerprint];
  }
  void remove() {
    std::uint64_t& chosen = there_[next() % there_.size()];
    must(filter_.remove(hash_of(chosen)), "a key to remove is lost");
    if (--counts_[chosen] == 0) counts_.erase(chosen);
    chosen = there_.back();
    there_.pop_back();
    const std::uint64_t absent = next() >> (64 - bits_);
    if (!counts_.contains(absent))
      must(!filter_.remove(hash_of(absent)), "a key that is not there was removed");
  }
  void ask(std::uint64_t fingerprint) const {
    must(filter_.contains(hash_of(fingerprint)) == counts_.contains(fingerprint),
         counts_.contains(fingerprint) ? "a key is lost" : "a key has come from nowhere");
  }
  void compare_all() const {
    must(filter_.size() == there_.size(), "the size");
    for (const auto& entry : counts_)
      must(filter_.count(hash_of(entry.first)) == entry.second,
           "a key is there more or less often");
    if (bits_ <= 16)
      for (std::uint64_t fingerprint = 0; fingerprint <= last(); ++fingerprint) ask(fingerprint);
  }
  // Grows to twice the slots, or to a third more; every fingerprint keeps at least one bit of remainder.
  bool grow() {
    const std::uint64_t slots =
        next() % 2 == 0 ? filter_.slots() * 2 : filter_.slots() * 4 / 3 + next() % 5;
    if (slots >= last() / 2) return false;
    filter_ = filter_.resized(slots);
    compare_all();
    return true;
  }

  unsigned bits_;
  QuotientFilter filter_;
  std::vector<std::uint64_t> there_;
  std::unordered_map<std::uint64_t, std::uint64_t> counts_;
  std::uint64_t drawn_ = 0;
};

inline void check_quotient_filter() {
  QuotientCheck(64, 10).run(30'000);
  QuotientCheck(101, 12).run(50'000);
  QuotientCheck(1'000, 14).run(100'000);
  QuotientCheck(4'093, 20).run(150'000);
  QuotientCheck(1'023, 33).run(100'000);
  QuotientCheck(60'013, 23).run(300'000);
  fmt::print("730,000 steps of a checked quotient filter: every answer was right\n");
}

}  // namespace bloomery::bench
