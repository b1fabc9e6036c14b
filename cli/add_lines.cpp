// A quarter of a million hashes, or a second's worth, go to the file at once.
#include "add_lines.hpp"

#include "kinds.hpp"

#include <algorithm>

namespace bloomery::cli {

namespace {
constexpr std::size_t kEnough = std::size_t{256} * 1024;
}  // namespace

void AddLines::decide(std::span<const Hash128> hashes, std::span<bool> answers) {
  std::fill(answers.begin(), answers.end(), false);  // no line is printed
  pending_.insert(pending_.end(), hashes.begin(), hashes.end());
}

void AddLines::settle(const std::function<void()>&) {
  if (pending_.size() >= kEnough || Clock::now() - last_ >= std::chrono::seconds(1)) apply();
}

void AddLines::finish(const std::function<void()>&) { apply(); }

void AddLines::apply() {
  keep_time(file_);
  if (!pending_.empty())
    fresh_ +=
        direction_ == Direction::in ? file_.insert_hashes(pending_) : file_.remove_hashes(pending_);
  pending_.clear();
  last_ = Clock::now();
}

}  // namespace bloomery::cli
