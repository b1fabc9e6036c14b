// Insertion and look-up by atomic words, so that threads need no lock: the shared kernels.
#include <bloomery/concurrent_filter.hpp>

namespace bloomery {

bool ConcurrentFilter::insert_hash(Hash128 hash) noexcept {
  return view_->kernel().shared->insert(view_->bit_array(), hash);
}

bool ConcurrentFilter::may_contain_hash(Hash128 hash) const noexcept {
  return view_->kernel().shared->contains(view_->bit_array(), hash);
}

std::size_t ConcurrentFilter::insert_hashes(std::span<const Hash128> hashes,
                                            std::span<bool> fresh) noexcept {
  return view_->kernel().shared->insert_hashes(view_->bit_array(), hashes.data(), hashes.size(),
                                               fresh.empty() ? nullptr : fresh.data());
}

std::size_t ConcurrentFilter::may_contain_hashes(std::span<const Hash128> hashes,
                                                 std::span<bool> found) const noexcept {
  return view_->kernel().shared->contains_hashes(view_->bit_array(), hashes.data(), hashes.size(),
                                                 found.empty() ? nullptr : found.data());
}

}  // namespace bloomery
