// `bloomery merge`: one filter with the keys of several, whole or not at all.
#include "force.hpp"
#include "output.hpp"
#include "statistics.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <bloomery/filter_file.hpp>

#include <filesystem>
#include <vector>

namespace bloomery::cli {

namespace {

void require_same_schemes(const std::vector<std::string>& paths) {
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
}

// OUT, to be written beside what has that name, if anything; that is held as by any writer, so
// that no key can be acknowledged into it that the result would not have.
FilterFile begin(const std::string& out, bool force, const FilterView& like) {
  return naming_force(out, [&] {
    const auto refuse_existing = [&] {
      std::error_code ignored;
      if (!force && std::filesystem::exists(std::filesystem::symlink_status(out, ignored)))
        throw Error(ErrorCode::exists, out);
    };
    refuse_existing();
    FilterFile merged = FilterFile::rebuild(out, like.plan(),
                                            {.hasher = like.hasher(),
                                             .durability = Durability::process,
                                             .replace = force,
                                             .os = nullptr});
    refuse_existing();  // it may have come between
    return merged;
  });
}

}  // namespace

int run_merge(const Options& options) {
  const std::string& out = options.files.front();
  const std::vector<std::string> paths(options.files.begin() + 1, options.files.end());
  require_same_schemes(paths);
  FilterFile merged = begin(out, options.force, FilterFile::open(paths.front()).view());
  for (const auto& path : paths) merged.merge(FilterFile::open(path).view());
  const FilterState state(merged.view());
  naming_force(out, [&] { merged.close(); });
  remark(fmt::format("merged {} filters into {}: about {} keys, rate now {}", paths.size(), out,
                     group_digits(state.estimated_items), rate_text(state.rate_now)));
  warn_if_overfull(state, "create a larger one and add everything again");
  return kExitFound;
}

}  // namespace bloomery::cli
