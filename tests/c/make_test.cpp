// Plans, and what makes and opens filters.
#include <gtest/gtest.h>
#include <bloomery/bloomery.hpp>

#include <cmath>
#include <limits>
#include <string>

#include "c/handles.hpp"
#include "store/scratch.hpp"

namespace bloomery::test {
namespace {

TEST(CMake, SharesAFileWithOtherWriters) {
  Scratch scratch;
  const std::string path = scratch / "f";
  auto options = sized<bloomery_options>();
  options.flags = BLOOMERY_SHARED;
  const bloomery_spec spec = spec_of(BLOOMERY_PLAIN);
  const Handle one(bloomery_open_or_create(path.c_str(), &spec, &options, nullptr));
  const Handle two(bloomery_open(path.c_str(), BLOOMERY_WRITE, &options, nullptr));
  ASSERT_TRUE(one && two);
  EXPECT_EQ(insert(one, "a"), 1);
  EXPECT_EQ(contains(two, "a"), 1);
  EXPECT_EQ(bloomery_insert_u64(two.get(), 5, nullptr), 1);
  EXPECT_EQ(bloomery_contains_u64(one.get(), 5, nullptr), 1);
  EXPECT_EQ(bloomery_close(one.get(), nullptr), 0);
  expect_code(BLOOMERY_LOCKED, "share", [&](bloomery_error* error) {
    return bloomery_open(path.c_str(), BLOOMERY_WRITE, nullptr, error);
  });
  EXPECT_EQ(bloomery_close(two.get(), nullptr), 0);
  options.durability = BLOOMERY_SYNC;
  expect_code(BLOOMERY_INVALID_ARGUMENT, "process", [&](bloomery_error* error) {
    return bloomery_open(path.c_str(), BLOOMERY_WRITE, &options, error);
  });
  auto durable = sized<bloomery_options>();
  durable.durability = BLOOMERY_SYNC;
  options.durability = 0;
  for (const char* elsewhere : {"redis://127.0.0.1:1?key=k", "valkey+cluster://h?key=k"})
    for (const auto& [wrong, word] : {std::pair{&options, "share"}, {&durable, "durability"}})
      expect_code(BLOOMERY_INVALID_ARGUMENT, BLOOMERY_HAS_REDIS ? word : "without its Redis client",
                  [&, given = wrong](bloomery_error* error) {
                    return bloomery_open(elsewhere, BLOOMERY_WRITE, given, error);
                  });
  expect_code(BLOOMERY_INVALID_ARGUMENT, "no other options",
              [&](bloomery_error* error) { return bloomery_new(&spec, &options, error); });
}

TEST(CMake, TheBitsOfAPhpClassInMemory) {
  auto options = sized<bloomery_options>();
  options.php_bits = 1000;
  options.php_items = 100;
  const Handle filter(bloomery_new(nullptr, &options, nullptr));
  ASSERT_NE(filter, nullptr);
  EXPECT_EQ(insert(filter, "one"), 1);
  EXPECT_EQ(insert(filter, "one"), 0);
  EXPECT_EQ(contains(filter, "one") * 2 + contains(filter, "two"), 2);
  auto stats = sized<bloomery_stats>();
  ASSERT_EQ(bloomery_get_stats(filter.get(), true, &stats, nullptr), 0);
  EXPECT_EQ(stats.bytes, 125U);
  EXPECT_GT(stats.fill, 0);
  EXPECT_EQ(bloomery_clear(filter.get(), nullptr), 0);
  EXPECT_EQ(contains(filter, "one"), 0);
  expect_code(BLOOMERY_WRONG_KIND, "bytes",
              [&](bloomery_error* error) { return bloomery_insert_u64(filter.get(), 1, error); });
  expect_code(BLOOMERY_WRONG_KIND, "removed", [&](bloomery_error* error) {
    return bloomery_remove(filter.get(), "one", 3, error);
  });
  const std::string instead = "create them in a file, with the same scheme";
  expect_code(BLOOMERY_WRONG_KIND, instead,
              [&](bloomery_error* error) { return bloomery_encoded_size(filter.get(), error); });
  expect_code(BLOOMERY_WRONG_KIND, instead,
              [&](bloomery_error* error) { return bloomery_copy(filter.get(), error); });
  const bloomery_spec spec = spec_of(BLOOMERY_PLAIN);
  expect_code(BLOOMERY_INVALID_ARGUMENT, "no spec",
              [&](bloomery_error* error) { return bloomery_new(&spec, &options, error); });
  options.flags = BLOOMERY_ROTATING;
  expect_code(BLOOMERY_INVALID_ARGUMENT, "no other options",
              [&](bloomery_error* error) { return bloomery_new(nullptr, &options, error); });
}

TEST(CMake, SolvesAsTheLibraryDoes) {
  for (const Kind kind : kKinds) {
    const bloomery_spec spec = spec_of(static_cast<std::uint32_t>(kind), 1'000'000, 0.01);
    FilterSpec same{.kind = kind, .capacity = 1'000'000, .fpr = 0.01};
    if (kind == Kind::window) same.window = Window{WindowUnit::seconds, 3600};
    const PlanTotals expected = totals(plan(same));
    auto out = sized<bloomery_plan>();
    ASSERT_EQ(bloomery_solve(&spec, &out, nullptr), 0);
    EXPECT_EQ(out.size, sizeof out);
    EXPECT_EQ(out.kind, static_cast<std::uint32_t>(kind));
    EXPECT_EQ(out.capacity, expected.capacity);
    EXPECT_EQ(out.fpr, expected.fpr);
    EXPECT_EQ(out.bytes, expected.bytes);
    EXPECT_EQ(out.hashes, expected.hashes);
    EXPECT_EQ(out.layout, kind == Kind::frozen ? 0 : static_cast<std::uint32_t>(expected.layout));
    EXPECT_EQ(out.bits_per_key, expected.bits_per_key());
    for (const double keys : {0.0, 500'000.0})
      EXPECT_EQ(bloomery_predict(&spec, keys, nullptr), predicted_fpr(plan(same), keys));
  }
  const bloomery_spec spec = spec_of(BLOOMERY_PLAIN);
  for (const double keys : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    expect_code(BLOOMERY_INVALID_ARGUMENT, "keys",
                [&](bloomery_error* error) { return bloomery_predict(&spec, keys, error); });
}

TEST(CMake, HasEveryFieldOfASpec) {
  auto spec = sized<bloomery_spec>();
  spec.kind = BLOOMERY_PLAIN;
  spec.bits = 1 << 20;
  spec.hashes = 6;
  spec.layout = BLOOMERY_BLOCKED2;
  auto out = sized<bloomery_plan>();
  ASSERT_EQ(bloomery_solve(&spec, &out, nullptr), 0);
  EXPECT_EQ(out.bytes, (1U << 20) / 8);
  EXPECT_EQ(out.hashes, 6U);
  EXPECT_EQ(out.layout, std::uint32_t{BLOOMERY_BLOCKED2});

  spec = spec_of(BLOOMERY_COUNTING);
  ASSERT_EQ(bloomery_solve(&spec, &out, nullptr), 0);
  const std::uint64_t narrow = out.bytes;
  spec.counter_bits = 8;
  ASSERT_EQ(bloomery_solve(&spec, &out, nullptr), 0);
  EXPECT_GT(out.bytes, narrow);

  spec = spec_of(BLOOMERY_WINDOW);
  spec.slices = 16;
  ASSERT_EQ(bloomery_solve(&spec, &out, nullptr), 0);
  const std::uint64_t sixteen = out.bytes;
  spec.slices = 4;
  ASSERT_EQ(bloomery_solve(&spec, &out, nullptr), 0);
  EXPECT_NE(out.bytes, sixteen);
  spec = spec_of(BLOOMERY_WINDOW);
  spec.capacity = 0;
  spec.window_unit = BLOOMERY_INSERTIONS;
  ASSERT_EQ(bloomery_solve(&spec, &out, nullptr), 0);
  EXPECT_EQ(out.capacity, 3600U);

  spec = spec_of(BLOOMERY_SCALABLE);
  spec.growth = 4;
  const Handle scalable(bloomery_new(&spec, nullptr, nullptr));
  for (std::uint64_t key = 0; key < 11'000; ++key)
    ASSERT_GE(bloomery_insert_u64(scalable.get(), key, nullptr), 0);
  auto stats = sized<bloomery_stats>();
  ASSERT_EQ(bloomery_get_stats(scalable.get(), false, &stats, nullptr), 0);
  EXPECT_EQ(stats.sub_filters, 2U);
  EXPECT_EQ(stats.capacity, 50'000U);
}

TEST(CMake, RefusesStructsThatItDoesNotKnow) {
  bloomery_spec spec = spec_of(BLOOMERY_PLAIN);
  const auto refuses = [&](const std::string& word) {
    expect_code(BLOOMERY_INVALID_ARGUMENT, word,
                [&](bloomery_error* error) { return bloomery_new(&spec, nullptr, error); });
    spec = spec_of(BLOOMERY_PLAIN);
  };
  for (const std::uint32_t size : {0U, 4U, std::uint32_t{sizeof spec} - 1, 1025U, ~0U}) {
    spec.size = size;
    refuses("says that it has " + std::to_string(size));
  }
  for (auto& word : spec.reserved) {
    word = 1;
    refuses("newer");
  }
  spec.kind = 99;
  refuses("kind 99");
  spec.layout = 4;  // a counting filter's, which a plain one cannot have
  refuses("layout 4");
  spec.window_unit = BLOOMERY_SECONDS;
  refuses("window");
  spec.fpr = std::nan("");
  refuses("false-positive rate");
  spec.fpr = -0.5;
  refuses("false-positive rate");
  expect_code(BLOOMERY_INVALID_ARGUMENT, "the bloomery_spec is NULL",
              [](bloomery_error* error) { return bloomery_new(nullptr, nullptr, error); });
  // A caller of a later version: what is added is 0, or it asks for something.
  struct {
    bloomery_spec known;
    std::uint64_t more;
    char rest[1024 - sizeof(bloomery_spec) - 8];
  } later{spec_of(BLOOMERY_PLAIN), 0, {}};
  later.known.size = 1024;
  EXPECT_NE(Handle(bloomery_new(&later.known, nullptr, nullptr)), nullptr);
  later.more = std::uint64_t{1} << 63;
  expect_code(BLOOMERY_INVALID_ARGUMENT, "newer",
              [&](bloomery_error* error) { return bloomery_new(&later.known, nullptr, error); });
}

TEST(CMake, GivesLaterCallersZeros) {
  struct {
    bloomery_plan known;
    std::uint64_t more;
  } later{{}, 77};
  later.known.size = sizeof later;
  const bloomery_spec spec = spec_of(BLOOMERY_PLAIN);
  ASSERT_EQ(bloomery_solve(&spec, &later.known, nullptr), 0);
  EXPECT_EQ(later.known.size, sizeof later);
  EXPECT_EQ(later.more, 0U);
  for (const std::uint32_t size : {0U, std::uint32_t{sizeof(bloomery_plan)} - 1}) {
    later.known.size = size;
    expect_code(BLOOMERY_INVALID_ARGUMENT, "sizeof(bloomery_plan)",
                [&](bloomery_error* error) { return bloomery_solve(&spec, &later.known, error); });
  }
}

TEST(CMake, TakesOptions) {
  const bloomery_spec spec = spec_of(BLOOMERY_PLAIN);
  auto options = sized<bloomery_options>();
  options.hash = BLOOMERY_SIPHASH;
  options.seed[0] = 5;
  options.seed[1] = 6;
  options.seed_bytes = 16;
  const Handle seeded(bloomery_new(&spec, &options, nullptr));
  ASSERT_NE(seeded, nullptr);
  insert(seeded, "key");
  AnyFilter same(plan(10'000, 0.001), Hasher(HashFamily::siphash, {.low = 5, .high = 6}));
  same.insert("key");
  EXPECT_EQ(encoded(seeded), same.encode());
  options.hash = BLOOMERY_XXH3;
  options.seed[1] = 0;
  options.seed_bytes = 8;
  const Handle short_seed(bloomery_new(&spec, &options, nullptr));
  ASSERT_NE(short_seed, nullptr);
  EXPECT_EQ(encoded(short_seed),
            AnyFilter(plan(10'000, 0.001), Hasher(HashFamily::xxh3, {.low = 5})).encode());

  const auto refuses = [&](auto change, const std::string& word) {
    auto bad = sized<bloomery_options>();
    change(bad);
    expect_code(BLOOMERY_INVALID_ARGUMENT, word,
                [&](bloomery_error* error) { return bloomery_new(&spec, &bad, error); });
  };
  refuses([](bloomery_options& o) { o.flags = 64; }, "newer");
  refuses([](bloomery_options& o) { o.reserved_word = 1; }, "newer");
  refuses([](bloomery_options& o) { o.reserved[5] = 1; }, "newer");
  refuses([](bloomery_options& o) { o.hash = 3; }, "hash 3");
  refuses([](bloomery_options& o) { o.durability = 4; }, "durability 4");
  refuses([](bloomery_options& o) { o.durability = BLOOMERY_NONE; }, "no other options");
  refuses([](bloomery_options& o) { o.flags = BLOOMERY_REPLACE; }, "no other options");
  refuses([](bloomery_options& o) { o.flags = BLOOMERY_ROTATING; }, "no other options");
  refuses([](bloomery_options& o) { o.php_hashes = "BKDR"; }, "no spec");
  refuses([](bloomery_options& o) { o.php_hashes = "MD5"; }, "MD5");
  refuses([](bloomery_options& o) { o.php_bits = 7; }, "items");
  refuses([](bloomery_options& o) { o.php_items = 7; }, "bits");
  refuses([](bloomery_options& o) { o.php_hashes = "BKDR", o.php_bits = 7; }, "php_bits");
  refuses([](bloomery_options& o) { o.php_hashes = "BKDR", o.php_items = 7; }, "php_bits");
  refuses([](bloomery_options& o) { o.seed_bytes = 4; }, "seed_bytes");
  refuses([](bloomery_options& o) { o.seed[0] = 4; }, "seed");
  refuses([](bloomery_options& o) { o.seed_bytes = 8, o.seed[1] = 4; }, "longer than seed_bytes");
  refuses([](bloomery_options& o) { o.seed_bytes = 8, o.flags = BLOOMERY_RANDOM_SEED; }, "seed");
  refuses([](bloomery_options& o) { o.seed_bytes = 8, o.hash = BLOOMERY_SIPHASH; }, "16 bytes");
}

TEST(CMake, MakesAndOpensFiles) {
  Scratch scratch;
  const std::string path = scratch / "f.bloom";
  const bloomery_spec spec = spec_of(BLOOMERY_PLAIN);
  {
    const Handle file(bloomery_create(path.c_str(), &spec, nullptr, nullptr));
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(bloomery_name(file.get()), path);
    EXPECT_EQ(insert(file, "kept"), 1);
    EXPECT_EQ(bloomery_sync(file.get(), nullptr), 0);
    expect_code(BLOOMERY_LOCKED, path, [&](bloomery_error* error) {
      return bloomery_open(path.c_str(), BLOOMERY_WRITE, nullptr, error);
    });
  }  // bloomery_free closes
  expect_code(BLOOMERY_EXISTS, path, [&](bloomery_error* error) {
    return bloomery_create(path.c_str(), &spec, nullptr, error);
  });
  const Handle reader(bloomery_open(path.c_str(), BLOOMERY_READ, nullptr, nullptr));
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(contains(reader, "kept"), 1);
  EXPECT_EQ(contains(reader, "absent"), 0);
  expect_code(BLOOMERY_READ_ONLY, path,
              [&](bloomery_error* error) { return bloomery_insert(reader.get(), "a", 1, error); });
  {
    const Handle rebuilt(bloomery_rebuild(path.c_str(), &spec, nullptr, nullptr));
    EXPECT_EQ(insert(rebuilt, "another"), 1);
  }  // dropped without close
  EXPECT_EQ(bloomery_reload(reader.get(), nullptr), 0);
  EXPECT_EQ(contains(reader, "kept"), 1);
  {
    const Handle rebuilt(bloomery_rebuild(path.c_str(), &spec, nullptr, nullptr));
    EXPECT_EQ(insert(rebuilt, "another"), 1);
    EXPECT_EQ(bloomery_close(rebuilt.get(), nullptr), 0);
    EXPECT_EQ(bloomery_close(rebuilt.get(), nullptr), 0);
  }
  auto php = sized<bloomery_options>();
  php.php_hashes = "BKDR";
  expect_code(BLOOMERY_INVALID_ARGUMENT, "PHP class", [&](bloomery_error* error) {
    return bloomery_rebuild(path.c_str(), &spec, &php, error);
  });
  EXPECT_EQ(bloomery_reload(reader.get(), nullptr), 1);
  EXPECT_EQ(contains(reader, "kept"), 0);
  EXPECT_EQ(contains(reader, "another"), 1);
  auto options = sized<bloomery_options>();
  options.flags = BLOOMERY_REPLACE;
  options.durability = BLOOMERY_PROCESS;
  const Handle replaced(bloomery_create(path.c_str(), &spec, &options, nullptr));
  EXPECT_EQ(contains(replaced, "another"), 0);
  bloomery_free(nullptr);
}

TEST(CMake, OpensOrCreates) {
  Scratch scratch;
  const std::string path = scratch / "f.bloom";
  bloomery_spec spec = spec_of(BLOOMERY_COUNTING);
  for (const int expected : {1, 0}) {
    const Handle file(bloomery_open_or_create(path.c_str(), &spec, nullptr, nullptr));
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(insert(file, "key"), expected);
  }
  spec.capacity *= 2;
  expect_code(BLOOMERY_MISMATCH, path, [&](bloomery_error* error) {
    return bloomery_open_or_create(path.c_str(), &spec, nullptr, error);
  });
  // Two of the four numbers, and a frozen filter, which needs only the rate of them.
  bloomery_spec bits = spec_of(BLOOMERY_PLAIN, 0, 0), frozen = spec_of(BLOOMERY_FROZEN, 0, 0.01);
  bits.bits = 8'192;
  bits.hashes = 5;
  frozen.delta = 5;
  for (const bloomery_spec& each : {bits, frozen})
    for (int call = 0; call < 2; ++call) {
      const std::string other = scratch / ("kind" + std::to_string(each.kind));
      bloomery_error error{};
      const Handle file(bloomery_open_or_create(other.c_str(), &each, nullptr, &error));
      ASSERT_NE(file, nullptr) << error.text;
      EXPECT_EQ(bloomery_close(file.get(), &error), 0) << error.text;
    }
  for (const std::uint32_t access : {0U, 3U})
    expect_code(BLOOMERY_INVALID_ARGUMENT, "BLOOMERY_READ", [&](bloomery_error* error) {
      return bloomery_open(path.c_str(), access, nullptr, error);
    });
  expect_code(BLOOMERY_INVALID_ARGUMENT, "NULL", [&](bloomery_error* error) {
    return bloomery_open(nullptr, BLOOMERY_READ, nullptr, error);
  });
}

TEST(CMake, ReadsTheBitsOfAPhpClass) {
  Scratch scratch;
  const std::string path = scratch / "rptc.bits";
  auto options = sized<bloomery_options>();
  options.php_bits = 100'000;
  options.php_items = 10'000;
  auto none = sized<bloomery_spec>();
  const Handle bits(bloomery_create(path.c_str(), &none, &options, nullptr));
  ASSERT_NE(bits, nullptr);
  EXPECT_EQ(insert(bits, "comment"), 1);
  EXPECT_EQ(contains(bits, "comment"), 1);
  expect_code(BLOOMERY_WRONG_KIND, "text",
              [&](bloomery_error* error) { return bloomery_insert_u64(bits.get(), 7, error); });
  const std::uint64_t numbers[] = {1, 2};
  expect_code(BLOOMERY_WRONG_KIND, "text", [&](bloomery_error* error) {
    return bloomery_insert_u64s(bits.get(), numbers, 2, nullptr, error);
  });
  auto stats = sized<bloomery_stats>();
  EXPECT_EQ(bloomery_get_stats(bits.get(), true, &stats, nullptr), 0);
  EXPECT_GT(stats.fill, 0);
  EXPECT_EQ(stats.unknown, std::uint32_t{BLOOMERY_NO_INSERTED});
  EXPECT_EQ(stats.inserted, 0U);
  EXPECT_EQ(bloomery_close(bits.get(), nullptr), 0);
  options.php_hashes = "BKDR,SDBM";
  expect_code(BLOOMERY_INVALID_ARGUMENT, "php_bits", [&](bloomery_error* error) {
    return bloomery_open(path.c_str(), BLOOMERY_READ, &options, error);
  });
  PhpFilter by_hand(PhpScheme::crc32_mt(100'000, 10'000));
  by_hand.insert("comment");
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto expected = by_hand.bytes();
  ASSERT_LE(bytes.size(), expected.size());
  EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0);
}

}  // namespace
}  // namespace bloomery::test
