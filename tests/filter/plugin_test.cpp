// A handle in a shared object that is linked with the library and hides its symbols: it takes the locks of the view,
// and not those of its own copy of the library.
#include <bloomery/concurrent_filter.hpp>
#include <bloomery/detail/stripes.hpp>
#include <bloomery/filter.hpp>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace bloomery::test {
namespace {

#ifdef BLOOMERY_PLUGIN
TEST(Concurrent, AHandleInAPluginTakesTheLocksOfTheView) {
  void* const plugin = ::dlopen(BLOOMERY_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(plugin, nullptr) << ::dlerror();
  const auto insert = reinterpret_cast<bool (*)(ConcurrentFilter*, std::uint64_t)>(
      ::dlsym(plugin, "insert_in_plugin"));
  ASSERT_NE(insert, nullptr);
  Filter filter(plan(1'000, 0.01));
  ConcurrentFilter concurrent(filter);
  ASSERT_TRUE(insert(&concurrent, 1));
  EXPECT_TRUE(filter.may_contain(1));

  for (detail::Stripe& stripe : detail::stripes) ASSERT_TRUE(stripe.try_lock());
  std::atomic<bool> written = false;
  std::thread waiting([&] {
    EXPECT_TRUE(insert(&concurrent, 2));
    written = true;
  });
  // Much longer than an insert takes. A program that is right never fails here.
  for (int i = 0; i < 1'000; ++i) std::this_thread::yield();
  EXPECT_FALSE(insert(&concurrent, 1));  // what is there needs no lock
  EXPECT_FALSE(written);
  EXPECT_FALSE(filter.may_contain(2));
  for (detail::Stripe& stripe : detail::stripes) stripe.unlock();
  waiting.join();
  EXPECT_TRUE(filter.may_contain(2));
}
#endif

}  // namespace
}  // namespace bloomery::test
