// The callbacks of the data types. None of them lets an exception out.
#include "type.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <span>
#include <vector>

#include "make.hpp"
#include "rdb.hpp"
#include "server_io.hpp"
#include "statistics.hpp"

namespace bloomery::server {

namespace {

Type* redisbloom_type = nullptr;
Type* native_type = nullptr;

// Every kind begins with its base, so the server's pointer is one to the base.
const Value& value_of(const void* value) noexcept { return *static_cast<const Value*>(value); }

// ---- RDB ----------------------------------------------------------------------------------------

template <auto kLoad>
void* rdb_load(Io* io, int encoding) noexcept {
  try {
    ServerSource source(io);
    AnyValue loaded = kLoad(source, encoding);
    count_in(*loaded);
    return loaded.release();
  } catch (const std::exception& error) {
    api.LogIOError(io, "warning", "bloomery: a filter cannot be loaded: %s", error.what());
    return nullptr;
  }
}

template <auto kSave>
void rdb_save(Io* io, void* value) noexcept {
  ServerSink sink(io);
  try {
    kSave(value_of(value), sink);
  } catch (const std::exception& error) {
    // Memory for the header alone can be missing. The server writes on; the value is cut off,
    // and refused when it is loaded.
    api.LogIOError(io, "warning", "bloomery: a filter cannot be saved: %s", error.what());
  }
}

// ---- everything else ----------------------------------------------------------------------------

// The commands that make the value again, in parts of 1 MiB.
void aof_rewrite(Io* io, String* key, void* value) noexcept {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  const Value& filter = value_of(value);
  std::uint64_t end = 1;
  Sent sent;
  const auto emit = [&](std::span<const std::byte> bytes) {
    api.EmitAOF(io, "BF.LOADCHUNK", "slb", key, static_cast<long long>(end), bytes.data(),
                bytes.size());
  };
  try {
    emit(encode_header(filter.header()));
  } catch (const std::exception& error) {
    api.LogIOError(io, "warning", "bloomery: a filter cannot be written: %s", error.what());
    return;
  }
  const std::uint64_t came = filter.bytes_that_came();
  filter.for_parts(kPart, [&](std::span<const std::byte> part) {
    part = part.first(std::min<std::uint64_t>(part.size(), came + 1 - end));
    if (part.empty()) return;
    end += part.size();
    emit(part);
    sent.give_back(part);
  });
}

void digest(Digest* sums, void* value) noexcept {
  constexpr std::size_t kPart = std::size_t{16} << 20;
  const Value& filter = value_of(value);
  const auto add = [&](std::span<const std::byte> bytes) {
    api.DigestAddStringBuffer(sums, reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  try {
    add(encode_header(filter.header()));
  } catch (const std::exception&) {
    return;  // no memory: the digest differs then, which is the safe side
  }
  filter.for_parts(kPart, add);
  api.DigestEndSequence(sums);
}

void free_value(void* value) noexcept {
  const AnyValue freed(static_cast<Value*>(value));
  count_out(*freed);
}

std::size_t memory_usage(KeyContext*, const void* value, std::size_t) noexcept {
  return value_of(value).memory();
}

// In units of 64 KiB: above 64 of them, 4 MiB, the server frees in the background.
std::size_t free_effort(KeyContext*, const void* value) noexcept {
  return 1 + value_of(value).bit_bytes() / 65536;
}

void* copy_value(KeyContext*, const void* value) noexcept {
  try {
    AnyValue copied = copy(value_of(value));
    count_in(*copied);
    return copied.release();
  } catch (const std::exception&) {
    return nullptr;  // COPY answers with an error
  }
}

int defragment_value(DefragContext* context, String*, void** value) noexcept {
  if (void* moved = defragment(context, *value)) *value = moved;
  static_cast<Value*>(*value)->defragment(context);
  return 0;
}

template <auto kLoad, auto kSave>
Type* make_type(Context* context, const char* name, int encoding) noexcept {
  TypeMethods methods;
  methods.rdb_load = rdb_load<kLoad>;
  methods.rdb_save = rdb_save<kSave>;
  methods.aof_rewrite = aof_rewrite;
  methods.digest = digest;
  methods.free = free_value;
  methods.mem_usage2 = memory_usage;
  methods.free_effort2 = free_effort;
  methods.copy2 = copy_value;
  methods.defrag = defragment_value;
  return api.CreateDataType(context, name, encoding, &methods);
}

}  // namespace

bool register_types(Context* context) noexcept {
  redisbloom_type =
      make_type<load_redisbloom, save_redisbloom>(context, "MBbloom--", kRedisBloomEncoding);
  native_type = make_type<load_native, save_native>(context, "bloomery-", kNativeEncoding);
  return redisbloom_type != nullptr && native_type != nullptr;
}

// ---- keys ---------------------------------------------------------------------------------------

OpenedKey::OpenedKey(Context* context, String* name, int mode) noexcept
    : key_(api.OpenKey(context, name, mode)), value_(nullptr) {
  const Type* const type = api.ModuleTypeGetType(key_);
  if (type != nullptr && (type == native_type || type == redisbloom_type))
    value_ = static_cast<Value*>(api.ModuleTypeGetValue(key_));
}

Value& OpenedKey::put(AnyValue value) noexcept {
  count_in(*value);
  Type* const type = value->family() == Family::native ? native_type : redisbloom_type;
  value_ = value.release();
  api.ModuleTypeSetValue(key_, type, value_);
  return *value_;
}

}  // namespace bloomery::server
