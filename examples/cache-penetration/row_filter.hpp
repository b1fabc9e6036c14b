// The filter of existing rows, for all serving threads: a filter file that is rebuilt and swapped while
// they read it.
//
// The promise: a key whose row is committed is never answered "no". It rests on three rules.
//   1. A key is in the filter before its row is committed.
//   2. While a new filter is built, new keys go into both. The table is read after that has begun, and
//      after every row whose key is only in the old one is committed.
//   3. When the new one is in place, readers open it before another row is committed.
// Keys of deleted rows stay until the next rebuild: a plain filter cannot forget. Each costs a query, like
// a false positive.
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

  // An empty one for this many rows; rebuild() fills it. After a crash of this process the file could be
  // opened instead, because it is never behind the table. After a power loss it would be refused.
  RowFilter(std::string path, std::uint64_t rows, double fpr);

  // Adds the keys, then calls `commit`, which returns when the rows are committed.
  void add(Keys keys, const std::function<void()>& commit);

  struct Rebuilt {
    std::chrono::duration<double> took;
    std::chrono::duration<double> adders_waited;  // at most
  };
  Rebuilt rebuild(const Scan& scan);

  // How full the present filter is.
  [[nodiscard]] double estimated_keys();
  [[nodiscard]] double current_fpr();
  [[nodiscard]] std::uint64_t bytes() const { return plan_.bytes(); }

  // One per serving thread. A reader in another process has no generation to look at; it calls reload()
  // before each request or batch instead.
  class Reader {
   public:
    explicit Reader(const RowFilter& rows);
    // False: certainly no such row exists.
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
  // Held shared from the insert of a key until its row is committed, and exclusively when no row may be
  // in between.
  std::shared_mutex adding_;
  std::mutex files_;  // a FilterFile is used by one thread at a time
  bloomery::FilterFile current_;
  std::optional<bloomery::FilterFile> next_;
  std::atomic<std::uint64_t> generation_ = 0;  // of the file at the path
};
