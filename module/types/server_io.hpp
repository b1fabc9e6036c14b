// The fields of a value in an RDB file or a DUMP payload, as a server reads and writes them.
#pragma once

#include <bloomery/error.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "server/api.hpp"
#include "types/rdb.hpp"

namespace bloomery::server {

class ServerSource final : public RdbSource {
 public:
  explicit ServerSource(Io* io) noexcept : io_(io) {}
  std::uint64_t number() override { return checked(api.LoadUnsigned(io_)); }
  double real() override { return checked(api.LoadDouble(io_)); }
  RdbString string() override {
    RdbString read;
    read.bytes.reset(api.LoadStringBuffer(io_, &read.size));
    if (read.bytes == nullptr) throw Error(ErrorCode::io, "the value is cut off or damaged");
    return checked(std::move(read));
  }

 private:
  template <class T>
  T checked(T value) {
    if (api.IsIOError(io_) != 0) throw Error(ErrorCode::io, "the value is cut off or damaged");
    return value;
  }
  Io* io_;
};

class ServerSink final : public RdbSink {
 public:
  explicit ServerSink(Io* io) noexcept : io_(io) {}
  void number(std::uint64_t value) override { api.SaveUnsigned(io_, value); }
  void real(double value) override { api.SaveDouble(io_, value); }
  void string(const void* bytes, std::size_t size) override {
    api.SaveStringBuffer(io_, static_cast<const char*>(bytes), size);
  }

 private:
  Io* io_;
};

}  // namespace bloomery::server
