// A filter of a module that another takes the place of while it is read.
#include <bloomery/module_dump.hpp>
#include <bloomery/module_filter.hpp>

#include <gtest/gtest.h>

#include <cstddef>

#include "redis/module_server.hpp"

namespace bloomery {
namespace {

using test::error_of;

// Another filter of the same shape, empty or with a key less, in the place of one that is read.
TEST(ModuleDump, SeesThatTheFilterWasReplaced) {
  test::Server& server = test::module_server();
  const RedisAddress address = server.address();
  const auto make = [&](std::size_t keys) {
    auto filter =
        ModuleFilter::create({address, "replaced"}, {.capacity = 20'000'000, .fpr = 0.001});
    (void)filter.insert_many(test::Keys("k", keys).views);
  };
  const auto keys_of = [&](test::Dumper& dumper) {
    std::size_t chunks = 0;
    while (dumper.next().iterator != 0) ++chunks;
    return chunks;
  };
  make(100);
  test::Dumper whole({address, "replaced"});
  EXPECT_GE(keys_of(whole), 3U);  // a header, and bits in several chunks
  for (const std::size_t before : {1U, 2U, 3U}) {
    test::Dumper dumper({address, "replaced"});
    for (std::size_t i = 0; i < before; ++i) EXPECT_NE(dumper.next().iterator, 0U);
    server.ask({"DEL", "replaced"});
    make(99);
    error_of([&] { (void)keys_of(dumper); }, ErrorCode::mismatch);
    server.ask({"DEL", "replaced"});
    make(100);
  }
  server.ask({"DEL", "replaced"});
}

}  // namespace
}  // namespace bloomery
