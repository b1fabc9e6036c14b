// Calls on filters as a whole.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "c/handles.hpp"
#include "store/scratch.hpp"
#include "support/refused_calls.hpp"

namespace bloomery::test {
namespace {

bloomery_stats stats_of(const Handle& handle) {
  auto stats = sized<bloomery_stats>();
  EXPECT_EQ(bloomery_get_stats(handle.get(), true, &stats, nullptr), 0);
  return stats;
}

TEST(CWhole, Merges) {
  for (const std::uint32_t kind : {BLOOMERY_PLAIN, BLOOMERY_COUNTING}) {
    const Handle a = in_memory(kind), b = in_memory(kind);
    insert(a, "one");
    insert(b, "two");
    EXPECT_EQ(bloomery_merge(a.get(), b.get(), nullptr), 0);
    EXPECT_EQ(contains(a, "one") + contains(a, "two"), 2);
    EXPECT_EQ(contains(b, "one"), 0);
    EXPECT_EQ(stats_of(a).inserted, 2U);
    bloomery_spec other = spec_of(kind, 20'000);
    const Handle larger(bloomery_new(&other, nullptr, nullptr));
    expect_code(BLOOMERY_MISMATCH, "bits", [&](bloomery_error* error) {
      return bloomery_merge(a.get(), larger.get(), error);
    });
  }
  const Handle plain = in_memory();
  for (const std::uint32_t kind : {BLOOMERY_COUNTING, BLOOMERY_SCALABLE, BLOOMERY_WINDOW}) {
    const Handle other = in_memory(kind);
    expect_code(BLOOMERY_WRONG_KIND, "", [&](bloomery_error* error) {
      return bloomery_merge(plain.get(), other.get(), error);
    });
    expect_code(BLOOMERY_WRONG_KIND, "", [&](bloomery_error* error) {
      return bloomery_merge(other.get(), plain.get(), error);
    });
  }
}

TEST(CWhole, SavesAsAFile) {
  Scratch scratch;
  const std::string path = scratch / "saved", text = scratch / "text";
  for (const std::uint32_t kind :
       {BLOOMERY_PLAIN, BLOOMERY_COUNTING, BLOOMERY_SCALABLE, BLOOMERY_WINDOW}) {
    const Handle filter = in_memory(kind);
    insert(filter, "one");
    ASSERT_EQ(bloomery_save(filter.get(), path.c_str(), nullptr), 0);
    const Handle reader(bloomery_open(path.c_str(), BLOOMERY_READ, nullptr, nullptr));
    EXPECT_EQ(contains(reader, "one"), 1);
    EXPECT_EQ(stats_of(reader).kind, kind);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch / "."), {}), 1);
    // What a reader may open, a copy of its file may show; and nobody else.
    std::filesystem::permissions(path, std::filesystem::perms(0600));
    const std::string copy = scratch / "copy";
    ASSERT_EQ(bloomery_save(reader.get(), copy.c_str(), nullptr), 0);
    EXPECT_EQ(std::filesystem::status(copy).permissions(), std::filesystem::perms(0600));
    std::filesystem::remove(copy);
  }
  const Handle writer(bloomery_open(path.c_str(), BLOOMERY_WRITE, nullptr, nullptr));
  const Handle filter = in_memory();
  std::ofstream(text) << "some text";
  for (const auto& [to, code, word] :
       {std::tuple(path, BLOOMERY_LOCKED, "writer"),
        std::tuple(text, BLOOMERY_NOT_A_FILTER, "not replaced"),
        std::tuple(scratch / "none/x", BLOOMERY_MISSING, "directory"),
        std::tuple(std::string("redis://127.0.0.1:1?key=k"), BLOOMERY_INVALID_ARGUMENT,
                   BLOOMERY_HAS_REDIS ? "give a path" : "without its Redis client")})
    expect_code(code, word, [&, location = to](bloomery_error* error) {
      return bloomery_save(filter.get(), location.c_str(), error);
    });
  expect_code(BLOOMERY_INVALID_ARGUMENT, "NULL",
              [&](bloomery_error* error) { return bloomery_save(filter.get(), nullptr, error); });
}

