// Inserts keys by several threads, in rounds of two steps. In the first step each thread divides its share of the
// keys by region of the array, into its own lists. In the second step a thread takes a region and inserts the keys
// that the lists of all threads have for it, in the order of the keys. So only one thread writes to a block at a time.
//
// A key with two blocks is in the list of a pair of regions. The pairs are processed in turns, as in a round-robin
// tournament: in each turn a region is in at most one pair.
#include <bloomery/detail/bit_memory.hpp>
#include <bloomery/detail/bulk_insert.hpp>
#include <bloomery/detail/parts.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <bit>
#include <exception>
#include <thread>
#include <vector>

namespace bloomery::detail {

namespace {

constexpr std::size_t kLeastKeys = 65'536;  // per thread; for fewer it does not pay to start one
// A smaller array is in a core's caches, and dividing the keys takes longer than inserting them: two threads took 1.1
// times as long as one thread at 8 MiB, and 0.8 times at 16 MiB (docs/benchmarks-threads.md).
constexpr std::uint64_t kWorthDividing = std::uint64_t{12} << 20;
constexpr std::uint64_t kRegionBytes = std::uint64_t{1} << 19;  // a region stays in a core's cache
// The number of lists to which a thread writes in random order. On a core with a small TLB for stores dividing takes
// 1.25 times as long with 64 lists as with 32, and twice as long with more. With fewer than four regions per thread,
// threads would wait long for the last region.
constexpr std::uint64_t kFewRegions = 16, kGoodRegions = 32, kMostRegions = 256,
                        kRegionsPerThread = 4;
// With fewer keys per region in a round there are few regions.
constexpr std::uint64_t kKeysOfARegion = std::uint64_t{1} << 17;
constexpr std::uint64_t kLeastPaired = 8,
                        kMostPaired = 32;    // regions, if lists are for pairs of them
constexpr std::uint64_t kMostGrains = 4096;  // in an array; regions consist of grains
constexpr unsigned kFactorBits = 20;         // a grain times the factor fits into 32 bits
// The number of pieces in a chunk: they are contiguous and go to the kernel in one call. With few lists there is
// memory for long chunks, with which more blocks are in flight.
constexpr std::uint32_t kLongChunk = 2048, kShortChunk = 512, kFewLists = 64;
// The most keys of a thread in a round of a small array. Two threads with twice as many took 0.98 to 1.07 times as long
// on a Xeon (Emerald Rapids), and twice the memory.
constexpr std::size_t kKeysOfAThread = std::size_t{1} << 19;
constexpr std::size_t kListedAtOnce = 256;  // keys whose lists are computed before they are added

// ---- regions ---------------------------------------------------------------------------------------

// The array is divided into grains of 2^shift blocks, in whole cache lines. A region is several grains; regions
// differ by at most one grain, so that no thread waits long. There is a list for each region, or for each pair of a
// key's first and second region.
struct Regions {
  unsigned shift = 0;
  std::uint32_t factor = 0;  // regions per grain, times 2^kFactorBits
  std::uint32_t count = 0;
  bool paired = false;

  [[nodiscard]] std::uint32_t of(std::uint64_t block) const noexcept {
    return static_cast<std::uint32_t>(block >> shift) * factor >> kFactorBits;
  }

  [[nodiscard]] std::uint32_t lists() const noexcept { return paired ? count * count : count; }

