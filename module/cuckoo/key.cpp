// Cuckoo filters as values of a server.
#include "cuckoo/key.hpp"

#include <algorithm>

#include "type_callbacks.hpp"

namespace bloomery::server::cuckoo {

namespace {

Type* cuckoo_type = nullptr;

CuckooTotals totals_of(const Filter& filter) noexcept {
  return {filter.header().items, bytes_of(filter.header())};
}

struct FilterCallbacks : FilterType {
  using Object = Filter;
  static constexpr const char* kName = "a cuckoo filter";
  static constexpr const char* kLoadChunk = "CF.LOADCHUNK";
  static constexpr std::size_t kDigestPart = std::size_t{1} << 20;

  static auto header_of(const Filter& filter) noexcept { return encode(filter.header()); }
  static std::uint64_t bytes_that_came(const Filter&) noexcept { return UINT64_MAX - 1; }
  template <class Use>
  static void for_parts(const Filter& filter, std::size_t most, Use use) noexcept {
    for (std::uint32_t i = 0; i < filter.header().sub_filters; ++i) {
      const auto entries = filter.array(i);
      for (std::size_t at = 0; at < entries.size(); at += most)
        use(entries.subspan(at, std::min(most, entries.size() - at)));
    }
  }
  static std::size_t effort(const Filter& filter) noexcept {
    const Header& header = filter.header();
    return header.sub_filters + header.all_entries() / 65536;
  }
  static Filter::Pointer copied(const Filter& filter) { return filter.copy(); }
  static void release(Filter* filter) noexcept {
    count_cuckoo_filters(-1);
    count_cuckoo_change(totals_of(*filter), {});
    Filter::Delete()(filter);
  }
};

}  // namespace

bool register_type(Context* context) noexcept {
  cuckoo_type =
      TypeCallbacks<FilterCallbacks>::make_type<load, save>(context, "MBbloomCF", kEncoding);
  return cuckoo_type != nullptr;
}

CountedChange::CountedChange(const Filter& filter) noexcept
    : filter_(filter), before_(totals_of(filter)) {}

CountedChange::~CountedChange() { count_cuckoo_change(before_, totals_of(filter_)); }

bool FilterType::is_type(const Type* type) noexcept { return type == cuckoo_type; }

Type* FilterType::type_of(const Filter&) noexcept { return cuckoo_type; }

Filter* FilterType::counted_in(Filter::Pointer filter) noexcept {
  count_cuckoo_filters(1);
  count_cuckoo_change({}, totals_of(*filter));
  return filter.release();
}

}  // namespace bloomery::server::cuckoo
