// The service: filter, then cache, then database. One a thread.
#pragma once

#include <optional>
#include <string>

#include "cache.hpp"
#include "database.hpp"
#include "row_filter.hpp"

class Service {
 public:
  // `filter` null: without. `remember_absence`: the cache also keeps that there is no such row, for
  // a minute, which is the usual cure where no filter is at hand.
  Service(Cache cache, DatabasePool& database, RowFilter::Reader* filter, bool remember_absence)
      : cache_(std::move(cache)),
        database_(database),
        filter_(filter),
        remember_absence_(remember_absence) {}

  [[nodiscard]] std::optional<std::string> find(const std::string& key) {
    if (filter_ != nullptr && !filter_->may_exist(key)) return std::nullopt;  // nobody is asked
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

  // How often the database was asked.
  [[nodiscard]] std::uint64_t queries() const { return queries_; }

 private:
  static constexpr const char* kAbsence = "-";
  Cache cache_;
  DatabasePool& database_;
  RowFilter::Reader* filter_;
  bool remember_absence_;
  std::uint64_t queries_ = 0;
};
