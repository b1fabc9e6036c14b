// Chains: looking in every sub-filter, filling the newest, growing.
#include "chain.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <array>
#include <numeric>

#include "dump.hpp"
#include "pages.hpp"

namespace bloomery::server {

namespace {

namespace redisbloom = legacy::redisbloom;

constexpr std::size_t kChunk = 512;

[[noreturn]] void no_memory() { throw Error(ErrorCode::no_memory, "no memory for a filter"); }

// The hashes of a chunk that no sub-filter has answered yet, each with its place in the answers.
class Pending {
 public:
  explicit Pending(std::span<const Hash128> hashes) noexcept : end_(hashes.size()) {
    std::copy(hashes.begin(), hashes.end(), hashes_.begin());
    std::iota(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(end_),
              std::uint16_t{0});
  }
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  [[nodiscard]] std::size_t first_place() const noexcept { return places_[begin_]; }

  // Lets a sub-filter answer all; those that it has leave, and `answer` is told their places.
  template <class Answer>
  void ask(const SubFilter& sub_filter, Family family, Answer answer) noexcept {
    (void)server::may_contain(sub_filter, family, held(size()), answers_.data());
    std::size_t kept = begin_;
    for (std::size_t i = begin_; i < end_; ++i) {
      if (answers_[i - begin_]) {
        answer(places_[i]);
      } else {
        hashes_[kept] = hashes_[i];
        places_[kept++] = places_[i];
      }
    }
    end_ = kept;
  }

  // Adds the first `count` to a sub-filter; all of them leave. Returns how many were new.
  std::size_t insert_first(std::size_t count, const SubFilter& sub_filter, Family family,
                           std::span<bool> fresh) noexcept {
    const std::size_t added = server::insert(sub_filter, family, held(count), answers_.data());
    for (std::size_t i = 0; i < count; ++i) fresh[places_[begin_ + i]] = answers_[i];
    begin_ += count;
    return added;
  }

 private:
  [[nodiscard]] std::span<const Hash128> held(std::size_t count) const noexcept {
    return std::span(hashes_).subspan(begin_, count);
  }
  std::array<Hash128, kChunk> hashes_;
  std::array<std::uint16_t, kChunk> places_;
  std::array<bool, kChunk> answers_;
  std::size_t begin_ = 0;
  std::size_t end_;
};

}  // namespace

ValuePointer<Chain> Chain::empty(Family family, std::uint32_t options, std::uint32_t growth,
                                 const std::optional<Seed>& key) {
  if (!key) return ValueAccess::make<Chain>(family, options, growth);
  return ValuePointer<Chain>(ValueAccess::make<KeyedChain>(options, growth, *key).release());
}

ValuePointer<Chain> Chain::make(const Request& request) {
  const double fpr = request.scaling ? request.fpr * redisbloom::kTightening : request.fpr;
  const std::uint32_t no_scaling = request.scaling ? 0U : std::uint32_t{redisbloom::kNoScaling};
  if (request.family == Family::bloomery) {
    const auto key = request.keyed ? std::optional(random_seed(HashFamily::siphash)) : std::nullopt;
    auto chain = empty(Family::bloomery, no_scaling, request.growth, key);
    chain->append(plan_ours(request.capacity, fpr));
    return chain;
  }
  const std::uint32_t options = redisbloom::kNewFilter | no_scaling;
  const auto sizes = redisbloom::plan_sub_filter(request.capacity, fpr, options);
  if (!sizes) throw Error(ErrorCode::invalid_argument, "could not create filter");
  auto chain = empty(Family::redisbloom, options, request.growth);
  chain->append(*sizes);
  return chain;
}

Chain::~Chain() {
  drop_sub_filters(0);
  release(sub_filters_);
}

void Chain::drop_sub_filters(std::uint32_t kept) noexcept {
  for (; count_ > kept; --count_) release_array(sub_filters_[count_ - 1].memory, bits(count_ - 1));
}

AnyValue Chain::copy() const {
  auto copied = empty(family_, options_, growth_, key());
  for (std::size_t i = 0; i < count_; ++i) {
    copied->append(sub_filters_[i].sizes);
    copy_used(bits(i), copied->bits(i).data());
  }
  return AnyValue(copied.release());
}

bool Chain::may_contain(Hash128 hash, std::uint64_t) const noexcept {
  for (std::size_t i = count_; i-- > 0;)
    if (server::may_contain(sub_filters_[i], family_, hash)) return true;
  return false;
}

void Chain::may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                        std::uint64_t) const noexcept {
  if (count_ == 1) {
    (void)server::may_contain(sub_filters_[0], family_, hashes, found.data());
    return;
  }
  for (std::size_t done = 0; done < hashes.size(); done += kChunk) {
    const auto chunk = hashes.subspan(done, std::min(kChunk, hashes.size() - done));
    const auto answers = found.subspan(done, chunk.size());
    std::fill(answers.begin(), answers.end(), false);
    Pending pending(chunk);
    for (std::size_t i = count_; i-- > 0 && !pending.empty();)
      pending.ask(sub_filters_[i], family_, [&](std::size_t place) { answers[place] = true; });
  }
}

