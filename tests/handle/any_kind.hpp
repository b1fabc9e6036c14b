// Filters of every kind that takes keys. Frozen filters are built once: frozen_test.cpp.
#pragma once

#include <bloomery/any_filter.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "store/scratch.hpp"

namespace bloomery::test {

inline FilterSpec spec_of_kind(Kind kind, std::uint64_t capacity = 10'000) {
  FilterSpec spec{.kind = kind, .capacity = capacity, .fpr = 0.001};
  if (kind == Kind::window) spec.window = Window{WindowUnit::insertions, capacity};
  return spec;
}

inline const auto kKindsOfKeys =
    testing::Values(Kind::plain, Kind::counting, Kind::scalable, Kind::window);

inline std::string name_of_kind(const testing::TestParamInfo<Kind>& param) {
  return std::string(to_string(param.param));
}

// A file of that kind, which may be damaged.
class AnyKind : public testing::TestWithParam<Kind> {
 protected:
  [[nodiscard]] FilterSpec spec() const { return spec_of_kind(GetParam()); }
  [[nodiscard]] std::string path() const { return scratch_ / "f.bloom"; }
  void damage() const {
    std::fstream bytes(path(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(8'200);
    bytes.put('\x5a');
  }
  Scratch scratch_;
};

}  // namespace bloomery::test
