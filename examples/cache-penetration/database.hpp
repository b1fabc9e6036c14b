// The table, in PostgreSQL, and the few connections that all threads share.
#pragma once

#include <libpq-fe.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

class Database {
 public:
  explicit Database(const std::string& socket_directory);

  [[nodiscard]] std::optional<std::string> find(const std::string& key);
  // Adds rows first to last - 1, and deletes such rows, in one transaction; it returns when they
  // are committed.
  void add(std::uint64_t first, std::uint64_t last);
  void remove(std::uint64_t first, std::uint64_t last);
  // Lets the server finish its work after a bulk load, so that it is not measured.
  void vacuum();
  // Every key that is committed at the time of the call.
  void each_key(const std::function<void(std::string_view)>& use);

 private:
  struct Finish {
    void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
    void operator()(PGresult* result) const noexcept { PQclear(result); }
  };
  using Result = std::unique_ptr<PGresult, Finish>;
  Result expect(PGresult* result, ExecStatusType status);
  std::unique_ptr<PGconn, Finish> connection_;
};

// A query holds a connection; if none is free, it waits, as in any pool.
class DatabasePool {
 public:
  DatabasePool(const std::string& socket_directory, std::size_t connections);
  [[nodiscard]] std::optional<std::string> find(const std::string& key);

 private:
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Database>> idle_;
};
