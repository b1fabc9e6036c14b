// A filter of a Redis module: the request for a new one, and the module's description of an existing one.
#include <bloomery/module_dump.hpp>
#include <bloomery/module_filter.hpp>

#include <memory>
#include <utility>

#include "handle/on_server.hpp"
#include "plan/refuse.hpp"
#include "redis/module/module_scan.hpp"

namespace bloomery::detail {

namespace {

FilterStats stats_of(const ModuleInfo& info, const std::optional<ModuleFill>& fill,
                     const FilterSpec& spec) {
  FilterStats stats;
  stats.fill_known = fill.has_value();
  if (fill) {
    stats.fill = fill->fill;
    stats.current_fpr = fill->current_fpr;
    stats.estimated_items = static_cast<double>(info.items);
  }
  stats.over_capacity = !info.expansion && info.items > info.capacity;
  stats.kind = spec.kind;
  stats.capacity = info.capacity;
  stats.fpr = spec.fpr.value_or(0);
  stats.bytes = info.bytes;
  stats.inserted = info.items;
  stats.growth = info.expansion;
  stats.module_arrays = info.filters;
  return stats;
}

class OfModule final : public OnServer<ModuleFilter> {
 public:
  using OnServer::apply;
  OfModule(const RedisUrl& url, ModuleFilter filter, FilterSpec spec)
      : OnServer(url, std::move(filter)), spec_(spec) {}
  [[nodiscard]] const Hasher* hasher() const noexcept final { return nullptr; }
  std::size_t apply(Operation operation, AnyFilter::Keys keys, std::span<bool> answers) override {
    return run(
        operation, [&] { return filter_.insert_many(keys, answers); },
        [&] { return filter_.may_contain_many(keys, answers); },
        [&] { return filter_.remove_many(keys, answers); });
  }
  [[nodiscard]] FilterSpec spec() const override { return spec_; }
  void require_removal() const override {
    if (filter_.shards()) Impl::require_removal();  // without shards the server knows
  }
  [[nodiscard]] FilterStats stats(Precision) override {
    FilterStats stats = stats_of(filter_.info(), filter_.fill(), spec_);
    if (filter_.shards()) stats.shards = {.count = *filter_.shards(), .nodes = filter_.nodes()};
    return stats;
  }
  // The module clears a slice with the first key of the next one, so a slice may be full.
  [[nodiscard]] std::optional<AnyFilter::SliceRoom> slice_room() override {
    if (!spec_.window || spec_.window->unit != WindowUnit::insertions) return std::nullopt;
    const std::uint64_t length = (spec_.window->length + *spec_.slices - 1) / *spec_.slices;
    const std::uint64_t items = filter_.info().items;
    return AnyFilter::SliceRoom{length, items == 0 ? length : length - 1 - (items - 1) % length};
  }
  [[nodiscard]] VerifyReport verify() override {
    return said(
        filter_.shards()
            ? fill_in("its {} shards are there, and are what its record says", *filter_.shards())
            : "the module holds it; its bits are as whole as the server's data");
  }

