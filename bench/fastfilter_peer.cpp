// The static filters of fastfilter_cpp with fingerprints of eight bits, compiled for this CPU: binary fuse with three
// and four positions, and the homogeneous ribbon filter with interleaved columns.
#include "static_peer.hpp"

#if __has_include(<xorfilter/3wise_xor_binary_fuse_filter_lowmem.h>)

#include <cmath>
#include <cstring>
#include <sstream>

#include <ribbon/ribbon_impl.h>
#include <xorfilter/3wise_xor_binary_fuse_filter_lowmem.h>
#include <xorfilter/4wise_xor_binary_fuse_filter_lowmem.h>

namespace bloomery::bench {
namespace {

template <class Fuse>
class FusePeer final : public StaticPeer {
 public:
  explicit FusePeer(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] std::string name() const override { return name_; }
  void build(const std::vector<std::uint64_t>& keys) override {
    filter_ = std::make_unique<Fuse>(keys.size());
    filter_->AddAll(keys, 0, keys.size());
  }
  [[nodiscard]] double bits() const override {
    return 8 * static_cast<double>(filter_->SizeInBytes());
  }
  [[nodiscard]] std::uint64_t contains_each(const std::vector<std::uint64_t>& keys) const override {
    std::uint64_t found = 0;
    for (const std::uint64_t key : keys) found += filter_->Contain(key) == 0 ? 1 : 0;
    return found;
  }

 private:
  std::string name_;
  std::unique_ptr<Fuse> filter_;
};

struct RibbonTypes {
  using CoeffRow = std::uint64_t;
  using Hash = std::uint64_t;
  using Key = std::uint64_t;
  using Seed = std::uint32_t;
  using Index = std::size_t;
  using ResultRow = std::uint32_t;
  static constexpr bool kIsFilter = true, kHomogeneous = true, kFirstCoeffAlwaysOne = true;
  static constexpr bool kUseSmash = false, kAllowZeroStarts = false;
  static constexpr std::uint32_t kFixedNumColumns = 8;
  static Hash HashFn(const Hash& key, Seed seed) {
    return hashing::SimpleMixSplit::murmur64(key + seed);
  }
};

class RibbonPeer final : public StaticPeer {
 public:
  [[nodiscard]] std::string name() const override { return "homogeneous ribbon, width 64"; }
  void build(const std::vector<std::uint64_t>& keys) override {
    // The library's own choice of space for 64-bit rows: (4 + columns / 4) / 64 more than the keys.
    constexpr double kRoom = 1 + (4.0 + 8 * 0.25) / 64;
    const std::size_t slots = Solution::RoundUpNumSlots(
        static_cast<std::size_t>(kRoom * static_cast<double>(keys.size())));
    memory_.resize(slots);
    solution_ = std::make_unique<Solution>(memory_.data(), memory_.size());
    Banding banding(slots);
    banding.AddRange(keys.begin(), keys.end());
    solution_->BackSubstFrom(banding);
  }
  [[nodiscard]] double bits() const override { return 8 * static_cast<double>(memory_.size()); }
  [[nodiscard]] std::uint64_t contains_each(const std::vector<std::uint64_t>& keys) const override {
    std::uint64_t found = 0;
    for (const std::uint64_t key : keys) found += solution_->FilterQuery(key, hasher_) ? 1 : 0;
    return found;
  }

 private:
  using Solution = ribbon::SerializableInterleavedSolution<RibbonTypes>;
  using Banding = ribbon::StandardBanding<RibbonTypes>;
  std::vector<char> memory_;
  std::unique_ptr<Solution> solution_;
  ribbon::StandardHasher<RibbonTypes> hasher_;
};

}  // namespace

std::vector<std::unique_ptr<StaticPeer>> fastfilter_peers() {
  std::vector<std::unique_ptr<StaticPeer>> peers;
  using Three = xorbinaryfusefilter_lowmem::XorBinaryFuseFilter<std::uint64_t, std::uint8_t>;
  using Four = xorbinaryfusefilter_lowmem4wise::XorBinaryFuseFilter<std::uint64_t, std::uint8_t>;
  peers.push_back(std::make_unique<FusePeer<Three>>("binary fuse, 3 positions"));
  peers.push_back(std::make_unique<FusePeer<Four>>("binary fuse, 4 positions"));
  peers.push_back(std::make_unique<RibbonPeer>());
  return peers;
}

}  // namespace bloomery::bench

#else

namespace bloomery::bench {
std::vector<std::unique_ptr<StaticPeer>> fastfilter_peers() { return {}; }
}  // namespace bloomery::bench

#endif