  // In each turn a region is in at most one task. In the last turn of pairs both blocks of a key are in one region.
  [[nodiscard]] std::uint32_t turns() const noexcept { return paired ? count : 1; }
  [[nodiscard]] std::uint32_t tasks(std::uint32_t turn) const noexcept {
    return !paired || turn + 1 == count ? count : count / 2;
  }
  // Calls use(list) for each list of a task.
  template <class Use>
  void each_list(std::uint32_t turn, std::uint32_t task, Use use) const noexcept {
    if (!paired) return use(task);
    const std::uint32_t others = count - 1;
    if (turn == others) return use(task * count + task);
    const std::uint32_t a = (turn + task) % others;
    const std::uint32_t b = task == 0 ? others : (turn + others - task) % others;
    use(a * count + b);
    use(b * count + a);
  }
};

// The keys of a round. If a round has several keys for each block, a block comes into a core's cache once for all of
// them. With two blocks per key larger rounds gained nothing.
std::size_t keys_at_once(const BulkTarget& target, unsigned threads, std::size_t piece) noexcept {
  const std::size_t few = std::min(kMostDivided, threads * kKeysOfAThread);
  if (target.blocks_per_key == 2) return few;
  return std::max<std::size_t>(few, std::min(target.bytes / 2, kMostListed) / piece);
}

Regions regions_of(const BulkTarget& target, unsigned threads, std::uint64_t at_once) noexcept {
  const std::uint64_t blocks = target.array.blocks;
  if (blocks == 0) return {};
  const bool paired = target.blocks_per_key == 2;
  const std::uint64_t per_thread = kRegionsPerThread * threads;
  const std::uint64_t enough = std::clamp(at_once / kKeysOfARegion, kFewRegions, kGoodRegions);
  const std::uint64_t wanted = paired ? std::clamp(per_thread, kLeastPaired, kMostPaired)
                                      : std::max(std::min(target.bytes / kRegionBytes, enough),
                                                 std::min(per_thread, kMostRegions));
  const std::uint64_t a_line = blocks * 64 / target.bytes;
  const std::uint64_t each = std::max((blocks + kMostGrains - 1) / kMostGrains, a_line);
  const auto shift = static_cast<unsigned>(std::bit_width(each - 1));
  const std::uint64_t grains = ((blocks - 1) >> shift) + 1;
  const std::uint64_t count = std::min(wanted, grains);
  const auto factor = static_cast<std::uint32_t>((count << kFactorBits) / grains);
  return {shift, factor, static_cast<std::uint32_t>(paired ? count + count % 2 : count), paired};
}

// ---- the lists of a thread ---------------------------------------------------------------------------

// The lists of one thread. A piece is an integer or a hash; a list is a chain of chunks, and chunk i is
// the first one of list i.
template <class Piece>
class Lists {
  static constexpr std::size_t kAhead = 64 / sizeof(Piece);  // a cache line

 public:
  Lists(std::uint32_t lists, std::size_t most_pieces, bool with_keys)
      : chunk_(lists <= kFewLists ? kLongChunk : kShortChunk),
        next_(lists + most_pieces / chunk_),
        ends_(lists),
        memory_(next_.size() * chunk_ * (sizeof(Piece) + (with_keys ? sizeof(std::uint32_t) : 0))),
        pieces_(reinterpret_cast<Piece*>(memory_.bytes().data())),
        keys_(with_keys ? reinterpret_cast<std::uint32_t*>(pieces_ + next_.size() * chunk_)
                        : nullptr) {}

  void clear() noexcept {
    for (std::uint32_t i = 0; i < ends_.size(); ++i) ends_[i] = i * chunk_;
    used_ = static_cast<std::uint32_t>(ends_.size());
  }
  // Adds piece i to list lists[i]. The pieces are the keys of the thread's share from number `key` on.
  template <bool kKeys>
  void add(const Piece* pieces, const std::uint32_t* lists, std::size_t count,
           std::uint32_t key) noexcept {
    std::uint32_t* const ends = ends_.data();
    const std::uint32_t in_chunk = chunk_ - 1;
    Piece* const to = pieces_;
    for (std::size_t i = 0; i < count; ++i, ++key) {
      std::uint32_t end = ends[lists[i]];
      to[end] = pieces[i];
      __builtin_prefetch(to + end + kAhead, 1);
      if constexpr (kKeys) keys_[end] = key;
      if ((++end & in_chunk) == 0) [[unlikely]]
        end = (next_[end / chunk_ - 1] = used_++) * chunk_;
      ends[lists[i]] = end;
    }
  }
  // Calls use(pieces, keys, count) for each chunk of a list.
  template <class Use>
  void each_chunk(std::uint32_t list, Use use) const noexcept {
    const std::uint32_t last = ends_[list] / chunk_;
    for (std::uint32_t chunk = list;; chunk = next_[chunk]) {
      const std::size_t at = std::size_t{chunk} * chunk_;
      use(pieces_ + at, keys_ == nullptr ? nullptr : keys_ + at,
          chunk == last ? ends_[list] % chunk_ : chunk_);
      if (chunk == last) return;
    }
  }

 private:
  const std::uint32_t chunk_;        // pieces; a power of two
  std::vector<std::uint32_t> next_;  // by chunk: the next chunk of its list
  std::vector<std::uint32_t> ends_;  // by list: where the next piece goes
  std::uint32_t used_ = 0;           // chunks
  BitMemory memory_;
  Piece* pieces_;
  std::uint32_t* keys_;  // of each piece, its number in the share; null: no answers are wanted
};

// ---- the work --------------------------------------------------------------------------------------

template <class Piece>
class BulkInsert {
 public:
  BulkInsert(const BulkTarget& target, const BulkKeys& keys, bool* answers, unsigned threads,
             const Regions& regions, std::size_t at_once)
      : target_(target), keys_(keys), answers_(answers), regions_(regions) {
    const std::size_t rounds = (keys.count + at_once - 1) / at_once;
    round_ = (keys.count + rounds - 1) / rounds;
    const std::size_t share = (round_ + threads - 1) / threads;
    lists_.reserve(threads);
    for (unsigned i = 0; i < threads; ++i)
      lists_.emplace_back(regions.lists(), share, answers != nullptr);
  }

