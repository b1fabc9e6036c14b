// Headers of dumps are what the module writes, and are not believed.
#include <bloomery/module_dump.hpp>

#include <gtest/gtest.h>

#include "redis/server.hpp"

namespace bloomery {
namespace {

using test::error_of;

TEST(ModuleHeader, ComesBack) {
  for (const Layout layout : {Layout::line, Layout::pair, Layout::classic})
    for (const HashFamily family : {HashFamily::xxh3, HashFamily::siphash}) {
      const Plan shape = plan(12'345, 0.003, layout);
      const Hasher hasher(family, family == HashFamily::siphash ? Seed{5, 6} : Seed{});
      const ModulePlain plain = plain_in_module_header(module_header(shape, hasher, 77));
      EXPECT_EQ(plain.plan, shape);
      EXPECT_EQ(plain.hasher.family(), family);
      EXPECT_EQ(plain.hasher.seed(), hasher.seed());
    }
  error_of(
      [] {
        (void)module_header(plan(9, 0.1), Hasher(HashFamily::xxh3, {3, 0}), 0);
      },
      ErrorCode::wrong_kind);
  error_of([] { (void)module_header(plan(9, 0.1, Layout::line128), Hasher(), 0); },
           ErrorCode::wrong_kind);
}

TEST(ModuleHeader, IsNotBelieved) {
  const std::string whole = module_header(plan(12'345, 0.003), Hasher(), 77);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THROW((void)plain_in_module_header(std::string_view(whole).substr(0, size)), Error)
        << size;
  EXPECT_THROW((void)plain_in_module_header(whole + "x"), Error);
  // Whatever byte is changed, and how: an Error, or a plan that a filter can have.
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (const int flip : {1, 0x80, 0xFF}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      try {
        validate(plain_in_module_header(changed).plan);
      } catch (const Error& error) {
        EXPECT_TRUE(error.code() == ErrorCode::corrupt || error.code() == ErrorCode::wrong_kind ||
                    error.code() == ErrorCode::newer_format)
            << error.what();
      }
    }
}

}  // namespace
}  // namespace bloomery
