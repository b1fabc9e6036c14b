// Buckets, fingerprints, evictions.
#include "cuckoo/filter.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "legacy/redisbloom.hpp"
#include "server/pages.hpp"
#include "values/make.hpp"

namespace bloomery::server::cuckoo {

std::uint64_t hash(std::string_view item) noexcept { return legacy::redisbloom::murmur64(item, 0); }

// ---- making and freeing -------------------------------------------------------------------------

Filter::Pointer Filter::make_without_arrays(const Header& header) {
  check(header);
  OwnedMemory memory(allocate(sizeof(Filter)));
  require_memory(memory != nullptr);
  Pointer made(new (memory.get()) Filter(header));
  (void)memory.release();
  made->growth_ =
      static_cast<std::uint8_t>(std::countr_zero(std::max(header.expansion, std::uint16_t{1})));
  require_memory(made->room_for(header.sub_filters));
  return made;
}

Filter::Pointer Filter::make(const Header& header) {
  Pointer made = make_without_arrays(header);
  require_memory(machine_could_hold(header.all_entries()));
  for (std::uint32_t i = 0; i < header.sub_filters; ++i)
    made->append(new_array(Family::redisbloom, header.entries(i)));
  return made;
}

Filter::Pointer Filter::copy() const {
  Pointer made = make(header_);
  for (std::uint32_t i = 0; i < header_.sub_filters; ++i)
    copy_used(array(i), made->array(i).data());
  made->has_come();
  return made;
}

void Filter::append(OwnedMemory array) noexcept {
  const std::uint32_t number = header_.sub_filters++;
  static_cast<void**>(arrays_.get())[number] = array.release();
}

void Filter::has_come() noexcept {
  for (std::uint32_t i = 0; i < header_.sub_filters; ++i)
    make_pages_huge(array(i).data(), array(i).size());
}

Filter::~Filter() {
  while (header_.sub_filters != 0) release_newest();
}

void Filter::release_newest() noexcept {
  const auto entries = array(header_.sub_filters - 1);
  --header_.sub_filters;
  release_array(entries.data(), entries);
}

void Filter::Delete::operator()(Filter* filter) const noexcept {
  filter->~Filter();
  release(filter);
}

bool Filter::room_for(std::uint32_t sub_filters) noexcept {
  if (sub_filters <= room_) return true;
  const std::uint32_t room = std::bit_ceil(sub_filters);
  OwnedMemory larger(allocate(room * sizeof(void*)));
  if (larger == nullptr) return false;
  if (header_.sub_filters != 0)
    std::memcpy(larger.get(), arrays_.get(), header_.sub_filters * sizeof(void*));
  arrays_ = std::move(larger);
  room_ = room;
  return true;
}

bool Filter::grow(const MemoryLimit& limit) noexcept {
  const std::uint64_t entries =
      header_.sub_filters == kMaxSubFilters ? 0 : header_.entries(header_.sub_filters);
  if (entries == 0 || !limit.allows(entries) || !room_for(header_.sub_filters + 1)) return false;
  OwnedMemory array(allocate_zeroed(entries));
  if (array == nullptr) return false;
  append(std::move(array));
  items_before_newest_ = header_.items;
  return true;
}

// ---- items --------------------------------------------------------------------------------------

// Calls use(bucket) for the two buckets of a place until it returns true.
template <class Use>
bool Filter::any_bucket(std::uint32_t sub_filter, const Place& place, Use use) const noexcept {
  Entry* const entries = entries_of(sub_filter);
  const std::uint64_t last = buckets_of(sub_filter) - 1;
  return use(entries + (place.first & last) * header_.bucket_size) ||
         use(entries + (place.second & last) * header_.bucket_size);
}

Filter::Entry* Filter::find(Entry* bucket, Entry fingerprint) const noexcept {
  for (std::uint32_t i = 0; i < header_.bucket_size; ++i)
    if (bucket[i] == fingerprint) return bucket + i;
  return nullptr;
}

void Filter::prefetch(std::uint64_t hash) const noexcept {
  any_bucket(header_.sub_filters - 1, Place(hash), [](const Entry* bucket) {
    detail::prefetch(bucket);
    return false;
  });
}

bool Filter::may_contain(std::uint64_t hash) const noexcept {
  const Place place(hash);
  for (std::uint32_t i = 0; i < header_.sub_filters; ++i)
    if (any_bucket(i, place, [&](Entry* bucket) { return find(bucket, place.fingerprint); }))
      return true;
  return false;
}

std::uint64_t Filter::count(std::uint64_t hash) const noexcept {
  const Place place(hash);
  std::uint64_t found = 0;
  for (std::uint32_t i = 0; i < header_.sub_filters; ++i)
    any_bucket(i, place, [&](const Entry* bucket) {
      found += static_cast<std::uint64_t>(
          std::count(bucket, bucket + header_.bucket_size, place.fingerprint));
      return false;
    });
  return found;
}

bool Filter::put(std::uint32_t sub_filter, const Place& place) noexcept {
  return any_bucket(sub_filter, place, [&](Entry* bucket) {
    Entry* const entry = find(bucket, 0);
    if (entry != nullptr) *entry = place.fingerprint;
    return entry != nullptr;
  });
}

// Inserts into the newest sub-filter, whose two buckets are full. False: nothing has changed.
bool Filter::put_by_eviction(const Place& place) noexcept {
  Entry* const entries = entries_of(header_.sub_filters - 1);
  const std::uint64_t last = buckets_of(header_.sub_filters - 1) - 1;
  const std::uint32_t size = header_.bucket_size;
  Entry homeless = place.fingerprint;
  std::uint64_t bucket = place.first & last;
  std::uint32_t victim = 0;
  for (std::uint32_t i = 0; i < header_.max_iterations; ++i) {
    std::swap(entries[bucket * size + victim], homeless);
    bucket = other_bucket(homeless, bucket) & last;
    if (Entry* const entry = find(entries + bucket * size, 0)) {
      *entry = homeless;
      return true;
    }
    victim = (victim + 1) % size;
  }
  for (std::uint32_t i = 0; i < header_.max_iterations; ++i) {
    victim = (victim + size - 1) % size;
    bucket = other_bucket(homeless, bucket) & last;
    std::swap(entries[bucket * size + victim], homeless);
  }
  return false;
}

Inserted Filter::insert(std::uint64_t hash, bool unique, const MemoryLimit& limit) noexcept {
  if (unique && may_contain(hash)) return Inserted::exists;
  const Place place(hash);
  std::uint32_t taken_by = header_.sub_filters;
  while (taken_by != 0 && !put(taken_by - 1, place)) --taken_by;
  if (taken_by == 0) {
    if (!put_by_eviction(place)) {
      if (header_.expansion == 0) return Inserted::full;
      if (!grow(limit)) return Inserted::no_memory;
      (void)put(header_.sub_filters - 1, place);  // it is empty
    }
    taken_by = header_.sub_filters;
  }
  ++header_.items;
  const auto newest = array(header_.sub_filters - 1);
  const std::uint64_t before =
      std::max(header_.items - 1, items_before_newest_) - items_before_newest_;
  items_came(before, before + 1, newest.data(), newest.size());
  if (is_compacting()) {
    // The item may have gone into a part of the sub-filter that the compaction had emptied.
    if (compaction_.sub_filter == taken_by - 1) compaction_.stays = true;
    go_on();
  }
  return Inserted::yes;
}

bool Filter::remove(std::uint64_t hash) noexcept {
  const Place place(hash);
  for (std::uint32_t i = header_.sub_filters; i-- > 0;) {
    const bool removed = any_bucket(i, place, [&](Entry* bucket) {
      Entry* const entry = find(bucket, place.fingerprint);
      if (entry != nullptr) *entry = 0;
      return entry != nullptr;
    });
    if (!removed) continue;
    if (header_.items != 0) --header_.items;  // a dump may say that there are fewer
    ++header_.deletes;
    if (is_compacting())
      go_on();
    else if (header_.sub_filters > 1 &&
             static_cast<double>(header_.deletes) > static_cast<double>(header_.items) * 0.10)
      start_compaction(false);
    return true;
  }
  return false;
}

// ---- the whole ----------------------------------------------------------------------------------

std::span<std::byte> Filter::array(std::uint32_t sub_filter) const noexcept {
  return {reinterpret_cast<std::byte*>(entries_of(sub_filter)),
          buckets_of(sub_filter) * header_.bucket_size};
}

Filter::Part Filter::part_from(std::uint64_t offset) const noexcept {
  for (std::uint32_t i = 0; i < header_.sub_filters; ++i) {
    const auto entries = array(i);
    if (offset < entries.size()) return {entries.subspan(offset), offset};
    offset -= entries.size();
  }
  return {};
}

void Filter::overwrite(std::byte* place, std::span<const std::byte> entries) noexcept {
  std::memcpy(place, entries.data(), entries.size());
  compaction_ = {};  // parts that it emptied may be full again
}

std::size_t Filter::memory() const noexcept {
  std::size_t bytes = allocated_size(this) + allocated_size(arrays_.get());
  for (std::uint32_t i = 0; i < header_.sub_filters; ++i) bytes += allocated_size(entries_of(i));
  return bytes;
}

void Filter::defragment(DefragContext* context) noexcept {
  if (void* const moved = server::defragment(context, arrays_.get())) {
    (void)arrays_.release();
    arrays_.reset(moved);
  }
  for (std::uint32_t i = 0; i < header_.sub_filters; ++i)
    if (void* const moved = server::defragment(context, entries_of(i)))
      static_cast<void**>(arrays_.get())[i] = moved;
}

}  // namespace bloomery::server::cuckoo
