// Dumps of a module's filters, in files, made without a server.
#pragma once

#include <bloomery/filter.hpp>
#include <bloomery/module_dump.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "handle/dump_file.hpp"

namespace bloomery::test {

// As a module sends it: a header, and the bits in chunks of a few bytes.
inline void write_dump(const std::string& path, const std::string& header,
                       std::span<const std::span<const std::byte>> pieces) {
  detail::DumpWriter writer(path, path);
  writer.put({1, header});
  std::uint64_t at = 0;
  for (std::span<const std::byte> left : pieces)
    while (!left.empty()) {
      const auto part = left.first(std::min<std::size_t>(left.size(), 100));
      left = left.subspan(part.size());
      at += part.size();
      writer.put({1 + at, std::string(reinterpret_cast<const char*>(part.data()), part.size())});
    }
  writer.finish(true);
}

inline void write_dump(const std::string& path, const Filter& filter, std::uint64_t keys) {
  const std::span<const std::byte> bits = filter.bytes();
  write_dump(path, module_header(filter.plan(), filter.hasher(), keys), {&bits, 1});
}

}  // namespace bloomery::test
