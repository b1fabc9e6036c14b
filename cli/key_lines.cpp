// The sinks of add, remove, check and dedup over key filters.
#include "key_lines.hpp"

#include "output.hpp"
#include "system.hpp"
#include "text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace bloomery::cli {

namespace {
constexpr std::size_t kMostPending = std::size_t{16} << 20;  // bytes of keys
}  // namespace

void AddKeys::decide_lines(const Lines& lines, std::span<bool> answers) {
  std::fill(answers.begin(), answers.end(), false);  // no line is printed
  keys_of(lines.text, lines.ends, lines.rule, keys_);
  try {
    fresh_ += direction_ == Direction::in ? filter_.insert(keys_, {}) : filter_.remove(keys_, {});
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("{}; the first {} lines are {}, of the others some may be",
                            error.what(), group_digits(lines_ + filter_.acknowledged()),
                            direction_ == Direction::in ? "added" : "removed"));
  }
  lines_ += keys_.size();
}

void LookUpKeys::decide_lines(const Lines& lines, std::span<bool> answers) {
  keys_of(lines.text, lines.ends, lines.rule, keys_);
  filter_.may_contain(keys_, answers);
}

// The hash tells the lines of one batch apart and is kept nowhere: its seed is its own, so that
// nobody can choose lines that look alike.
SeenKeys::SeenKeys(KeyFilter& filter)
    : filter_(filter),
      sync_output_(output_is_a_file()),
      hasher_(HashFamily::siphash, random_seed(HashFamily::siphash)) {}

void SeenKeys::decide_lines(const Lines& lines, std::span<bool> answers) {
  keys_of(lines.text, lines.ends, lines.rule, keys_);
  filter_.may_contain(keys_, answers);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    answers[i] = !answers[i] && batch_.insert(hasher_(keys_[i]));
    if (!answers[i]) continue;
    pending_ += keys_[i];
    ends_.push_back(pending_.size());
  }
}

void SeenKeys::settle(const std::function<void()>& drain) {
  if (batch_.due() || pending_.size() >= kMostPending) remember(drain);
}

void SeenKeys::finish(const std::function<void()>& drain) {
  if (!batch_.empty()) remember(drain);
}

void SeenKeys::remember(const std::function<void()>& drain) {
  drain();
  if (sync_output_ && ::fdatasync(STDOUT_FILENO) != 0)
    throw_system("cannot write to standard output", errno);
  keys_.clear();
  std::size_t begin = 0;
  for (const std::size_t end : ends_) {
    keys_.push_back(std::string_view(pending_).substr(begin, end - begin));
    begin = end;
  }
  filter_.insert(keys_, {});
  batch_.clear();
  pending_.clear();
  ends_.clear();
}

}  // namespace bloomery::cli
