// Lines on their way into a filter, out of it, or past it.
#pragma once

#include "stream/batch.hpp"
#include "stream/stream.hpp"

#include <bloomery/any_filter.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::cli {

// Seconds since 1970; 0 if the clock is before.
[[nodiscard]] std::uint64_t seconds_now();

// The base of the sinks in this file. A line is given to the filter as its key's hash if the filter
// hashes as the tool does, and otherwise as the key's bytes.
class FilterLines : public LineSink {
 public:
  explicit FilterLines(AnyFilter& filter) : filter_(filter) {}
  [[nodiscard]] KeysWanted wanted() const override {
    const Hasher* const hasher = filter_.hasher();
    return hasher != nullptr ? KeysWanted{*hasher, false} : KeysWanted{std::nullopt, true};
  }

 protected:
  using Operation = AnyFilter::Operation;
  void keep_time();
  // Applies the operation to all of the lines at once.
  std::size_t apply(Operation operation, const Lines& lines, std::span<bool> answers);

  AnyFilter& filter_;
};

// add, remove and rebuild. Gathers the hashes of many blocks, so that one wait for the disk or the network serves them
// all; a filter that takes bytes gets each block at once. If the place has loads (AnyFilter::begin_load), the lines are
// one: it is acknowledged every second, or less often if most of the time would otherwise not go to lines.
class ApplyLines : public FilterLines {
 public:
  // `done`: the word for lines that the filter has acknowledged ("added"); empty: no line counts before
  // the end. json: print every second how many lines are acknowledged. `repeated`: the first lines, which a batch has
  // done before. The filter leaves them out, and finds only at the last of them whether they are the same, so none is
  // acknowledged before. `expected`: about how many lines there are; 0: unknown.
  ApplyLines(AnyFilter& filter, AnyFilter::Operation operation, std::string_view done, bool json,
             std::uint64_t repeated, std::uint64_t expected)
      : FilterLines(filter),
        operation_(operation),
        done_(done),
        json_(json),
        repeated_(repeated),
        expected_(expected),
        loads_(filter.begin_load(expected)) {}
  std::size_t decide_lines(const Lines& lines, std::span<bool> answers) override;
  void after_block(const std::function<void()>& drain) override;
  void finish(const std::function<void()>& drain) override;
  [[nodiscard]] std::optional<std::uint64_t> acknowledged() const override {
    return done_.empty() ? std::nullopt : std::optional(lines_);
  }

  // Lines that changed the filter: they were certainly new, or were removed.
  [[nodiscard]] std::uint64_t changed() const noexcept { return changed_; }

 private:
  using Clock = std::chrono::steady_clock;
  void apply_pending();
  [[nodiscard]] bool is_due() const noexcept { return Clock::now() - last_ >= interval_; }
  void acknowledge();
  template <class Work>
  void acknowledged_by(Work work);  // Error: names how many lines are done for certain

  Operation operation_;
  std::string_view done_;
  bool json_;
  std::uint64_t repeated_, expected_;
  std::vector<Hash128> pending_;
  bool loads_;
  Clock::time_point last_ = Clock::now();  // when lines were acknowledged
  Clock::duration interval_ = std::chrono::seconds(1);
  std::uint64_t applied_ = 0;  // lines that the filter has taken
  std::uint64_t lines_ = 0;    // that it has acknowledged
  std::uint64_t changed_ = 0;
};

// check. A key that another run has added to the filter file, or that is in a filter that has replaced it, is found in
// every line that comes later.
class LookUpLines : public FilterLines {
 public:
  explicit LookUpLines(AnyFilter& filter) : FilterLines(filter), hashed_(wanted()) {}
  std::size_t decide_lines(const Lines& lines, std::span<bool> answers) override;

 private:
  void reload();

  KeysWanted hashed_;  // how the lines of this run are hashed
};

// dedup: answers true for lines that are certainly new. In memory a line is in the filter once it was
// decided. Elsewhere a line is new if neither the filter nor the batch has it, and the batch goes to the
// filter after its lines were written, so that a crash repeats lines and loses none. Two runs over one
// filter at the same time may both print a line.
//
// A filter that forgets by the number of insertions forgets a slice when it takes the first key of another one. So a
// batch ends with that key, and each line gets the answer that a filter in memory would give.
class DedupLines : public FilterLines {
 public:
  // `sync_output`: a line may be remembered only when the output is on the device.
  DedupLines(AnyFilter& filter, bool sync_output);
  [[nodiscard]] KeysWanted wanted() const override {
    return own_hasher_ ? KeysWanted{own_hasher_, true} : FilterLines::wanted();
  }
  std::size_t decide_lines(const Lines& lines, std::span<bool> answers) override;
  void after_block(const std::function<void()>& drain) override;
  void finish(const std::function<void()>& drain) override;

 private:
  void remember(const std::function<void()>& drain);

  bool sync_output_;
  // Distinguishes the lines of one batch if the filter hashes keys by itself. Its hashes are not stored:
  // its seed is random, so that no user can choose lines that collide.
  std::optional<Hasher> own_hasher_;
  Batch batch_;
  // With a window of insertions: the length of a slice, and how many more lines the batch may take.
  std::uint64_t slice_ = 0;
  std::uint64_t left_ = std::numeric_limits<std::uint64_t>::max();
  std::string pending_;  // in that case: the keys of the batch, one after the other
  std::vector<std::size_t> ends_;
};

}  // namespace bloomery::cli
