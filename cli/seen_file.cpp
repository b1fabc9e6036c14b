// Deciding now, remembering later.
#include "seen_file.hpp"

#include "kinds.hpp"
#include "output.hpp"
#include "seen.hpp"
#include "statistics.hpp"
#include "system.hpp"
#include "text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>

namespace bloomery::cli {

namespace {

[[noreturn]] void refuse_difference(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::mismatch,
              fmt::format("{} {}; leave the flag out, or name another file", path, what));
}

Asked asked_of(const FilterFile& file) {
  switch (file.kind()) {
    case Kind::plain:
      break;
    case Kind::counting: {
      const Plan& plan = file.counting().plan();
      return {plan.capacity, plan.fpr, std::nullopt};
    }
    case Kind::scalable: {
      const ScalablePlan& plan = file.scalable().plan();
      return {plan.first.capacity, plan.fpr, plan.first.layout};
    }
    case Kind::window: {
      const WindowPlan& plan = file.window().plan();
      return {plan.capacity, plan.fpr, plan.slice.layout};
    }
  }
  const Plan& plan = file.view().plan();
  return {plan.capacity, plan.fpr, plan.layout};
}

void check_kind(const Options& options, const FilterFile& file) {
  const std::string& path = file.path();
  if (options.kind && *options.kind != file.kind())
    refuse_difference(path, fmt::format("is a {} filter, and the flags say {}",
                                        to_string(file.kind()), to_string(*options.kind)));
  if (file.kind() == Kind::scalable && options.growth &&
      *options.growth != file.scalable().plan().growth)
    refuse_difference(path, fmt::format("grows by {}, and --growth says {}",
                                        file.scalable().plan().growth, *options.growth));
  if (file.kind() != Kind::window) return;
  const WindowPlan& plan = file.window().plan();
  if (options.slices && *options.slices != plan.slices)
    refuse_difference(
        path, fmt::format("has {} slices, and --slices says {}", plan.slices, *options.slices));
  // The plan's window is rounded up to whole slices.
  if (options.window &&
      (options.window->unit != plan.unit || options.window->length > plan.window ||
       plan.window - options.window->length >= plan.slices))
    refuse_difference(
        path, fmt::format("has a window of {}, and --window says another", window_text(plan)));
}

void check_agreement(const Options& options, const FilterFile& file) {
  check_kind(options, file);
  check_asked(options, file.path(), asked_of(file), file.hasher());
}

}  // namespace

void check_asked(const Options& options, const std::string& path, const Asked& asked,
                 const Hasher& hasher) {
  if (options.items && *options.items != asked.items)
    refuse_difference(path, fmt::format("was made for {} keys, and -n says {}",
                                        group_digits(asked.items), group_digits(*options.items)));
  if (options.fpr && *options.fpr != asked.fpr)
    refuse_difference(path, fmt::format("was made for a rate of {}, and -p says {}",
                                        fpr_text(asked.fpr), fpr_text(*options.fpr)));
  if (options.layout && asked.layout && *options.layout != *asked.layout)
    refuse_difference(path, fmt::format("has the layout {}, and --layout says {}",
                                        to_string(*asked.layout), to_string(*options.layout)));
  if (options.hash && *options.hash != hasher.family())
    refuse_difference(path, "was made with another hash than --hash says");
  if (options.seed && *options.seed != hasher.seed())
    refuse_difference(path, "was made with another seed than --seed says");
}

FilterFile open_or_create(const Options& options) {
  const std::string& path = *options.filter;
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) {
    FilterFile file =
        FilterFile::open(path, {.access = Access::write, .durability = options.durability});
    check_agreement(options, file);
    return file;
  }
  const bool window_of_lines = options.window && options.window->unit == WindowUnit::insertions;
  if (!options.items && !window_of_lines)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} does not exist; -n N (and -p P) would create it", path));
  return FilterFile::create(
      path, dedup_plan(options),
      {.hasher = options.hasher(), .durability = options.durability, .replace = false});
}

// What survives a power loss may be remembered only once the output does, too.
SeenInFile::SeenInFile(FilterFile file, Durability durability)
    : file_(std::move(file)), sync_output_(durability == Durability::sync && output_is_a_file()) {}

void SeenInFile::decide(std::span<const Hash128> hashes, std::span<bool> answers) {
  keep_time(file_);
  file_.may_contain_hashes(hashes, answers);
  for (std::size_t i = 0; i < hashes.size(); ++i)
    answers[i] = !answers[i] && batch_.insert(hashes[i]);
}

void SeenInFile::settle(const std::function<void()>& drain) {
  if (batch_.due()) remember(drain);
}

void SeenInFile::finish(const std::function<void()>& drain) {
  if (!batch_.empty()) remember(drain);
}

void SeenInFile::remember(const std::function<void()>& drain) {
  drain();
  if (sync_output_ && ::fdatasync(STDOUT_FILENO) != 0)
    throw_system("cannot write to standard output", errno);
  keep_time(file_);
  file_.insert_hashes(batch_.hashes());
  batch_.clear();
}

}  // namespace bloomery::cli
