// Growth: which layer a key goes into, and when there is another one.
//
// Invariant: every layer but the newest has taken exactly as many new keys as its plan's capacity,
// the newest at most as many. That is what the stated rate rests on.
#include <bloomery/error.hpp>
#include <bloomery/scalable_filter.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "filter/layers.hpp"

namespace bloomery {

namespace {

constexpr std::size_t kPart = 1024;  // keys of a bulk insert that are looked up, then inserted

LayerState empty_layer(const Plan& plan) {
  detail::BitMemory memory(plan.bytes());
  const std::span<std::byte> bits = memory.bytes();
  return {plan, 0, bits, std::move(memory)};
}

const ScalablePlan& validated(const ScalablePlan& plan) {
  validate(plan);
  return plan;
}

// The answers of a filter that was moved from.
std::size_t all_maybe(std::size_t keys, std::span<bool> found) noexcept {
  std::fill(found.begin(), found.end(), true);
  return keys;
}

}  // namespace

void detail::check_layers(const ScalablePlan& plan, std::span<const LayerState> layers) {
  const auto refuse = [](std::size_t layer, const std::string& why) {
    throw Error(ErrorCode::mismatch, "layer " + std::to_string(layer + 1) + " " + why +
                                         "; give the layers of a filter of this plan");
  };
  if (layers.empty()) throw Error(ErrorCode::invalid_argument, "no layers; give at least one");
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerState& layer = layers[i];
    const auto index = static_cast<std::uint32_t>(std::min<std::size_t>(i, kMaxLayers));
    const std::uint64_t capacity = layer_capacity(plan, index);
    validate(layer.plan);
    if (layer.plan.layout != plan.first.layout) refuse(i, "has another layout");
    if (layer.plan.capacity != capacity)
      refuse(i, "is for " + std::to_string(layer.plan.capacity) + " keys and not " +
                    std::to_string(capacity));
    if (layer.plan.rate > layer_rate(plan, index)) refuse(i, "has more than its share of the rate");
    const bool newest = i + 1 == layers.size();
    if (newest ? layer.inserted > capacity : layer.inserted != capacity)
      refuse(i, "has taken " + std::to_string(layer.inserted) + " keys, of " +
                    std::to_string(capacity) + " that it is for");
  }
}

ScalableFilter::ScalableFilter(const ScalablePlan& plan, const Hasher& hasher)
    : ScalableFilter(validated(plan), hasher, {}) {
  add_layer(empty_layer(plan.first));
}

ScalableFilter::ScalableFilter(const ScalablePlan& plan, const Hasher& hasher,
                               std::vector<LayerState> layers)
    : plan_(plan), hasher_(hasher), kernel_(&detail::kernel_for(plan.first.layout)) {
  for (LayerState& layer : layers) add_layer(std::move(layer));
}

ScalableFilter ScalableFilter::restore(const ScalablePlan& plan, const Hasher& hasher,
                                       std::vector<LayerState> layers) {
  detail::check_layers(validated(plan), layers);
  return ScalableFilter(plan, hasher, std::move(layers));
}

ScalableFilter ScalableFilter::copy() const {
  ScalableFilter twin(plan_, hasher_, {});
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    LayerState layer = empty_layer(layers_[i]->view.plan());
    layer.inserted = inserted(i);
    std::memcpy(layer.bits.data(), layers_[i]->view.bytes().data(), layer.bits.size());
    twin.add_layer(std::move(layer));
  }
  if (kernel_is_chosen_) twin.use_kernel(*kernel_);
  return twin;
}

std::unique_ptr<ScalableFilter::Layer> ScalableFilter::make_layer(LayerState state) const {
  auto layer = std::make_unique<Layer>(std::move(state), hasher_);
  if (kernel_is_chosen_) layer->view.use_kernel(*kernel_);
  return layer;
}

void ScalableFilter::make_places(std::size_t layers) {
  layers_.reserve(layers);
  views_.reserve(layers);
  shapes_.reserve(layers);
}

void ScalableFilter::add_layer(LayerState state) {
  const std::uint64_t taken = state.inserted;
  try {
    auto layer = make_layer(std::move(state));
    make_places(layers_.size() + 1);
    add_layer(std::move(layer));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::no_memory, "no memory for another layer; free some");
  }
  newest_inserted_ = taken;
}

// There are places for it.
void ScalableFilter::add_layer(std::unique_ptr<Layer> layer) noexcept {
  views_.push_back(&layer->view);
  shapes_.push_back(&layer->view.shape());
  layers_.push_back(std::move(layer));
  newest_inserted_ = 0;
}

void ScalableFilter::grow() {
  if (reserved_.empty()) {
    add_layer(empty_layer(layer_plan(plan_, static_cast<std::uint32_t>(layers_.size()))));
    return;
  }
  add_layer(std::move(reserved_.front()));
  reserved_.erase(reserved_.begin());
}

void ScalableFilter::reserve(std::uint64_t new_keys) {
  if (views_.empty()) return;
  std::uint64_t ready = room();
  for (const auto& layer : reserved_) ready += layer->view.capacity();
  try {
    while (ready < new_keys) {
      const std::size_t next = layers_.size() + reserved_.size();
      make_places(next + 1);
      reserved_.reserve(reserved_.size() + 1);
      const Plan plan = layer_plan(plan_, static_cast<std::uint32_t>(next));
      reserved_.push_back(make_layer(empty_layer(plan)));
      ready += plan.capacity;
    }
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::no_memory, "no memory for another layer; free some");
  }
}