std::uint64_t Chain::room() const noexcept {
  const redisbloom::SubFilter& newest = sub_filters_[count_ - 1].sizes;
  return newest.entries > newest.size ? newest.entries - newest.size : 0;
}

std::uint64_t Chain::next_capacity(std::uint64_t items) const noexcept {
  if (!scaling() || room() >= items) return 0;
  std::uint64_t entries = 0;
  return __builtin_mul_overflow(sub_filters_[count_ - 1].sizes.entries, std::uint64_t{growth_},
                                &entries)
             ? UINT64_MAX
             : entries;
}

Added Chain::insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                    std::uint64_t most_bytes) noexcept {
  const auto took = [&](std::size_t added) {
    sub_filters_[count_ - 1].sizes.size += added;
    return added;
  };
  if (count_ == 1 && room() >= hashes.size()) {
    const std::size_t added = took(server::insert(sub_filters_[0], family_, hashes, fresh.data()));
    return {hashes.size(), added, added != 0, Stop::none};
  }

  Added total;
  for (std::size_t done = 0; done < hashes.size(); done += kChunk) {
    const auto chunk = hashes.subspan(done, std::min(kChunk, hashes.size() - done));
    const auto answers = fresh.subspan(done, chunk.size());
    std::fill(answers.begin(), answers.end(), false);
    const auto ignore = [](std::size_t) {};
    Pending pending(chunk);
    for (std::size_t i = count_ - 1; i-- > 0 && !pending.empty();)
      pending.ask(sub_filters_[i], family_, ignore);
    while (!pending.empty()) {
      if (const std::size_t count = std::min<std::uint64_t>(room(), pending.size()); count != 0) {
        total.fresh +=
            took(pending.insert_first(count, sub_filters_[count_ - 1], family_, answers));
        continue;
      }
      // Full: it answers for the items that it has; the first that it has not makes it grow.
      pending.ask(sub_filters_[count_ - 1], family_, ignore);
      if (pending.empty()) break;
      if (scaling() && grow(most_bytes)) continue;
      total.answered = done + pending.first_place();
      total.stop = scaling() ? Stop::no_room : Stop::full;
      total.changed = total.fresh != 0;
      return total;
    }
  }
  total.answered = hashes.size();
  total.changed = total.fresh != 0;
  return total;
}

std::optional<bool> Chain::insert_into_newest(Hash128 hash) noexcept {
  if (room() == 0) return std::nullopt;
  for (std::size_t i = count_ - 1; i-- > 0;)
    if (server::may_contain(sub_filters_[i], family_, hash)) return false;
  const bool fresh = server::insert(sub_filters_[count_ - 1], family_, hash);
  sub_filters_[count_ - 1].sizes.size += fresh;
  return fresh;
}

bool Chain::grow(std::uint64_t most_bytes) noexcept {
  const redisbloom::SubFilter& last = sub_filters_[count_ - 1].sizes;
  std::uint64_t entries = 0;
  if (__builtin_mul_overflow(last.entries, std::uint64_t{growth_}, &entries)) return false;
  const double fpr = last.error * redisbloom::kTightening;
  try {
    const auto sizes = family_ == Family::bloomery
                           ? plan_ours(entries, fpr)
                           : redisbloom::plan_sub_filter(entries, fpr, options_);
    if (!sizes || sizes->bytes > most_bytes) return false;
    append(*sizes);
    return true;
  } catch (...) {
    return false;
  }
}

