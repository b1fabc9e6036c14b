// The fields of a stored value in tests without a server.
#pragma once

#include <bloomery/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "types/rdb.hpp"

namespace bloomery::test {

using server::RdbSink;
using server::RdbSource;
using server::RdbString;

using Bytes = std::vector<std::byte>;
using Field = std::variant<std::uint64_t, double, Bytes>;

// The fields that a server would have written.
class Fields final : public RdbSource, public RdbSink {
 public:
  std::vector<Field> fields;
  std::size_t next = 0;

  std::uint64_t number() override { return take<std::uint64_t>(); }
  double real() override { return take<double>(); }
  RdbString string() override {
    const Bytes bytes = take<Bytes>();
    RdbString read;
    read.size = bytes.size();
    read.bytes.reset(static_cast<char*>(server::allocate(bytes.size() + 1)));
    if (read.bytes == nullptr) throw Error(ErrorCode::io, "no memory");
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(read.bytes.get()));
    return read;
  }
  void number(std::uint64_t value) override { fields.emplace_back(value); }
  void real(double value) override { fields.emplace_back(value); }
  void string(const void* bytes, std::size_t size) override {
    const auto* at = static_cast<const std::byte*>(bytes);
    fields.emplace_back(Bytes(at, at + size));
  }

 private:
  template <class T>
  T take() {
    if (next >= fields.size() || !std::holds_alternative<T>(fields[next]))
      throw Error(ErrorCode::io, "the fields end");
    return std::get<T>(fields[next++]);
  }
};

}  // namespace bloomery::test
