// `bloomery add`: every line of the inputs into a filter file.
#include "inputs.hpp"
#include "output.hpp"
#include "statistics.hpp"
#include "stream.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <bloomery/filter_file.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

namespace bloomery::cli {

namespace {

// Gathers the hashes of many blocks, so that one wait for the disk serves them all.
class AddToFile : public LineSink {
 public:
  explicit AddToFile(FilterFile& file) : file_(file) {}

  void decide(std::span<const Hash128> hashes, std::span<bool> answers) override {
    std::fill(answers.begin(), answers.end(), false);  // no line is printed
    pending_.insert(pending_.end(), hashes.begin(), hashes.end());
  }
  void settle(const std::function<void()>&) override {
    if (pending_.size() >= kEnough || Clock::now() - last_ >= std::chrono::seconds(1)) add();
  }
  void finish(const std::function<void()>&) override { add(); }

  [[nodiscard]] std::uint64_t fresh() const noexcept { return fresh_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kEnough = std::size_t{256} * 1024;

  void add() {
    if (!pending_.empty()) fresh_ += file_.insert_hashes(pending_);
    pending_.clear();
    last_ = Clock::now();
  }

  FilterFile& file_;
  std::vector<Hash128> pending_;
  Clock::time_point last_ = Clock::now();
  std::uint64_t fresh_ = 0;
};

}  // namespace

int run_add(const Options& options) {
  const std::vector<Input> inputs = find_inputs({options.files.begin() + 1, options.files.end()});
  FilterFile file =
      FilterFile::open(options.files.front(),
                       {.access = Access::write, .durability = options.durability, .os = nullptr});
  AddToFile sink(file);
  const StreamResult stream = run_stream(options, inputs, {.hasher = file.view().hasher()}, sink);
  const FilterState state(file.view());
  file.close();
  if (!options.quiet) {
    remark_stream(stream, fmt::format("{} new, {} there before", group_digits(sink.fresh()),
                                      group_digits(stream.lines - sink.fresh())));
    remark_state(state);
  }
  warn_if_overfull(state, "create a larger one and add everything again");
  return stream.signal != 0 ? kExitSignal + stream.signal : kExitFound;
}

}  // namespace bloomery::cli
