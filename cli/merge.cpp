// `bloomery merge`: one filter with the keys of several, whole or not at all.
#include "force.hpp"
#include "key_filter.hpp"
#include "kinds.hpp"
#include "output.hpp"
#include "plain_bits.hpp"
#include "redis_places.hpp"
#include "statistics.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <bloomery/detail/kernel.hpp>
#include <bloomery/filter_file.hpp>

#include <algorithm>
#include <memory>
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
      return "the sub-filters of two scalable filters together would be wrong more often than "
             "either "
             "was planned to be; add the lines again to one of them";
    case Kind::window:
      return "two windows have forgotten different things; add the lines again to one of them";
  }
  return {};
}

Plan plan_in(const FilterFile& file) {
  return file.kind() == Kind::counting ? file.counting().plan() : file.view().plan();
}

FilterFile open_mergeable(const std::string& path) {
  FilterFile file = FilterFile::open(path);
  if (const std::string_view why = why_not(file.kind()); !why.empty())
    throw Error(ErrorCode::wrong_kind,
                fmt::format("{}: is a {} filter: {}", path, to_string(file.kind()), why));
  return file;
}

// Does work that compares the first of the paths with the ith.
void naming_both(const std::vector<std::string>& paths, std::size_t i, auto&& work) {
  try {
    work();
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("{} and {}: {}", shown(paths.front()), shown(paths[i]), error.what()));
  }
}

// Files alone: mapped, so that nothing is copied but into the new one.
FilterState merge_files(const std::string& out, bool force, const std::vector<std::string>& paths) {
  const FilterFile first = open_mergeable(paths.front());
  for (std::size_t i = 1; i < paths.size(); ++i) {
    const FilterFile other = FilterFile::open(paths[i]);
    naming_both(paths, i, [&] {
      if (first.kind() != other.kind())
        throw Error(ErrorCode::mismatch,
                    fmt::format("one is a {} filter and the other a {} one",
                                to_string(first.kind()), to_string(other.kind())));
      detail::require_same_scheme(plan_in(first), first.hasher(), plan_in(other), other.hasher());
    });
  }
  const bool counting = first.kind() == Kind::counting;
  FilterFile merged = counting
                          ? file_beside(out, CountingPlan{plan_in(first)}, first.hasher(), force)
                          : file_beside(out, plan_in(first), first.hasher(), force);
  for (const auto& path : paths) {
    const FilterFile source = FilterFile::open(path);
    if (counting)
      merged.merge(source.counting());
    else
      merged.merge(source.view());
  }
  FilterState state(merged);
  naming_force(out, force, [&] { merged.close(); });
  return state;
}

// A sink that counts what goes through it.
class OnesCounted : public PlainSink {
 public:
  explicit OnesCounted(PlainSink& sink) : sink_(sink) {}
  // Pieces come as `pour` cuts them: aligned, of whole words.
  void write(std::uint64_t at, std::span<const std::byte> bytes) override {
    const auto* words = reinterpret_cast<const std::uint32_t*>(bytes.data());
    ones_ += detail::count_ones(words, bytes.size() * 8);
    sink_.write(at, bytes);
  }
  void publish() override { sink_.publish(); }
  [[nodiscard]] std::uint64_t ones() const noexcept { return ones_; }

 private:
  PlainSink& sink_;
  std::uint64_t ones_ = 0;
};

// Wherever they are: plain filters, piece by piece.
FilterState merge_pieces(const std::string& out, bool force,
                         const std::vector<std::string>& paths) {
  std::vector<std::unique_ptr<PlainSource>> sources;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    sources.push_back(plain_source(paths[i]));
    naming_both(paths, i,
                [&] { require_same_shape(sources.front()->shape(), sources[i]->shape()); });
  }
  const PlainShape shape = sources.front()->shape();
  const auto sink = plain_sink(out, shape, force);
  OnesCounted counted(*sink);
  pour(sources, counted);
  FilterState state =
      state_in(shape, static_cast<double>(counted.ones()) / static_cast<double>(shape.plan.bits));
  counted.publish();
  return state;
}

// Of a module's filter in shards, which is in its place whether it can be counted or not.
std::string keys_counted(const Options& options, const std::string& name) {
  try {
    const Standing standing = redis_key_filter(options, name, Mode::read)->standing({});
    return fmt::format("{} keys, those of two counted twice",
                       group_digits(standing.json.at("items").get<std::uint64_t>()));
  } catch (const Error& error) {
    return fmt::format("how many keys it has cannot be said: {}", error.what());
  }
}

}  // namespace

int run_merge(const Options& options) {
  const std::string& out = options.files.front();
  const std::vector<std::string> paths(options.files.begin() + 1, options.files.end());
  const auto in_module = [](const std::string& path) {
    return is_redis_address(path) && names_module_shards(path);
  };
  if (std::ranges::all_of(options.files, in_module)) {
    merge_module_shards(out, paths, options.force);
    remark(fmt::format("merged {} filters into {}: {}", paths.size(), shown(out),
                       keys_counted(options, out)));
    return kExitFound;
  }
  const bool files = std::ranges::none_of(options.files, is_redis_address);
  const FilterState state =
      files ? merge_files(out, options.force, paths) : merge_pieces(out, options.force, paths);
  remark(fmt::format("merged {} filters into {}: about {} keys, current fpr {}", paths.size(),
                     shown(out), group_digits(state.estimated_items), fpr_text(state.current_fpr)));
  warn_if_overfull(state, "create a larger one and add everything again");
  return kExitFound;
}

}  // namespace bloomery::cli
