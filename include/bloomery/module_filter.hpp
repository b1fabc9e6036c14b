// A filter of a Redis module, bloomery.so or RedisBloom, by its BF commands.
//
//   auto seen = ModuleFilter::create({.host = "10.0.0.7"}, "urls", {.capacity = 1'000'000});
//   if (seen.insert(url)) fetch(url);   // true: certainly new
//
// A batch is a command for each 1,024 keys, two of them on the way at once. The module itself answers
// "absent" for a key that is not there, and makes a filter for the first BF.ADD. Here every command
// stands between two BF.INFO: a filter that is gone, has become smaller, or, of the kind that grows,
// has fewer items, is an Error and never "absent". What stays unseen is one that another client has
// put in its place with as much capacity and as many items, or of a kind that does not grow: BF.INFO
// names no filter. One of redis+module+cluster:// with a single shard has marks that do.
//
// Threads: one at a time for each object. Objects are independent of each other.
#pragma once

#include <bloomery/redis_filter.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace bloomery {

namespace detail {
class Connection;
}

// What BF.RESERVE is told. The kinds other than chain are bloomery.so's alone.
struct ModuleReserve {
  enum class Kind : std::uint8_t { chain, counting, window };
  Kind kind = Kind::chain;
  std::uint64_t capacity = 0;
  double fpr = 0.01;
  // Of a chain: what it grows by; 0: it does not, and refuses keys when it is full.
  std::uint32_t expansion = 2;
  std::string layout = {};  // of a chain: "native", "redisbloom"; empty: as the server is set
  std::uint32_t counter_bits = 4;  // of a counting filter
  std::uint64_t window = 0;        // of a window: so many
  bool seconds = false;            // seconds, or insertions
  std::uint32_t slices = 8;
};

// What BF.INFO says.
struct ModuleInfo {
  std::uint64_t capacity = 0;
  std::uint64_t bytes = 0;
  std::uint64_t filters = 0;
  std::uint64_t items = 0;                      // that were new when they were inserted
  std::optional<std::uint64_t> expansion = {};  // nothing: it does not grow
};

// What every operation may throw: as RedisFilter's, and
//   io        also: the server has no module with BF commands
//   no_space  also: a filter that does not grow is full
class ModuleFilter {
 public:
  // Error{exists}: the key holds something. Error{wrong_kind}: the server's module has no such kind.
  static ModuleFilter create(const RedisAddress& address, std::string_view key,
                             const ModuleReserve& reserve);
  // Error{missing}.
  static ModuleFilter open(const RedisAddress& address, std::string_view key);

  ModuleFilter(ModuleFilter&&) noexcept;
  ModuleFilter& operator=(ModuleFilter&&) noexcept;
  ~ModuleFilter();

  bool insert(std::string_view key) { return insert_many({&key, 1}) == 1; }
  [[nodiscard]] bool may_contain(std::string_view key) { return may_contain_many({&key, 1}) == 1; }
  using Keys = std::span<const std::string_view>;
  // As RedisFilter's.
  std::size_t insert_many(Keys keys, std::span<bool> fresh = {});
  std::size_t may_contain_many(Keys keys, std::span<bool> found = {});
  // Of a counting filter. Returns how many were there. Error{wrong_kind}: it does not count.
  std::size_t remove_many(Keys keys, std::span<bool> removed = {});
  [[nodiscard]] std::size_t acknowledged() const noexcept { return acknowledged_; }

  [[nodiscard]] ModuleInfo info();

 private:
  enum class Ask : std::uint8_t { insert, look, remove };
  ModuleFilter(const RedisAddress& address, std::string_view key);
  void require_kinds();
  std::size_t run(Ask ask, Keys keys, std::span<bool> answers);
  std::size_t send(Ask ask, Keys keys);
  std::size_t take(Ask ask, std::size_t keys, std::span<bool> answers);
  ModuleInfo take_info();

  std::unique_ptr<detail::Connection> connection_;
  std::string key_;
  std::string name_;
  std::uint64_t least_capacity_ = 0;
  std::uint64_t least_items_ = 0;
  std::size_t acknowledged_ = 0;
};

}  // namespace bloomery