TEST(CWhole, MergesFilesDurably) {
  Scratch scratch;
  for (const std::uint32_t kind : {BLOOMERY_PLAIN, BLOOMERY_COUNTING}) {
    const std::string path = scratch / std::to_string(kind), from = path + ".from";
    const bloomery_spec spec = spec_of(kind);
    {
      const Handle source(bloomery_create(from.c_str(), &spec, nullptr, nullptr));
      insert(source, "of the file");
    }
    const Handle file(bloomery_create(path.c_str(), &spec, nullptr, nullptr));
    const Handle source(bloomery_open(from.c_str(), BLOOMERY_READ, nullptr, nullptr));
    const Handle memory = in_memory(kind);
    insert(memory, "of memory");
    EXPECT_EQ(bloomery_merge(file.get(), source.get(), nullptr), 0);
    EXPECT_EQ(bloomery_merge(file.get(), memory.get(), nullptr), 0);
    EXPECT_EQ(bloomery_merge(memory.get(), source.get(), nullptr), 0);
    EXPECT_EQ(bloomery_close(file.get(), nullptr), 0);
    const Handle reader(bloomery_open(path.c_str(), BLOOMERY_READ, nullptr, nullptr));
    for (const Handle* each : {&file, &reader, &memory})
      EXPECT_EQ(contains(*each, "of the file") + contains(*each, "of memory"), 2);
  }
}

TEST(CWhole, Intersects) {
  const Handle a = in_memory(), b = in_memory();
  insert(a, "one");
  insert(a, "both");
  insert(b, "both");
  EXPECT_EQ(bloomery_intersect(a.get(), b.get(), nullptr), 0);
  EXPECT_EQ(contains(a, "both"), 1);
  EXPECT_EQ(contains(a, "one"), 0);
  EXPECT_EQ(stats_of(a).inserted, 1U);
  const Handle counting = in_memory(BLOOMERY_COUNTING);
  for (const auto& [to, from] : {std::pair{a.get(), counting.get()}, {counting.get(), a.get()}})
    expect_code(BLOOMERY_WRONG_KIND, "plain", [&, to = to, from = from](bloomery_error* error) {
      return bloomery_intersect(to, from, error);
    });
}

