// Whatever is wrong with what is given: a code and a text that says so. One table of all of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "c/handles.hpp"
#include "store/scratch.hpp"

namespace bloomery::test {
namespace {

struct Bad {
  const char* name;
  std::int32_t code;
  std::function<std::int64_t(bloomery_error*)> call;  // negative: it failed
};

std::int64_t made(bloomery_filter* filter) { return Handle(filter) == nullptr ? -1 : 0; }

class CBadInput : public testing::Test {
 protected:
  static void refuses(const std::vector<Bad>& cases) {
    for (const Bad& bad : cases) {
      SCOPED_TRACE(bad.name);
      bloomery_error error{};
      EXPECT_LT(bad.call(&error), 0);
      EXPECT_EQ(error.code, bad.code) << error.text;
      EXPECT_GT(std::string(error.text).size(), 10U);
      EXPECT_LT(bad.call(nullptr), 0);
    }
  }
  std::string file(const char* name, std::span<const std::byte> bytes) const {
    write_bytes(scratch_ / name, {bytes.begin(), bytes.end()});
    return scratch_ / name;
  }
  Scratch scratch_;
};

TEST_F(CBadInput, Specs) {
  const auto spec = [](auto change) {
    return [change](bloomery_error* error) {
      bloomery_spec it = spec_of(BLOOMERY_PLAIN);
      change(it);
      return made(bloomery_new(&it, nullptr, error));
    };
  };
  refuses({
      {"nothing", BLOOMERY_INVALID_ARGUMENT,
       [](auto* e) { return made(bloomery_new(nullptr, nullptr, e)); }},
      {"no size", BLOOMERY_INVALID_ARGUMENT, spec([](auto& it) { it.size = 0; })},
      {"a kind", BLOOMERY_INVALID_ARGUMENT, spec([](auto& it) { it.kind = 6; })},
      {"no capacity", BLOOMERY_INVALID_ARGUMENT, spec([](auto& it) { it.capacity = 0; })},
      {"2^64 - 1 keys", BLOOMERY_TOO_LARGE,
       spec([](auto& it) { it.capacity = ~std::uint64_t{0}; })},
      {"fpr nan", BLOOMERY_INVALID_ARGUMENT, spec([](auto& it) { it.fpr = std::nan(""); })},
      {"fpr 1", BLOOMERY_INVALID_ARGUMENT, spec([](auto& it) { it.fpr = 1; })},
      {"hashes", BLOOMERY_INVALID_ARGUMENT, spec([](auto& it) { it.hashes = 1'000; })},
      {"a layout", BLOOMERY_INVALID_ARGUMENT, spec([](auto& it) { it.layout = 99; })},
      {"counters of a plain one", BLOOMERY_INVALID_ARGUMENT,
       spec([](auto& it) { it.counter_bits = 4; })},
      {"frozen at 1e-12", BLOOMERY_INVALID_ARGUMENT,
       spec([](auto& it) { it.kind = BLOOMERY_FROZEN, it.fpr = 1e-12; })},
  });
}

TEST_F(CBadInput, Bytes) {
  for (const std::uint32_t kind :
       {BLOOMERY_PLAIN, BLOOMERY_COUNTING, BLOOMERY_SCALABLE, BLOOMERY_WINDOW, BLOOMERY_FROZEN}) {
    const Handle filter = in_memory(kind);
    ASSERT_GE(insert(filter, "a"), 0);
    const auto whole = encoded(filter);
    auto newer = whole, damaged = whole;
    // A later format has its number where ours is, and the rest where it likes.
    newer[8] = std::byte{9};
    std::fill(newer.begin() + 4096, newer.begin() + 8192, std::byte{});
    damaged[8192] ^= std::byte{0x40};
    const auto decode = [](std::span<const std::byte> bytes) {
      return [bytes](bloomery_error* error) {
        return made(bloomery_decode(bytes.data(), bytes.size(), error));
      };
    };
    const std::vector<std::byte> text(20'000, std::byte{'x'});
    refuses({
        {"none", BLOOMERY_NOT_A_FILTER, decode({})},
        {"text", BLOOMERY_NOT_A_FILTER, decode(text)},
        {"cut", BLOOMERY_CORRUPT, decode(std::span(whole).first(whole.size() - 1))},
        {"half of the header", BLOOMERY_CORRUPT, decode(std::span(whole).first(5'000))},
        {"newer", BLOOMERY_NEWER_FORMAT, decode(newer)},
        {"damaged", BLOOMERY_CORRUPT, decode(damaged)},
        {"no room", BLOOMERY_INVALID_ARGUMENT,
         [&](auto* e) { return bloomery_encode(filter.get(), newer.data(), 100, e); }},
    });
  }
}

TEST_F(CBadInput, Places) {
  const Handle filter = in_memory();
  const std::vector<std::byte> text(20'000, std::byte{'x'}), whole = encoded(filter);
  const std::string stranger = file("text", text),
                    cut = file("cut", std::span<const std::byte>(whole).first(5'000)),
                    directory = scratch_ / "d";
  std::filesystem::create_directory(directory);
  const auto open = [](const std::string& path, std::uint32_t access = BLOOMERY_READ) {
    return [path, access](bloomery_error* error) {
      return made(bloomery_open(path.c_str(), access, nullptr, error));
    };
  };
  const auto create = [](const std::string& path) {
    return [path](bloomery_error* error) {
      const bloomery_spec spec = spec_of(BLOOMERY_PLAIN);
      return made(bloomery_create(path.c_str(), &spec, nullptr, error));
    };
  };
  refuses({
      {"nothing", BLOOMERY_INVALID_ARGUMENT,
       [](auto* e) { return made(bloomery_open(nullptr, BLOOMERY_READ, nullptr, e)); }},
      {"an access", BLOOMERY_INVALID_ARGUMENT, open(cut, 7)},
      {"no name", BLOOMERY_INVALID_ARGUMENT, open("")},
      {"no name for a new one", BLOOMERY_INVALID_ARGUMENT, create("")},
      {"saved nowhere", BLOOMERY_INVALID_ARGUMENT,
       [&](auto* e) { return bloomery_save(filter.get(), "", e); }},
      {"missing", BLOOMERY_MISSING, open(scratch_ / "none")},
      {"a directory", BLOOMERY_NOT_A_FILTER, open(directory)},
      {"a device", BLOOMERY_NOT_A_FILTER, open("/dev/null")},
      {"text", BLOOMERY_NOT_A_FILTER, open(stranger)},
      {"text, to write", BLOOMERY_NOT_A_FILTER, open(stranger, BLOOMERY_WRITE)},
      {"cut", BLOOMERY_CORRUPT, open(cut)},
      {"over text", BLOOMERY_EXISTS, create(stranger)},
      {"in no directory", BLOOMERY_MISSING, create(scratch_ / "none/f")},
      {"saved over text", BLOOMERY_NOT_A_FILTER,
       [&](auto* e) { return bloomery_save(filter.get(), stranger.c_str(), e); }},
      {"no key", BLOOMERY_INVALID_ARGUMENT, open("redis://127.0.0.1")},
  });
  EXPECT_EQ(read_bytes(stranger), text);
}

// What a program has that did not look at the error of the call that was to make its filter.
TEST_F(CBadInput, NoFilter) {
  const Handle filter = in_memory();
  bloomery_filter* const none = nullptr;
  const std::string path = scratch_ / "f";
  const auto call = [](auto function, auto... words) {
    return [=](bloomery_error* error) { return std::int64_t{function(nullptr, words..., error)}; };
  };
  const std::uint64_t numbers[] = {1, 2};
  bool answers[2];
  auto stats = sized<bloomery_stats>();
  std::vector<Bad> cases;
  for (const auto function : {bloomery_insert, bloomery_contains, bloomery_remove})
    cases.push_back({"a key", BLOOMERY_INVALID_ARGUMENT, call(function, "key", 3U)});
  for (const auto function : {bloomery_insert_u64, bloomery_contains_u64, bloomery_remove_u64})
    cases.push_back({"an integer", BLOOMERY_INVALID_ARGUMENT, call(function, 7U)});
  for (const auto function : {bloomery_insert_u64s, bloomery_contains_u64s, bloomery_remove_u64s})
    cases.push_back({"integers", BLOOMERY_INVALID_ARGUMENT, call(function, numbers, 2U, answers)});
  for (const auto function :
       {bloomery_insert_fixed, bloomery_contains_fixed, bloomery_remove_fixed})
    cases.push_back({"fixed", BLOOMERY_INVALID_ARGUMENT, call(function, "ab", 1U, 2U, answers)});
  for (const auto function : {bloomery_clear, bloomery_end_load, bloomery_sync, bloomery_reload,
                              bloomery_close, bloomery_begin_load})
    cases.push_back({"the whole", BLOOMERY_INVALID_ARGUMENT, call(function)});
  for (const auto function : {bloomery_merge, bloomery_intersect}) {
    cases.push_back({"join", BLOOMERY_INVALID_ARGUMENT, call(function, filter.get())});
    cases.push_back({"join nothing", BLOOMERY_INVALID_ARGUMENT, [=, &filter](auto* e) {
                       return std::int64_t{function(filter.get(), nullptr, e)};
                     }});
  }
  cases.push_back({"batch", BLOOMERY_INVALID_ARGUMENT, call(bloomery_begin_batch, "monday")});
  cases.push_back({"advance", BLOOMERY_INVALID_ARGUMENT, call(bloomery_advance, 7U)});
  cases.push_back({"stats", BLOOMERY_INVALID_ARGUMENT, call(bloomery_get_stats, true, &stats)});
  cases.push_back({"size", BLOOMERY_INVALID_ARGUMENT, call(bloomery_encoded_size)});
  cases.push_back({"encode", BLOOMERY_INVALID_ARGUMENT, call(bloomery_encode, answers, 2U)});
  cases.push_back({"save", BLOOMERY_INVALID_ARGUMENT, call(bloomery_save, path.c_str())});
  cases.push_back(
      {"bits", BLOOMERY_INVALID_ARGUMENT, call(bloomery_insert_bits, "key", 3U, answers, 2U)});
  cases.push_back(
      {"copy", BLOOMERY_INVALID_ARGUMENT, [](auto* e) { return made(bloomery_copy(nullptr, e)); }});
  refuses(cases);
  EXPECT_STREQ(bloomery_name(none), "");
  EXPECT_EQ(bloomery_acknowledged(none), 0U);
  bloomery_free(none);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(CBadInput, CallsThatAKindCannotAnswer) {
  const Handle plain = in_memory(), counting = in_memory(BLOOMERY_COUNTING),
               frozen = in_memory(BLOOMERY_FROZEN);
  bloomery_spec other = spec_of(BLOOMERY_PLAIN, 20'000);
  bool bits[2];
  const Handle larger(bloomery_new(&other, nullptr, nullptr));
  ASSERT_GE(insert(frozen, "a"), 0);
  ASSERT_EQ(bloomery_sync(frozen.get(), nullptr), 0);
  EXPECT_EQ(contains(frozen, "a"), 1);
  EXPECT_EQ(contains(frozen, "b"), 0);
  refuses({
      {"remove", BLOOMERY_WRONG_KIND,
       [&](auto* e) { return bloomery_remove(plain.get(), "a", 1, e); }},
      {"merge of another kind", BLOOMERY_WRONG_KIND,
       [&](auto* e) { return bloomery_merge(plain.get(), counting.get(), e); }},
      {"merge of another plan", BLOOMERY_MISMATCH,
       [&](auto* e) { return bloomery_merge(plain.get(), larger.get(), e); }},
      {"intersect", BLOOMERY_WRONG_KIND,
       [&](auto* e) { return bloomery_intersect(counting.get(), counting.get(), e); }},
      {"a key more", BLOOMERY_WRONG_KIND,
       [&](auto* e) { return bloomery_insert(frozen.get(), "b", 1, e); }},
      {"merge of a frozen one", BLOOMERY_WRONG_KIND,
       [&](auto* e) { return bloomery_merge(plain.get(), frozen.get(), e); }},
      {"bits", BLOOMERY_WRONG_KIND,
       [&](auto* e) { return bloomery_insert_bits(plain.get(), "b", 1, bits, 2, e); }},
      {"bits of the empty key", BLOOMERY_WRONG_KIND,
       [&](auto* e) { return bloomery_insert_bits(plain.get(), nullptr, 0, bits, 2, e); }},
      {"nowhere for bits", BLOOMERY_INVALID_ARGUMENT,
       [&](auto* e) { return bloomery_insert_bits(plain.get(), "b", 1, nullptr, 2, e); }},
      {"reload", BLOOMERY_WRONG_KIND, [&](auto* e) { return bloomery_reload(plain.get(), e); }},
  });
}

}  // namespace
}  // namespace bloomery::test
