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

#include "support/checked.hpp"
#include "support/naive_window.hpp"

namespace bloomery::test {

class CheckedWindow {
 public:
  enum Call : std::uint8_t {
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
    calls
  };
  using Operation = CheckedOperation<Call>;

  CheckedWindow(const WindowPlan& plan, const Hasher& hasher)
      : filter_(plan, hasher), model_{NaiveWindow(plan), WindowQueue(plan)} {}

  void apply(const Operation& operation) {
    const std::uint64_t first = operation.keys.empty() ? 0 : operation.keys[0];
    const std::uint64_t now = filter_.now();
    const bool answers = operation.answers;
    switch (operation.call) {
      case insert_integer:
        check_insert(filter_, first, model_);
        break;
      case insert_text:
        check_insert(filter_, std::to_string(first), model_);
        break;
      case insert_integers:
        check_insert_many(filter_, operation.keys, answers, model_);
        break;
      case insert_hashes:
        check_insert_hashes(filter_, operation.keys, answers, model_);
        break;
      case find_integer:
        check_find(filter_, first, model_);
        break;
      case find_integers:
        check_find_many(filter_, operation.keys, answers, model_);
        break;
      case find_hashes:
        check_find_hashes(filter_, operation.keys, answers, model_);
        break;
      case advance_seconds:
        advance(now + first % 8);
        break;
      case advance_slices:
        advance(now + first % 80 * filter_.plan().slice_length());
        break;
      case advance_far:
        advance(now + (first << (first % 49)));
        break;
      case step_back:
        advance(now - std::min<std::uint64_t>(now, first));
        break;
      case clear:
        filter_.clear();
        model_.naive.clear();
        model_.queue.clear();
        break;
      case copy:
        filter_ = filter_.copy();
        break;
      case move:
        move_and_return(filter_);
        break;
      case restore: {
        detail::BitMemory memory(filter_.plan().bytes());
        const auto bits = memory.bytes();
        std::memcpy(bits.data(), filter_.bytes().data(), bits.size());
        filter_ = WindowFilter::restore(filter_.plan(), filter_.hasher(), filter_.state(), bits,
                                        std::move(memory));
        break;
      }
      case use_kernel:
        use_one_of(detail::kernels_of<detail::WindowKernel>(filter_.plan().slice.layout), first,
                   filter_);
        break;
      case calls:
        break;
    }
    require(filter_.inserted() == model_.inserted, "the insertions are counted otherwise");
  }

  // The bits are the naive filters', what is in the window is found, and the measures are possible.
  void check() const {
    require(same_bits(filter_, model_.naive), "the bits differ");
    for (const auto& [high, low] : model_.keys)
      if (model_.queue.must_contain({high, low}))
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
  // The naive filters, the list of insertions, and their keys.
  struct WindowModel {
    NaiveWindow naive;
    WindowQueue queue;
    std::set<ExactKey> keys = {};
    std::uint64_t inserted = 0;

    bool insert(Hash128 hash) {
      const bool fresh = naive.insert(hash);
      require(!(fresh && queue.must_contain(hash)), "a key of the window is called certainly new");
      queue.insert(hash);
      keys.emplace(hash.high, hash.low);
      ++inserted;
      return fresh;
    }
    [[nodiscard]] bool find(Hash128 hash) const {
      const bool found = naive.may_contain(hash);
      require(found || !queue.must_contain(hash), "a key of the window is not found");
      return found;
    }
  };

  void advance(std::uint64_t now) {
    filter_.advance(now);
    model_.naive.advance(now);
    model_.queue.advance(now);
  }

  WindowFilter filter_;
  WindowModel model_;
};

}  // namespace bloomery::test
