// Buckets, fingerprints, evictions.
#include "cuckoo/filter.hpp"

#include <bloomery/error.hpp>

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

Filter::Pointer Filter::make_without_arrays(const Shape& shape) {
  check(shape);
  OwnedMemory memory(allocate(sizeof(Filter)));
  if (memory == nullptr) throw Error(ErrorCode::no_memory, "no memory for a filter");
  Pointer made(new (memory.get()) Filter(shape));
  (void)memory.release();
  made->growth_ =
      static_cast<std::uint8_t>(std::countr_zero(std::max(shape.expansion, std::uint16_t{1})));
  if (!made->room_for(shape.sub_filters))
    throw Error(ErrorCode::no_memory, "no memory for a filter");
  return made;
}

Filter::Pointer Filter::make(const Shape& shape) {
  Pointer made = make_without_arrays(shape);
  if (!machine_could_hold(shape.all_slots()))
    throw Error(ErrorCode::no_memory, "no memory for a filter");
  for (std::uint32_t i = 0; i < shape.sub_filters; ++i)
    made->append(new_array(Family::redisbloom, shape.slots(i)));
  return made;
}

Filter::Pointer Filter::copy() const {
  Pointer made = make(shape_);
  for (std::uint32_t i = 0; i < shape_.sub_filters; ++i) copy_used(array(i), made->array(i).data());
  made->has_come();
  return made;
}

void Filter::append(OwnedMemory array) noexcept {
  const std::uint32_t number = shape_.sub_filters++;
  static_cast<void**>(arrays_.get())[number] = array.release();
}

void Filter::has_come() noexcept {
  for (std::uint32_t i = 0; i < shape_.sub_filters; ++i)
    make_pages_huge(array(i).data(), array(i).size());
}

Filter::~Filter() {
  while (shape_.sub_filters != 0) release_newest();
}

void Filter::release_newest() noexcept {
  const auto slots = array(shape_.sub_filters - 1);
  --shape_.sub_filters;
  release_array(slots.data(), slots);
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
  if (shape_.sub_filters != 0)
    std::memcpy(larger.get(), arrays_.get(), shape_.sub_filters * sizeof(void*));
  arrays_ = std::move(larger);
  room_ = room;
  return true;
}

bool Filter::grow(const MemoryLimit& limit) noexcept {
  const std::uint64_t slots =
      shape_.sub_filters == kMaxSubFilters ? 0 : shape_.slots(shape_.sub_filters);
  if (slots == 0 || !limit.allows(slots) || !room_for(shape_.sub_filters + 1)) return false;
  OwnedMemory array(allocate_zeroed(slots));
  if (array == nullptr) return false;
  append(std::move(array));
  items_before_newest_ = shape_.items;
  return true;
}

// ---- items --------------------------------------------------------------------------------------

// Calls use(bucket) for the two buckets of a place until it returns true.
template <class Use>
bool Filter::any_bucket(std::uint32_t sub_filter, const Place& place, Use use) const noexcept {
  Slot* const slots = slots_of(sub_filter);
  const std::uint64_t last = buckets_of(sub_filter) - 1;
  return use(slots + (place.first & last) * shape_.bucket_size) ||
         use(slots + (place.second & last) * shape_.bucket_size);
}

Filter::Slot* Filter::find(Slot* bucket, Slot fingerprint) const noexcept {
  for (std::uint32_t i = 0; i < shape_.bucket_size; ++i)
    if (bucket[i] == fingerprint) return bucket + i;
  return nullptr;
}

void Filter::prefetch(std::uint64_t hash) const noexcept {
  any_bucket(shape_.sub_filters - 1, Place(hash), [](const Slot* bucket) {
    detail::prefetch(bucket);
    return false;
  });
}

bool Filter::may_contain(std::uint64_t hash) const noexcept {
  const Place place(hash);
  for (std::uint32_t i = 0; i < shape_.sub_filters; ++i)
    if (any_bucket(i, place, [&](Slot* bucket) { return find(bucket, place.fingerprint); }))
      return true;
  return false;
}

std::uint64_t Filter::count(std::uint64_t hash) const noexcept {
  const Place place(hash);
  std::uint64_t found = 0;
  for (std::uint32_t i = 0; i < shape_.sub_filters; ++i)
    any_bucket(i, place, [&](const Slot* bucket) {
      found += static_cast<std::uint64_t>(
          std::count(bucket, bucket + shape_.bucket_size, place.fingerprint));
      return false;
    });
  return found;
}

bool Filter::put(std::uint32_t sub_filter, const Place& place) noexcept {
  return any_bucket(sub_filter, place, [&](Slot* bucket) {
    Slot* const slot = find(bucket, 0);
    if (slot != nullptr) *slot = place.fingerprint;
    return slot != nullptr;
  });
}

