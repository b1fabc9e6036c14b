// The service: filter, then cache, then database. One per thread.
#pragma once

#include <optional>
#include <string>

#include "cache.hpp"
#include "database.hpp"
#include "row_filter.hpp"

class Service {
 public:
  // `filter` may be null. `remember_absence`: the cache also stores for a minute that a row does not exist,
  // which is the usual remedy without a filter.
  Service(Cache cache, DatabasePool& database, RowFilter::Reader* filter, bool remember_absence)
      : cache_(std::move(cache)),
        database_(database),
        filter_(filter),
        remember_absence_(remember_absence) {}

  [[nodiscard]] std::optional<std::string> find(const std::string& key) {
    if (filter_ != nullptr && !filter_->may_exist(key)) return std::nullopt;  // no query
    if (const auto cached = cache_.get(key)) {
      if (*cached == kAbsence) return std::nullopt;
      return cached;
    }
    ++queries_;
    auto body = database_.find(key);
    if (body) cache_.set(key, *body, 600);
    if (!body && remember_absence_) cache_.set(key, kAbsence, 60);
    return body;
  }

  // The number of queries to the database.
  [[nodiscard]] std::uint64_t queries() const { return queries_; }

 private:
  static constexpr const char* kAbsence = "-";
  Cache cache_;
  DatabasePool& database_;
  RowFilter::Reader* filter_;
  bool remember_absence_;
  std::uint64_t queries_ = 0;
};
