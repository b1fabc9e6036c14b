// Boost.Bloom in the configurations that were fastest or smallest at each rate.
//
// It is compiled with -march=native and without. It includes only the interface of our headers, so
// that no inline function of the library is built twice with different flags.
#include "peer.hpp"

#include <sys/mman.h>
#include <boost/bloom.hpp>

#include <new>

namespace bloomery::bench {

namespace {

// The default allocator's memory on huge pages, as a careful user would request it.
template <class T>
struct HugePages {
  using value_type = T;
  HugePages() = default;
  template <class U>
  HugePages(const HugePages<U>&) noexcept {}
  T* allocate(std::size_t count) {
    constexpr std::size_t huge = std::size_t{2} << 20;
    const std::size_t bytes = (count * sizeof(T) + huge - 1) / huge * huge;
    void* memory = std::aligned_alloc(huge, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }
  friend bool operator==(const HugePages&, const HugePages&) noexcept { return true; }
};

template <class Boosted>
class BoostPeer final : public Peer {
 public:
  BoostPeer(std::string name, double bits_a_key, std::uint64_t keys)
      : name_(std::move(name)),
        filter_(static_cast<std::size_t>(bits_a_key * static_cast<double>(keys))) {}
  [[nodiscard]] std::string name() const override { return name_; }
  void clear() override { filter_.clear(); }
  std::uint64_t insert_each(std::span<const std::uint64_t> keys) override {
    for (const std::uint64_t key : keys) filter_.insert(key);
    return keys.size();
  }
  std::uint64_t insert_bulk(std::span<const std::uint64_t> keys) override {
    filter_.insert(keys.begin(), keys.end());
    return keys.size();
  }
  std::uint64_t contains_each(std::span<const std::uint64_t> keys) override {
    std::uint64_t found = 0;
    for (const std::uint64_t key : keys) found += filter_.may_contain(key) ? 1 : 0;
    return found;
  }
  std::uint64_t contains_bulk(std::span<const std::uint64_t> keys) override {
    std::uint64_t found = 0;
    filter_.may_contain(keys.begin(), keys.end(),
                        [&](const std::uint64_t&, bool is) { found += is ? 1 : 0; });
    return found;
  }

 private:
  std::string name_;
  Boosted filter_;
};

#ifdef BLOOMERY_WITHOUT_FLAG
#define BLOOMERY_PEERS peers_without_flag
constexpr const char* kKind = "no flag: ";
#else
#define BLOOMERY_PEERS peers_for
constexpr const char* kKind = "";
#endif

template <class Subfilter>
void add(std::vector<std::unique_ptr<Peer>>& peers, const std::string& name, double bits_a_key,
         std::uint64_t keys) {
  using Hash = boost::hash<std::uint64_t>;
  using Plain = boost::bloom::filter<std::uint64_t, 1, Subfilter>;
  using Huge = boost::bloom::filter<std::uint64_t, 1, Subfilter, 0, Hash, HugePages<unsigned char>>;
  peers.push_back(std::make_unique<BoostPeer<Plain>>(kKind + name, bits_a_key, keys));
  peers.push_back(
      std::make_unique<BoostPeer<Huge>>(kKind + name + " huge pages", bits_a_key, keys));
}

}  // namespace

std::vector<std::unique_ptr<Peer>> BLOOMERY_PEERS(double fpr, std::uint64_t keys) {
  using boost::bloom::fast_multiblock32;
  using boost::bloom::fast_multiblock64;
  std::vector<std::unique_ptr<Peer>> peers;
  if (fpr == 0.01) {
    add<fast_multiblock32<6>>(peers, "Boost fast_multiblock32<6>, 10.5 bits", 10.5, keys);
    add<fast_multiblock64<6>>(peers, "Boost fast_multiblock64<6>, 10.1 bits", 10.1, keys);
  } else if (fpr == 0.001) {
    add<fast_multiblock32<9>>(peers, "Boost fast_multiblock32<9>, 16.45 bits", 16.45, keys);
    add<fast_multiblock64<9>>(peers, "Boost fast_multiblock64<9>, 15.4 bits", 15.4, keys);
  }
  return peers;
}

}  // namespace bloomery::bench