  // Runs with the threads that can be started; nullopt if none can be started.
  std::optional<std::size_t> run() {
    std::vector<std::jthread> others;
    others.reserve(lists_.size() - 1);
    // This allocates memory. If it failed after threads were started, they would wait without end.
    all_.emplace(static_cast<std::ptrdiff_t>(lists_.size()), NextStep{&taken_});
    try {
      for (unsigned id = 1; id < lists_.size(); ++id)
        others.emplace_back([this, id]() noexcept {
          threads_.wait(0);
          work(id);
        });
    } catch (const std::exception&) {
      // The threads that were started do the work.
    }
    if (others.empty()) return std::nullopt;
    const auto threads = static_cast<unsigned>(others.size() + 1);
    round_ = round_ / lists_.size() * threads;
    for (std::size_t missing = lists_.size() - threads; missing != 0; --missing)
      all_->arrive_and_drop();
    threads_ = threads;
    threads_.notify_all();
    work(0);
    others.clear();
    return new_.load();
  }

 private:
  // Runs when all threads have finished a step.
  struct NextStep {
    std::atomic<std::uint32_t>* taken;
    void operator()() noexcept { *taken = 0; }
  };

  void work(unsigned id) noexcept {
    const unsigned threads = threads_;
    std::size_t count = 0;
    for (std::size_t first = 0; first < keys_.count; first += round_) {
      const std::size_t keys = std::min(round_, keys_.count - first);
      const std::size_t begin = first + keys * id / threads;
      divide(lists_[id], begin, first + keys * (id + 1) / threads - begin);
      for (std::uint32_t turn = 0; turn < regions_.turns(); ++turn) {
        all_->arrive_and_wait();
        const std::uint32_t tasks = regions_.tasks(turn);
        for (std::uint32_t task = taken_++; task < tasks; task = taken_++)
          regions_.each_list(
              turn, task, [&](std::uint32_t list) { count += insert(list, first, keys, threads); });
      }
      all_->arrive_and_wait();
    }
    new_ += count;
  }

  void divide(Lists<Piece>& lists, std::size_t first, std::size_t count) const noexcept {
    lists.clear();
    if (regions_.paired)
      answers_ == nullptr ? divide<true, false>(lists, first, count)
                          : divide<true, true>(lists, first, count);
    else
      answers_ == nullptr ? divide<false, false>(lists, first, count)
                          : divide<false, true>(lists, first, count);
  }
  template <bool kPaired, bool kKeys>
  void divide(Lists<Piece>& lists, std::size_t first, std::size_t count) const noexcept {
    std::array<std::uint32_t, kListedAtOnce> list;
    std::array<Hash128, kListedAtOnce> hashes;
    for (std::size_t done = 0; done < count; done += kListedAtOnce) {
      const std::size_t some = std::min(kListedAtOnce, count - done);
      const auto key = static_cast<std::uint32_t>(done);
      if constexpr (std::is_same_v<Piece, std::uint64_t>) {
        const std::uint64_t* const keys = keys_.integers + first + done;
        for (std::size_t i = 0; i < some; ++i)
          list[i] = list_of<kPaired>(hash_integer(keys[i], target_.seed_multiplier));
        lists.template add<kKeys>(keys, list.data(), some, key);
      } else {
        keys_.hash(keys_.context, first + done, some, hashes.data());
        for (std::size_t i = 0; i < some; ++i) list[i] = list_of<kPaired>(hashes[i]);
        lists.template add<kKeys>(hashes.data(), list.data(), some, key);
      }
    }
  }
  template <bool kPaired>
  [[gnu::always_inline]] std::uint32_t list_of(Hash128 hash) const noexcept {
    const auto region = [this](Hash128 of) BLOOMERY_INLINE {
      return regions_.of(fast_range(of.high, target_.array.blocks));
    };
    if constexpr (kPaired) return region(hash) * regions_.count + region(second_hash(hash));
    return region(hash);
  }

