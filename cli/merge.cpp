// `bloomery merge`: one filter with the keys of several, whole or not at all.
#include "force.hpp"
#include "kinds.hpp"
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

// Why a filter of this kind does not merge, or nothing where it does.
std::string_view why_not(Kind kind) {
  switch (kind) {
    case Kind::plain:
    case Kind::counting:
      break;
    case Kind::scalable:
      return "the layers of two scalable filters together would be wrong more often than either "
             "was planned to be; add the lines again to one of them";
    case Kind::window:
      return "two windows have forgotten different things; add the lines again to one of them";
  }
  return {};
}

void require_same_schemes(const std::vector<std::string>& paths) {
  const FilterFile first = FilterFile::open(paths.front());
  if (const std::string_view why = why_not(first.kind()); !why.empty())
    throw Error(ErrorCode::wrong_kind,
                fmt::format("{}: is a {} filter: {}", paths.front(), to_string(first.kind()), why));
  for (std::size_t i = 1; i < paths.size(); ++i) {
    const FilterFile other = FilterFile::open(paths[i]);
    try {
      if (first.kind() != other.kind())
        throw Error(ErrorCode::mismatch,
                    fmt::format("one is a {} filter and the other a {} one",
                                to_string(first.kind()), to_string(other.kind())));
      if (first.kind() == Kind::counting)
        detail::require_same_scheme(first.counting().plan(), first.hasher(),
                                    other.counting().plan(), other.hasher());
      else
        FilterView::require_same_scheme(first.view(), other.view());
    } catch (const Error& error) {
      throw Error(error.code(),
                  fmt::format("{} and {}: {}", paths.front(), paths[i], error.what()));
    }
  }
}

// OUT, to be written beside what has that name, if anything; that is held as by any writer, so
// that no key can be acknowledged into it that the result would not have.
FilterFile begin(const std::string& out, bool force, const FilterFile& like) {
  return naming_force(out, [&] {
    const auto refuse_existing = [&] {
      std::error_code ignored;
      if (!force && std::filesystem::exists(std::filesystem::symlink_status(out, ignored)))
        throw Error(ErrorCode::exists, out);
    };
    refuse_existing();
    FilterFile merged = FilterFile::rebuild(out, plan_of(like),
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
  FilterFile merged = begin(out, options.force, FilterFile::open(paths.front()));
  for (const auto& path : paths) {
    const FilterFile file = FilterFile::open(path);
    if (file.kind() == Kind::counting)
      merged.merge(file.counting());
    else
      merged.merge(file.view());
  }
  const FilterState state(merged);
  naming_force(out, [&] { merged.close(); });
  remark(fmt::format("merged {} filters into {}: about {} keys, rate now {}", paths.size(), out,
                     group_digits(state.estimated_items), rate_text(state.rate_now)));
  warn_if_overfull(state, "create a larger one and add everything again");
  return kExitFound;
}

}  // namespace bloomery::cli
