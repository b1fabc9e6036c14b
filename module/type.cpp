// The callbacks of the data types: none lets an exception out.
#include "type.hpp"

#include <bloomery/error.hpp>

#include <span>
#include <vector>

#include "chain.hpp"
#include "rdb.hpp"
#include "statistics.hpp"

namespace bloomery::server {

namespace {

Type* their_type = nullptr;
Type* our_type = nullptr;

// Every kind of value begins with its base, so that the server's pointer is one to that.
const Value& value_of(const void* value) noexcept { return *static_cast<const Value*>(value); }

// ---- RDB ------------------------------------------------------------------------------------------

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

// ---- everything else --------------------------------------------------------------------------------

// The value as the commands that make it again, in parts of 1 MiB.
void aof_rewrite(Io* io, String* key, void* value) noexcept {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  const Value& filter = value_of(value);
  try {
    const std::vector<std::byte> header = filter.header();
    api.EmitAOF(io, "BF.LOADCHUNK", "slb", key, 1LL, header.data(), header.size());
  } catch (const std::exception& error) {
    api.LogIOError(io, "warning", "bloomery: a filter cannot be written: %s", error.what());
    return;
  }
  Sent sent;
  std::uint64_t offset = 0;
  for (auto part = filter.part_at(0, kPart); !part.empty(); part = filter.part_at(offset, kPart)) {
    offset += part.size();
    api.EmitAOF(io, "BF.LOADCHUNK", "slb", key, 1 + static_cast<long long>(offset), part.data(),
                part.size());
    sent.give_back(part);
  }
}

void digest(Digest* sums, void* value) noexcept {
  constexpr std::size_t kPart = std::size_t{16} << 20;
  const Value& filter = value_of(value);
  const auto add = [&](std::span<const std::byte> bytes) {
    api.DigestAddStringBuffer(sums, reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  try {
    add(filter.header());
  } catch (const std::exception&) {
    return;  // no memory; the digest then differs, which is the safe side
  }
  std::uint64_t offset = 0;
  for (auto part = filter.part_at(0, kPart); !part.empty(); part = filter.part_at(offset, kPart)) {
    add(part);
    offset += part.size();
  }
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

void* copy(KeyContext*, const void* value) noexcept {
  try {
    AnyValue copied = value_of(value).copy();
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
  methods.copy2 = copy;
  methods.defrag = defragment_value;
  return api.CreateDataType(context, name, encoding, &methods);
}

}  // namespace

bool register_types(Context* context) noexcept {
  their_type = make_type<load_theirs, save_theirs>(context, "MBbloom--", kTheirEncoding);
  our_type = make_type<load_ours, save_ours>(context, "bloomery-", kOurEncoding);
  return their_type != nullptr && our_type != nullptr;
}

bool is_ours(const Type* type) noexcept {
  return type != nullptr && (type == our_type || type == their_type);
}

Type* type_of(const Value& value) noexcept {
  const bool theirs = value.kind() == Kind::chain &&
                      static_cast<const Chain&>(value).family() == Family::redisbloom;
  return theirs ? their_type : our_type;
}

}  // namespace bloomery::server
