// `bloomery merge`: one filter with the keys of several, whole or not at all.
#include "output.hpp"
#include "statistics.hpp"
#include "system.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <bloomery/filter_file.hpp>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <vector>

namespace bloomery::cli {

namespace {

// A file that is removed again unless it got its name.
class Unnamed {
 public:
  explicit Unnamed(std::string path) : path_(std::move(path)) {}
  Unnamed(const Unnamed&) = delete;
  Unnamed& operator=(const Unnamed&) = delete;
  ~Unnamed() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  // Gives it the name `out`, durably; what had that name stays or goes, as `replace` says.
  void name(const std::string& out, bool replace) {
    const unsigned flags = replace ? 0 : RENAME_NOREPLACE;
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, out.c_str(), flags) != 0)
      throw_system(fmt::format("cannot name the result {}", out), errno);
    path_.clear();
    const auto directory = std::filesystem::path(out).parent_path();
    const FileDescriptor fd(
        ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.get() < 0 || ::fsync(fd.get()) != 0)
      throw_system(fmt::format("cannot make the name {} last", out), errno);
  }

 private:
  std::string path_;
};

// The filter that OUT is to take the place of, if there is one. It is held as by any writer, so
// that no key can be acknowledged into it that the result would not have.
std::optional<FilterFile> hold_target(const std::string& out, bool force) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(out, ignored))) return {};
  if (!force)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} exists; name another OUT, or replace it with --force", out));
  return FilterFile::open(
      out, {.access = Access::write, .durability = Durability::process, .os = nullptr});
}

}  // namespace

int run_merge(const Options& options) {
  const std::string& out = options.files.front();
  const std::vector<std::string> paths(options.files.begin() + 1, options.files.end());
  const std::optional<FilterFile> replaced = hold_target(out, options.force);
  // What a link points to is replaced, and not the link.
  const std::string target = replaced ? replaced->path() : out;
  const FilterFile first = FilterFile::open(paths.front());
  for (std::size_t i = 1; i < paths.size(); ++i) {
    const FilterFile other = FilterFile::open(paths[i]);
    try {
      FilterView::require_same_scheme(first.view(), other.view());
    } catch (const Error& error) {
      throw Error(error.code(),
                  fmt::format("{} and {}: {}", paths.front(), paths[i], error.what()));
    }
  }
  Unnamed result(fmt::format("{}.{}.part", target, ::getpid()));
  FilterFile merged = FilterFile::create(result.path(), first.view().plan(),
                                         {.hasher = first.view().hasher(),
                                          .durability = Durability::process,
                                          .replace = false,
                                          .os = nullptr});
  for (const auto& path : paths) merged.merge(FilterFile::open(path).view());
  const FilterState state(merged.view());
  merged.close();
  result.name(target, replaced.has_value());
  remark(fmt::format("merged {} filters into {}: about {} keys, rate now {}", paths.size(), out,
                     group_digits(state.estimated_items), rate_text(state.rate_now)));
  warn_if_overfull(state, "create a larger one and add everything again");
  return kExitFound;
}

}  // namespace bloomery::cli