// ---- keys ----------------------------------------------------------------------------------

bool ScalableFilter::insert_among_layers(Hash128 hash) {
  if (views_.empty() || detail::any_may_contain_one({kernel_, shapes_}, hash)) return false;
  if (room() == 0) grow();
  newest().insert_hash(hash);
  ++newest_inserted_;
  return true;
}

bool ScalableFilter::is_in_any_layer(Hash128 hash) const noexcept {
  return views_.empty() || detail::any_may_contain_one({kernel_, shapes_}, hash);
}

std::size_t ScalableFilter::insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh) {
  if (views_.empty()) {
    std::fill(fresh.begin(), fresh.end(), false);
    return 0;
  }
  std::size_t count = 0;
  while (!hashes.empty()) {
    const Part part = insert_part(hashes, fresh);
    count += part.fresh;
    hashes = hashes.subspan(part.taken);
    if (!fresh.empty()) fresh = fresh.subspan(part.taken);
  }
  return count;
}

// Takes keys from the front, at least one or else it grows.
ScalableFilter::Part ScalableFilter::insert_part(std::span<const Hash128> hashes,
                                                 std::span<bool> fresh) {
  const std::uint64_t left = room();
  const std::size_t part = std::min(kPart, hashes.size());
  const bool fits = part <= left;
  if (fits && !grown()) {
    const std::size_t taken = std::min<std::uint64_t>(left, hashes.size());
    const std::size_t count =
        newest().insert_hashes(hashes.first(taken), fresh.empty() ? fresh : fresh.first(taken));
    newest_inserted_ += count;
    return {taken, count};
  }
  hashes = hashes.first(part);
  // Older layers do not change. Where the newest may get full on the way it is asked too, so that
  // the keys it has already do not count against the room that is left.
  std::array<bool, kPart> found;
  std::array<bool, kPart> answers;
  std::array<Hash128, kPart> unseen;
  const std::span<const detail::Shape* const> asked(shapes_);
  detail::any_may_contain({kernel_, fits ? asked.first(asked.size() - 1) : asked}, hashes, found);
  std::size_t taken = 0, kept = 0;
  for (; taken < hashes.size(); ++taken) {
    if (found[taken]) continue;
    if (kept == left) break;
    unseen[kept++] = hashes[taken];
  }
  // Fewer of them than `kept` may be new: a key may come twice.
  const std::size_t count = newest().insert_hashes(std::span(unseen).first(kept), answers);
  newest_inserted_ += count;
  if (!fresh.empty())
    for (std::size_t i = 0, next = 0; i < taken; ++i) fresh[i] = !found[i] && answers[next++];
  if (left == 0 && taken < hashes.size()) grow();
  return {taken, count};
}

std::size_t ScalableFilter::may_contain_hashes(std::span<const Hash128> hashes,
                                               std::span<bool> found) const noexcept {
  if (views_.empty()) return all_maybe(hashes.size(), found);
  return detail::any_may_contain({kernel_, shapes_}, hashes, found);
}

std::size_t ScalableFilter::may_contain_integers(std::span<const std::uint64_t> keys,
                                                 std::span<bool> found) const noexcept {
  if (views_.empty()) return all_maybe(keys.size(), found);
  return detail::any_may_contain_integers({kernel_, shapes_}, hasher_, keys, found);
}

// ---- the whole -----------------------------------------------------------------------------

void ScalableFilter::clear() noexcept {
  if (views_.empty()) return;
  layers_.resize(1);
  views_.resize(1);
  shapes_.resize(1);
  reserved_.clear();
  newest().clear();
  newest_inserted_ = 0;
}

std::uint64_t ScalableFilter::inserted(std::size_t layer) const noexcept {
  return layer + 1 == views_.size() ? newest_inserted_ : views_[layer]->capacity();
}

std::uint64_t ScalableFilter::inserted() const noexcept { return capacity() - room(); }

std::uint64_t ScalableFilter::capacity() const noexcept {
  std::uint64_t sum = 0;
  for (const FilterView* layer : views_) sum += layer->capacity();
  return sum;
}

std::uint64_t ScalableFilter::bits() const noexcept {
  std::uint64_t sum = 0;
  for (const FilterView* layer : views_) sum += layer->plan().bits;
  return sum;
}

double ScalableFilter::fill() const noexcept {
  if (views_.empty()) return 1;
  double ones = 0;
  for (const FilterView* layer : views_)
    ones += layer->fill() * static_cast<double>(layer->plan().bits);
  return ones / static_cast<double>(bits());
}

double ScalableFilter::rate_now() const noexcept {
  if (views_.empty()) return 1;
  double none = 0;  // the logarithm of the probability that no layer answers "maybe"
  for (const FilterView* layer : views_) none += std::log1p(-layer->rate_now());
  return -std::expm1(none);
}

double ScalableFilter::estimated_items() const noexcept {
  if (views_.empty()) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (const FilterView* layer : views_) sum += layer->estimated_items();
  return sum;
}

bool ScalableFilter::overfull() const noexcept {
  return views_.empty() || std::any_of(views_.begin(), views_.end(),
                                       [](const FilterView* layer) { return layer->overfull(); });
}

void ScalableFilter::use_kernel(const detail::Kernel& kernel) noexcept {
  kernel_ = &kernel;
  kernel_is_chosen_ = true;
  for (const auto& layer : layers_) layer->view.use_kernel(kernel);
  for (const auto& layer : reserved_) layer->view.use_kernel(kernel);
}

}  // namespace bloomery
