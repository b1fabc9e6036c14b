// Filters in RDB files and DUMP payloads: RedisBloom's type in all its encodings, and ours.
//
// The bytes may be anything: the result is a whole filter or an Error. The memory taken is at most
// twice the bytes that came, plus 64 MiB that a header alone may claim.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "server/memory.hpp"
#include "values/value.hpp"

namespace bloomery::server {

// A string as the server read it, in the server's memory.
struct RdbString {
  std::unique_ptr<char, ReleaseMemory> bytes;
  std::size_t size = 0;
};

// The source of fields: a server, or bytes in a test. Error{io} at the end or on damage.
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

constexpr int kRedisBloomEncoding = 4;  // RedisBloom's encver; 0 to 4 are read
constexpr int kNativeEncoding = 1;

// Error{newer_format}: the encoding of a value of this type is none of 0 to `newest`.
void check_encoding(int encoding, int newest, const char* type);
// Error{io | corrupt | newer_format | no_memory}.
[[nodiscard]] AnyValue load_redisbloom(RdbSource& source, int encoding);
[[nodiscard]] AnyValue load_native(RdbSource& source, int encoding);
// Each saves values of its family.
void save_redisbloom(const Value& value, RdbSink& sink);
void save_native(const Value& value, RdbSink& sink);

}  // namespace bloomery::server
