// The callbacks of the data type. None of them lets an exception out.
#include "cuckoo/key.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "cuckoo/encoding.hpp"
#include "server_io.hpp"
#include "type.hpp"

namespace bloomery::server::cuckoo {

namespace {

Type* cuckoo_type = nullptr;

const Filter& filter_of(const void* value) noexcept { return *static_cast<const Filter*>(value); }

CuckooTotals totals_of(const Filter& filter) noexcept {
  return {filter.header().items, bytes_of(filter.header())};
}

// Of a filter that the server owns from now on.
Filter* counted_in(Filter::Pointer filter) noexcept {
  count_cuckoo_filters(1);
  count_cuckoo_change({}, totals_of(*filter));
  return filter.release();
}

void* rdb_load(Io* io, int encoding) noexcept {
  try {
    ServerSource source(io);
    return counted_in(load(source, encoding));
  } catch (const std::exception& error) {
    api.LogIOError(io, "warning", "bloomery: a cuckoo filter cannot be loaded: %s", error.what());
    return nullptr;
  }
}

void rdb_save(Io* io, void* value) noexcept {
  ServerSink sink(io);
  save(filter_of(value), sink);
}

// Calls use(part) for all entries in order, in parts of at most 1 MiB that each lie in one array.
template <class Use>
void for_parts(const Filter& filter, Use use) noexcept {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  for (std::uint32_t i = 0; i < filter.header().sub_filters; ++i) {
    const auto entries = filter.array(i);
    for (std::size_t at = 0; at < entries.size(); at += kPart)
      use(entries.subspan(at, std::min(kPart, entries.size() - at)));
  }
}

// The commands that make the filter again.
void aof_rewrite(Io* io, String* key, void* value) noexcept {
  const Filter& filter = filter_of(value);
  std::uint64_t end = 1;
  const auto emit = [&](std::span<const std::byte> bytes) {
    api.EmitAOF(io, "CF.LOADCHUNK", "slb", key, static_cast<long long>(end), bytes.data(),
                bytes.size());
  };
  emit(encode(filter.header()));
  Sent sent;
  for_parts(filter, [&](std::span<const std::byte> part) {
    end += part.size();
    emit(part);
    sent.give_back(part);
  });
}

void digest(Digest* sums, void* value) noexcept {
  const auto add = [&](std::span<const std::byte> bytes) {
    api.DigestAddStringBuffer(sums, reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  add(encode(filter_of(value).header()));
  for_parts(filter_of(value), add);
  api.DigestEndSequence(sums);
}

void free_value(void* value) noexcept {
  count_cuckoo_filters(-1);
  count_cuckoo_change(totals_of(filter_of(value)), {});
  Filter::Delete()(static_cast<Filter*>(value));
}

std::size_t memory_usage(KeyContext*, const void* value, std::size_t) noexcept {
  return filter_of(value).memory();
}

// In units of 64 KiB, as type.cpp's.
std::size_t free_effort(KeyContext*, const void* value) noexcept {
  const Header& header = filter_of(value).header();
  return header.sub_filters + header.all_entries() / 65536;
}

void* copy_value(KeyContext*, const void* value) noexcept {
  try {
    return counted_in(filter_of(value).copy());
  } catch (const std::exception&) {
    return nullptr;  // COPY answers with an error
  }
}

int defragment_value(DefragContext* context, String*, void** value) noexcept {
  if (void* const moved = defragment(context, *value)) *value = moved;
  static_cast<Filter*>(*value)->defragment(context);
  return 0;
}

}  // namespace

bool register_type(Context* context) noexcept {
  TypeMethods methods;
  methods.rdb_load = rdb_load;
  methods.rdb_save = rdb_save;
  methods.aof_rewrite = aof_rewrite;
  methods.digest = digest;
  methods.free = free_value;
  methods.mem_usage2 = memory_usage;
  methods.free_effort2 = free_effort;
  methods.copy2 = copy_value;
  methods.defrag = defragment_value;
  cuckoo_type = api.CreateDataType(context, "MBbloomCF", kEncoding, &methods);
  return cuckoo_type != nullptr;
}

CountedChange::CountedChange(const Filter& filter) noexcept
    : filter_(filter), before_(totals_of(filter)) {}

CountedChange::~CountedChange() { count_cuckoo_change(before_, totals_of(filter_)); }

OpenedKey::OpenedKey(Context* context, String* name, int mode) noexcept
    : key_(api.OpenKey(context, name, mode)), value_(nullptr) {
  if (const Type* const type = api.ModuleTypeGetType(key_); type != nullptr && type == cuckoo_type)
    value_ = static_cast<Filter*>(api.ModuleTypeGetValue(key_));
}

Filter& OpenedKey::filter() const {
  if (value_ != nullptr) return *value_;
  throw ErrorReply{is_missing() ? "ERR not found" : kWrongType};
}

void OpenedKey::must_be_missing() const {
  if (!is_missing()) throw ErrorReply{value_ != nullptr ? "ERR item exists" : kWrongType};
}

Filter& OpenedKey::put(Filter::Pointer filter) noexcept {
  value_ = counted_in(std::move(filter));
  api.ModuleTypeSetValue(key_, cuckoo_type, value_);
  return *value_;
}

}  // namespace bloomery::server::cuckoo