void Chain::append(const redisbloom::SubFilter& sizes, OwnedMemory memory) {
  if (memory == nullptr)
    memory.reset(family_ == Family::bloomery ? allocate_aligned(sizes.bytes)
                                             : allocate_zeroed(sizes.bytes));
  auto* const longer =
      static_cast<SubFilter*>(allocate((count_ + std::size_t{1}) * sizeof(SubFilter)));
  if (memory == nullptr || longer == nullptr) {
    release(longer);
    no_memory();
  }
  std::copy_n(sub_filters_, count_, longer);
  new (longer + count_) SubFilter{memory.release(), sizes};
  release(sub_filters_);
  sub_filters_ = longer;
  ++count_;
  make_pages_huge(bits(count_ - 1).data(), sizes.bytes);
}

std::vector<std::byte> Chain::header() const {
  Header header;
  header.family = family_;
  header.options = options_;
  header.key = key();
  header.growth = growth_;
  header.size = size();
  for (const SubFilter& sub_filter : sub_filters()) header.sub_filters.push_back(sub_filter.sizes);
  return encode_header(header);
}

std::span<std::byte> Chain::part_at(std::uint64_t offset, std::uint64_t most) const noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    const auto array = bits(i);
    if (offset < array.size())
      return array.subspan(offset, std::min<std::uint64_t>(most, array.size() - offset));
    offset -= array.size();
  }
  return {};
}

void Chain::clear() noexcept {
  drop_sub_filters(1);
  sub_filters_[0].sizes.size = 0;
  server::clear(bits(0).data(), bits(0).size());
}

bool Chain::has_sub_filters_of(const Chain& other) const noexcept {
  if (family_ != other.family_ || options_ != other.options_ || growth_ != other.growth_ ||
      key() != other.key())
    return false;
  return std::equal(sub_filters_, sub_filters_ + std::min(count_, other.count_), other.sub_filters_,
                    [](const SubFilter& a, const SubFilter& b) {
                      return a.sizes.bits == b.sizes.bits && a.sizes.hashes == b.sizes.hashes &&
                             a.sizes.exponent == b.sizes.exponent &&
                             a.sizes.entries == b.sizes.entries;
                    });
}

void Chain::make_room_for(const Chain& other) {
  for (std::size_t i = count_; i < other.count_; ++i) {
    redisbloom::SubFilter sizes = other.sub_filters_[i].sizes;
    sizes.size = 0;
    append(sizes);
  }
}

void Chain::merge(const Chain& other) noexcept {
  for (std::size_t i = 0; i < other.count_; ++i) {
    merge_used(other.bits(i), bits(i).data());
    sub_filters_[i].sizes.size += other.sub_filters_[i].sizes.size;
  }
}

std::uint64_t Chain::size() const noexcept {
  std::uint64_t total = 0;
  for (const SubFilter& sub_filter : sub_filters()) total += sub_filter.sizes.size;
  return total;
}

std::uint64_t Chain::capacity() const noexcept {
  std::uint64_t total = 0;
  for (const SubFilter& sub_filter : sub_filters()) total += sub_filter.sizes.entries;
  return total;
}

std::uint64_t Chain::bit_bytes() const noexcept {
  std::uint64_t total = 0;
  for (const SubFilter& sub_filter : sub_filters()) total += sub_filter.sizes.bytes;
  return total;
}

bool Chain::full() const noexcept {
  const redisbloom::SubFilter& newest = sub_filters_[count_ - 1].sizes;
  return !scaling() && newest.size >= newest.entries;
}

std::span<std::byte> Chain::bits(std::size_t sub_filter) const noexcept {
  const SubFilter& one = sub_filters_[sub_filter];
  std::byte* first =
      family_ == Family::redisbloom ? static_cast<std::byte*>(one.memory) : aligned(one.memory);
  return {first, one.sizes.bytes};
}

void Chain::defragment(DefragContext* context) noexcept {
  if (void* moved = server::defragment(context, sub_filters_))
    sub_filters_ = static_cast<SubFilter*>(moved);
  for (std::size_t i = 0; i < count_; ++i) {
    SubFilter& sub_filter = sub_filters_[i];
    void* moved = family_ == Family::redisbloom
                      ? server::defragment(context, sub_filter.memory)
                      : defragment_aligned(context, sub_filter.memory, sub_filter.sizes.bytes);
    if (moved != nullptr) sub_filter.memory = moved;
  }
}

std::size_t Chain::memory() const noexcept {
  std::size_t total = allocated_size(this) + allocated_size(sub_filters_);
  for (const SubFilter& sub_filter : sub_filters()) total += allocated_size(sub_filter.memory);
  return total;
}

}  // namespace bloomery::server
