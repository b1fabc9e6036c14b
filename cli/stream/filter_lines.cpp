// Passes a quarter of a million hashes, or those of one second, to the filter at once.
#include "stream/filter_lines.hpp"

#include "output/output.hpp"
#include "output/system.hpp"
#include "output/text.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <bloomery/window_plan.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>

namespace bloomery::cli {

namespace {
constexpr std::size_t kEnough = std::size_t{256} * 1024;
constexpr int kMostlyLines = 4;  // times as long as the last acknowledgement took
constexpr std::size_t kMostPending = std::size_t{16} << 20;  // bytes of keys
constexpr std::uint64_t kLeastLookUp = 1024;
}  // namespace

std::uint64_t seconds_now() {
  return detail::whole_seconds(std::chrono::system_clock::now().time_since_epoch(), false);
}

void FilterLines::keep_time() {
  if (filter_.needs_time()) filter_.advance(seconds_now());
}

std::size_t FilterLines::apply(Operation operation, const Lines& lines, std::span<bool> answers) {
  return filter_.hasher() != nullptr ? filter_.apply(operation, lines.hashes, answers)
                                     : filter_.apply(operation, lines.keys, answers);
}

// ---- add, remove, rebuild -------------------------------------------------------------------------

template <class Work>
void ApplyLines::acknowledged_by(Work work) {
  try {
    work();
  } catch (const Error& error) {
    // If the filter is gone, so is what was acknowledged. If lines are others than those of their batch, none is done.
    if (done_.empty() || error.code() == ErrorCode::missing ||
        (error.code() == ErrorCode::mismatch && applied_ < repeated_))
      throw;
    throw Error(error.code(),
                fmt::format("{}; the first {} lines were {}, and some of the others may have been",
                            error.what(),
                            group_digits(lines_ + (loads_ ? 0 : filter_.acknowledged())), done_));
  }
}

std::size_t ApplyLines::decide_lines(const Lines& lines, std::span<bool> answers) {
  std::fill(answers.begin(), answers.end(), false);  // no line is printed
  if (filter_.hasher() != nullptr) {
    pending_.insert(pending_.end(), lines.hashes.begin(), lines.hashes.end());
  } else {
    acknowledged_by([&] { changed_ += apply(operation_, lines, {}); });
    applied_ = lines_ += answers.size();
  }
  return lines.count;
}

void ApplyLines::after_block(const std::function<void()>&) {
  if (pending_.size() >= kEnough || is_due()) apply_pending();
}

void ApplyLines::finish(const std::function<void()>&) {
  interval_ = Clock::duration::zero();
  apply_pending();
}

void ApplyLines::apply_pending() {
  keep_time();
  if (!pending_.empty()) acknowledged_by([&] { changed_ += filter_.apply(operation_, pending_); });
  applied_ += pending_.size();
  pending_.clear();
  if (!loads_ || is_due()) acknowledge();
}

void ApplyLines::acknowledge() {
  const Clock::time_point begin = Clock::now();
  if (loads_ && lines_ < applied_)
    acknowledged_by([&] {
      filter_.end_load();
      loads_ = filter_.begin_load(expected_ - std::min(expected_, applied_));
    });
  filter_.keep_alive();  // no line is acknowledged whose filter is gone
  if (applied_ >= repeated_) lines_ = applied_;
  last_ = Clock::now();
  interval_ = std::max<Clock::duration>(std::chrono::seconds(1), kMostlyLines * (last_ - begin));
  if (json_ && !done_.empty() && lines_ > 0)
    say(nlohmann::json{{"acknowledged", lines_}}.dump() + "\n");
}

// ---- check ----------------------------------------------------------------------------------------

void LookUpLines::reload() {
  if (!filter_.can_be_behind()) return;
  try {
    if (!filter_.reload()) return;
  } catch (const Error& error) {
    // Until something is at the path again, the answers are those of before.
    if (error.code() != ErrorCode::missing) throw;
    return;
  }
  if (*filter_.hasher() != *hashed_.hasher)
    throw Error(ErrorCode::mismatch,
                fmt::format("{}: was replaced by a filter with another hash or seed while lines "
                            "were looked up; run it again",
                            filter_.name()));
}

std::size_t LookUpLines::decide_lines(const Lines& lines, std::span<bool> answers) {
  reload();
  keep_time();
  apply(Operation::contain, lines, answers);
  return lines.count;
}

// ---- dedup ----------------------------------------------------------------------------------------

DedupLines::DedupLines(AnyFilter& filter, bool sync_output)
    : FilterLines(filter), sync_output_(sync_output) {
  if (filter.hasher() == nullptr)
    own_hasher_ = Hasher(HashFamily::siphash, random_seed(HashFamily::siphash));
  if (filter.in_memory()) return;
  if (const auto room = filter.slice_room()) {
    slice_ = room->length;
    left_ = room->left + 1;
  }
}

std::size_t DedupLines::decide_lines(const Lines& lines, std::span<bool> answers) {
  keep_time();
  if (filter_.in_memory()) {
    apply(Operation::insert_absent, lines, answers);
    return lines.count;
  }
  for (std::size_t begin = 0, end = 0; begin < lines.count; begin = end) {
    // What is looked up beyond the end of a batch is looked up again, so it must not be much more.
    end = begin + std::min<std::uint64_t>(std::max(left_, kLeastLookUp), lines.count - begin);
    apply(Operation::contain, lines.part(begin, end), answers.subspan(begin, end - begin));
    for (std::size_t i = begin; i < end; ++i) {
      answers[i] = !answers[i] && batch_.insert(lines.hashes[i]);
      if (!answers[i]) continue;
      if (own_hasher_) {
        pending_ += lines.keys[i];
        ends_.push_back(pending_.size());
      }
      if (--left_ == 0) return i + 1;
    }
  }
  return lines.count;
}

void DedupLines::after_block(const std::function<void()>& drain) {
  if (left_ == 0 || batch_.due() || pending_.size() >= kMostPending) remember(drain);
}

void DedupLines::finish(const std::function<void()>& drain) {
  if (!batch_.empty()) remember(drain);
}

void DedupLines::remember(const std::function<void()>& drain) {
  drain();
  if (sync_output_ && ::fdatasync(STDOUT_FILENO) != 0)
    throw_system("cannot write to " + output_name(), errno);
  keep_time();
  if (own_hasher_) {
    std::vector<std::string_view> keys;
    keys.reserve(ends_.size());
    for (std::size_t i = 0, begin = 0; i < ends_.size(); begin = ends_[i++])
      keys.push_back(std::string_view(pending_).substr(begin, ends_[i] - begin));
    filter_.apply(Operation::insert, keys);
  } else {
    filter_.apply(Operation::insert, batch_.hashes());
  }
  batch_.clear();
  pending_.clear();
  ends_.clear();
  if (left_ == 0) left_ = slice_;
}

}  // namespace bloomery::cli
