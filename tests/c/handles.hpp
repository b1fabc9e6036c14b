// Handles of the C interface for tests: freed by themselves, and made of a few words.
#pragma once

#include <bloomery.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace bloomery::test {

struct Free {
  void operator()(bloomery_filter* filter) const { bloomery_free(filter); }
};
using Handle = std::unique_ptr<bloomery_filter, Free>;

// A struct that says its size, as the library wants it; all else is zero.
template <class Struct>
Struct sized() {
  Struct out{};
  out.size = sizeof out;
  return out;
}

inline bloomery_spec spec_of(std::uint32_t kind, std::uint64_t capacity = 10'000,
                             double fpr = 0.001) {
  auto spec = sized<bloomery_spec>();
  spec.kind = kind;
  spec.capacity = capacity;
  spec.fpr = fpr;
  if (kind == BLOOMERY_WINDOW) {
    spec.window = 3600;
    spec.window_unit = BLOOMERY_SECONDS;
  }
  return spec;
}

inline Handle in_memory(std::uint32_t kind = BLOOMERY_PLAIN) {
  const bloomery_spec spec = spec_of(kind);
  bloomery_error error{};
  Handle handle(bloomery_new(&spec, nullptr, &error));
  EXPECT_NE(handle, nullptr) << error.text;
  return handle;
}

inline int insert(const Handle& handle, const std::string& key) {
  return bloomery_insert(handle.get(), key.data(), key.size(), nullptr);
}
inline int contains(const Handle& handle, const std::string& key) {
  return bloomery_contains(handle.get(), key.data(), key.size(), nullptr);
}

inline std::vector<std::byte> encoded(const Handle& handle) {
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(bloomery_encoded_size(handle.get(), nullptr)));
  EXPECT_EQ(bloomery_encode(handle.get(), bytes.data(), bytes.size(), nullptr),
            static_cast<std::int64_t>(bytes.size()));
  return bytes;
}

// Checks that a call fails with this code, by what it returns and by the error it writes, whose text
// contains `word`. call(error) is the call.
template <class Call>
void expect_code(std::int32_t code, const std::string& word, Call call) {
  bloomery_error error;
  std::memset(&error, 0x5A, sizeof error);
  const auto result = call(&error);
  if constexpr (std::is_pointer_v<decltype(result)>)
    EXPECT_EQ(result, nullptr);
  else
    EXPECT_EQ(result, -code);
  EXPECT_EQ(error.code, code) << error.text;
  EXPECT_NE(std::string(error.text).find(word), std::string::npos) << error.text;
  (void)call(nullptr);  // without a place for the error
}

}  // namespace bloomery::test
