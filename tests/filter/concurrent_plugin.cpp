// A shared object with a copy of the library of its own, which inserts into filters of the program (plugin_test.cpp).
#include <bloomery/concurrent_filter.hpp>

#include <cstdint>

extern "C" __attribute__((visibility("default"))) bool insert_in_plugin(
    bloomery::ConcurrentFilter* filter, std::uint64_t key) {
  return filter->insert(key);
}
