// The filters that delete, each with its own loops over 64-bit keys: one call per key, and in bulk.
#pragma once

#include <bloomery/counting_filter.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "cuckoo/filter.hpp"
#include "keys.hpp"
#include "quotient_filter.hpp"

namespace bloomery::bench {

// Each function returns for how many keys the answer was yes.
struct Candidate {
  std::string name;
  double bits_per_key = 0;
  bool may_refuse = false;  // a few keys; all others must be found
  std::function<void()> clear;
  std::function<std::uint64_t(Keys)> insert, remove, contains, bulk_insert, bulk_remove,
      bulk_contains;
  // Removes each of the first keys and inserts the one at the same index of the second.
  std::function<std::uint64_t(Keys, Keys)> replace;
};

template <class Prefetch, class Call>
std::uint64_t each_ahead(Keys keys, Prefetch prefetch, Call call) {
  constexpr std::size_t kAhead = 32;
  std::uint64_t yes = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + kAhead < keys.size()) prefetch(keys[i + kAhead]);
    yes += call(keys[i]) ? 1 : 0;
  }
  return yes;
}

// Single calls of any filter with insert, remove and contains by key.
template <class Access>
Candidate single_calls(std::string name, double bits_per_key, Access access) {
  Candidate out;
  out.name = std::move(name);
  out.bits_per_key = bits_per_key;
  out.insert = [access](Keys keys) {
    return each(keys, [&](std::uint64_t key) { return access.insert(key); });
  };
  out.remove = [access](Keys keys) {
    return each(keys, [&](std::uint64_t key) { return access.remove(key); });
  };
  out.contains = [access](Keys keys) {
    return each(keys, [&](std::uint64_t key) { return access.contains(key); });
  };
  out.replace = [access](Keys old, Keys fresh) {
    std::uint64_t yes = 0;
    for (std::size_t i = 0; i < old.size(); ++i)
      yes += access.remove(old[i]) && access.insert(fresh[i]) ? 1 : 0;
    return yes;
  };
  return out;
}
// Bulk calls for a filter that has none: this loop prefetches ahead.
template <class Access>
Candidate prefetched_calls(std::string name, double bits_per_key, Access access) {
  Candidate out = single_calls(std::move(name), bits_per_key, access);
  const auto ahead = [access](std::uint64_t key) { access.prefetch(key); };
  out.bulk_insert = [=](Keys keys) {
    return each_ahead(keys, ahead, [&](std::uint64_t key) { return access.insert(key); });
  };
  out.bulk_remove = [=](Keys keys) {
    return each_ahead(keys, ahead, [&](std::uint64_t key) { return access.remove(key); });
  };
  out.bulk_contains = [=](Keys keys) {
    return each_ahead(keys, ahead, [&](std::uint64_t key) { return access.contains(key); });
  };
  return out;
}

// ---- the candidates ------------------------------------------------------------------------------

struct QuotientAccess {
  std::shared_ptr<QuotientFilter> filter;
  Hasher hasher{};
  [[nodiscard]] bool insert(std::uint64_t key) const { return filter->insert(hasher(key)); }
  [[nodiscard]] bool remove(std::uint64_t key) const { return filter->remove(hasher(key)); }
  [[nodiscard]] bool contains(std::uint64_t key) const { return filter->contains(hasher(key)); }
  [[gnu::always_inline]] void prefetch(std::uint64_t key) const { filter->prefetch(hasher(key)); }
};

inline Candidate quotient_candidate(const std::shared_ptr<QuotientFilter>& filter,
                                    std::uint64_t keys) {
  const auto n = static_cast<double>(keys);
  Candidate out = prefetched_calls(
      fmt::format("quotient, {:.0f} % full", 100 * n / static_cast<double>(filter->slots())),
      8 * static_cast<double>(filter->bytes()) / n, QuotientAccess{filter});
  out.clear = [filter] { filter->clear(); };
  return out;
}

struct CountingAccess {
  std::shared_ptr<CountingFilter> filter;
  // insert() answers whether the key is new, which does not matter here.
  [[nodiscard]] bool insert(std::uint64_t key) const {
    filter->insert(key);
    return true;
  }
  [[nodiscard]] bool remove(std::uint64_t key) const { return filter->remove(key); }
  [[nodiscard]] bool contains(std::uint64_t key) const { return filter->may_contain(key); }
};

inline Candidate counting_candidate(std::uint64_t capacity, double fpr,
                                    std::uint32_t counter_bits) {
  const auto filter = std::make_shared<CountingFilter>(capacity, fpr, counter_bits);
  Candidate out = single_calls(
      fmt::format("counting, {} bits", counter_bits),
      8 * static_cast<double>(counting_bytes(filter->plan())) / static_cast<double>(capacity),
      CountingAccess{filter});
  out.clear = [filter] { filter->clear(); };
  out.bulk_insert = [filter](Keys keys) {
    filter->insert_many(keys);
    return keys.size();
  };
  out.bulk_remove = [filter](Keys keys) -> std::uint64_t { return filter->remove_many(keys); };
  out.bulk_contains = [filter](Keys keys) -> std::uint64_t {
    return filter->may_contain_many(keys);
  };
  return out;
}

// RedisBloom's filter, with buckets of two. With these, the rate is about 1 % when 60 % of the entries
// are used, whatever rate is requested. Its evictions can go in circles long before, so it refuses a few
// keys: with the 500 evictions given here fewer than with the usual 20.
struct CuckooAccess {
  struct NoLimit final : server::MemoryLimit {
    [[nodiscard]] bool allows(std::uint64_t /*bytes*/) const noexcept override { return true; }
  };
  std::shared_ptr<server::cuckoo::Filter::Pointer> filter;
  static std::uint64_t hash(std::uint64_t key) {
    return server::cuckoo::hash({reinterpret_cast<const char*>(&key), sizeof key});
  }
  [[nodiscard]] bool insert(std::uint64_t key) const {
    return (*filter)->insert(hash(key), false, NoLimit()) == server::cuckoo::Inserted::yes;
  }
  [[nodiscard]] bool remove(std::uint64_t key) const { return (*filter)->remove(hash(key)); }
  [[nodiscard]] bool contains(std::uint64_t key) const { return (*filter)->may_contain(hash(key)); }
  void prefetch(std::uint64_t key) const { (*filter)->prefetch(hash(key)); }
};

inline Candidate cuckoo_candidate(std::uint64_t keys) {
  constexpr double kLoad = 0.605;
  const auto header = server::cuckoo::plan(
      static_cast<std::uint64_t>(static_cast<double>(keys) / kLoad), 2, 500, 0);
  const auto filter =
      std::make_shared<server::cuckoo::Filter::Pointer>(server::cuckoo::Filter::make(header));
  const auto entries = static_cast<double>(header.all_entries());
  const auto n = static_cast<double>(keys);
  Candidate out = prefetched_calls(fmt::format("cuckoo, {:.0f} % full", 100 * n / entries),
                                   8 * entries / n, CuckooAccess{filter});
  out.may_refuse = true;
  out.clear = [filter] {
    const auto all = (*filter)->array(0);
    std::fill(all.begin(), all.end(), std::byte{0});
  };
  return out;
}

}  // namespace bloomery::bench
