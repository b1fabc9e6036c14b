// `bloomery merge`: one filter with the keys of several, whole or not at all.
#include "force.hpp"
#include "key_filter.hpp"
#include "kinds.hpp"
#include "output.hpp"
#include "redis_places.hpp"
#include "statistics.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <bloomery/filter.hpp>
#include <bloomery/filter_file.hpp>

#include <filesystem>
#include <optional>
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

// One of the filters, wherever it is: a file that is mapped, or a Redis string read into memory.
class Source {
 public:
  explicit Source(const std::string& path) {
    if (is_redis_address(path))
      memory_ = load_from_redis(path);
    else
      file_ = FilterFile::open(path);
  }
  [[nodiscard]] Kind kind() const { return file_ ? file_->kind() : Kind::plain; }
  [[nodiscard]] const FilterView& view() const { return file_ ? file_->view() : *memory_; }
  [[nodiscard]] const CountingView& counting() const { return file_->counting(); }
  [[nodiscard]] const Plan& plan() const {
    return kind() == Kind::counting ? counting().plan() : view().plan();
  }
  [[nodiscard]] const Hasher& hasher() const {
    return kind() == Kind::counting ? counting().hasher() : view().hasher();
  }
  [[nodiscard]] FilePlan file_plan() const {
    if (kind() == Kind::counting) return CountingPlan{plan()};
    return plan();
  }

 private:
  std::optional<FilterFile> file_;
  std::optional<Filter> memory_;
};

std::string shown(const std::string& path) {
  return is_redis_address(path) ? redis_name(path) : path;
}

void require_mergeable(const Source& source, const std::string& path) {
  if (const std::string_view why = why_not(source.kind()); !why.empty())
    throw Error(ErrorCode::wrong_kind,
                fmt::format("{}: is a {} filter: {}", path, to_string(source.kind()), why));
}

void require_same_schemes(const Source& first, const std::vector<std::string>& paths) {
  require_mergeable(first, shown(paths.front()));
  for (std::size_t i = 1; i < paths.size(); ++i) {
    const Source other(paths[i]);
    try {
      if (first.kind() != other.kind())
        throw Error(ErrorCode::mismatch,
                    fmt::format("one is a {} filter and the other a {} one",
                                to_string(first.kind()), to_string(other.kind())));
      detail::require_same_scheme(first.plan(), first.hasher(), other.plan(), other.hasher());
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{} and {}: {}", shown(paths.front()), shown(paths[i]),
                                            error.what()));
    }
  }
}

// OUT, to be written beside what has that name, if anything; that is held as by any writer, so
// that no key can be acknowledged into it that the result would not have.
FilterFile begin(const std::string& out, bool force, const Source& like) {
  return naming_force(out, force, [&] {
    const auto refuse_existing = [&] {
      std::error_code ignored;
      if (!force && std::filesystem::exists(std::filesystem::symlink_status(out, ignored)))
        throw Error(ErrorCode::exists, out);
    };
    refuse_existing();
    FilterFile merged = FilterFile::rebuild(out, like.file_plan(),
                                            {.hasher = like.hasher(),
                                             .durability = Durability::process,
                                             .replace = force,
                                             .os = nullptr});
    refuse_existing();  // it may have come between
    return merged;
  });
}

FilterState merge_into_file(const std::string& out, bool force, const Source& first,
                            const std::vector<std::string>& paths) {
  FilterFile merged = begin(out, force, first);
  for (const auto& path : paths) {
    const Source source(path);
    if (source.kind() == Kind::counting)
      merged.merge(source.counting());
    else
      merged.merge(source.view());
  }
  FilterState state(merged);
  naming_force(out, force, [&] { merged.close(); });
  return state;
}

FilterState merge_into_redis(const std::string& out, bool force, const Source& first,
                             const std::vector<std::string>& paths) {
  if (first.kind() != Kind::plain)
    throw Error(ErrorCode::wrong_kind,
                fmt::format("{}: a Redis string holds a plain filter, and these are {} ones; name "
                            "a file for them",
                            shown(out), to_string(first.kind())));
  Filter merged(first.plan(), first.hasher());
  for (const auto& path : paths) merged.merge(Source(path).view());
  store_in_redis(out, merged, force);
  return FilterState(merged);
}

}  // namespace

int run_merge(const Options& options) {
  const std::string& out = options.files.front();
  const std::vector<std::string> paths(options.files.begin() + 1, options.files.end());
  const Source first(paths.front());
  require_same_schemes(first, paths);
  const FilterState state = is_redis_address(out)
                                ? merge_into_redis(out, options.force, first, paths)
                                : merge_into_file(out, options.force, first, paths);
  remark(fmt::format("merged {} filters into {}: about {} keys, rate now {}", paths.size(),
                     shown(out), group_digits(state.estimated_items), rate_text(state.rate_now)));
  warn_if_overfull(state, "create a larger one and add everything again");
  return kExitFound;
}

}  // namespace bloomery::cli
