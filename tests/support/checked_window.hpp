// Compares a window filter with naive filters, which give its bits and answers, and with a list of
// insertions, which gives what must be found; any difference is thrown.
//
// The property test (random lists of operations) and the fuzzer (lists from bytes) both use it.
#pragma once

#include <bloomery/window_filter.hpp>

#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/checked.hpp"
#include "support/naive_window.hpp"

namespace bloomery::test {

class CheckedWindow {
 public:
  enum Kind : std::uint8_t {
    insert_integer,
    insert_text,
    insert_integers,
    insert_hashes,
    find_integer,
    find_integers,
    find_hashes,
    advance_seconds,
    advance_slices,
    advance_far,
    step_back,
    clear,
    copy,
    move,
    restore,
    use_kernel,
    kinds
  };
  using Operation = CheckedOperation<Kind>;

  CheckedWindow(const WindowPlan& plan, const Hasher& hasher)
      : filter_(plan, hasher), naive_(plan), queue_(plan) {}

  void apply(const Operation& operation) {
    const std::uint16_t first = operation.keys.empty() ? 0 : operation.keys[0];
    const std::uint64_t now = filter_.now();
    const auto inserted = [&](Hash128 hash) { return insert(hash); };
    const auto found = [&](Hash128 hash) { return find(hash); };
    switch (operation.kind) {
      case insert_integer:
        require(filter_.insert(first) == insert(integer(first)), kInsertDiffers);
        break;
      case insert_text:
        require(
            filter_.insert(std::to_string(first)) == insert(filter_.hash(std::to_string(first))),
            kInsertDiffers);
        break;
      case insert_integers:
        bulk(
            operation.answers, hashes(operation),
            [&](auto answers) { return filter_.insert_many(operation.keys, answers); }, inserted);
        break;
      case insert_hashes:
        bulk(
            operation.answers, hashes(operation),
            [&](auto answers) { return filter_.insert_hashes(hashes(operation), answers); },
            inserted);
        break;
      case find_integer:
        require(filter_.may_contain(first) == find(integer(first)), kLookUpDiffers);
        break;
      case find_integers:
        bulk(
            operation.answers, hashes(operation),
            [&](auto answers) { return filter_.may_contain_many(operation.keys, answers); }, found);
        break;
      case find_hashes:
        bulk(
            operation.answers, hashes(operation),
            [&](auto answers) { return filter_.may_contain_hashes(hashes(operation), answers); },
            found);
        break;
      case advance_seconds:
        advance(now + first % 8);
        break;
      case advance_slices:
        advance(now + first % 80 * filter_.plan().slice_length());
        break;
      case advance_far:
        advance(now + (std::uint64_t{first} << (first % 49)));
        break;
      case step_back:
        advance(now - std::min<std::uint64_t>(now, first));
        break;
      case clear:
        filter_.clear();
        naive_.clear();
        queue_.clear();
        break;
      case copy:
        filter_ = filter_.copy();
        break;
      case move: {
        WindowFilter moved(std::move(filter_));
        filter_ = std::move(moved);
        break;
      }
      case restore: {
        detail::BitMemory memory(filter_.plan().bytes());
        const auto bits = memory.bytes();
        std::memcpy(bits.data(), filter_.bytes().data(), bits.size());
        filter_ = WindowFilter::restore(filter_.plan(), filter_.hasher(), filter_.state(), bits,
                                        std::move(memory));
        break;
      }
      case use_kernel: {
        const auto kernels = detail::kernels_of<detail::WindowKernel>(filter_.plan().slice.layout);
        filter_.use_kernel(*kernels[first % kernels.size()]);
        break;
      }
      case kinds:
        break;
    }
    require(filter_.inserted() == inserted_, "the insertions are counted otherwise");
  }

  // The bits are the naive filters', what is in the window is found, and the measures are possible.
  void check() const {
    require(same_bits(filter_, naive_), "the bits differ");
    for (const auto& [high, low] : keys_)
      if (queue_.must_contain({high, low}))
        require(filter_.may_contain_hash({high, low}), "a key of the window is not found");
    const double fill = filter_.fill(), fpr = filter_.current_fpr();
    const double items = filter_.estimated_items();
    require(fill >= 0 && fill <= 1 && fpr >= 0 && fpr <= 1, "a share is none");
    require((fpr > 0) == (fill > 0) || filter_.plan().slice.layout == Layout::blocked2,
            "a rate without ones, or ones without a rate");
    require((items > 0) == (fill > 0), "the items do not fit the bits");
    require((filter_.live_slices() > 0) == (fill > 0), "the slices do not fit the bits");
  }

 private:
  [[nodiscard]] Hash128 integer(std::uint16_t key) const { return filter_.hash(key); }
  [[nodiscard]] std::vector<Hash128> hashes(const Operation& operation) const {
    std::vector<Hash128> out;
    for (const std::uint16_t key : operation.keys) out.push_back(integer(key));
    return out;
  }

  void advance(std::uint64_t now) {
    filter_.advance(now);
    naive_.advance(now);
    queue_.advance(now);
  }
  bool insert(Hash128 hash) {
    const bool fresh = naive_.insert(hash);
    require(!(fresh && queue_.must_contain(hash)), "a key of the window is called certainly new");
    queue_.insert(hash);
    keys_.emplace(hash.high, hash.low);
    ++inserted_;
    return fresh;
  }
  [[nodiscard]] bool find(Hash128 hash) const {
    const bool found = naive_.may_contain(hash);
    require(found || !queue_.must_contain(hash), "a key of the window is not found");
    return found;
  }

  WindowFilter filter_;
  NaiveWindow naive_;
  WindowQueue queue_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> keys_;
  std::uint64_t inserted_ = 0;
};

}  // namespace bloomery::test
