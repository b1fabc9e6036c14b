// libpq: prepared look-ups, and COPY for many rows.
#include "database.hpp"

#include <stdexcept>
#include <utility>

#include "rows.hpp"

Database::Database(const std::string& socket_directory)
    : connection_(
          PQconnectdb(("host=" + socket_directory + " user=bloomery dbname=bloomery").c_str())) {
  if (PQstatus(connection_.get()) != CONNECTION_OK)
    throw std::runtime_error(PQerrorMessage(connection_.get()));
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
  expect(PQexec(connection_.get(),
                "CREATE TABLE IF NOT EXISTS offers (key TEXT PRIMARY KEY, body TEXT)"),
         PGRES_COMMAND_OK);
  expect(PQprepare(connection_.get(), "find", "SELECT body FROM offers WHERE key = $1", 1, nullptr),
         PGRES_COMMAND_OK);
}

Database::Result Database::expect(PGresult* result, ExecStatusType status) {
  Result owned(result);
  if (PQresultStatus(result) != status) throw std::runtime_error(PQerrorMessage(connection_.get()));
  return owned;
}

std::optional<std::string> Database::find(const std::string& key) {
  const char* values[] = {key.c_str()};
  const Result rows = expect(
      PQexecPrepared(connection_.get(), "find", 1, values, nullptr, nullptr, 0), PGRES_TUPLES_OK);
  if (PQntuples(rows.get()) == 0) return std::nullopt;
  return PQgetvalue(rows.get(), 0, 0);
}

void Database::add(std::uint64_t first, std::uint64_t last) {
  expect(PQexec(connection_.get(), "COPY offers FROM STDIN"), PGRES_COPY_IN);
  for (std::uint64_t number = first; number < last; ++number) {
    const std::string line = key_of(number).append("\t").append(body_of(number)).append("\n");
    PQputCopyData(connection_.get(), line.data(), static_cast<int>(line.size()));
  }
  PQputCopyEnd(connection_.get(), nullptr);
  expect(PQgetResult(connection_.get()), PGRES_COMMAND_OK);
  while (PGresult* more = PQgetResult(connection_.get())) PQclear(more);
}

void Database::remove(std::uint64_t first, std::uint64_t last) {
  std::string keys;  // an array: {key,key}
  for (std::uint64_t number = first; number < last; ++number)
    keys.append(number == first ? "{" : ",").append(key_of(number));
  keys.append("}");
  const char* values[] = {keys.c_str()};
  expect(PQexecParams(connection_.get(), "DELETE FROM offers WHERE key = ANY ($1::text[])", 1,
                      nullptr, values, nullptr, nullptr, 0),
         PGRES_COMMAND_OK);
}

void Database::vacuum() {
  expect(PQexec(connection_.get(), "VACUUM ANALYZE offers"), PGRES_COMMAND_OK);
  expect(PQexec(connection_.get(), "CHECKPOINT"), PGRES_COMMAND_OK);
}

void Database::each_key(const std::function<void(std::string_view)>& use) {
  expect(PQexec(connection_.get(), "COPY offers (key) TO STDOUT"), PGRES_COPY_OUT);
  char* line = nullptr;
  int size = 0;
  while ((size = PQgetCopyData(connection_.get(), &line, 0)) > 0) {
    use({line, static_cast<std::size_t>(size) - 1});  // without the newline
    PQfreemem(line);
  }
  expect(PQgetResult(connection_.get()), PGRES_COMMAND_OK);
  while (PGresult* more = PQgetResult(connection_.get())) PQclear(more);
}

DatabasePool::DatabasePool(const std::string& socket_directory, std::size_t connections) {
  while (idle_.size() < connections) idle_.push_back(std::make_unique<Database>(socket_directory));
}

std::optional<std::string> DatabasePool::find(const std::string& key) {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [&] { return !idle_.empty(); });
  std::unique_ptr<Database> database = std::move(idle_.back());
  idle_.pop_back();
  lock.unlock();
  std::optional<std::string> body = database->find(key);
  lock.lock();
  idle_.push_back(std::move(database));
  returned_.notify_one();
  return body;
}
