// Looking in every sub-filter, filling the newest, growing.
#include "values/scalable.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/counts.hpp"
#include "server/pages.hpp"

namespace bloomery::server {

namespace {

namespace redisbloom = legacy::redisbloom;

constexpr std::size_t kHashesAtOnce = 512;

// The hashes of a part that no sub-filter has answered for yet, each with its place in the
// answers.
class Pending {
 public:
  explicit Pending(std::span<const Hash128> hashes) noexcept : end_(hashes.size()) {
    std::uninitialized_copy(hashes.begin(), hashes.end(), this->hashes());
    std::iota(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(end_),
              std::uint16_t{0});
  }
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  [[nodiscard]] std::size_t first_place() const noexcept { return places_[begin_]; }

  // Looks all pending items up in a sub-filter. For those that it has, calls answer(place); they
  // are no longer pending.
  template <class Answer>
  void look_up(const SubFilter& sub_filter, Family family, Answer answer) noexcept {
    (void)server::may_contain(sub_filter, family, first(size()), answers_.data());
    std::size_t kept = begin_;
    for (std::size_t i = begin_; i < end_; ++i) {
      if (answers_[i - begin_]) {
        answer(places_[i]);
      } else {
        hashes()[kept] = hashes()[i];
        places_[kept++] = places_[i];
      }
    }
    end_ = kept;
  }

  // Adds the first `count` to a sub-filter; they are no longer pending. Returns how many were new.
  std::size_t insert_first(std::size_t count, const SubFilter& sub_filter, Family family,
                           std::span<bool> fresh) noexcept {
    const std::size_t added = server::insert(sub_filter, family, first(count), answers_.data());
    for (std::size_t i = 0; i < count; ++i) fresh[places_[begin_ + i]] = answers_[i];
    begin_ += count;
    return added;
  }

 private:
  [[nodiscard]] Hash128* hashes() noexcept { return reinterpret_cast<Hash128*>(bytes_.data()); }
  [[nodiscard]] std::span<const Hash128> first(std::size_t count) noexcept {
    return {hashes() + begin_, count};
  }
  // It is not an array of Hash128, which would be zeroed for every batch of one.
  alignas(Hash128) std::array<std::byte, kHashesAtOnce * sizeof(Hash128)> bytes_;
  std::array<std::uint16_t, kHashesAtOnce> places_;
  std::array<bool, kHashesAtOnce> answers_;
  std::size_t begin_ = 0;
  std::size_t end_;
};

}  // namespace

// ---- the table ----------------------------------------------------------------------------------

ValuePointer<Scalable> Scalable::make(const Header& header) {
  auto made = new_value<Scalable>(header, 0);
  made->reserve(header.sub_filters.size());
  return made;
}

void Scalable::reserve(std::size_t count) {
  void* const larger = allocate(count * sizeof(SubFilter));
  require_memory(larger != nullptr);
  std::copy_n(table(), count_, static_cast<SubFilter*>(larger));
  release(table_);
  table_ = larger;
  reserved_ = static_cast<std::uint32_t>(count);
}

void Scalable::append(const redisbloom::SubFilter& sizes, OwnedMemory memory) {
  if (count_ == reserved_) reserve(count_ + std::size_t{1});
  new (table() + count_) SubFilter{memory.release(), sizes};
  ++count_;
  items_came(0, sizes.size, bits(newest()).data(), sizes.bytes);
}

void Scalable::drop_to(std::size_t count) noexcept {
  for (; count_ > count; --count_) release_array(newest().memory, bits(newest()));
}

std::optional<redisbloom::SubFilter> next_sub_filter(const redisbloom::SubFilter& newest,
                                                     Family family, std::uint32_t options,
                                                     std::uint32_t growth,
                                                     Tightening tightening) noexcept {
  std::uint64_t entries = 0;
  if (__builtin_mul_overflow(newest.entries, std::uint64_t{growth}, &entries)) return std::nullopt;
  const double fpr = newest.error * tightening.ratio();
  if (family == Family::redisbloom) return redisbloom::plan_sub_filter(entries, fpr, options);
  try {
    return plan_native(entries, fpr);
  } catch (...) {
    return std::nullopt;
  }
}

bool Scalable::grow(const MemoryLimit& limit) noexcept {
  const auto sizes = next_sub_filter(newest().sizes, family(), options_, growth_, tightening_);
  if (!sizes || !limit.allows(sizes->bytes)) return false;
  try {
    append(*sizes, new_array(family(), sizes->bytes));
    return true;
  } catch (...) {
    return false;
  }
}

// ---- items --------------------------------------------------------------------------------------

void Scalable::prefetch(Hash128 hash) const noexcept { server::prefetch(newest(), family(), hash); }

void Scalable::may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                           std::uint64_t) const noexcept {
  // With one sub-filter or one item there is no need for a list of pending items.
  if (count_ == 1 || hashes.size() == 1) {
    found[0] = false;
    for (std::size_t i = count_; i-- > 0 && !found[0];)
      (void)server::may_contain(table()[i], family(), hashes, found.data());
    return;
  }
  for (std::size_t done = 0; done < hashes.size(); done += kHashesAtOnce) {
    const auto part = hashes.subspan(done, std::min(kHashesAtOnce, hashes.size() - done));
    const auto answers = found.subspan(done, part.size());
    std::ranges::fill(answers, false);
    Pending pending(part);
    for (std::size_t i = count_; i-- > 0 && !pending.empty();)
      pending.look_up(table()[i], family(), [&](std::size_t place) { answers[place] = true; });
  }
}

