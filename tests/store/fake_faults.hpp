// Which calls of a machine in memory (fake_os.hpp) fail, stop it, kill the process that makes them, or come just
// after another process has done something. Calls are counted from 1.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace bloomery::test {

class FakeFaults {
 public:
  // What the n-th call does instead of its work.
  struct Fault {
    std::uint64_t at = 0;  // 0: never
    bool always = false;
    int error = 0;  // an errno, or 0: reads and writes do half of what they should
  };

  enum class Call : std::uint8_t { sync_written, other };

  void inject(Fault fault) { fault_ = fault; }
  // The n-th call and all after it fail and change nothing, and what programs had seen by then is kept.
  void stop_before(std::uint64_t call) { stop_at_ = call; }
  void kill_before(std::uint64_t call) { kill_at_ = call; }
  // Another process does something just before the n-th call, and may say when it goes on.
  void interrupt_before(std::uint64_t call, std::function<void()> work) {
    interrupt_at_ = call;
    interrupt_ = std::move(work);
  }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  // Which of them were sync_written.
  [[nodiscard]] const std::vector<std::uint64_t>& syncs_of_written() const {
    return syncs_of_written_;
  }

 protected:
  enum class End : std::uint8_t { none, of_process, of_machine };
  struct Outcome {
    End end = End::none;
    int error = 0;  // negative, as calls return it
  };

  Outcome next_call(Call call) {
    ++calls_;
    if (calls_ == kill_at_) return {End::of_process, -EIO};
    if (call == Call::sync_written) syncs_of_written_.push_back(calls_);
    if (calls_ == interrupt_at_) std::exchange(interrupt_, nullptr)();
    if (calls_ == stop_at_) return {End::of_machine, -EIO};
    halve_ = false;
    const bool hit = fault_.at != 0 && (fault_.always ? calls_ >= fault_.at : calls_ == fault_.at);
    if (hit && fault_.error == 0) halve_ = true;
    return {End::none, hit ? -fault_.error : 0};
  }
  // How much of so many bytes a read or a write does.
  [[nodiscard]] std::size_t shortened(std::uint64_t size) const {
    return static_cast<std::size_t>(halve_ && size > 1 ? size / 2 : size);
  }

 private:
  Fault fault_;
  std::uint64_t stop_at_ = 0, kill_at_ = 0, interrupt_at_ = 0;
  std::function<void()> interrupt_;
  // Atomic, because the threads that build a frozen filter read its keys at the same time.
  std::atomic<std::uint64_t> calls_ = 0;
  std::vector<std::uint64_t> syncs_of_written_;
  std::atomic<bool> halve_ = false;
};

}  // namespace bloomery::test
