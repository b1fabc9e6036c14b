// Deciding now, remembering later.
#include "seen_file.hpp"

#include "seen.hpp"
#include "system.hpp"
#include "text.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace bloomery::cli {

namespace {

[[noreturn]] void refuse_difference(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::mismatch,
              fmt::format("{} {}; leave the flag out, or name another file", path, what));
}

void check_agreement(const Options& options, const FilterFile& file) {
  const Plan& plan = file.view().plan();
  const Hasher& hasher = file.view().hasher();
  const std::string& path = file.path();
  if (options.items && *options.items != plan.capacity)
    refuse_difference(path, fmt::format("was made for {} keys, and -n says {}",
                                        group_digits(plan.capacity), group_digits(*options.items)));
  if (options.rate && *options.rate != plan.rate)
    refuse_difference(path, fmt::format("was made for a rate of {}, and -p says {}",
                                        rate_text(plan.rate), rate_text(*options.rate)));
  if (options.layout && *options.layout != plan.layout)
    refuse_difference(path, fmt::format("has the layout {}, and --layout says {}",
                                        to_string(plan.layout), to_string(*options.layout)));
  if (options.hash && *options.hash != hasher.family())
    refuse_difference(path, "was made with another hash than --hash says");
  if (options.seed && *options.seed != hasher.seed())
    refuse_difference(path, "was made with another seed than --seed says");
}

bool output_is_a_file() {
  struct stat status {};
  return ::fstat(STDOUT_FILENO, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

FilterFile open_or_create(const Options& options) {
  const std::string& path = *options.filter;
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) {
    FilterFile file = FilterFile::open(
        path, {.access = Access::write, .durability = options.durability, .os = nullptr});
    check_agreement(options, file);
    return file;
  }
  if (!options.items)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} does not exist; -n N (and -p P) would create it", path));
  return FilterFile::create(path, dedup_plan(options, *options.items),
                            {.hasher = options.hasher(),
                             .durability = options.durability,
                             .replace = false,
                             .os = nullptr});
}

// What survives a power loss may be remembered only once the output does, too.
SeenInFile::SeenInFile(FilterFile& file, Durability durability)
    : file_(file), sync_output_(durability == Durability::sync && output_is_a_file()) {}

void SeenInFile::decide(std::span<const Hash128> hashes, std::span<bool> answers) {
  file_.view().may_contain_hashes(hashes, answers);
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
  file_.insert_hashes(batch_.hashes());
  batch_.clear();
}

}  // namespace bloomery::cli
