// Bloomery: Bloom filters that are fast and survive crashes. This header includes the filters in memory and in files.
//
//   #include <bloomery/bloomery.hpp>
//   #include <iostream>
//   #include <string>
//
//   int main() {
//     bloomery::Filter seen(1'000'000, 0.001);  // a million keys, 1 false positive in 1000
//     std::string line;
//     while (std::getline(std::cin, line))
//       if (seen.insert(line)) std::cout << line << '\n';  // true: certainly new
//     if (seen.over_capacity())
//       std::cerr << "over capacity; the false-positive rate is now " << seen.current_fpr() << '\n';
//   }
//
// Start here:
//
//   filter.hpp                a plain filter in memory (filter_view.hpp: its operations, over any memory)
//   filter_file.hpp           a filter in a file (durability.hpp: which changes survive)
//   any_filter.hpp            a filter of any kind in any place: memory, file, Redis (filter_stats.hpp)
//
// Other kinds of filters (kind.hpp), and what they do with keys (detail/key_calls.hpp):
//
//   counting_filter.hpp       keys can be removed (counting_view.hpp)
//   scalable_filter.hpp       grows
//   window_filter.hpp         forgets
//   frozen_filter.hpp         built once from all of its keys; the smallest
//   concurrent_filter.hpp     a plain filter for many threads
//   php_filter.hpp            the bits of PHP classes (php_hash.hpp)
//
// Plans and the rest:
//
//   plan.hpp                  sizes and false-positive rates of plain filters
//   counting_plan.hpp, scalable_plan.hpp, window_plan.hpp, frozen_plan.hpp
//   spec.hpp                  the plan of any kind
//   stats.hpp                 how full a filter is
//   encode.hpp                a filter as bytes
//   hash.hpp                  what a key is, hash families, seeds
//   error.hpp                 the exception; what `Error{a | b}` means in a comment
//   version.hpp
//
// The classes have members of types of the standard library: compile the library and the program with the same
// _GLIBCXX_DEBUG and _GLIBCXX_USE_CXX11_ABI.
//
// Filters on Redis servers are in headers of their own, for a library that has its Redis client:
//
//   redis_url.hpp             places and addresses
//   redis_filter.hpp          a plain filter in one or many Redis strings
//   rotating_redis_filter.hpp two generations; rotate() drops the older one
//   redis_php_filter.hpp      the bucket of a PHP class
//   module_filter.hpp         a filter of a module (module_messages.hpp, module_dump.hpp)
//
// The C interface is <bloomery.h>.
#pragma once

#include <bloomery/any_filter.hpp>
#include <bloomery/concurrent_filter.hpp>
#include <bloomery/counting_filter.hpp>
#include <bloomery/counting_plan.hpp>
#include <bloomery/counting_view.hpp>
#include <bloomery/durability.hpp>
#include <bloomery/encode.hpp>
#include <bloomery/error.hpp>
#include <bloomery/filter.hpp>
#include <bloomery/filter_file.hpp>
#include <bloomery/filter_stats.hpp>
#include <bloomery/filter_view.hpp>
#include <bloomery/frozen_filter.hpp>
#include <bloomery/frozen_plan.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/kind.hpp>
#include <bloomery/php_filter.hpp>
#include <bloomery/php_hash.hpp>
#include <bloomery/plan.hpp>
#include <bloomery/scalable_filter.hpp>
#include <bloomery/scalable_plan.hpp>
#include <bloomery/spec.hpp>
#include <bloomery/stats.hpp>
#include <bloomery/version.hpp>
#include <bloomery/window_filter.hpp>
#include <bloomery/window_plan.hpp>
