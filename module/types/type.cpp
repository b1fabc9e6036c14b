// Bloom filters as values of a server.
#include "types/type.hpp"

#include "types/rdb.hpp"
#include "types/statistics.hpp"
#include "types/type_callbacks.hpp"
#include "values/make.hpp"

namespace bloomery::server {

namespace {

Type* redisbloom_type = nullptr;
Type* native_type = nullptr;

// The object of every kind begins with its base, so the server's pointer also points to the base.
struct ValueCallbacks : ValueTypes {
  using Object = Value;
  static constexpr const char* kName = "a filter";
  static constexpr const char* kLoadChunk = "BF.LOADCHUNK";
  static constexpr std::size_t kDigestPart = std::size_t{16} << 20;

  static auto header_of(const Value& value) { return encode_header(value.header()); }
  static std::uint64_t bytes_that_came(const Value& value) noexcept {
    return value.bytes_that_came();
  }
  template <class Use>
  static void for_parts(const Value& value, std::size_t most, Use use) noexcept {
    value.for_parts(most, use);
  }
  static std::size_t effort(const Value& value) noexcept { return 1 + value.bit_bytes() / 65536; }
  static AnyValue copied(const Value& value) { return copy(value); }
  static void release(Value* value) noexcept {
    const AnyValue freed(value);
    count_out(*freed);
  }
};

}  // namespace

bool register_types(Context* context) noexcept {
  using Callbacks = TypeCallbacks<ValueCallbacks>;
  redisbloom_type = Callbacks::make_type<load_redisbloom, save_redisbloom>(context, "MBbloom--",
                                                                           kRedisBloomEncoding);
  native_type =
      Callbacks::make_type<load_native, save_native>(context, "bloomery-", kNativeEncoding);
  return redisbloom_type != nullptr && native_type != nullptr;
}

bool ValueTypes::is_type(const Type* type) noexcept {
  return type == native_type || type == redisbloom_type;
}

Type* ValueTypes::type_of(const Value& value) noexcept {
  return value.family() == Family::native ? native_type : redisbloom_type;
}

Value* ValueTypes::counted_in(AnyValue value) noexcept {
  count_in(*value);
  return value.release();
}

}  // namespace bloomery::server
