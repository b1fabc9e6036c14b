// Filters in RDB files and DUMP payloads: RedisBloom's type in all its encodings, and ours.
//
// Bytes come from anywhere: whatever they are, the result is a whole filter or an Error, and no
// more memory is taken than bytes have come, times two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "memory.hpp"
#include "value.hpp"

namespace bloomery::server {

// A string as the server read it, in the server's memory.
struct RdbString {
  struct Release {
    void operator()(char* memory) const noexcept { release(memory); }
  };
  std::unique_ptr<char, Release> bytes;
  std::size_t size = 0;
};

// Where fields are read from: a server, or bytes in a test. Error{io} at the end or on damage.
class RdbSource {
 public:
  virtual std::uint64_t number() = 0;
  virtual double real() = 0;
  virtual RdbString string() = 0;

 protected:
  ~RdbSource() = default;
};

class RdbSink {
 public:
  virtual void number(std::uint64_t value) = 0;
  virtual void real(double value) = 0;
  virtual void string(const void* bytes, std::size_t size) = 0;

 protected:
  ~RdbSink() = default;
};

constexpr int kTheirEncoding = 4;  // RedisBloom's encver; 0 to 4 are read
constexpr int kOurEncoding = 1;

// Error{io, corrupt, newer_format, no_memory}.
[[nodiscard]] AnyValue load_theirs(RdbSource& source, int encoding);
[[nodiscard]] AnyValue load_ours(RdbSource& source, int encoding);
void save_theirs(const Value& value, RdbSink& sink);  // a chain of RedisBloom's scheme
void save_ours(const Value& value, RdbSink& sink);

}  // namespace bloomery::server
