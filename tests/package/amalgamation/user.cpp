// A program of someone who copied the two files: every kind of filter has the bits that the library gives it.
//
// The values below are of the library. Like all golden values they never change.
#include "bloomery.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::uint64_t kKeys = 500;
bool failed = false;

void check(bool condition, std::string_view what) {
  if (condition) return;
  failed = true;
  std::printf("failed: %.*s\n", static_cast<int>(what.size()), what.data());
}

// FNV-1a.
std::uint64_t digest(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0xCBF29CE484222325;
  for (const std::byte byte : bytes) sum = (sum ^ static_cast<std::uint64_t>(byte)) * 0x100000001B3;
  return sum;
}

void expect(const std::string& name, std::span<const std::byte> bytes, std::uint64_t golden) {
  const std::uint64_t got = digest(bytes);
  std::printf("%s: %016" PRIX64 "\n", name.c_str(), got);
  check(got == golden, name);
}

// One by one and in bulk, strings and integers, both hash families' worth of code.
template <class F>
void fill(F& filter) {
  std::vector<std::uint64_t> many;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    filter.insert("key " + std::to_string(key));
    filter.insert(key);
    many.push_back(1000 + key);
  }
  filter.insert_many(many);
  std::array<bool, kKeys> found{};
  check(filter.may_contain_many(many, found) == kKeys, "bulk look-ups");
  for (std::uint64_t key = 0; key < kKeys; ++key)
    check(filter.may_contain("key " + std::to_string(key)) && filter.may_contain(key), "a key");
}

const bloomery::Hasher kSipHash(bloomery::HashFamily::siphash, {.low = 1, .high = 2});

void plain(bloomery::Layout layout, const bloomery::Hasher& hasher, std::uint64_t golden) {
  bloomery::Filter filter(bloomery::Plan{layout, 512 * 64, 6, 1500, 0.01}, hasher);
  fill(filter);
  const auto bytes = bloomery::encode(filter);
  expect("plain " + std::string(bloomery::to_string(layout)), bytes, golden);
  check(bloomery::encode(bloomery::decode(bytes)) == bytes, "decode");

  bloomery::Filter shared(filter.plan(), hasher);
  bloomery::ConcurrentFilter threads(shared);
  fill(threads);
  check(bloomery::encode(shared) == bytes, "ConcurrentFilter");
}

void counting(std::uint32_t bits, std::uint64_t golden) {
  bloomery::CountingFilter filter(2000, 0.01, bits);
  fill(filter);
  for (std::uint64_t key = 0; key < kKeys; key += 2) check(filter.remove(key), "remove");
  const auto bytes = bloomery::encode(filter);
  expect("counting " + std::to_string(bits), bytes, golden);
  check(bloomery::encode(bloomery::decode_counting(bytes)) == bytes, "decode_counting");
}

void scalable(bloomery::Layout layout, std::uint64_t golden) {
  bloomery::ScalableFilter filter(
      bloomery::scalable_plan(100, 0.01, 2, bloomery::kDefaultTightening, layout));
  fill(filter);
  const auto bytes = bloomery::encode(filter);
  expect("scalable " + std::string(bloomery::to_string(layout)), bytes, golden);
  check(bloomery::encode(bloomery::decode_scalable(bytes)) == bytes, "decode_scalable");
}

void window(bloomery::Layout layout, std::uint64_t golden) {
  bloomery::WindowFilter filter(
      bloomery::window_plan(bloomery::WindowUnit::seconds, 80, 2000, 0.01, 8, layout));
  filter.advance(1000);
  filter.insert("forgotten");
  filter.advance(1095);
  fill(filter);
  filter.advance(1110);
  filter.insert("newest");
  const auto bytes = bloomery::encode(filter);
  expect("window " + std::string(bloomery::to_string(layout)), bytes, golden);
  check(bloomery::encode(bloomery::decode_window(bytes)) == bytes, "decode_window");
}

void frozen(std::uint64_t golden) {
  bloomery::FrozenBuilder builder(0.01, kSipHash);
  for (std::uint64_t key = 0; key < kKeys; ++key) builder.insert(key);
  const auto bytes = bloomery::encode(builder.build(2));
  expect("frozen", bytes, golden);
  const bloomery::FrozenFilter filter = bloomery::decode_frozen(bytes);
  for (std::uint64_t key = 0; key < kKeys; ++key) check(filter.may_contain(key), "a frozen key");
}

}  // namespace

// usage: user [KERNEL]
int main(int count, char** arguments) try {
  using bloomery::Layout;
  if (count > 1) setenv("BLOOMERY_KERNEL", arguments[1], 1);
  std::printf("bloomery %s, kernel %s\n", BLOOMERY_VERSION,
              bloomery::Filter(100, 0.01).kernel_name());
  plain(Layout::blocked, bloomery::Hasher(), 0x07F4B24E76B29A73);
  plain(Layout::blocked, kSipHash, 0x58E9FCAF24D0F7FC);
  plain(Layout::blocked2, bloomery::Hasher(), 0x97D72BA79096D229);
  plain(Layout::standard, bloomery::Hasher(), 0xF9E16ECC6480164D);
  plain(Layout::blocked128, bloomery::Hasher(), 0xAA61270E18165B5B);
  plain(Layout::blocked64, bloomery::Hasher(), 0x8E31FCCD840E1AAA);
  counting(4, 0xD9E8B4A457B17787);
  counting(8, 0xDF97F737EF556B8E);
  scalable(Layout::blocked, 0x5777B46DE2A3E2C2);
  scalable(Layout::standard, 0x86F3233DCFE5E409);
  window(Layout::blocked, 0x516105CBBDB1878F);
  window(Layout::blocked2, 0x1E489D5E37642709);
  frozen(0xAEBC615884E24ADD);
  const bloomery::FilterPlan wanted =
      bloomery::plan({.kind = bloomery::Kind::window,
                      .capacity = 1000,
                      .fpr = 0.001,
                      .window = bloomery::Window{bloomery::WindowUnit::seconds, 3600}});
  check(bloomery::kind_of(wanted) == bloomery::Kind::window, "plan");
  return failed ? 1 : 0;
} catch (const bloomery::Error& error) {
  std::printf("%s\n", error.what());
  return 1;
}
