// The loop over the batches, and the handling of redirections and faults.
#include "redis/shards/key_batches.hpp"

#include <bloomery/detail/key_calls.hpp>

#include <algorithm>
#include <utility>

namespace bloomery::detail {
namespace {

// The number of keys in flight per node, and, if there are many shards, per shard.
constexpr std::size_t kKeysOfNode = 1024;
constexpr std::size_t kKeysOfShard = 32;
constexpr std::size_t kInFlight = 2;

}  // namespace

std::size_t KeyBatches::run(Cluster& cluster, std::size_t shards, const Next& next,
                            std::span<bool> answers, std::span<std::uint64_t> generations) {
  before_ = acknowledged_;
  const std::size_t most = std::max(kKeysOfNode * cluster.nodes(), kKeysOfShard * shards);
  std::size_t count = 0;
  std::size_t sent = 0;
  bool more = true;
  std::optional<Error> fault;
  std::vector<Batch> in_flight;
  try {
    for (;;) {
      while (more && !fault && in_flight.size() < kInFlight) {
        Batch batch;
        batch.first = sent;
        batch.keys = next(most, batch.parts);
        more = batch.keys > 0;
        if (!more) break;
        sent += batch.keys;
        require_room(answers, sent);
        batch.requests.reserve(batch.parts.size());
        for (const auto& part : batch.parts) batch.requests.push_back(part->request());
        cluster.start(batch.requests);
        in_flight.push_back(std::move(batch));
      }
      if (in_flight.empty()) break;
      finish(cluster, in_flight);
      const Batch& oldest = in_flight.front();
      const auto faulty = std::ranges::find_if(
          oldest.requests, [](const Request& each) { return each.fault().has_value(); });
      if (faulty != oldest.requests.end()) {
        if (!fault) fault = faulty->fault();
        undo(cluster, oldest);
      }
      count += collect(oldest, answers, generations);
      if (!fault && acknowledged_ < before_ + oldest.first + oldest.keys)
        fault.emplace(
            ErrorCode::unavailable,
            cluster.name() + ": a server gave up a batch of keys and did not say why; try again");
      in_flight.erase(in_flight.begin());
    }
  } catch (...) {
    cluster.drop();
    throw;
  }
  if (fault) throw *fault;
  return count;
}

void KeyBatches::finish(Cluster& cluster, std::span<Batch> in_flight) {
  const auto take_into = [](Batch& batch) {
    return [&batch](std::size_t part, std::size_t command, const Reply& reply) {
      batch.parts[part]->take(command, *reply);
    };
  };
  Batch& oldest = in_flight.front();
  cluster.finish(oldest.requests, take_into(oldest));
  if (std::ranges::all_of(oldest.requests,
                          [](const Request& each) { return !each.fault() && each.answered(); }) &&
      std::ranges::none_of(oldest.parts, [](const auto& part) { return part->needs_other(); }))
    return;
  // A slot has moved, a node's memory is full, or something must be undone. First all other batches in flight are
  // received; finishing them again later does nothing.
  for (Batch& later : in_flight.subspan(1)) cluster.finish(later.requests, take_into(later));
  for (std::size_t i = 0; i < oldest.parts.size(); ++i) {
    if (oldest.requests[i].fault()) continue;
    if (!oldest.requests[i].open() && !oldest.parts[i]->needs_other()) continue;
    if (auto instead = oldest.parts[i]->instead()) {
      Request request = instead->request();
      request.goes_where(oldest.requests[i]);
      oldest.requests[i] = std::move(request);
      oldest.parts[i] = std::move(instead);
    }
  }
  cluster.follow(oldest.requests, take_into(oldest));
}

void KeyBatches::undo(Cluster& cluster, const Batch& batch) {
  std::vector<Request> requests;
  for (std::size_t i = 0; i < batch.parts.size(); ++i)
    if (const auto& fault = batch.requests[i].fault())
      if (auto request = batch.parts[i]->undo(*fault)) requests.push_back(std::move(*request));
  // The fault that led to this undo is the fault that is reported.
  if (!requests.empty()) cluster.run(requests, [](std::size_t, std::size_t, const Reply&) {});
}

std::size_t KeyBatches::collect(const Batch& batch, std::span<bool> answers,
                                std::span<std::uint64_t> generations) {
  std::size_t count = 0;
  std::vector<bool> done(batch.keys);
  for (const auto& part : batch.parts)
    for (std::size_t i = 0; i < part->size(); ++i) {
      const BatchPart::Answer& answer = part->answers_[i];
      if (!answer.done) continue;
      const std::size_t key = part->keys_[i];
      done[key] = true;
      count += answer.value ? 1 : 0;
      if (!answers.empty()) answers[batch.first + key] = answer.value;
      if (!generations.empty()) generations[batch.first + key] = answer.generation;
    }
  if (acknowledged_ == before_ + batch.first)
    acknowledged_ +=
        static_cast<std::size_t>(std::find(done.begin(), done.end(), false) - done.begin());
  return count;
}

}  // namespace bloomery::detail
