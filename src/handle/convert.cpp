// Copies bits to another place. Three kinds of bits are never converted into each other: plain filters of Bloomery,
// dumps of a module's filters, and the bits of PHP classes. But a plain filter can also become a dump with one array.
#include <bloomery/module_dump.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/zeros.hpp"
#include "filter/statistics.hpp"
#include "format/header_bytes.hpp"
#include "handle/dump_bits.hpp"
#include "handle/dump_file.hpp"
#include "handle/places.hpp"
#include "handle/plain_bits.hpp"
#include "store/disk/opened.hpp"
#include "store/files.hpp"

namespace bloomery {

using namespace detail;

namespace {

enum class Form { filter_file, dump_file, other_file, strings, module, module_shards };

Form form_of(const RedisUrl& url) noexcept {
  if (!url.module) return Form::strings;
  return url.shards ? Form::module_shards : Form::module;
}

Form form_of_file(const std::string& location) {
  if (is_dump_file(location)) return Form::dump_file;
  (void)resolved(real_os(), location);  // names a directory that does not exist
  const File file(real_os(), location, Os::Open::read);
  require_regular(file);
  std::array<std::byte, kBitsAt> pages;
  const auto start = std::span(pages).first(std::min<std::uint64_t>(file.stat().size, kBitsAt));
  return file.try_read(start, 0) == 0 && is_filter_file(start) ? Form::filter_file
                                                               : Form::other_file;
}

Form form_of_source(const std::string& location) {
  switch (place_of(location)) {
    case Place::file:
      return form_of_file(location);
    case Place::server:
      return form_of(redis_url(location));
  }
  __builtin_unreachable();
}

bool is_dump(Form form) noexcept { return form == Form::dump_file || form == Form::module; }

// A dump stays a dump, unless the destination's name asks for another form.
Form form_of_destination(const std::string& location, Form source) {
  switch (place_of(location)) {
    case Place::file:
      return is_dump(source) && !location.ends_with(".bloom") ? Form::dump_file : Form::filter_file;
    case Place::server:
      return form_of(redis_url(location));
  }
  __builtin_unreachable();
}

// ---- plain filters --------------------------------------------------------------------------------

void convert_plain(const std::string& from, const std::string& to, bool replace) {
  std::vector<std::unique_ptr<PlainSource>> source;
  source.push_back(plain_source(from));
  const auto sink = plain_sink(to, source.front()->parameters(), replace, std::array{from});
  (void)copy_bits(source, *sink);
  sink->publish();
}

// ---- dumps ----------------------------------------------------------------------------------------

// From the number of items a module computes the rate, and whether there are more than planned: so it is above the
// capacity if that is certain. (Of an array of ones it is not known. No other array gives an estimate above this one.)
std::uint64_t items_for_module(PlainSource& source, const Plan& plan) {
  const double items = std::min(source.estimated_items(), 64.0 * static_cast<double>(plan.bits));
  const auto rounded = static_cast<std::uint64_t>(std::llround(items));
  return over_capacity(plan, items) ? rounded : std::min(rounded, plan.capacity);
}

// A plain filter as a dump of one sub-filter that does not grow.
NextChunk chunks_of(const std::shared_ptr<PlainSource>& source, const PlainParameters& parameters) {
  return [source, parameters, at = std::uint64_t{0}, begun = false]() mutable -> ModuleChunk {
    if (!std::exchange(begun, true))
      return {1, module_header(parameters.plan, parameters.hasher,
                               items_for_module(*source, parameters.plan))};
    std::string part(std::min(parameters.plan.bytes() - at, std::uint64_t{16} << 20), '\0');
    if (part.empty()) return {};
    source->read(at, std::as_writable_bytes(std::span(part)));
    at += part.size();
    return {1 + at, std::move(part)};
  };
}

// The bits say so: the number of keys in a header is older while a writer has the file open, or if one was killed.
// Holes are not read.
bool delta_has_keys(const FilterFile& file) {
  if (file.delta() == nullptr) return false;
  const auto bits = file.delta()->bytes();
  return std::ranges::any_of(Files::data(file), [&](const File::Range& range) {
    const std::uint64_t from = std::min<std::uint64_t>(range.from, bits.size());
    const std::uint64_t to = std::min<std::uint64_t>(range.to, bits.size());
    return !is_zeros(bits.subspan(from, to - from));
  });
}

// A frozen filter as a dump: its table and its cells.
NextChunk chunks_of(const std::shared_ptr<FilterFile>& file) {
  Files::require_undamaged(*file);
  if (delta_has_keys(*file))
    throw Error(
        ErrorCode::wrong_kind,
        fill_in("{}: has keys in its delta, and a module has none; rebuild it from all keys, "
                "and convert it then",
                file->path()));
  return [file, pieces = file->frozen().pieces(), next = std::size_t{0}, at = std::uint64_t{0},
          begun = false]() mutable -> ModuleChunk {
    const FrozenFilter& list = file->frozen();
    if (!std::exchange(begun, true))
      return {1, module_header(list.plan(), list.hasher(), list.keys())};
    while (next < pieces.size() && pieces[next].empty()) ++next;
    if (next == pieces.size()) return {};
    std::span<const std::byte>& piece = pieces[next];
    const auto part = piece.first(std::min(piece.size(), std::size_t{16} << 20));
    piece = piece.subspan(part.size());
    at += part.size();
    return {1 + at, std::string(reinterpret_cast<const char*>(part.data()), part.size())};
  };
}

NextChunk dump_from(const std::string& location, Form form) {
  if (form == Form::module) return module_dump(redis_url(location));
  if (form == Form::dump_file)
    return [reader = std::make_shared<DumpReader>(location)] { return reader->next(); };
  if (form == Form::filter_file) {
    auto file = std::make_shared<FilterFile>(FilterFile::open(location));
    if (file->kind() == Kind::frozen) return chunks_of(file);
  }
  std::shared_ptr<PlainSource> source = plain_source(location);
  const PlainParameters parameters = source->parameters();
  require_one_part(AnyFilter::display_name(location), parameters);
  return chunks_of(source, parameters);
}

// Stores the filter of a dump: a plain filter or, in a file, a frozen one. Error{wrong_kind}: it holds something else.
void store_dump(DumpBits dump, const std::string& source, const std::string& to, bool replace) {
  const ModuleContents& contents = dump.contents();
  if (const auto* frozen = std::get_if<FrozenPlan>(&contents.plan)) {
    if (!is_file(to))
      throw dump.refused(ErrorCode::wrong_kind,
                         "a Redis string holds a plain filter, not a frozen one");
    NewFrozenFile file =
        frozen_beside(to, *frozen, contents.items, contents.hasher, replace, std::array{source});
    dump.read([&](std::uint64_t at, std::span<const std::byte> part) { file.write(at, part); });
    try {
      return file.publish();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::corrupt) throw;
      throw dump.refused(error.code(), error.what());
    }
  }
  const auto sink =
      plain_sink(to, {std::get<Plan>(contents.plan), contents.hasher}, replace, std::array{source});
  dump.read([&](std::uint64_t at, std::span<const std::byte> part) { sink->write(at, part); });
  sink->publish();
}

void convert_dump(const std::string& source, Form from, const std::string& out, Form to,
                  bool replace) {
  const NextChunk next = dump_from(source, from);
  if (!is_dump(to)) {
    // A server does not say how many bytes follow.
    const std::uint64_t most = from == Form::dump_file
                                   ? File(real_os(), source, Os::Open::read).stat().size
                                   : std::numeric_limits<std::uint64_t>::max();
    return store_dump(DumpBits(next, AnyFilter::display_name(source), most), source, out, replace);
  }
  if (to == Form::module) return load_into_module(redis_url(out), replace, next);
  DumpWriter writer(out, source);
  for (ModuleChunk chunk = next(); chunk.iterator != 0; chunk = next()) writer.put(chunk);
  writer.finish(replace);
}

// Copies the reply to DUMP unchanged: the server checks it.
void convert_payload(const std::string& source, const std::string& out, Form to, bool replace) {
  constexpr std::uint64_t kMost = std::uint64_t{512} << 20;
  if (to != Form::module)
    throw Error(
        ErrorCode::not_a_filter,
        source +
            " is neither a filter file nor a dump of bloomery convert; a reply of DUMP goes "
            "into a redis+module:// address, bits of a PHP class need their scheme");
  const File file(real_os(), source, Os::Open::read);
  const std::uint64_t size = file.stat().size;
  if (size > kMost)
    throw Error(ErrorCode::too_large,
                source +
                    " is larger than any DUMP payload, 512 MiB; take a dump of the filter "
                    "with bloomery convert");
  std::string payload(size, '\0');
  file.read(std::as_writable_bytes(std::span(payload)), 0);
  restore_into_module(redis_url(out), replace, payload);
}

}  // namespace

void AnyFilter::convert(const std::string& source, const std::string& out,
                        const AnyOptions& options) {
  if (options.scheme) return copy_php_bits(source, out, *options.scheme);
  const Form from = form_of_source(source);
  const Form to = form_of_destination(out, from);
  if (from == Form::module_shards && to == Form::module_shards) {
    const RedisUrl url = redis_url(source);
    return merge_module_shards(redis_url(out), {&url, 1}, options.replace);
  }
  if (to == Form::module_shards) refuse_module_shards(redis_url(out));
  if (from == Form::other_file) return convert_payload(source, out, to, options.replace);
  if (is_dump(from) || is_dump(to)) return convert_dump(source, from, out, to, options.replace);
  convert_plain(source, out, options.replace);
}

}  // namespace bloomery
