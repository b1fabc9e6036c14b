// Bloomery: "have I seen this before?" for sets too large to keep.
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
// Start with filter.hpp (a filter in memory), filter_file.hpp (one in a durable file),
// counting_filter.hpp (one that removes keys), scalable_filter.hpp (one that grows), window_filter.hpp
// (one that forgets), frozen_filter.hpp (the smallest, built once), encode.hpp (one as bytes), any_filter.hpp (one of any kind in
// any place: memory, file, Redis), plan.hpp (sizes and false-positive rates), spec.hpp
// (the plan of any kind), concurrent_filter.hpp (many threads), php_filter.hpp (the filters of PHP
// classes), hash.hpp (what a key is), error.hpp (what can go wrong).
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
#include <bloomery/version.hpp>
#include <bloomery/window_filter.hpp>
#include <bloomery/window_plan.hpp>
