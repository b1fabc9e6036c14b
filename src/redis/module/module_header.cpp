// The header of Bloomery's dumps (module/values/dump_header.hpp has its table). It needs no server, so a library
// without the Redis client has it too.
#include <bloomery/module_dump.hpp>

#include <bloomery/detail/layout.hpp>
#include <bloomery/error.hpp>

#include <bit>
#include <cstring>

#include "base/endian.hpp"

namespace bloomery {
namespace {

constexpr std::string_view kMagic = "BLOOMERY";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kScalable = 1;
constexpr std::uint32_t kFrozen = 4;
constexpr std::uint32_t kNoScaling = 8;
constexpr std::uint32_t kKeyed = 16;
constexpr std::uint32_t kTightened = 64;
constexpr std::size_t kHeadBytes = 36;
constexpr std::size_t kSubFilterBytes = 40;
constexpr std::size_t kFrozenBytes = 16;
constexpr std::size_t kRatioBytes = 4;
constexpr std::uint32_t kRatioUnits = 10'000;

[[noreturn]] void refuse(ErrorCode code, const char* what) { throw Error(code, what); }

// `own`: the fields of this kind, which follow its only sub-filter.
std::string header_of(std::uint32_t kind, const Plan& plan, const Hasher& hasher,
                      std::uint64_t items, std::string_view own) {
  const bool keyed = hasher.family() == HashFamily::siphash;
  if (!keyed && hasher.seed() != Seed{})
    refuse(ErrorCode::wrong_kind,
           "the module's hash has no seed, and this filter has one; build it again from its keys");
  std::string out(kHeadBytes + kSubFilterBytes, '\0');
  char* p = out.data();
  std::memcpy(p, kMagic.data(), kMagic.size());
  detail::store_le(p + 8, kVersion);
  detail::store_le(p + 12, kind);
  detail::store_le64(p + 16, items);
  detail::store_le(p + 28, (kind == kScalable ? kNoScaling : 0) | (keyed ? kKeyed : 0));
  detail::store_le(p + 32, std::uint32_t{1});
  p += kHeadBytes;
  detail::store_le64(p, plan.bits);
  detail::store_le64(p + 8, plan.capacity);
  detail::store_le64(p + 16, items);
  detail::store_le64(p + 24, std::bit_cast<std::uint64_t>(plan.fpr));
  detail::store_le(p + 32, plan.hashes);
  detail::store_le(p + 36, static_cast<std::uint32_t>(plan.layout));
  out += own;
  if (keyed) {
    out.resize(out.size() + 16);
    detail::store_le64(out.data() + out.size() - 16, hasher.seed().low);
    detail::store_le64(out.data() + out.size() - 8, hasher.seed().high);
  }
  return out;
}

}  // namespace

std::string module_header(const Plan& plan, const Hasher& hasher, std::uint64_t items) {
  if (counter_bits(plan.layout) != 0)
    refuse(ErrorCode::wrong_kind, "the module has no plain filter of that layout");
  return header_of(kScalable, plan, hasher, items, {});
}

std::string module_header(const FrozenPlan& plan, const Hasher& hasher, std::uint64_t items) {
  std::string own(kFrozenBytes, '\0');
  detail::store_le(own.data(), plan.partitions);
  detail::store_le(own.data() + 4, plan.fingerprint_bits);
  detail::store_le(own.data() + 8, plan.narrow_partitions);
  return header_of(kFrozen, plan.array, hasher, items, own);
}

ModuleContents contents_in_module_header(std::string_view header) {
  if (!header.starts_with(kMagic))
    refuse(
        ErrorCode::wrong_kind,
        "the filter has RedisBloom's layout, whose bits no filter of ours can hold; keep it in a "
        "module (bloomery convert loads a dump), or rebuild it from its keys");
  if (header.size() < kHeadBytes + kSubFilterBytes)
    refuse(ErrorCode::corrupt, "its header is cut off");
  const char* p = header.data();
  if (detail::load_le<std::uint32_t>(p + 8) != kVersion)
    refuse(ErrorCode::newer_format, "its dump is of a newer version; use a newer bloomery");
  const auto kind = detail::load_le<std::uint32_t>(p + 12);
  const auto options = detail::load_le<std::uint32_t>(p + 28);
  const bool keyed = (options & kKeyed) != 0, tightened = (options & kTightened) != 0;
  if ((kind != kScalable && kind != kFrozen) || detail::load_le<std::uint32_t>(p + 32) != 1)
    refuse(
        ErrorCode::wrong_kind,
        "the filter has grown, counts or forgets, so it is more than one array of bits; keep it in "
        "a module (bloomery convert loads a dump), or rebuild it from its keys");
  // The ratio says how large the next sub-filters will be, so it does not matter for the bits of the first one.
  if (tightened && (kind != kScalable || (options & kNoScaling) != 0))
    refuse(ErrorCode::corrupt, "its header has a tightening ratio that no filter has");
  const std::size_t own = kind == kFrozen ? kFrozenBytes : tightened ? kRatioBytes : 0;
  if ((options & ~(kNoScaling | kKeyed | kTightened)) != 0 ||
      header.size() != kHeadBytes + kSubFilterBytes + own + (keyed ? 16 : 0))
    refuse(ErrorCode::corrupt, "its header is damaged");
  ModuleContents contents;
  contents.items = detail::load_le64(p + 16);
  p += kHeadBytes;
  const Plan plan = {.layout = static_cast<Layout>(detail::load_le<std::uint32_t>(p + 36)),
                     .bits = detail::load_le64(p),
                     .hashes = detail::load_le<std::uint32_t>(p + 32),
                     .capacity = detail::load_le64(p + 8),
                     .fpr = std::bit_cast<double>(detail::load_le64(p + 24))};
  if (detail::load_le<std::uint32_t>(p + 36) > detail::kAllLayouts.size() ||
      counter_bits(plan.layout) != 0)
    refuse(ErrorCode::corrupt, "its header has an unknown layout");
  contents.plan = plan;
  p += kSubFilterBytes;
  if (kind == kFrozen && detail::load_le<std::uint32_t>(p + 12) != 0)
    refuse(ErrorCode::corrupt, "its header has unknown fields");
  if (kind == kFrozen)
    contents.plan = FrozenPlan{.array = plan,
                               .partitions = detail::load_le<std::uint32_t>(p),
                               .fingerprint_bits = detail::load_le<std::uint32_t>(p + 4),
                               .narrow_partitions = detail::load_le<std::uint32_t>(p + 8)};
  try {
    std::visit(
        [](const auto& it) {
          if constexpr (std::is_same_v<decltype(it), const Plan&> ||
                        std::is_same_v<decltype(it), const FrozenPlan&>)
            validate(it);
        },
        contents.plan);
  } catch (const Error&) {
    refuse(ErrorCode::corrupt, "its header has numbers that no filter has");
  }
  if (tightened) {
    const auto ratio = detail::load_le<std::uint32_t>(p);
    if (ratio == 0 || ratio >= kRatioUnits)
      refuse(ErrorCode::corrupt, "its header has a tightening ratio that no filter has");
  }
  p += own;
  if (keyed)
    contents.hasher = Hasher(HashFamily::siphash,
                             {.low = detail::load_le64(p), .high = detail::load_le64(p + 8)});
  return contents;
}

}  // namespace bloomery