// In the newest sub-filter, whose two buckets are full. False: nothing has changed.
bool Filter::put_by_eviction(const Place& place) noexcept {
  Slot* const slots = slots_of(shape_.sub_filters - 1);
  const std::uint64_t last = buckets_of(shape_.sub_filters - 1) - 1;
  const std::uint32_t size = shape_.bucket_size;
  Slot homeless = place.fingerprint;
  std::uint64_t bucket = place.first & last;
  std::uint32_t victim = 0;
  for (std::uint32_t i = 0; i < shape_.max_iterations; ++i) {
    std::swap(slots[bucket * size + victim], homeless);
    bucket = other_bucket(homeless, bucket) & last;
    if (Slot* const slot = find(slots + bucket * size, 0)) {
      *slot = homeless;
      return true;
    }
    victim = (victim + 1) % size;
  }
  for (std::uint32_t i = 0; i < shape_.max_iterations; ++i) {
    victim = (victim + size - 1) % size;
    bucket = other_bucket(homeless, bucket) & last;
    std::swap(slots[bucket * size + victim], homeless);
  }
  return false;
}

Inserted Filter::insert(std::uint64_t hash, bool unique, const MemoryLimit& limit) noexcept {
  if (unique && may_contain(hash)) return Inserted::exists;
  const Place place(hash);
  std::uint32_t taken_by = shape_.sub_filters;
  while (taken_by != 0 && !put(taken_by - 1, place)) --taken_by;
  if (taken_by == 0) {
    if (!put_by_eviction(place)) {
      if (shape_.expansion == 0) return Inserted::full;
      if (!grow(limit)) return Inserted::no_memory;
      (void)put(shape_.sub_filters - 1, place);  // it is empty
    }
    taken_by = shape_.sub_filters;
  }
  ++shape_.items;
  const auto newest = array(shape_.sub_filters - 1);
  const std::uint64_t before =
      std::max(shape_.items - 1, items_before_newest_) - items_before_newest_;
  items_came(before, before + 1, newest.data(), newest.size());
  if (is_compacting()) {
    // It may have come into a part of the sub-filter that was emptied before.
    if (compaction_.sub_filter == taken_by - 1) compaction_.stays = true;
    go_on();
  }
  return Inserted::yes;
}

bool Filter::remove(std::uint64_t hash) noexcept {
  const Place place(hash);
  for (std::uint32_t i = shape_.sub_filters; i-- > 0;) {
    const bool removed = any_bucket(i, place, [&](Slot* bucket) {
      Slot* const slot = find(bucket, place.fingerprint);
      if (slot != nullptr) *slot = 0;
      return slot != nullptr;
    });
    if (!removed) continue;
    if (shape_.items != 0) --shape_.items;  // a dump may say that there are fewer
    ++shape_.deletes;
    if (is_compacting())
      go_on();
    else if (shape_.sub_filters > 1 &&
             static_cast<double>(shape_.deletes) > static_cast<double>(shape_.items) * 0.10)
      start_compaction(false);
    return true;
  }
  return false;
}

// ---- the whole ----------------------------------------------------------------------------------

std::span<std::byte> Filter::array(std::uint32_t sub_filter) const noexcept {
  return {reinterpret_cast<std::byte*>(slots_of(sub_filter)),
          buckets_of(sub_filter) * shape_.bucket_size};
}

Filter::Part Filter::part_from(std::uint64_t offset) const noexcept {
  for (std::uint32_t i = 0; i < shape_.sub_filters; ++i) {
    const auto slots = array(i);
    if (offset < slots.size()) return {slots.subspan(offset), offset};
    offset -= slots.size();
  }
  return {};
}

void Filter::overwrite(std::byte* place, std::span<const std::byte> slots) noexcept {
  std::memcpy(place, slots.data(), slots.size());
  compaction_ = {};  // what it has emptied may be full again
}

std::size_t Filter::memory() const noexcept {
  std::size_t bytes = allocated_size(this) + allocated_size(arrays_.get());
  for (std::uint32_t i = 0; i < shape_.sub_filters; ++i) bytes += allocated_size(slots_of(i));
  return bytes;
}

void Filter::defragment(DefragContext* context) noexcept {
  if (void* const moved = server::defragment(context, arrays_.get())) {
    (void)arrays_.release();
    arrays_.reset(moved);
  }
  for (std::uint32_t i = 0; i < shape_.sub_filters; ++i)
    if (void* const moved = server::defragment(context, slots_of(i)))
      static_cast<void**>(arrays_.get())[i] = moved;
}

}  // namespace bloomery::server::cuckoo
