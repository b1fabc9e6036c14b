// Merges several filters into one, which appears complete or not at all.
#include <bloomery/detail/kernel.hpp>

#include <algorithm>

#include "base/zeros.hpp"
#include "filter/statistics.hpp"
#include "handle/places.hpp"
#include "handle/plain_bits.hpp"
#include "store/files.hpp"

namespace bloomery {

using namespace detail;

namespace {

Plan bits_in(const FilterFile& file) {
  return file.kind() == Kind::counting ? file.counting().plan() : file.view().plan();
}

FilterFile open_mergeable(const std::string& path) {
  FilterFile file = FilterFile::open(path);
  const auto refuse = [&](const char* why) {
    throw Error(ErrorCode::wrong_kind,
                fill_in("{}: is a {} filter: {}", path, to_string(file.kind()), why));
  };
  if (file.kind() == Kind::scalable)
    refuse(
        "the sub-filters of two scalable filters together would be wrong more often than "
        "either was planned to be; add the lines again to one of them");
  if (file.kind() == Kind::frozen)
    refuse("no key can be added to one; build a new one from the keys of all");
  if (file.kind() == Kind::window)
    refuse("two windows have forgotten different things; add the lines again to one of them");
  return file;
}

// Calls work(), which compares the first location with the ith; errors name both.
template <class Work>
void naming_both(std::span<const std::string> locations, std::size_t i, Work work) {
  try {
    work();
  } catch (const Error& error) {
    throw Error(error.code(), fill_in("{} and {}: {}", AnyFilter::display_name(locations.front()),
                                      AnyFilter::display_name(locations[i]), error.what()));
  }
}

// Error{mismatch}: a key has different bits in the two.
void require_alike(std::span<const std::string> paths, std::size_t i, const FilterFile& first,
                   const FilterFile& other) {
  naming_both(paths, i, [&] {
    if (first.kind() != other.kind())
      throw Error(ErrorCode::mismatch, fill_in("one is a {} filter and the other a {} one",
                                               to_string(first.kind()), to_string(other.kind())));
    require_same_scheme(bits_in(first), first.hasher(), bits_in(other), other.hasher());
  });
}

FilterStats merged_stats(const FilterFile& file) {
  if (file.kind() == Kind::counting) return stats_of(file.counting(), Precision::sampled);
  const FilterView& view = file.view();
  if (!Files::is_sparse(file)) return stats_of(view, Precision::sampled);
  // A sample would read holes, and on tmpfs a hole that is read takes memory.
  const double fill =
      static_cast<double>(Files::count_ones(file)) / static_cast<double>(view.plan().bits);
  return stats_of(view.plan(), stats_from(view.plan(), {.ones = fill}));
}

// The sources are mapped, so only the new filter is written. Holes of sparse sources are not read.
FilterStats merge_files(std::span<const std::string> paths, const std::string& out, bool replace) {
  const FilterFile first = open_mergeable(paths.front());
  for (std::size_t i = 1; i < paths.size(); ++i)
    require_alike(paths, i, first, FilterFile::open(paths[i]));
  const bool counting = first.kind() == Kind::counting;
  const FilterPlan plan =
      counting ? FilterPlan(CountingPlan{bits_in(first)}) : FilterPlan(bits_in(first));
  FilterFile merged = file_beside(out, plan, first.hasher(), replace, paths);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const FilterFile source = FilterFile::open(paths[i]);
    require_alike(paths, i, first, source);  // another filter may have come to the path
    Files::require_undamaged(source);
    const auto bytes = counting ? source.counting().bytes() : source.view().bytes();
    for (const auto [from, to] : Files::data(source))
      for (std::uint64_t at = from; at < to; at += kChunkBytes) {
        // What a journal has added to a snapshot in memory may be anywhere, so zeros are looked for.
        const auto piece = bytes.subspan(at, std::min(kChunkBytes, to - at));
        if (!is_zeros(piece)) merged.merge_bytes(at, piece);
      }
  }
  FilterStats stats = merged_stats(merged);
  merged.close();
  return stats;
}

// Merges plain filters in any places, piece by piece.
FilterStats merge_pieces(std::span<const std::string> locations, const std::string& out,
                         bool replace) {
  std::vector<std::unique_ptr<PlainSource>> sources;
  for (std::size_t i = 0; i < locations.size(); ++i) {
    sources.push_back(plain_source(locations[i]));
    naming_both(locations, i, [&] {
      require_same_parameters(sources.front()->parameters(), sources[i]->parameters());
    });
  }
  const PlainParameters parameters = sources.front()->parameters();
  const auto sink = plain_sink(out, parameters, replace, locations);
  const std::uint64_t ones = copy_bits(sources, *sink);
  sink->publish();
  const double fill = static_cast<double>(ones) / static_cast<double>(parameters.plan.bits);
  return stats_of(parameters.plan, stats_from(parameters.plan, {.ones = fill}));
}

bool is_module_shards(const std::string& location) {
  if (!is_on_server(place_of(location))) return false;
  const RedisUrl url = redis_url(location);
  return url.module && url.shards;
}

}  // namespace

AnyFilter::Merged AnyFilter::merge(std::span<const std::string> sources, const std::string& out,
                                   bool replace) {
  if (sources.empty())
    throw Error(ErrorCode::invalid_argument, "nothing to merge; give one filter at least");
  if (is_module_shards(out) && std::ranges::all_of(sources, is_module_shards)) {
    std::vector<RedisUrl> urls;
    for (const std::string& source : sources) urls.push_back(redis_url(source));
    merge_module_shards(redis_url(out), urls, replace);
    try {
      return {open(out).stats(), {}};
    } catch (const Error& error) {
      return {std::nullopt, error.what()};  // only the statistics are missing
    }
  }
  const bool files = is_file(out) && std::ranges::all_of(sources, [](const std::string& source) {
                       return is_file(source);
                     });
  return {files ? merge_files(sources, out, replace) : merge_pieces(sources, out, replace), {}};
}

}  // namespace bloomery
