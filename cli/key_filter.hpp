// Filters that are no filter files: on a server, or bits that another program has made. They take
// keys as bytes, and each says for itself how it stands.
#pragma once

#include "options.hpp"
#include "statistics.hpp"

#include <bloomery/filter_file.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomery::cli {

class KeyFilter {
 public:
  using Keys = std::span<const std::string_view>;
  using Rows = std::vector<std::pair<std::string, std::string>>;

  KeyFilter() = default;
  KeyFilter(const KeyFilter&) = delete;
  KeyFilter& operator=(const KeyFilter&) = delete;
  virtual ~KeyFilter() = default;

  // An address or a path, without secrets.
  [[nodiscard]] virtual std::string name() const = 0;

  // As in Filter, durable as far as the place is once it returns. An Error leaves the first
  // acknowledged() keys done, and says nothing of the others.
  virtual std::size_t insert(Keys keys, std::span<bool> fresh) = 0;
  virtual std::size_t may_contain(Keys keys, std::span<bool> found) = 0;
  [[nodiscard]] virtual std::size_t acknowledged() const noexcept = 0;
  // Error{wrong_kind}, unless it counts.
  virtual std::size_t remove(Keys keys, std::span<bool> removed);

  // "line, 1.9 MiB, for 1,000,000 keys at 0.1 %"
  [[nodiscard]] virtual std::string made() const = 0;
  [[nodiscard]] virtual Standing standing(const std::string& mend) = 0;
  // What can be said of its wholeness, now that it is open.
  [[nodiscard]] virtual std::string verified() = 0;
  // What `info` prints: names and values, in order.
  [[nodiscard]] virtual Rows rows() = 0;
};

// One of the library's filters as a key filter: what they all do alike.
template <class Filter>
class KeyFilterOver : public KeyFilter {
 public:
  KeyFilterOver(std::string name, Filter filter)
      : name_(std::move(name)), filter_(std::move(filter)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  std::size_t insert(Keys keys, std::span<bool> fresh) override {
    return filter_.insert_many(keys, fresh);
  }
  std::size_t may_contain(Keys keys, std::span<bool> found) override {
    return filter_.may_contain_many(keys, found);
  }
  [[nodiscard]] std::size_t acknowledged() const noexcept override {
    return filter_.acknowledged();
  }

 protected:
  std::string name_;
  Filter filter_;
};

// The filter of that name; null: it is a filter file. Error: as the place has them.
[[nodiscard]] std::unique_ptr<KeyFilter> open_key_filter(const Options& options,
                                                         const std::string& name, Access access);
// A new one, of the numbers that the options give.
[[nodiscard]] std::unique_ptr<KeyFilter> create_key_filter(const Options& options,
                                                           const std::string& name);
// The one that is there, which the options may not contradict, or a new one where they give -n.
[[nodiscard]] std::unique_ptr<KeyFilter> open_or_create_key_filter(const Options& options,
                                                                   const std::string& name);

// Whether a name is, or is meant to be, an address on a Redis server; also in a tool that cannot go
// there.
[[nodiscard]] bool is_redis_address(std::string_view name) noexcept;

// Whether a verb's FILE is none, but one of these.
[[nodiscard]] bool names_key_filter(const Options& options, const std::string& name) noexcept;

// For verbs that work on files alone: Error{wrong_kind} with the reason where it is one of these.
void require_file(const Options& options, const std::string& name, std::string_view why);

}  // namespace bloomery::cli
