// Headers of dumps are what the module writes, and are not believed.
#include <bloomery/module_dump.hpp>
#include <bloomery/module_filter.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/endian.hpp"
#include "redis/scripted.hpp"
#include "redis/server.hpp"

namespace bloomery::test {
namespace {

TEST(ModuleHeader, ComesBack) {
  for (const Layout layout : {Layout::blocked, Layout::blocked2, Layout::standard})
    for (const HashFamily family : {HashFamily::xxh3, HashFamily::siphash}) {
      const Plan plan = bloomery::plan(12'345, 0.003, layout);
      const Hasher hasher(family, family == HashFamily::siphash ? Seed{5, 6} : Seed{});
      const ModuleContents plain = contents_in_module_header(module_header(plan, hasher, 77));
      EXPECT_EQ(plain.plan, FilterPlan(plan));
      EXPECT_EQ(plain.hasher.family(), family);
      EXPECT_EQ(plain.hasher.seed(), hasher.seed());
      EXPECT_EQ(plain.items, 77U);
      const FrozenPlan frozen = frozen_plan(100'000, 0.003);
      const ModuleContents list = contents_in_module_header(module_header(frozen, hasher, 88));
      EXPECT_EQ(list.plan, FilterPlan(frozen));
      EXPECT_EQ(list.hasher.seed(), hasher.seed());
      EXPECT_EQ(list.items, 88U);
    }
  expect_error(ErrorCode::wrong_kind, {}, [] {
    (void)module_header(plan(9, 0.1), Hasher(HashFamily::xxh3, {3, 0}), 0);
  });
  error_of([] { (void)module_header(plan(9, 0.1, Layout::blocked128), Hasher(), 0); },
           ErrorCode::wrong_kind);
}

// BF.INSERT ... TIGHTENING: a filter that can grow has the ratio before its key.
TEST(ModuleHeader, ComesBackWithATighteningRatio) {
  constexpr std::uint32_t kOptionsAt = 28, kGrows = 0, kNoScaling = 8, kKeyed = 16, kTightened = 64;
  const auto with = [](std::string header, std::uint32_t options, std::uint32_t ratio) {
    const std::size_t key = (options & kKeyed) != 0 ? 16 : 0;
    std::string bytes(4, '\0');
    detail::store_le(bytes.data(), ratio);
    header.insert(header.size() - key, bytes);
    detail::store_le(header.data() + kOptionsAt, options | kTightened);
    return header;
  };
  const Plan plan = bloomery::plan(12'345, 0.003);
  const Hasher keyed(HashFamily::siphash, {5, 6});
  const std::string header = module_header(plan, Hasher(), 77);
  for (const std::uint32_t ratio : {1U, 8'000U, 9'999U}) {
    const ModuleContents contents = contents_in_module_header(with(header, kGrows, ratio));
    EXPECT_EQ(contents.plan, FilterPlan(plan));
    EXPECT_EQ(contents.items, 77U);
    EXPECT_EQ(contents_in_module_header(with(module_header(plan, keyed, 77), kKeyed, ratio))
                  .hasher.seed(),
              keyed.seed());
  }
  const std::string list = module_header(frozen_plan(100'000, 0.003), Hasher(), 88);
  for (const std::string& wrong : {with(header, kGrows, 0), with(header, kGrows, 10'000),
                                   with(header, kNoScaling, 8'000), with(list, kGrows, 8'000)})
    error_of([&] { (void)contents_in_module_header(wrong); }, ErrorCode::corrupt);
}

// PlanError: no filter has such a plan.
void require_valid(const ModuleContents& contents) {
  if (const auto* frozen = std::get_if<FrozenPlan>(&contents.plan)) return validate(*frozen);
  validate(std::get<Plan>(contents.plan));
}

TEST(ModuleHeader, IsNotBelieved) {
  for (const std::string& whole : {module_header(plan(12'345, 0.003), Hasher(), 77),
                                   module_header(frozen_plan(12'345, 0.003), Hasher(), 12'345)}) {
    for (std::size_t size = 0; size < whole.size(); ++size)
      EXPECT_THROW((void)contents_in_module_header(std::string_view(whole).substr(0, size)), Error)
          << size;
    EXPECT_THROW((void)contents_in_module_header(whole + "x"), Error);
    // Whatever byte is changed, and how: an Error, or a plan that a filter can have.
    for (std::size_t i = 0; i < whole.size(); ++i)
      for (const int flip : {1, 0x80, 0xFF}) {
        std::string changed = whole;
        changed[i] = static_cast<char>(changed[i] ^ flip);
        try {
          require_valid(contents_in_module_header(changed));
        } catch (const Error& error) {
          EXPECT_TRUE(error.code() == ErrorCode::corrupt || error.code() == ErrorCode::wrong_kind ||
                      error.code() == ErrorCode::newer_format)
              << error.what();
        }
      }
  }
}

TEST(ModuleHeader, HasTheLayoutOfAPlainFilter) {
  const auto with_layout = [](std::uint32_t layout) {
    std::string header = module_header(plan(12'345, 0.003), Hasher(), 77);
    detail::store_le(header.data() + 72, layout);
    return header;
  };
  const auto plain = static_cast<std::uint32_t>(Layout::blocked);
  EXPECT_NO_THROW((void)contents_in_module_header(with_layout(plain)));
  for (const std::uint32_t layout :
       {static_cast<std::uint32_t>(Layout::blocked64),
        static_cast<std::uint32_t>(Layout::blocked128), 0U, 99U, 256U + plain}) {
    error_of([&] { (void)contents_in_module_header(with_layout(layout)); }, ErrorCode::corrupt);
  }
}

TEST(ModuleDump, EndsWhateverTheServerSays) {
  const Server real;
  Scripted server(real.path());
  const auto pieces = [&](const std::string& iterator, std::size_t size) {
    server.say([reply = "*2\r\n:" + iterator + "\r\n$" + std::to_string(size) + "\r\n" +
                        std::string(size, 'x') + "\r\n"](const auto& words) {
      return words[0] == "BF.INFO" ? "*2\r\n+Capacity\r\n:9\r\n" : reply;
    });
  };
  // The same piece each time; one before the first; one that no module gives.
  for (const auto& [iterator, size] :
       {std::pair("1", std::size_t{5}), std::pair("-1", std::size_t{5}),
        std::pair("1", kMostChunkBytes + 1)}) {
    pieces(iterator, size);
    Dumper dumper({{.port = server.port()}, "key"});
    expect_error(ErrorCode::io, {}, [&] {
      for (int i = 0; i < 3; ++i) (void)dumper.next();
    });
  }
  pieces("1", 5);
  Dumper dumper({{.port = server.port()}, "key"});
  EXPECT_EQ(dumper.next().iterator, 1U);
  pieces("6", 5);
  EXPECT_EQ(dumper.next().iterator, 6U);
  pieces("0", 0);
  EXPECT_EQ(dumper.next().iterator, 0U);
}

// RedisBloom answers OK, whatever words stand behind the capacity.
TEST(ModuleFilter, IsNoPlainOneWhereItIsToCountOrForget) {
  const Server real;
  Scripted node(real.path());
  std::atomic<int> made = 0;
  node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] == "BF.INFO") return "*2\r\n+Capacity\r\n:100\r\n";
    if (words[0] != "BF.RESERVE") return std::nullopt;
    ++made;
    return "+OK\r\n";
  });
  const auto create = [&](Kind kind) {
    ModuleFilter::create({{.port = node.port()}, "k"},
                         {.kind = kind, .capacity = 100, .window = 100});
  };
  for (const Kind kind : {Kind::counting, Kind::window})
    expect_error(ErrorCode::wrong_kind, {"load bloomery.so"}, [&] { create(kind); });
  EXPECT_EQ(made, 0);
  create(Kind::scalable);
  EXPECT_EQ(made, 1);
}

}  // namespace
}  // namespace bloomery::test
