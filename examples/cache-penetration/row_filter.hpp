// Which rows exist, for everybody who serves: a filter file that is rebuilt and swapped meanwhile.
//
// The promise: a key whose row is committed is never answered "no". Three rules keep it.
//   1. A key is in the filter before its row is committed.
//   2. While a new filter is built, new keys go into both. The rows are read after that has begun,
//      and after every row that only the old one has is committed.
//   3. When the new one is in place, readers look at it before another row is committed.
// Keys of rows that are deleted stay until the next rebuild: a plain filter cannot forget. They cost
// a query each, as a false alarm does.
#pragma once

#include <bloomery/bloomery.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>

class RowFilter {
 public:
  using Keys = std::span<const std::string>;
  // Calls its argument with every key that is committed.
  using Scan = std::function<void(const std::function<void(std::string_view)>&)>;

  // An empty one for so many rows; rebuild() fills it. What a crash of this process left could be
  // opened instead: the file is never behind the table. After a power loss it would be refused.
  RowFilter(std::string path, std::uint64_t rows, double fpr);

  // Rows are added by whoever commits: `commit` returns when they are.
  void add(Keys keys, const std::function<void()>& commit);

  struct Rebuilt {
    std::chrono::duration<double> took;
    std::chrono::duration<double> adders_waited;  // at most
  };
  Rebuilt rebuild(const Scan& scan);

  // How full the filter is that is in use now.
  [[nodiscard]] double estimated_keys();
  [[nodiscard]] double current_fpr();
  [[nodiscard]] std::uint64_t bytes() const { return plan_.bytes(); }

  // Of each serving thread, one; a reader in another process has no generation to look at, and
  // calls reload() before each request or batch of them instead.
  class Reader {
   public:
    explicit Reader(const RowFilter& rows);
    // False: there is certainly no such row.
    [[nodiscard]] bool may_exist(std::string_view key);

   private:
    const RowFilter* rows_;
    std::uint64_t generation_;
    bloomery::FilterFile file_;
  };

 private:
  void swap_in_the_new_one();

  std::string path_;
  bloomery::Plan plan_;
  // Held shared from a key's way into the filter until its row is committed, and alone where that
  // must be true of no row.
  std::shared_mutex adding_;
  std::mutex files_;  // a FilterFile is used by one thread at a time
  bloomery::FilterFile current_;
  std::optional<bloomery::FilterFile> next_;
  std::atomic<std::uint64_t> generation_ = 0;  // of what is at the path
};
