// A directory of its own for a test, with keys and filters to put in it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <bloomery/error.hpp>
#include <bloomery/filter_file.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace bloomery::test {

class Scratch {
 public:
  explicit Scratch(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string name = (parent / "bloomery-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (path_ / name).string();
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

// Where syncing costs nothing, for tests that are not about the device.
inline std::filesystem::path fast_place() {
  const std::filesystem::path shared = "/dev/shm";
  return std::filesystem::is_directory(shared) ? shared : std::filesystem::temp_directory_path();
}

inline std::vector<std::byte> read_bytes(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  const std::string_view all = text.view();
  std::vector<std::byte> bytes(all.size());
  if (!all.empty()) std::memcpy(bytes.data(), all.data(), all.size());
  return bytes;
}

inline void write_bytes(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

inline ErrorCode code_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_GT(std::string(error.what()).size(), 20U)
        << "a message says what is wrong and what to do";
    return error.code();
  }
  ADD_FAILURE() << "no Error";
  return ErrorCode{};
}

// Lengths of files that are no filters: around those of a magic, a header, two of them, and longer.
constexpr std::size_t kStrangers[] = {0, 7, 8, 11, 4096, 4097, 5000, 8192, 20'000};

inline Plan plan_of(Layout layout, std::uint64_t bits = 512 * 100, std::uint32_t hashes = 6) {
  return {layout, bits, hashes, 1000, 0.01};
}

inline std::vector<Hash128> hashes_of(const Hasher& hasher, std::uint64_t first,
                                      std::uint64_t count) {
  std::vector<Hash128> hashes;
  for (std::uint64_t key = first; key < first + count; ++key) hashes.push_back(hasher(key));
  return hashes;
}

inline std::vector<std::string> text_keys(const std::string& prefix, std::size_t count) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) keys.push_back(prefix + std::to_string(i));
  return keys;
}

inline std::uint64_t missing(const FilterView& view, std::uint64_t first, std::uint64_t count) {
  std::uint64_t absent = 0;
  for (std::uint64_t key = first; key < first + count; ++key) absent += !view.may_contain(key);
  return absent;
}

inline std::string name_of(Layout layout) { return std::string(to_string(layout)); }
inline std::string name_of(Durability durability) {
  switch (durability) {
    case Durability::none:
      return "none";
    case Durability::process:
      return "process";
    case Durability::sync:
      break;
  }
  return "sync";
}

// Of a test with one parameter, or with two.
constexpr auto kNameOfOne = [](const auto& info) { return name_of(info.param); };
constexpr auto kNameOfBoth = [](const auto& info) {
  return name_of(std::get<0>(info.param)) + "_" + name_of(std::get<1>(info.param));
};

constexpr Durability kDurabilities[] = {Durability::none, Durability::process, Durability::sync};
// Each of these cases with each durability.
inline auto at_every_level(const auto& cases) {
  return testing::Combine(testing::ValuesIn(cases), testing::ValuesIn(kDurabilities));
}
// Of the narrow blocks one: to a file they differ in the place of a block alone.
constexpr Layout kLayouts[] = {Layout::blocked, Layout::blocked2, Layout::standard,
                               Layout::blocked64};

}  // namespace bloomery::test
