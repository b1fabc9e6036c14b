// Planning headers, and making each kind of filter from one.
#include "values/make.hpp"

#include <algorithm>

#include "server/pages.hpp"
#include "values/counting.hpp"
#include "values/frozen.hpp"
#include "values/scalable.hpp"
#include "values/window.hpp"

namespace bloomery::server {

namespace redisbloom = legacy::redisbloom;

namespace {

// RedisBloom gives no filter a higher fpr, whatever is asked for.
constexpr double kMaxRedisBloomFpr = 0.25;

}  // namespace

Header plan_header(const Request& request) {
  Header header;
  header.kind = request.kind;
  header.family = request.family;
  if (request.keyed && request.family == Family::native)
    header.key = request.key ? *request.key : random_seed(HashFamily::siphash);
  if (request.kind == Kind::counting) {
    const Layout layout = counting_layout(request.counter_bits, request.fpr);
    header.sub_filters = {sizes_of(plan(request.capacity, request.fpr, layout))};
    return header;
  }
  if (request.kind == Kind::window) {
    header.window =
        window_plan(request.unit, request.window, request.capacity, request.fpr, request.slices);
    header.sub_filters = {sizes_of(header.window.slice)};
    header.sub_filters[0].bytes = header.window.bytes();
    return header;
  }
  header.growth = request.growth;
  if (!request.scaling) header.options |= redisbloom::kNoScaling;
  if (header.grows() && request.family == Family::native) header.tightening = request.tightening;
  const double share = header.grows() ? header.tightening.first_share() : 1;
  if (request.family == Family::native) {
    if (request.fpr * share < kMinFpr)
      throw Error(
          ErrorCode::invalid_argument,
          header.grows()
              ? "error rate must be at least 1e-15 / (1 - tightening) for a filter that grows"
              : "error rate must be at least 1e-15");
    header.sub_filters = {plan_native(request.capacity, request.fpr * share)};
    return header;
  }
  header.options |= redisbloom::kNewFilter;
  const auto sizes = redisbloom::plan_sub_filter(
      request.capacity, std::min(request.fpr, kMaxRedisBloomFpr) * share, header.options);
  if (!sizes) throw Error(ErrorCode::invalid_argument, "could not create filter");
  header.sub_filters = {*sizes};
  return header;
}

AnyValue make_value(const Header& header, const std::function<OwnedMemory(std::uint64_t)>& array) {
  switch (header.kind) {
    case Kind::counting:
      return Counting::make(header, array(header.bit_bytes()));
    case Kind::window:
      return Window::make(header, array(header.bit_bytes()));
    case Kind::frozen:
      return Frozen::make(header, array(header.bit_bytes()));
    default:
      break;
  }
  auto scalable = Scalable::make(header);
  for (const auto& sub_filter : header.sub_filters)
    scalable->append(sub_filter, array(sub_filter.bytes));
  return scalable;
}

AnyValue make_empty(const Header& header) {
  require_memory(machine_could_hold(header.bit_bytes()));
  return make_value(header, [&](std::uint64_t bytes) { return new_array(header.family, bytes); });
}

AnyValue copy(const Value& value) {
  Header header = value.header();
  // A copy is in use, and no longer loading, except for a part of a frozen filter, which cannot be in use.
  header.loading = value.kind() == Kind::frozen && value.is_loading();
  std::size_t number = 0;
  return make_value(header, [&](std::uint64_t bytes) {
    OwnedMemory memory = new_array(header.family, bytes);
    std::byte* const bits = bits_in(header.family, memory.get());
    const std::span<const std::byte> from = value.array(number++);
    if (are_mostly_there(from.data(), from.size())) let_be_huge(bits, bytes);
    copy_used(from, bits);
    return memory;
  });
}

}  // namespace bloomery::server