 private:
  FilterSpec spec_;
};

ModuleReserve reserve_of(const RedisUrl& url, const FilterSpec& spec, const AnyOptions& options) {
  const auto invalid = [&](PlanField field, const std::string& what) {
    throw PlanError(ErrorCode::invalid_argument, field, ": " + what, url.text());
  };
  const Kind kind = spec.kind.value_or(Kind::scalable);
  if (kind == Kind::frozen)
    refuse(ErrorCode::wrong_kind, url,
           "a frozen filter is built in a file, and bloomery convert loads it into a module");
  if (options.replace)
    refuse(ErrorCode::exists, url,
           url.shards
               ? "a filter of a module in shards is not replaced by an empty one; UNLINK its "
                 "record, 'name:{0}:shards', and its keys, or choose another name"
               : "a filter of the module is not replaced; UNLINK it first");
  if (options.rotating)
    invalid(PlanField::window, "a filter of the module does not rotate; {window} makes one forget");
  if (spec.bits || spec.hashes || options.hash || options.seed || options.random_seed)
    invalid(PlanField::bits,
            "the module chooses bits, hashes, hash and seed itself; give {capacity} and {fpr}");
  refuse_foreign(spec, kind);
  if (url.shards && spec.layout)
    invalid(PlanField::layout,
            "the module chooses bits, hashes, layout and seed itself; give "
            "{capacity} and {fpr}");
  if (url.shards && kind != Kind::plain && kind != Kind::scalable)
    refuse(ErrorCode::wrong_kind, url, "filters of the module in shards are plain or scalable");
  if (kind == Kind::window && !spec.window)
    invalid(PlanField::window, "{window} is missing: how long a key is remembered");
  const bool lines = spec.window && spec.window->unit == WindowUnit::insertions;
  if (!spec.capacity && !lines)
    invalid(PlanField::capacity, "{capacity} is missing: how many different keys to expect");
  if (!spec.fpr) invalid(PlanField::fpr, "{fpr} is missing: the false-positive rate");
  if (spec.layout && spec.layout != Layout::blocked && spec.layout != Layout::standard)
    invalid(PlanField::layout, "the module has the layouts blocked and standard");
  const bool has_layouts = kind == Kind::plain || kind == Kind::scalable;
  if (spec.layout == Layout::standard && !has_layouts)
    invalid(PlanField::layout,
            "only plain and scalable filters of the module have the layout standard");
  ModuleReserve reserve{.kind = kind,
                        .capacity = spec.capacity ? *spec.capacity : spec.window->length,
                        .fpr = *spec.fpr,
                        .expansion = spec.growth.value_or(2),
                        .counter_bits = spec.counter_bits.value_or(4),
                        .slices = spec.slices.value_or(8)};
  if (spec.layout && has_layouts)
    reserve.layout = spec.layout == Layout::blocked ? "native" : "redisbloom";
  if (kind == Kind::window) {
    reserve.window = spec.window->length;
    reserve.seconds = !lines;
  }
  return reserve;
}

// The inverse of reserve_of.
FilterSpec spec_of(const ModuleReserve& reserve) {
  FilterSpec spec{.kind = reserve.kind, .capacity = reserve.capacity, .fpr = reserve.fpr};
  if (!reserve.layout.empty())
    spec.layout = reserve.layout == "native" ? Layout::blocked : Layout::standard;
  if (reserve.kind == Kind::counting) spec.counter_bits = reserve.counter_bits;
  if (reserve.kind == Kind::scalable) spec.growth = reserve.expansion;
  if (reserve.kind == Kind::window) {
    spec.window =
        Window{reserve.seconds ? WindowUnit::seconds : WindowUnit::insertions, reserve.window};
    spec.slices = reserve.slices;
  }
  return spec;
}

// RedisBloom tells only what BF.INFO says: whether a filter grows or is plain. The capacity of a filter that grows is
// the one that it has grown to.
FilterSpec spec_of(const ModuleInfo& info) {
  if (!info.expansion) return {.kind = Kind::plain, .capacity = info.capacity};
  return {.kind = Kind::scalable, .growth = static_cast<std::uint32_t>(*info.expansion)};
}

FilterSpec spec_there(ModuleFilter& filter) {
  const auto reserved = filter.reserved();
  return reserved ? spec_of(*reserved) : spec_of(filter.info());
}

}  // namespace

AnyImpl module_filter(const RedisUrl& url, Opening how, const FilterSpec& spec,
                      const AnyOptions& options) {
  if (options.scheme)
    refuse(ErrorCode::invalid_argument, url,
           "a scheme is about bits in plain strings; name them with redis://");
  if (how == Opening::create) {
    const ModuleReserve reserve = reserve_of(url, spec, options);
    return std::make_unique<OfModule>(url, ModuleFilter::create(url, reserve), spec_of(reserve));
  }
  // A server tells none of these, so a difference could not be found.
  if (options.rotating || options.hash || options.seed || options.random_seed)
    refuse(ErrorCode::invalid_argument, url,
           "the module chooses hash and seed itself, and its filters do not rotate");
  ModuleFilter filter = ModuleFilter::open(url);
  const FilterSpec there = spec_there(filter);
  return std::make_unique<OfModule>(url, std::move(filter), there);
}

void for_each_of_module(const RedisUrl& pattern, const UseStats& use, const UseRefusal& refused) {
  const auto address_of = [&](const std::string& key) {
    RedisUrl one = pattern;
    one.key = key;
    return one.text();
  };
  at_edge(pattern.text(), [&] {
    scan_module_filters(
        pattern,
        [&](const ScannedFilter& found) {
          use(address_of(found.key),
              stats_of(found.info, found.fill,
                       found.reserve ? spec_of(*found.reserve) : spec_of(found.info)));
        },
        [&](const std::string& key, const Error& error) {
          if (!refused) throw error;
          refused(address_of(key), error);
        });
  });
}

NextChunk module_dump(const RedisUrl& url) {
  const auto filter = std::make_shared<ModuleFilter>(ModuleFilter::open(url));
  return [filter, at = std::uint64_t{0}]() mutable {
    ModuleChunk chunk = filter->dump(at);
    at = chunk.iterator;
    return chunk;
  };
}

void load_into_module(const RedisUrl& url, bool replace, const NextChunk& next) {
  ModuleLoader loader(url, replace);
  for (ModuleChunk chunk = next(); chunk.iterator != 0; chunk = next()) loader.load(chunk);
  loader.publish();
}

void restore_into_module(const RedisUrl& url, bool replace, std::string_view payload) {
  ModuleLoader loader(url, replace);
  loader.restore(payload);
  loader.publish();
}

}  // namespace bloomery::detail