TEST(CWhole, ClearsAndCopies) {
  Scratch scratch;
  for (const std::uint32_t kind :
       {BLOOMERY_PLAIN, BLOOMERY_COUNTING, BLOOMERY_SCALABLE, BLOOMERY_WINDOW}) {
    const Handle a = in_memory(kind);
    for (std::uint64_t key = 0; key < 9'000; ++key) bloomery_insert_u64(a.get(), key, nullptr);
    const Handle copy(bloomery_copy(a.get(), nullptr));
    EXPECT_EQ(encoded(copy), encoded(a));
    EXPECT_EQ(stats_of(copy).inserted, stats_of(a).inserted);
    EXPECT_EQ(insert(copy, "only in the copy"), 1);
    EXPECT_EQ(contains(a, "only in the copy"), 0);
    EXPECT_EQ(bloomery_clear(a.get(), nullptr), 0);
    EXPECT_EQ(bloomery_contains_u64(a.get(), 7, nullptr), 0);
    EXPECT_EQ(stats_of(a).fill, 0);
    if (kind != BLOOMERY_WINDOW) {  // a window keeps its time and its count
      EXPECT_EQ(stats_of(a).inserted, 0U);
      EXPECT_EQ(encoded(a), encoded(in_memory(kind)));
    }
    EXPECT_EQ(insert(a, "again"), 1);
    EXPECT_EQ(bloomery_contains_u64(copy.get(), 7, nullptr), 1);

    const std::string path = scratch / std::to_string(kind);
    const bloomery_spec spec = spec_of(kind);
    const Handle file(bloomery_create(path.c_str(), &spec, nullptr, nullptr));
    insert(file, "of the file");
    const Handle of_file(bloomery_copy(file.get(), nullptr));
    EXPECT_EQ(contains(of_file, "of the file"), 1);
    EXPECT_EQ(insert(of_file, "more"), 1);
    expect_code(BLOOMERY_WRONG_KIND, "memory",
                [&](bloomery_error* error) { return bloomery_clear(file.get(), error); });
    expect_code(BLOOMERY_WRONG_KIND, "reader",
                [&](bloomery_error* error) { return bloomery_reload(file.get(), error); });
  }
}

TEST(CWhole, EncodesAndDecodes) {
  for (const std::uint32_t kind :
       {BLOOMERY_PLAIN, BLOOMERY_COUNTING, BLOOMERY_SCALABLE, BLOOMERY_WINDOW}) {
    const Handle a = in_memory(kind);
    insert(a, "key");
    std::vector<std::byte> bytes = encoded(a);
    const Handle again(bloomery_decode(bytes.data(), bytes.size(), nullptr));
    EXPECT_EQ(contains(again, "key"), 1);
    EXPECT_EQ(stats_of(again).kind, kind);
    expect_code(BLOOMERY_INVALID_ARGUMENT, std::to_string(bytes.size()),
                [&](bloomery_error* error) {
                  return bloomery_encode(a.get(), bytes.data(), bytes.size() - 1, error);
                });
    expect_code(BLOOMERY_INVALID_ARGUMENT, "NULL", [&](bloomery_error* error) {
      return bloomery_encode(a.get(), nullptr, bytes.size(), error);
    });
    bytes[10'000] ^= std::byte{1};
    expect_code(BLOOMERY_CORRUPT, "damaged", [&](bloomery_error* error) {
      return bloomery_decode(bytes.data(), bytes.size(), error);
    });
  }
  expect_code(BLOOMERY_INVALID_ARGUMENT, "NULL",
              [&](bloomery_error* error) { return bloomery_decode(nullptr, 100, error); });
  expect_code(BLOOMERY_NOT_A_FILTER, "",
              [&](bloomery_error* error) { return bloomery_decode(nullptr, 0, error); });
}

TEST(CWhole, ForgetsByTheTimeThatItIsTold) {
  const Handle window = in_memory(BLOOMERY_WINDOW);
  EXPECT_EQ(bloomery_advance(window.get(), 1'000'000, nullptr), 0);
  insert(window, "key");
  EXPECT_EQ(bloomery_advance(window.get(), 1'003'600, nullptr), 0);
  EXPECT_EQ(contains(window, "key"), 1);
  EXPECT_EQ(bloomery_advance(window.get(), 1'005'000, nullptr), 0);
  EXPECT_EQ(contains(window, "key"), 0);
  const bloomery_stats stats = stats_of(window);
  EXPECT_EQ(stats.window, 3600U);
  EXPECT_EQ(stats.window_unit, std::uint32_t{BLOOMERY_SECONDS});
  EXPECT_EQ(stats.slices, 8U);
  EXPECT_EQ(bloomery_advance(in_memory().get(), 5, nullptr), 0);
}

// A filter that is made from the request has the same plan.
TEST(CWhole, SayWhatTheyWereMadeFrom) {
  for (std::uint32_t kind = BLOOMERY_PLAIN; kind <= BLOOMERY_FROZEN; ++kind) {
    SCOPED_TRACE(kind);
    auto spec = sized<bloomery_spec>();
    spec.kind = kind;
    spec.capacity = 5'000;
    spec.fpr = 0.002;
    if (kind == BLOOMERY_PLAIN) spec.layout = BLOOMERY_BLOCKED2;
    if (kind == BLOOMERY_COUNTING) spec.counter_bits = 8;
    if (kind == BLOOMERY_SCALABLE) spec.growth = 4;
    if (kind == BLOOMERY_WINDOW)
      std::tie(spec.window, spec.window_unit, spec.slices) = std::tuple(7'200, BLOOMERY_SECONDS, 6);
    const Handle filter(bloomery_new(&spec, nullptr, nullptr));
    auto said = sized<bloomery_spec>();
    ASSERT_EQ(bloomery_get_spec(filter.get(), &said, nullptr), 0);
    EXPECT_EQ(said.kind, kind);
    if (spec.layout != 0) {
      EXPECT_EQ(said.layout, spec.layout);
    }
    EXPECT_EQ(said.counter_bits, spec.counter_bits);
    EXPECT_EQ(said.growth, spec.growth);
    EXPECT_EQ(said.window, spec.window);
    EXPECT_EQ(said.window_unit, spec.window_unit);
    EXPECT_EQ(said.slices, spec.slices);
    if (kind == BLOOMERY_FROZEN) continue;  // its keys are not counted before it is built
    bloomery_plan wanted{}, plan{};
    wanted.size = plan.size = sizeof plan;
    ASSERT_EQ(bloomery_solve(&spec, &wanted, nullptr), 0);
    ASSERT_EQ(bloomery_solve(&said, &plan, nullptr), 0);
    EXPECT_EQ(std::tuple(plan.capacity, plan.fpr, plan.bytes, plan.hashes, plan.layout),
              std::tuple(wanted.capacity, wanted.fpr, wanted.bytes, wanted.hashes, wanted.layout));
  }
  bloomery_error error;
  const Handle hundreds = in_memory();
  auto other = sized<bloomery_spec>();
  EXPECT_EQ(bloomery_require_match(hundreds.get(), &other, nullptr, &error), 0);
  other.capacity = 12'345;
  EXPECT_EQ(bloomery_require_match(hundreds.get(), &other, nullptr, &error), -BLOOMERY_MISMATCH);
  EXPECT_NE(std::string(error.text).find("12,345"), std::string::npos) << error.text;
  auto seeded = sized<bloomery_options>();
  seeded.seed_bytes = 8;
  seeded.seed[0] = 7;
  other.capacity = 0;
  EXPECT_EQ(bloomery_require_match(hundreds.get(), &other, &seeded, &error), -BLOOMERY_MISMATCH);
  EXPECT_EQ(bloomery_require_match(hundreds.get(), nullptr, nullptr, &error),
            -BLOOMERY_INVALID_ARGUMENT);
  EXPECT_EQ(bloomery_require_match(nullptr, &other, nullptr, &error), -BLOOMERY_INVALID_ARGUMENT);
  EXPECT_EQ(bloomery_get_spec(in_memory().get(), nullptr, &error), -BLOOMERY_INVALID_ARGUMENT);
  auto said = sized<bloomery_spec>();
  EXPECT_EQ(bloomery_get_spec(nullptr, &said, &error), -BLOOMERY_INVALID_ARGUMENT);
}

TEST(CWhole, LoadsManyKeys) {
  Scratch scratch;
  const std::string path = scratch / "f.bloom";
  const bloomery_spec spec = spec_of(BLOOMERY_PLAIN, 1000, 0.01);
  const Handle file(bloomery_create(path.c_str(), &spec, nullptr, nullptr));
  EXPECT_EQ(bloomery_begin_load(file.get(), nullptr), 1);
  EXPECT_EQ(bloomery_begin_load(file.get(), nullptr), 0);
  std::vector<std::uint64_t> keys(100'000);
  std::iota(keys.begin(), keys.end(), 0);
  EXPECT_GT(bloomery_insert_u64s(file.get(), keys.data(), keys.size(), nullptr, nullptr), 0);
  EXPECT_EQ(bloomery_end_load(file.get(), nullptr), 0);
  EXPECT_EQ(bloomery_acknowledged(file.get()), keys.size());
  EXPECT_EQ(bloomery_begin_load(in_memory().get(), nullptr), 0);
  EXPECT_EQ(bloomery_end_load(in_memory().get(), nullptr), 0);
  ASSERT_EQ(bloomery_close(file.get(), nullptr), 0);
  EXPECT_EQ(bloomery_begin_load(file.get(), nullptr), 0);
  expect_code(BLOOMERY_READ_ONLY, "closed",
              [&](bloomery_error* error) { return bloomery_end_load(file.get(), error); });
  const Handle again(bloomery_open(path.c_str(), BLOOMERY_READ, nullptr, nullptr));
  EXPECT_EQ(bloomery_contains_u64s(again.get(), keys.data(), keys.size(), nullptr, nullptr),
            static_cast<std::int64_t>(keys.size()));
}

// So large a call is a load of its own, which has ended when the call returns: its keys are in the file, and another
// load can begin.
TEST(CWhole, LoadsOneLargeCall) {
  Scratch scratch;
  std::vector<std::uint64_t> keys(200'000);
  std::iota(keys.begin(), keys.end(), 0);
  for (const std::uint32_t kind : {BLOOMERY_PLAIN, BLOOMERY_COUNTING}) {
    const std::string path = scratch / std::to_string(kind);
    const bloomery_spec spec = spec_of(kind, 1000, 0.01);
    const Handle file(bloomery_create(path.c_str(), &spec, nullptr, nullptr));
    EXPECT_GT(bloomery_insert_fixed(file.get(), keys.data(), sizeof keys[0], keys.size(), nullptr,
                                    nullptr),
              0);
    EXPECT_EQ(bloomery_acknowledged(file.get()), keys.size());
    const Handle reader(bloomery_open(path.c_str(), BLOOMERY_READ, nullptr, nullptr));
    EXPECT_EQ(bloomery_contains_fixed(reader.get(), keys.data(), sizeof keys[0], keys.size(),
                                      nullptr, nullptr),
              static_cast<std::int64_t>(keys.size()));
    EXPECT_EQ(bloomery_begin_load(file.get(), nullptr), 1);
  }
}

// Then none of its keys is acknowledged, whatever ends it: it may be one large call.
TEST(CWhole, ALoadThatCannotEndHasAcknowledgedNothing) {
  const Scratch scratch;
  const std::string path = scratch / "f.bloom";
  std::vector<std::uint64_t> keys(200'000);
  std::iota(keys.begin(), keys.end(), 0);
  const bloomery_spec spec = spec_of(BLOOMERY_PLAIN, 1000, 0.01);
  const auto insert_all = [&](const Handle& file) {
    return bloomery_insert_fixed(file.get(), keys.data(), sizeof keys[0], keys.size(), nullptr,
                                 nullptr);
  };
  using End = int (*)(bloomery_filter*, bloomery_error*);
  for (const End end : {End{}, bloomery_end_load, bloomery_sync, bloomery_close}) {
    std::filesystem::remove(path);
    const int failed = failed_in_child([&] {
      const Handle file(bloomery_create(path.c_str(), &spec, nullptr, nullptr));
      if (insert(file, "before") != 1 || bloomery_acknowledged(file.get()) != 1) return 1;
      if (end != nullptr) {
        if (bloomery_begin_load(file.get(), nullptr) != 1 || insert_all(file) <= 0) return 2;
        if (bloomery_acknowledged(file.get()) != keys.size()) return 3;
      }
      if (!refuse_from_now_on(SYS_fdatasync, EIO)) return kNoFilter;
      const auto said = end != nullptr ? end(file.get(), nullptr) : insert_all(file);
      if (said != -BLOOMERY_IO) return 4;
      return bloomery_acknowledged(file.get()) == 0 ? 0 : 5;
    });
    if (failed == kNoFilter) GTEST_SKIP() << "no filter of system calls";
    EXPECT_EQ(failed, 0);
  }
}

TEST(CWhole, RepeatsABatch) {
  Scratch scratch;
  const std::string path = scratch / "f.bloom";
  const bloomery_spec spec = spec_of(BLOOMERY_COUNTING);
  for (const std::int64_t done : {0, 2}) {
    const Handle file(bloomery_open_or_create(path.c_str(), &spec, nullptr, nullptr));
    EXPECT_EQ(bloomery_begin_batch(file.get(), "monday", nullptr), done);
    insert(file, "one");
    insert(file, "two");
  }
  const Handle file(bloomery_open(path.c_str(), BLOOMERY_WRITE, nullptr, nullptr));
  EXPECT_EQ(bloomery_remove(file.get(), "one", 3, nullptr), 1);
  EXPECT_EQ(contains(file, "one"), 0);  // it was inserted once
  expect_code(BLOOMERY_INVALID_ARGUMENT, "NULL", [&](bloomery_error* error) {
    return bloomery_begin_batch(file.get(), nullptr, error);
  });
  expect_code(BLOOMERY_WRONG_KIND, "batch", [&](bloomery_error* error) {
    return bloomery_begin_batch(in_memory().get(), "monday", error);
  });
}

TEST(CWhole, HasStatistics) {
  const bloomery_spec spec = spec_of(BLOOMERY_PLAIN, 1000, 0.01);
  const Handle a(bloomery_new(&spec, nullptr, nullptr));
  EXPECT_EQ(stats_of(a).fill, 0);
  for (std::uint64_t key = 0; key < 3000; ++key) bloomery_insert_u64(a.get(), key, nullptr);
  const bloomery_stats stats = stats_of(a);
  EXPECT_EQ(stats.kind, std::uint32_t{BLOOMERY_PLAIN});
  EXPECT_EQ(stats.capacity, 1000U);
  EXPECT_EQ(stats.fpr, 0.01);
  EXPECT_GT(stats.bytes, 1000U);
  EXPECT_GT(stats.hashes, 2U);
  EXPECT_EQ(stats.layout, std::uint32_t{BLOOMERY_BLOCKED});
  EXPECT_GT(stats.current_fpr, 0.05);
  EXPECT_EQ(stats.over_capacity, 1U);
  EXPECT_EQ(stats.sampled, 0U);
  EXPECT_NEAR(stats.estimated_items, 3000, 400);
  EXPECT_EQ(stats.unknown, 0U);
  EXPECT_STREQ(bloomery_name(a.get()), "a filter in memory");
  const Handle counting = in_memory(BLOOMERY_COUNTING);
  EXPECT_EQ(stats_of(counting).counter_bits, 4U);
  for (int i = 0; i < 20; ++i) insert(counting, "often");
  EXPECT_GT(stats_of(counting).saturated_counters, 0U);
  EXPECT_EQ(stats_of(in_memory(BLOOMERY_FROZEN)).layout, 0U);
  // Only a part of a large filter is read.
  const bloomery_spec large = spec_of(BLOOMERY_PLAIN, 50'000'000, 0.01);
  const Handle sampled(bloomery_new(&large, nullptr, nullptr));
  auto part = sized<bloomery_stats>();
  ASSERT_EQ(bloomery_get_stats(sampled.get(), false, &part, nullptr), 0);
  EXPECT_EQ(part.sampled, 1U);
  EXPECT_EQ(stats_of(sampled).sampled, 0U);
}

}  // namespace
}  // namespace bloomery::test
