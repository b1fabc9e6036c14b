// `bloomery convert`: the same bits in another place. Three kinds of bits never meet: plain filters
// of ours, dumps of a module's filters, and bitmaps of PHP classes; but a plain filter is also a dump
// with one array.
#include "dump_file.hpp"
#include "force.hpp"
#include "kinds.hpp"
#include "output.hpp"
#include "php_file.hpp"
#include "redis_places.hpp"
#include "scheme.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <bloomery/filter.hpp>
#include <bloomery/filter_file.hpp>
#include <bloomery/module_dump.hpp>
#include <bloomery/redis_url.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>

namespace bloomery::cli {

namespace {

enum class Place { filter_file, dump_file, other_file, string, module };

constexpr std::string_view kMend = "bloomery rebuild makes a filter from its keys";

Place place_of_source(const std::string& name) {
  if (is_redis_address(name))
    return redis_place(name).holds == RedisUrl::Holds::module ? Place::module : Place::string;
  if (is_dump_file(name)) return Place::dump_file;
  std::array<char, 4> start{};
  std::ifstream file(name, std::ios::binary);
  if (!file) throw_system(fmt::format("cannot read {}", name), errno);
  file.read(start.data(), start.size());
  return std::memcmp(start.data(),
                     "\x89"
                     "BLM",
                     4) == 0
             ? Place::filter_file
             : Place::other_file;
}

bool is_dump(Place place) noexcept { return place == Place::dump_file || place == Place::module; }

// A dump is kept as it is, unless the name says what it is to be.
Place place_of_destination(const std::string& name, Place source) {
  if (is_redis_address(name)) return place_of_source(name);
  return is_dump(source) && !name.ends_with(".bloom") ? Place::dump_file : Place::filter_file;
}

std::string shown(const std::string& name) {
  return is_redis_address(name) ? redis_name(name) : name;
}

// ---- plain filters --------------------------------------------------------------------------

Filter loaded(const std::string& name, Place place) {
  if (place == Place::string) return load_from_redis(name);
  const FilterFile file = FilterFile::open(name);
  if (file.kind() != Kind::plain)
    throw Error(
        ErrorCode::wrong_kind,
        fmt::format("{}: is a {} filter, and only plain ones go elsewhere than into files; {}",
                    name, to_string(file.kind()), kMend));
  Filter copy(file.view().plan(), file.hasher());
  copy.merge(file.view());
  return copy;
}

void stored(const std::string& name, Place place, const Filter& filter, bool force) {
  if (place == Place::string) return store_in_redis(name, filter, force);
  naming_force(name, force, [&] {
    std::error_code ignored;
    if (!force && std::filesystem::exists(std::filesystem::symlink_status(name, ignored)))
      throw Error(ErrorCode::exists, name);
    FilterFile file = FilterFile::rebuild(name, filter.plan(),
                                          {.hasher = filter.hasher(),
                                           .durability = Durability::process,
                                           .replace = force,
                                           .os = nullptr});
    file.merge(filter);
    file.close();
  });
}

// ---- dumps ------------------------------------------------------------------------------------

using Next = std::function<ModuleChunk()>;

// A plain filter as a dump of one link that does not grow.
Next chunks_of(const std::shared_ptr<const Filter>& filter) {
  return [filter, at = std::size_t{0}, begun = false]() mutable -> ModuleChunk {
    const std::span<const std::byte> bits = filter->bytes();
    if (!std::exchange(begun, true)) {
      const double items =
          std::min(filter->estimated_items(), static_cast<double>(filter->capacity()));
      return {1, module_header(filter->plan(), filter->hasher(),
                               static_cast<std::uint64_t>(std::llround(items)))};
    }
    const auto part = bits.subspan(at, std::min(bits.size() - at, std::size_t{16} << 20));
    at += part.size();
    if (part.empty()) return {};
    return {1 + at, std::string(reinterpret_cast<const char*>(part.data()), part.size())};
  };
}

Next dump_from(const std::string& name, Place place) {
  if (place == Place::module) {
    const RedisUrl url = redis_place(name);
    return
        [dumper = std::make_shared<ModuleDumper>(url.address, url.key)] { return dumper->next(); };
  }
  if (place == Place::dump_file)
    return [reader = std::make_shared<DumpReader>(name)] { return reader->next(); };
  return chunks_of(std::make_shared<const Filter>(loaded(name, place)));
}

// The plain filter in a dump of `most` bytes at most. Error{wrong_kind}: it holds something else.
Filter filter_in(const Next& next, const std::string& name, std::uintmax_t most) {
  const auto refused = [&](ErrorCode code, std::string_view what) {
    return Error(code, fmt::format("{}: {}; {}", name, what, kMend));
  };
  const auto shape_in = [&](const ModuleChunk& header) {
    try {
      return plain_in_module_header(header.bytes);
    } catch (const Error& error) {
      throw refused(error.code(), error.what());
    }
  };
  const ModulePlain shape = shape_in(next());
  constexpr std::string_view kCut = "it ends before its bits do";
  if (shape.plan.bytes() > most) throw refused(ErrorCode::corrupt, kCut);
  Filter filter(shape.plan, shape.hasher);
  std::size_t at = 0;
  for (ModuleChunk chunk = next(); chunk.iterator != 0; chunk = next()) {
    const std::span<std::byte> bits = filter.mutable_bytes();
    if (chunk.bytes.size() > bits.size() - at || chunk.iterator != 1 + at + chunk.bytes.size())
      throw refused(ErrorCode::corrupt, "it goes on where its header says that it ends");
    std::memcpy(bits.data() + at, chunk.bytes.data(), chunk.bytes.size());
    at += chunk.bytes.size();
  }
  if (at != filter.bytes().size()) throw refused(ErrorCode::corrupt, kCut);
  return filter;
}

void convert_dump(const Options& options, Place from, Place to) {
  const std::string& source = options.files[0];
  const std::string& out = options.files[1];
  const Next next = dump_from(source, from);
  if (!is_dump(to)) {
    // A server does not say how many bytes are to come.
    std::error_code ignored;
    const std::uintmax_t most = from == Place::dump_file
                                    ? std::filesystem::file_size(source, ignored)
                                    : std::numeric_limits<std::uintmax_t>::max();
    return stored(out, to, filter_in(next, shown(source), most), options.force);
  }
  const auto pass = [&](auto&& put) {
    for (ModuleChunk chunk = next(); chunk.iterator != 0; chunk = next()) put(chunk);
  };
  naming_force(shown(out), options.force, [&] {
    if (to == Place::module) {
      const RedisUrl url = redis_place(out);
      ModuleLoader loader(url.address, url.key);
      pass([&](const ModuleChunk& chunk) { loader.load(chunk); });
      loader.publish(options.force);
    } else {
      DumpWriter writer(out);
      pass([&](const ModuleChunk& chunk) { writer.put(chunk); });
      writer.finish(options.force);
    }
  });
}

// What DUMP gave, as it is: the server checks it.
void convert_payload(const Options& options, Place to) {
  constexpr std::uintmax_t kMost = std::uintmax_t{512} << 20;
  const std::string& source = options.files[0];
  if (to != Place::module)
    throw Error(
        ErrorCode::not_a_filter,
        fmt::format("{} is no filter file and no dump of bloomery convert; what DUMP gave goes "
                    "into a redis+module:// address, bits of a PHP class take --scheme",
                    source));
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(source, failed);
  if (failed) throw_system(fmt::format("cannot read {}", source), failed.value());
  if (size > kMost)
    throw Error(
        ErrorCode::too_large,
        fmt::format("{} is larger than any DUMP payload, 512 MiB; take a dump of the filter "
                    "with bloomery convert",
                    source));
  std::string payload(size, '\0');
  std::ifstream file(source, std::ios::binary);
  if (!file.read(payload.data(), static_cast<std::streamsize>(size)))
    throw Error(ErrorCode::io, fmt::format("cannot read {}", source));
  const RedisUrl url = redis_place(options.files[1]);
  naming_force(url.text(), options.force, [&] {
    ModuleLoader loader(url.address, url.key);
    loader.restore(payload);
    loader.publish(options.force);
  });
}

// ---- bitmaps ----------------------------------------------------------------------------------

void convert_bitmap(const Options& options) {
  const PhpScheme scheme = php_scheme(options);
  const std::string& source = options.files[0];
  const std::string& out = options.files[1];
  for (const std::string& name : options.files)
    if (is_redis_address(name) && redis_place(name).holds == RedisUrl::Holds::module)
      throw Error(ErrorCode::wrong_kind,
                  fmt::format("{}: a filter of the module has no bits of a PHP class, and its keys "
                              "are not in those; {}",
                              shown(name), kMend));
  const PhpFilter filter =
      is_redis_address(source) ? load_bucket(source, scheme) : load_php_file(source, scheme);
  if (is_redis_address(out)) return store_bucket(out, filter);
  const auto bytes = filter.string_bytes();
  WholeFile file(out);
  file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  file.publish(false);
}

}  // namespace

int run_convert(const Options& options) {
  const std::string& source = options.files[0];
  const std::string& out = options.files[1];
  if (options.scheme) {
    convert_bitmap(options);
  } else {
    const Place from = place_of_source(source);
    const Place to = place_of_destination(out, from);
    if (from == Place::other_file)
      convert_payload(options, to);
    else if (is_dump(from) || is_dump(to))
      convert_dump(options, from, to);
    else
      stored(out, to, loaded(source, from), options.force);
  }
  remark(fmt::format("converted {} into {}", shown(source), shown(out)));
  return kExitFound;
}

}  // namespace bloomery::cli
