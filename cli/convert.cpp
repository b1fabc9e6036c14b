// `bloomery convert`: the same bits in another place. Three kinds of bits never meet: plain filters
// of ours, dumps of a module's filters, and bitmaps of PHP classes; but a plain filter is also a dump
// with one array.
#include "dump_file.hpp"
#include "force.hpp"
#include "kinds.hpp"
#include "output.hpp"
#include "php_file.hpp"
#include "plain_bits.hpp"
#include "redis_places.hpp"
#include "scheme.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
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
#include <vector>

namespace bloomery::cli {

namespace {

enum class Place { filter_file, dump_file, other_file, strings, module, module_shards };

constexpr std::string_view kAdvice = "bloomery rebuild makes a filter from its keys";

Place place_of_source(const std::string& name) {
  if (is_redis_address(name)) {
    const RedisUrl url = redis_place(name);
    if (!url.module) return Place::strings;
    return url.shards ? Place::module_shards : Place::module;
  }
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

// ---- plain filters --------------------------------------------------------------------------

void convert_plain(const Options& options) {
  std::vector<std::unique_ptr<PlainSource>> source;
  source.push_back(plain_source(options.files[0]));
  const auto sink = plain_sink(options.files[1], source.front()->shape(), options.force);
  pour(source, *sink);
  sink->publish();
}

// ---- dumps ------------------------------------------------------------------------------------

using Next = std::function<ModuleChunk()>;

// A plain filter as a dump of one link that does not grow.
Next chunks_of(const std::shared_ptr<PlainSource>& source, const PlainShape& shape) {
  return [source, shape, at = std::uint64_t{0}, begun = false]() mutable -> ModuleChunk {
    if (!std::exchange(begun, true)) {
      const double items =
          std::min(source->estimated_items(), static_cast<double>(shape.plan.capacity));
      return {1, module_header(shape.plan, shape.hasher,
                               static_cast<std::uint64_t>(std::llround(items)))};
    }
    std::string part(std::min(shape.plan.bytes() - at, std::uint64_t{16} << 20), '\0');
    if (part.empty()) return {};
    source->read(at, std::as_writable_bytes(std::span(part)));
    at += part.size();
    return {1 + at, std::move(part)};
  };
}

Next dump_from(const std::string& name, Place place) {
  if (place == Place::module) {
    const auto filter = std::make_shared<ModuleFilter>(ModuleFilter::open(redis_place(name)));
    return [filter, at = std::uint64_t{0}]() mutable {
      ModuleChunk chunk = filter->dump(at);
      at = chunk.iterator;
      return chunk;
    };
  }
  if (place == Place::dump_file)
    return [reader = std::make_shared<DumpReader>(name)] { return reader->next(); };
  std::shared_ptr<PlainSource> source = plain_source(name);
  const PlainShape shape = source->shape();
  require_one_part(shown(name), shape);
  return chunks_of(source, shape);
}

// The plain filter in a dump of `most` bytes at most. Error{wrong_kind}: it holds something else.
void store_dump(const Next& next, const std::string& name, std::uintmax_t most,
                const std::string& out, bool force) {
  const auto refused = [&](ErrorCode code, std::string_view what) {
    return Error(code, fmt::format("{}: {}; {}", name, what, kAdvice));
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
  const auto sink = plain_sink(out, {shape.plan, shape.hasher}, force);
  std::uint64_t at = 0;
  for (ModuleChunk chunk = next(); chunk.iterator != 0; chunk = next()) {
    if (chunk.bytes.size() > shape.plan.bytes() - at ||
        chunk.iterator != 1 + at + chunk.bytes.size())
      throw refused(ErrorCode::corrupt, "it goes on where its header says that it ends");
    sink->write(at, std::as_bytes(std::span(chunk.bytes)));
    at += chunk.bytes.size();
  }
  if (at != shape.plan.bytes()) throw refused(ErrorCode::corrupt, kCut);
  sink->publish();
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
    return store_dump(next, shown(source), most, out, options.force);
  }
  const auto pass = [&](auto&& put) {
    for (ModuleChunk chunk = next(); chunk.iterator != 0; chunk = next()) put(chunk);
  };
  naming_force(shown(out), options.force, [&] {
    if (to == Place::module) {
      ModuleLoader loader(redis_place(out), options.force);
      pass([&](const ModuleChunk& chunk) { loader.load(chunk); });
      loader.publish();
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
    ModuleLoader loader(url, options.force);
    loader.restore(payload);
    loader.publish();
  });
}

// ---- bitmaps ----------------------------------------------------------------------------------

void convert_bitmap(const Options& options) {
  const PhpScheme scheme = php_scheme(options);
  const std::string& source = options.files[0];
  const std::string& out = options.files[1];
  for (const std::string& name : options.files)
    if (is_redis_address(name) && redis_place(name).module)
      throw Error(ErrorCode::wrong_kind,
                  fmt::format("{}: a filter of the module has no bits of a PHP class, and its keys "
                              "are not in those; build a new one with create and add",
                              shown(name)));
  const PhpFilter filter =
      is_redis_address(source) ? load_bucket(source, scheme) : load_php_file(source, scheme);
  if (is_redis_address(out)) return store_bucket(out, filter);
  const auto bytes = filter.string_bytes();
  WholeFile file(out);
  file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  file.publish(false);
}

int converted(const Options& options) {
  remark(fmt::format("converted {} into {}", shown(options.files[0]), shown(options.files[1])));
  return kExitFound;
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
    if (from == Place::module_shards && to == Place::module_shards) {
      merge_module_shards(out, std::span(&source, 1), options.force);
      return converted(options);
    }
    if (from == Place::module_shards) refuse_module_shards(redis_place(source));
    if (to == Place::module_shards) refuse_module_shards(redis_place(out));
    if (from == Place::other_file)
      convert_payload(options, to);
    else if (is_dump(from) || is_dump(to))
      convert_dump(options, from, to);
    else
      convert_plain(options);
  }
  return converted(options);
}

}  // namespace bloomery::cli
