// Processes many keys in batches and splits each batch among the shards. Two batches are in flight at once, so that
// neither the client nor the servers wait.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "redis/cluster/cluster.hpp"

namespace bloomery::detail {

// The keys of a batch that belong to one shard: the request to the shard, and its answers.
class BatchPart {
 public:
  // `keys`: their indices in the batch.
  explicit BatchPart(std::vector<std::uint32_t> keys) : keys_(std::move(keys)), answers_(size()) {}
  BatchPart(const BatchPart&) = delete;
  BatchPart& operator=(const BatchPart&) = delete;
  virtual ~BatchPart() = default;

  [[nodiscard]] virtual Request request() = 0;
  // Takes the reply to a command of the request.
  virtual void take(std::size_t command, const redisReply& reply) = 0;
  // The part to send instead after a redirection; null: the same request is sent again.
  [[nodiscard]] virtual std::unique_ptr<BatchPart> instead() { return nullptr; }
  // Whether the server refused this request as a whole, and would not refuse that of instead().
  [[nodiscard]] virtual bool needs_other() const { return false; }
  // The request that undoes an effect of this part after a fault.
  [[nodiscard]] virtual std::optional<Request> undo(const Error&) const { return std::nullopt; }

 protected:
  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
  // Stores the answer for a key of this part. If a command was repeated on another node, it is answered twice: the
  // first answer counts.
  void answer(std::size_t key, bool value, std::uint64_t generation = 0) {
    if (!answers_[key].known) answers_[key] = {true, value, answers_[key].done, generation};
  }
  [[nodiscard]] bool all_answered() const { return std::ranges::all_of(answers_, &Answer::known); }
  // Called when the answer is proved to come from this shard and to be complete.
  void confirm(std::size_t key) { answers_[key].done = answers_[key].known; }
  void confirm_all() {
    for (std::size_t key = 0; key < size(); ++key) confirm(key);
  }

  std::vector<std::uint32_t> keys_;

 private:
  friend class KeyBatches;
  struct Answer {
    bool known = false;
    bool value = false;
    bool done = false;
    std::uint64_t generation = 0;
  };
  std::vector<Answer> answers_;
};

class KeyBatches {
 public:
  using Parts = std::vector<std::unique_ptr<BatchPart>>;
  // Makes the parts of the next batch, with at most `most` keys, and returns the number of their keys; 0: there are
  // no more keys.
  using Next = std::function<std::size_t(std::size_t most, Parts& parts)>;

  // Begins a call, which may take several runs: acknowledged() counts the keys of all of them.
  void begin() noexcept { acknowledged_ = 0; }
  // Returns the number of true answers. The answers, and in `generations` the generation that gave each answer, are
  // in the order of the keys; an empty span is not filled. Throws the first fault; other parts of its batch, and the
  // next batch, may have been done. Error{invalid_argument}: there are more keys than the spans have room for.
  std::size_t run(Cluster& cluster, std::size_t shards, const Next& next, std::span<bool> answers,
                  std::span<std::uint64_t> generations = {});
  // The number of first keys of the call that are done.
  [[nodiscard]] std::size_t acknowledged() const noexcept { return acknowledged_; }

 private:
  struct Batch {
    std::size_t first = 0;  // the index of its first key in the run
    std::size_t keys = 0;
    Parts parts;
    std::vector<Request> requests;  // one for each part
  };
  static void finish(Cluster& cluster, std::span<Batch> in_flight);
  static void undo(Cluster& cluster, const Batch& batch);
  std::size_t collect(const Batch& batch, std::span<bool> answers,
                      std::span<std::uint64_t> generations);

  std::size_t acknowledged_ = 0;
  std::size_t before_ = 0;  // the number of keys that were acknowledged before the last run
};

}  // namespace bloomery::detail