  std::size_t insert(std::uint32_t list, std::size_t first, std::size_t keys,
                     unsigned threads) const noexcept {
    std::size_t count = 0;
    std::array<bool, kLongChunk> fresh;
    for (unsigned id = 0; id < threads; ++id)
      lists_[id].each_chunk(
          list, [&](const Piece* pieces, const std::uint32_t* of_share, std::size_t some) {
            bool* const out = of_share == nullptr ? nullptr : fresh.data();
            if constexpr (std::is_same_v<Piece, std::uint64_t>)
              count += target_.insert_integers(target_.array, target_.seed_multiplier, pieces, some,
                                               out);
            else
              count += target_.insert_hashes(target_.array, pieces, some, out);
            if (out == nullptr) return;
            bool* const answers = answers_ + first + keys * id / threads;
            for (std::size_t i = 0; i < some; ++i) answers[of_share[i]] = out[i];
          });
    return count;
  }

  const BulkTarget target_;
  const BulkKeys keys_;
  bool* const answers_;
  const Regions regions_;
  std::size_t round_ = 0;                 // keys
  std::vector<Lists<Piece>> lists_;       // by thread
  std::atomic<std::uint32_t> taken_ = 0;  // tasks of this turn that are taken
  std::atomic<std::size_t> new_ = 0;
  std::atomic<unsigned> threads_ = 0;  // 0 until their number is known
  std::optional<std::barrier<NextStep>> all_;
};

// For the layout standard, in which the bits of a key can be anywhere, so that there are no regions.
std::size_t insert_anywhere(const BulkTarget& target, const BulkKeys& keys, bool* answers,
                            unsigned threads) noexcept {
  const auto part = [&](std::size_t first, std::size_t count) noexcept {
    const auto out = [&](std::size_t i) { return answers == nullptr ? nullptr : answers + i; };
    if (keys.integers != nullptr)
      return target.insert_integers(target.array, target.seed_multiplier, keys.integers + first,
                                    count, out(first));
    std::size_t yes = 0;
    std::array<Hash128, kListedAtOnce> hashes;
    for (std::size_t done = 0; done < count; done += kListedAtOnce) {
      const std::size_t some = std::min(kListedAtOnce, count - done);
      keys.hash(keys.context, first + done, some, hashes.data());
      yes += target.insert_hashes(target.array, hashes.data(), some, out(first + done));
    }
    return yes;
  };
  return sum_of_parts(keys.count, threads,
                      {&part, [](const void* context, std::size_t first, std::size_t count) {
                         return (*static_cast<decltype(&part)>(context))(first, count);
                       }});
}

template <class K>
BulkTarget target_of(Layout layout, const BitArray& array, std::uint64_t bytes,
                     const Hasher& hasher, const K& kernel) noexcept {
  const auto blocks = visit_layout(layout, [](auto of) { return of.blocks_per_key(16); });
  return {array,
          bytes,
          hasher.seed_multiplier(),
          has_blocks(layout) ? blocks : 0,
          kernel.insert_hashes,
          kernel.insert_integers};
}

}  // namespace

BulkTarget bulk_target(Layout layout, const BitArray& array, const Hasher& hasher,
                       const Kernel& kernel) noexcept {
  const BitKernel& of = has_blocks(layout) ? kernel : *kernel.atomic;
  return target_of(layout, array, array.bits / 8, hasher, of);
}
BulkTarget bulk_target(Layout layout, const BitArray& array, const Hasher& hasher,
                       const CountingKernel& kernel) noexcept {
  return target_of(layout, array, array.blocks * (kBlockBits / 8), hasher, kernel);
}

std::optional<std::size_t> insert_by_threads(const BulkTarget& target, const BulkKeys& keys,
                                             bool* answers, unsigned threads) noexcept {
  if (threads == 0)
    threads = target.bytes < kWorthDividing ? 1 : std::thread::hardware_concurrency();
  threads = static_cast<unsigned>(
      std::min<std::size_t>({threads, keys.count / kLeastKeys, std::size_t{kMostRegions}}));
  if (threads < 2 || target.array.bits == 0) return std::nullopt;
  if (target.blocks_per_key == 0) return insert_anywhere(target, keys, answers, threads);
  const auto insert = [&]<class Piece>() -> std::optional<std::size_t> {
    const std::size_t at_once = keys_at_once(target, threads, sizeof(Piece));
    const Regions regions = regions_of(target, threads, at_once);
    if (regions.count < 2) return std::nullopt;
    return BulkInsert<Piece>(target, keys, answers, threads, regions, at_once).run();
  };
  try {
    return keys.integers != nullptr ? insert.template operator()<std::uint64_t>()
                                    : insert.template operator()<Hash128>();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace bloomery::detail