std::uint32_t Scalable::added(std::size_t fresh) noexcept {
  const std::uint64_t before = newest().sizes.size;
  items_came(before, before + fresh, bits(newest()).data(), newest().sizes.bytes);
  newest().sizes.size += fresh;
  return static_cast<std::uint32_t>(fresh);
}

Added Scalable::insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                       const MemoryLimit& limit) noexcept {
  Added total;
  total.answered = static_cast<std::uint32_t>(hashes.size());
  if (room() >= hashes.size() && (count_ == 1 || hashes.size() == 1)) {
    fresh[0] = false;
    bool known = false;
    for (std::size_t i = count_ - 1; i-- > 0 && !known;)
      (void)server::may_contain(table()[i], family(), hashes, &known);
    if (!known) total.fresh = added(server::insert(newest(), family(), hashes, fresh.data()));
  } else {
    insert_pending(hashes, fresh, limit, total);
  }
  total.counted = total.fresh;
  total.filled = total.fresh != 0 && is_full();
  return total;
}

void Scalable::insert_pending(std::span<const Hash128> hashes, std::span<bool> fresh,
                              const MemoryLimit& limit, Added& total) noexcept {
  for (std::size_t done = 0; done < hashes.size(); done += kHashesAtOnce) {
    const auto part = hashes.subspan(done, std::min(kHashesAtOnce, hashes.size() - done));
    const auto answers = fresh.subspan(done, part.size());
    std::ranges::fill(answers, false);
    const auto ignore = [](std::size_t) {};
    Pending pending(part);
    for (std::size_t i = count_ - 1; i-- > 0 && !pending.empty();)
      pending.look_up(table()[i], family(), ignore);
    while (!pending.empty()) {
      if (const std::size_t count = std::min<std::uint64_t>(room(), pending.size()); count != 0) {
        total.fresh += added(pending.insert_first(count, newest(), family(), answers));
        continue;
      }
      // The newest is full. The first item that it does not have makes the filter grow.
      pending.look_up(newest(), family(), ignore);
      if (pending.empty()) break;
      if (scales() && grow(limit)) {
        total.bytes += sizeof(SubFilter) + newest().sizes.bytes;
        total.capacity += newest().sizes.entries;
        ++total.sub_filters;
        continue;
      }
      total.answered = static_cast<std::uint32_t>(done + pending.first_place());
      total.stop = scales() ? Stop::no_room : Stop::full;
      return;
    }
  }
}

// ---- the whole ----------------------------------------------------------------------------------

void Scalable::clear() noexcept {
  drop_to(1);
  newest().sizes.size = 0;
  server::clear(bits(newest()).data(), bits(newest()).size());
}

Totals Scalable::totals() const noexcept {
  Totals totals{
      .bytes = own_bytes() + count_ * sizeof(SubFilter), .sub_filters = count_, .full = is_full()};
  for (const SubFilter& sub_filter : sub_filters()) {
    totals.items = detail::sum_of_counts(totals.items, sub_filter.sizes.size);
    totals.capacity += sub_filter.sizes.entries;
    totals.bytes += sub_filter.sizes.bytes;
  }
  return totals;
}

void Scalable::describe(Header& header) const {
  header.options = options_;
  header.growth = growth_;
  header.tightening = tightening_;
  header.sub_filters.reserve(count_);
  for (const SubFilter& sub_filter : sub_filters()) header.sub_filters.push_back(sub_filter.sizes);
}

Allocation Scalable::allocation(std::size_t number) const noexcept {
  if (number < count_) return {&table()[number].memory, table()[number].sizes.bytes};
  return {number == count_ ? &table_ : nullptr, 0};
}

// ---- merging ------------------------------------------------------------------------------------

bool Scalable::has_sub_filters_of(const Scalable& other) const noexcept {
  return family() == other.family() && options_ == other.options_ && growth_ == other.growth_ &&
         tightening_ == other.tightening_ && key() == other.key() &&
         std::equal(table(), table() + std::min(count_, other.count_), other.table(),
                    [](const SubFilter& a, const SubFilter& b) {
                      return a.sizes.bits == b.sizes.bits && a.sizes.hashes == b.sizes.hashes &&
                             a.sizes.exponent == b.sizes.exponent &&
                             a.sizes.entries == b.sizes.entries;
                    });
}

void Scalable::make_room_for(const Scalable& other) {
  const std::size_t before = count_;
  try {
    while (count_ < other.count_) {
      redisbloom::SubFilter sizes = other.table()[count_].sizes;
      sizes.size = 0;
      append(sizes, new_array(family(), sizes.bytes));
    }
  } catch (...) {
    drop_to(before);
    throw;
  }
}

void Scalable::merge(const Scalable& other) noexcept {
  for (std::size_t i = 0; i < other.count_; ++i) {
    const std::span<std::byte> into = bits(table()[i]);
    merge_used(other.bits(other.table()[i]), into.data());
    std::uint64_t& items = table()[i].sizes.size;
    const std::uint64_t before = items;
    items = detail::sum_of_counts(items, other.table()[i].sizes.size);
    items_came(before, items, into.data(), into.size());
  }
}

}  // namespace bloomery::server
