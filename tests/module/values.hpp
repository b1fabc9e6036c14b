// Filters of the module in tests without a server: made, filled, looked up in, read as a whole.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "commands/request.hpp"
#include "values/make.hpp"
#include "values/value.hpp"

namespace bloomery::test {

template <class T = server::Value>
server::ValuePointer<T> made(const server::Request& request) {
  auto value = server::make_empty(server::plan_header(request));
  return server::ValuePointer<T>(static_cast<T*>(value.release()));
}

// The hashes of the items "first", "first + 1" and so on.
inline std::vector<Hash128> hashes_of(const server::Value& value, int first, int count) {
  std::vector<Hash128> hashes;
  for (int i = first; i < first + count; ++i) hashes.push_back(value.hash(std::to_string(i)));
  return hashes;
}

class AtMost final : public server::MemoryLimit {
 public:
  explicit AtMost(std::uint64_t bytes) : bytes_(bytes) {}
  bool allows(std::uint64_t bytes) const noexcept override { return bytes <= bytes_; }

 private:
  std::uint64_t bytes_;
};

struct Answers {
  server::Added added;
  std::vector<bool> fresh;  // of those answered
};

inline Answers insert(server::Value& value, std::span<const Hash128> hashes,
                      const server::MemoryLimit& limit = AtMost(UINT64_MAX)) {
  const auto fresh = std::make_unique<bool[]>(hashes.size());
  const server::Added added = value.insert(hashes, {fresh.get(), hashes.size()}, limit);
  return {added, std::vector<bool>(fresh.get(), fresh.get() + added.answered)};
}

inline std::vector<bool> found(const server::Value& value, std::span<const Hash128> hashes,
                               std::uint64_t now = 0) {
  const auto answers = std::make_unique<bool[]>(hashes.size());
  value.may_contain(hashes, {answers.get(), hashes.size()}, now);
  return std::vector<bool>(answers.get(), answers.get() + hashes.size());
}

inline bool found(const server::Value& value, Hash128 hash, std::uint64_t now = 0) {
  return found(value, std::span(&hash, 1), now)[0];
}

// The header and all bits.
inline std::vector<std::byte> whole(const server::Value& value, std::uint64_t part = 1000) {
  std::vector<std::byte> bytes = server::encode_header(value.header());
  value.for_parts(part, [&](std::span<const std::byte> bits) {
    bytes.insert(bytes.end(), bits.begin(), bits.end());
  });
  return bytes;
}

// As the server's defragmentation does it: the value itself first, then what it holds.
inline server::AnyValue moved(server::AnyValue value) {
  auto* const there = static_cast<server::Value*>(server::defragment(nullptr, value.release()));
  there->defragment(nullptr);
  return server::AnyValue(there);
}

}  // namespace bloomery::test
