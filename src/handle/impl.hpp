// The interface between AnyFilter and a place. Each place has a class that derives from Impl; places.hpp makes them.
#pragma once

#include <bloomery/any_filter.hpp>

#include "base/os.hpp"
#include "base/text.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomery {

class AnyFilter::Impl {
 public:
  using Direct = AnyFilter::Direct;
  explicit Impl(std::string name) : name_(std::move(name)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  virtual ~Impl() = default;

  // The location without secrets.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  // A server takes changes from everybody, so a filter there that is opened for reading refuses them here.
  void only_reads() noexcept { reads_ = true; }
  void require_writer() const {
    if (reads_) refuse(ErrorCode::read_only, "is open for reading; open it for writing");
  }

  // Null: the place takes keys only as bytes, and the first overload of apply throws Error{wrong_kind}.
  [[nodiscard]] virtual const Hasher* hasher() const noexcept = 0;
  virtual std::size_t apply(Operation operation, std::span<const Hash128> hashes,
                            std::span<bool> answers);
  // By default it hashes the keys, so a place without a hasher overrides it.
  virtual std::size_t apply(Operation operation, Keys keys, std::span<bool> answers);
  // Like RedisPhpFilter::insert_bits. By default Error{wrong_kind}.
  virtual std::size_t insert_bits(std::string_view key, std::span<bool> before);
  // The number of first keys that are certainly done after apply has thrown.
  [[nodiscard]] virtual std::size_t acknowledged() const noexcept { return 0; }

  [[nodiscard]] virtual bool in_memory() const noexcept { return false; }
  // After close() nothing of it is in this process, and AnyFilter lets it go (closed_filter.cpp).
  [[nodiscard]] virtual bool on_server() const noexcept { return false; }
  // The request that the filter was created from, as far as it is known; `kind` is always right.
  [[nodiscard]] virtual FilterSpec spec() const = 0;
  [[nodiscard]] virtual std::optional<FilterPlan> plan() const { return std::nullopt; }
  // What a filter of this plan has as its plan in this place: filters in shards are rounded up to whole shards.
  [[nodiscard]] virtual FilterPlan plan_here(const FilterPlan& plan) const { return plan; }
  virtual void require_removal() const;
  [[nodiscard]] virtual bool needs_time() const noexcept { return false; }
  virtual void advance(std::uint64_t /*now*/) {}
  virtual bool begin_load(std::uint64_t /*expected*/) noexcept { return false; }
  virtual void end_load() {}
  [[nodiscard]] virtual bool is_loading() const noexcept { return false; }
  virtual void use_threads(unsigned /*threads*/) noexcept {}
  virtual std::uint64_t begin_batch(std::string_view name);

  [[nodiscard]] virtual FilterStats stats(Precision precision) = 0;
  [[nodiscard]] virtual std::optional<SliceRoom> slice_room() { return std::nullopt; }
  [[nodiscard]] virtual std::vector<Array> arrays() const { return {}; }
  [[nodiscard]] virtual VerifyReport verify() = 0;
  virtual void sync() {}
  virtual void keep_alive() {}
  virtual void close() {}
  [[nodiscard]] virtual std::vector<std::byte> encode();
  [[nodiscard]] virtual std::uint64_t encoded_size();
  [[nodiscard]] virtual const FilterFile* file() const noexcept { return nullptr; }
  // Of the file that it comes from, if it is in one.
  [[nodiscard]] virtual std::vector<Os::Stat> rights() const { return {}; }

  // The filter itself, to be merged into others; null if it is of another kind or not in this process.
  [[nodiscard]] virtual const FilterView* plain() const noexcept { return nullptr; }
  [[nodiscard]] virtual const CountingView* counting() const noexcept { return nullptr; }
  virtual void merge(const FilterView& other);
  virtual void merge(const CountingView& other);
  virtual void intersect(const FilterView& other);
  virtual void clear();
  [[nodiscard]] virtual std::unique_ptr<Impl> copy();
  virtual bool reload();
  [[nodiscard]] virtual bool can_be_behind() const noexcept { return false; }
  // The result may change with reload() and close().
  [[nodiscard]] virtual Direct direct() noexcept { return {.bits = plain()}; }

 protected:
  [[noreturn]] void refuse(ErrorCode code, const std::string& what) const;
  [[noreturn]] void refuse_insert_absent() const;
  [[noreturn]] void refuse_merge() const;

 private:
  std::string name_;
  bool reads_ = false;
};

namespace detail {

enum class Opening : std::uint8_t { read, write, create };

using AnyImpl = std::unique_ptr<AnyFilter::Impl>;

// The statistics of a filter in this process's memory.
[[nodiscard]] FilterStats stats_of(const FilterView& filter, Precision precision);
[[nodiscard]] FilterStats stats_of(const CountingView& filter, Precision precision);
[[nodiscard]] FilterStats stats_of(const ScalableFilter& filter, Precision precision);
[[nodiscard]] FilterStats stats_of(const WindowFilter& filter, Precision precision);
[[nodiscard]] FilterStats stats_of(const FrozenFilter& filter, Precision precision);
// The statistics of a plain filter whose bits were counted elsewhere.
[[nodiscard]] FilterStats stats_of(const Plan& plan, const Stats& counted);
// Adds the keys in the delta of a frozen filter to `stats`, which so far describe only the list.
void add_delta(FilterStats& stats, const FrozenPlan& whole, const FilterView& delta,
               std::uint64_t inserted, Precision precision);

// A report that consists of one sentence.
[[nodiscard]] inline VerifyReport said(std::string sentence) {
  VerifyReport report;
  report.detail = std::move(sentence);
  return report;
}

}  // namespace detail

}  // namespace bloomery
