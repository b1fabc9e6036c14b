// The callbacks of a data type, written once for all types. No exception leaves a callback.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>

#include "server/api.hpp"
#include "server/memory.hpp"
#include "types/server_io.hpp"

namespace bloomery::server {

// `Of` says what a data type does with its values, in static functions and constants.
//
//   Object, kName          the class of its values, and what messages call one
//   kLoadChunk             the command that makes a value again, chunk by chunk
//   kDigestPart            in how large parts DEBUG DIGEST gets the bits
//   header_of              the first chunk
//   bytes_that_came        how many of the first bits are worth keeping
//   for_parts              calls use(part) for all bits in order, in parts of at most so many bytes
//   effort                 of freeing one, in units of 64 KiB
//   copied, counted_in, release
template <class Of>
class TypeCallbacks {
  using Object = typename Of::Object;
  static const Object& value_of(const void* value) noexcept {
    return *static_cast<const Object*>(value);
  }
  static void warn(Io* io, const char* what, const std::exception& error) noexcept {
    api.LogIOError(io, "warning", "bloomery: %s cannot be %s: %s", Of::kName, what, error.what());
  }

  template <auto kLoad>
  static void* rdb_load(Io* io, int encoding) noexcept {
    try {
      ServerSource source(io);
      return Of::counted_in(kLoad(source, encoding));
    } catch (const std::exception& error) {
      warn(io, "loaded", error);
      return nullptr;
    }
  }

  template <auto kSave>
  static void rdb_save(Io* io, void* value) noexcept {
    ServerSink sink(io);
    try {
      kSave(value_of(value), sink);
    } catch (const std::exception& error) {
      // Only memory for the header can be missing. The server goes on writing; the value is cut
      // off, and refused when it is loaded.
      warn(io, "saved", error);
    }
  }

  // The commands that make the value again, in parts of 1 MiB.
  static void aof_rewrite(Io* io, String* key, void* value) noexcept {
    constexpr std::size_t kPart = std::size_t{1} << 20;
    const Object& filter = value_of(value);
    std::uint64_t end = 1;
    Sent sent;
    const auto emit = [&](std::span<const std::byte> bytes) {
      api.EmitAOF(io, Of::kLoadChunk, "slb", key, static_cast<long long>(end), bytes.data(),
                  bytes.size());
    };
    try {
      emit(Of::header_of(filter));
    } catch (const std::exception& error) {
      return warn(io, "written", error);
    }
    const std::uint64_t came = Of::bytes_that_came(filter);
    Of::for_parts(filter, kPart, [&](std::span<const std::byte> part) {
      part = part.first(std::min<std::uint64_t>(part.size(), came + 1 - end));
      if (part.empty()) return;
      end += part.size();
      emit(part);
      sent.give_back(part);
    });
  }

  static void digest(Digest* sums, void* value) noexcept {
    const auto add = [&](std::span<const std::byte> bytes) {
      api.DigestAddStringBuffer(sums, reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    try {
      add(Of::header_of(value_of(value)));
    } catch (const std::exception&) {
      // No memory: the digest then differs, which is safe.
    }
    Of::for_parts(value_of(value), Of::kDigestPart, add);
    api.DigestEndSequence(sums);
  }

  static std::size_t memory_usage(KeyContext*, const void* value, std::size_t) noexcept {
    return value_of(value).memory();
  }

  // Above 64 units, 4 MiB, the server frees in the background.
  static std::size_t free_effort(KeyContext*, const void* value) noexcept {
    return Of::effort(value_of(value));
  }

  static void* copy_value(KeyContext*, const void* value) noexcept {
    try {
      return Of::counted_in(Of::copied(value_of(value)));
    } catch (const std::exception&) {
      return nullptr;  // COPY answers with an error
    }
  }

  static int defragment_value(DefragContext* context, String*, void** value) noexcept {
    if (void* const moved = defragment(context, *value)) *value = moved;
    static_cast<Object*>(*value)->defragment(context);
    return 0;
  }

 public:
  // Null: another module has registered a type of that name.
  template <auto kLoad, auto kSave>
  static Type* make_type(Context* context, const char* name, int encoding) noexcept {
    TypeMethods methods;
    methods.rdb_load = rdb_load<kLoad>;
    methods.rdb_save = rdb_save<kSave>;
    methods.aof_rewrite = aof_rewrite;
    methods.digest = digest;
    methods.free = [](void* value) { Of::release(static_cast<Object*>(value)); };
    methods.mem_usage2 = memory_usage;
    methods.free_effort2 = free_effort;
    methods.copy2 = copy_value;
    methods.defrag = defragment_value;
    return api.CreateDataType(context, name, encoding, &methods);
  }
};

}  // namespace bloomery::server
