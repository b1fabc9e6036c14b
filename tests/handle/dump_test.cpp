// Dumps of a module's filters, opened as files: they answer as the filter does, take no keys, and are not believed.
#include <gtest/gtest.h>
#include <bloomery/bloomery.hpp>
#include <bloomery/module_dump.hpp>

#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "store/scratch.hpp"
#include "support/access_list.hpp"
#include "support/dumps.hpp"
#include "support/effort.hpp"
#include "support/expect_error.hpp"
#include "support/umask.hpp"
#include "support/used_memory.hpp"

namespace bloomery::test {
namespace {

constexpr int kKeys = 300;

std::string key(int i) { return "key " + std::to_string(i); }

std::vector<std::string> keys() {
  std::vector<std::string> all;
  for (int i = 0; i < kKeys; ++i) all.push_back(key(i));
  return all;
}

Plan plan_of(Layout layout) {
  return std::get<Plan>(plan(FilterSpec{.capacity = kKeys, .fpr = 0.01, .layout = layout}));
}

void dump_plain(const std::string& path, Layout layout, const Hasher& hasher) {
  Filter filter(plan_of(layout), hasher);
  filter.insert_many(keys());
  write_dump(path, filter, kKeys);
}

void dump_frozen(const std::string& path) {
  FrozenBuilder builder(0.01);
  builder.insert_many(keys());
  const FrozenFilter list = builder.build();
  write_dump(path, module_header(list.plan(), list.hasher(), list.keys()), list.pieces());
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(Dump, OfAPlainFilterAnswersAsTheFilter) {
  const Scratch scratch;
  const std::string dump = scratch / "dump";
  for (const Hasher& hasher : {Hasher(), Hasher(HashFamily::siphash, {1, 2})})
    for (const Layout layout : {Layout::blocked, Layout::blocked2, Layout::standard}) {
      dump_plain(dump, layout, hasher);
      Filter same(plan_of(layout), hasher);
      same.insert_many(keys());
      AnyFilter opened = AnyFilter::open(dump);
      EXPECT_EQ(opened.name(), dump);
      EXPECT_EQ(opened.plan(), FilterPlan(plan_of(layout)));
      EXPECT_EQ(opened.spec().fpr, plan_of(layout).fpr);
      EXPECT_EQ(opened.verify().chunks, AnyFilter::verify(dump).chunks);
      for (int i = 0; i < 10 * kKeys; ++i)
        ASSERT_EQ(opened.may_contain(key(i)), same.may_contain(key(i))) << i;
      EXPECT_EQ(opened.may_contain_many(keys()), static_cast<std::size_t>(kKeys));
      const FilterStats stats = opened.stats(Precision::exact);
      EXPECT_EQ(stats.kind, Kind::plain);
      EXPECT_EQ(stats.inserted, static_cast<std::uint64_t>(kKeys));
      EXPECT_EQ(stats.fill, same.stats(Precision::exact).fill);
      ASSERT_EQ(opened.arrays().size(), 1U);
      EXPECT_TRUE(std::ranges::equal(opened.arrays()[0].bytes, same.bytes()));

      AnyFilter sum(same.plan(), hasher);
      sum.merge(opened);
      EXPECT_EQ(sum.may_contain_many(keys()), static_cast<std::size_t>(kKeys));
    }
}

TEST(Dump, OfAFrozenFilterAnswersAsTheFilter) {
  const Scratch scratch;
  FrozenBuilder builder(0.01);
  builder.insert_many(keys());
  const FrozenFilter list = builder.build();
  const auto pieces = list.pieces();
  write_dump(scratch / "dump", module_header(list.plan(), list.hasher(), kKeys), pieces);
  AnyFilter opened = AnyFilter::open(scratch / "dump", Access::read);
  EXPECT_EQ(opened.stats().kind, Kind::frozen);
  for (int i = 0; i < 10 * kKeys; ++i)
    ASSERT_EQ(opened.may_contain(key(i)), list.may_contain(key(i))) << i;
}

// The error names the dump, and not only what is wrong.
TEST(Dump, OfAFrozenFilterWhoseTableIsWrongIsRefused) {
  const Scratch scratch;
  const std::string dump = scratch / "dump", out = scratch / "out.bloom";
  FrozenBuilder builder(0.01);
  builder.insert_many(keys());
  const FrozenFilter list = builder.build();
  std::vector<std::byte> bits;
  for (const auto piece : list.pieces()) bits.insert(bits.end(), piece.begin(), piece.end());
  std::ranges::fill(bits, std::byte{0xFF});
  const std::span<const std::byte> all = bits;
  write_dump(dump, module_header(list.plan(), list.hasher(), kKeys), {&all, 1});
  expect_error(ErrorCode::corrupt, {dump, "take the dump again"},
               [&] { (void)AnyFilter::open(dump); });
  expect_error(ErrorCode::corrupt, {dump, "take the dump again"},
               [&] { AnyFilter::convert(dump, out); });
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(Dump, IsOnlyRead) {
  const Scratch scratch;
  const std::string dump = scratch / "dump", out = scratch / "out.bloom";
  dump_plain(dump, Layout::blocked, Hasher());
  const std::string before = text_of(dump);
  AnyFilter opened = AnyFilter::open(dump);
  expect_error(ErrorCode::read_only, {dump}, [&] { (void)opened.insert("x"); });
  expect_error(ErrorCode::read_only, {dump}, [&] { (void)opened.insert_many(keys()); });
  // A copy in a file would have to have the rights of the dump, which is what convert is for.
  expect_error(ErrorCode::wrong_kind, {dump}, [&] { opened.save(out); });
  for (const std::function<void()>& call : std::vector<std::function<void()>>{
           [&] { (void)AnyFilter::open(dump, Access::write); },
           [&] { (void)AnyFilter::open_or_create(dump, {.capacity = 10, .fpr = 0.1}); },
           [&] { (void)FilterFile::open(dump); },
           [&] {
             (void)AnyFilter::merge(std::vector{dump, dump}, out);
           }})
    expect_error(ErrorCode::not_a_filter, {dump, "is a dump", "bloomery convert"}, call);
  EXPECT_EQ(text_of(dump), before);
  EXPECT_FALSE(std::filesystem::exists(out));

  AnyFilter::convert(dump, out);
  EXPECT_EQ(AnyFilter::open(out).may_contain_many(keys()), static_cast<std::size_t>(kKeys));
}

TEST(Dump, OfAnythingElseIsVerified) {
  const Scratch scratch;
  const std::string dump = scratch / "dump";
  const std::vector<std::byte> bits(250);
  const std::span<const std::byte> piece = bits;
  write_dump(dump, "a header of RedisBloom", {&piece, 1});
  const VerifyReport report = AnyFilter::verify(dump);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.chunks, 4U);
  expect_error(ErrorCode::wrong_kind, {dump, "bloomery convert"},
               [&] { (void)AnyFilter::open(dump); });
}

// As every filter file does: a link stays, and its target has the new bytes.
TEST(Dump, ReplacesTheTargetOfALink) {
  const Scratch scratch;
  const std::string link = scratch / "link", target = scratch / "there/target";
  std::filesystem::create_directory(scratch / "there");
  dump_plain(target, Layout::blocked, Hasher());
  std::filesystem::create_symlink("there/target", link);
  dump_plain(link, Layout::standard, Hasher());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(AnyFilter::open(target).stats().plan->layout, Layout::standard);
}

// A dump tells its readers which keys its source has; one that is replaced keeps its rights.
TEST(Dump, HasTheRightsOfItsSourceAndOfTheOneBefore) {
  const Umask everybody(0);
  const Scratch scratch;
  const std::string source = scratch / "source", dump = scratch / "dump";
  const auto mode_of = [](const std::string& path) {
    return std::filesystem::status(path).permissions();
  };
  constexpr std::filesystem::perms open{0666}, closed{0600};
  dump_plain(source, Layout::blocked, Hasher());
  EXPECT_EQ(mode_of(source), open);
  AnyFilter::convert(source, dump);
  EXPECT_EQ(mode_of(dump), open);
  std::filesystem::permissions(dump, closed);
  AnyFilter::convert(source, dump, {.replace = true});
  EXPECT_EQ(mode_of(dump), closed);
  detail::DumpWriter of_no_file(dump, scratch / "none");
  of_no_file.put({1, module_header(plan_of(Layout::blocked), Hasher(), 0)});
  of_no_file.finish(true);
  EXPECT_EQ(mode_of(dump), closed);
  std::filesystem::permissions(source, closed);
  AnyFilter::convert(source, scratch / "new");
  EXPECT_EQ(mode_of(scratch / "new"), closed);
  dump_frozen(dump);
  AnyFilter::convert(dump, scratch / "frozen");
  EXPECT_EQ(mode_of(scratch / "frozen"), closed);
  // Of no file, it has what the directory gives.
  if (::setxattr((scratch / "").c_str(), kDefaultListName, kAccessList.data(), kAccessList.size(),
                 0) != 0)
    return;
  detail::DumpWriter listed(scratch / "listed", scratch / "none");
  listed.put({1, module_header(plan_of(Layout::blocked), Hasher(), 0)});
  listed.finish(false);
  EXPECT_GT(::getxattr((scratch / "listed").c_str(), kAccessListName, nullptr, 0), 0);
}

// docs/format.md
TEST(Dump, BeginsWithItsMagicAndVersion) {
  const Scratch scratch;
  dump_plain(scratch / "dump", Layout::blocked, Hasher());
  EXPECT_EQ(text_of(scratch / "dump").substr(0, 16), std::string("\x89"
                                                                 "BLD\r\n\x1A\n\1\0\0\0\0\0\0\0",
                                                                 16));
}

TEST(Dump, OfZerosTakesNoRoom) {
  constexpr std::uint64_t kBytes = std::uint64_t{64} << 20;
  const Plan plan{Layout::blocked, kBytes * 8, 6, kBytes, 0.01};
  const Scratch scratch;  // on a disk
  const std::string dump = scratch / "dump", copy = scratch / "copy", filter = scratch / "f.bloom";
  {
    detail::DumpWriter writer(dump, dump);
    writer.put({1, module_header(plan, Hasher(), 0)});
    for (std::uint64_t at = 0; at < kBytes; at += std::uint64_t{1} << 20)
      writer.put({1 + at + (std::uint64_t{1} << 20), std::string(std::size_t{1} << 20, '\0')});
    writer.finish(true);
  }
  AnyFilter::convert(dump, copy);
  AnyFilter::convert(copy, filter);
  for (const std::string& path : {dump, copy, filter}) {
    SCOPED_TRACE(path);
    EXPECT_GE(std::filesystem::file_size(path), kBytes);
    struct stat there {};
    ASSERT_EQ(::stat(path.c_str(), &there), 0);
    EXPECT_LE(static_cast<std::uint64_t>(there.st_blocks) * 512, kBytes / 16);
    EXPECT_TRUE(AnyFilter::verify(path).ok());
  }
  EXPECT_FALSE(AnyFilter::open(filter).may_contain(key(1)));

  // Nor memory.
  const std::uint64_t before = used_memory().resident;
  AnyFilter opened = AnyFilter::open(dump);
  EXPECT_FALSE(opened.may_contain(key(1)));
  const std::uint64_t after = used_memory().resident;
  EXPECT_TRUE(kSanitized || after <= before + kBytes / 4) << after - before;
}

TEST(Dump, ReplacesOnlyADump) {
  const Scratch scratch;
  const std::string dump = scratch / "dump", text = scratch / "text";
  dump_plain(dump, Layout::blocked, Hasher());
  write_text(text, "some text");
  expect_error(ErrorCode::not_a_filter, {text, "is not a dump"},
               [&] { AnyFilter::convert(dump, text, {.replace = true}); });
  expect_error(ErrorCode::exists, {text}, [&] { AnyFilter::convert(dump, text); });
  dump_frozen(dump);
  expect_error(ErrorCode::exists, {text}, [&] { AnyFilter::convert(dump, text); });
  EXPECT_EQ(text_of(text), "some text");
}

// The bits are as many as its header says, and come one after another.
TEST(Dump, ChunksAreThoseOfItsHeader) {
  const Scratch scratch;
  const std::string path = scratch / "dump";
  const Plan plan = plan_of(Layout::blocked);
  const std::uint64_t bytes = plan.bytes();
  const auto opens = [&](std::uint64_t first, std::uint64_t second, std::uint64_t iterator) {
    detail::DumpWriter writer(path, path);
    writer.put({1, module_header(plan, Hasher(), kKeys)});
    writer.put({1 + first, std::string(first, '\1')});
    if (second != 0) writer.put({iterator, std::string(second, '\1')});
    writer.finish(true);
    (void)AnyFilter::open(path);
  };
  opens(bytes, 0, 0);
  opens(bytes - 1, 1, 1 + bytes);
  const std::string ends = ": it continues where its header says that it ends; take the dump again";
  EXPECT_EQ(error_of([&] { opens(bytes + 1, 0, 0); }, ErrorCode::corrupt), path + ends);
  EXPECT_EQ(error_of([&] { opens(bytes, 1, 2 + bytes); }, ErrorCode::corrupt), path + ends);
  EXPECT_EQ(error_of([&] { opens(bytes - 2, 1, 1 + bytes); }, ErrorCode::corrupt), path + ends);
  expect_error(ErrorCode::corrupt, {path, "it ends before its bits do"},
               [&] { opens(bytes - 1, 0, 0); });
}

// The iterators of a module rise; a sum does not protect from somebody who can write it.
TEST(Dump, ChunksComeInOrder) {
  const Scratch scratch;
  const std::string path = scratch / "dump";
  const std::string header = module_header(plan_of(Layout::blocked), Hasher(), kKeys);
  for (const std::uint64_t second : {0, 5}) {
    detail::DumpWriter writer(path, path);
    writer.put({1, header});
    writer.put({second + 1, std::string(second, 'x')});
    writer.put({5, "abcd"});
    writer.finish(true);
    expect_error(ErrorCode::corrupt, {path, "that no module makes"},
                 [&] { (void)AnyFilter::verify(path); });
  }
}

TEST(Dump, IsNotBelieved) {
  const Scratch scratch;
  const std::string whole_path = scratch / "dump", path = scratch / "changed";
  dump_plain(whole_path, Layout::blocked, Hasher());
  ASSERT_TRUE(AnyFilter::verify(whole_path).ok());
  const std::string whole = text_of(whole_path);
  const auto refused = [&](const std::string& bytes) {
    write_text(path, bytes);
    for (const bool opens : {true, false}) try {
        opens ? (void)AnyFilter::open(path) : (void)AnyFilter::verify(path);
        return false;
      } catch (const Error& error) {
        if (std::string(error.what()).find(path) == std::string::npos) return false;
      }
    return true;
  };
  for (std::size_t i = 0; i < whole.size(); i += 3) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0xFF);
    EXPECT_TRUE(refused(changed)) << i;
    EXPECT_TRUE(refused(whole.substr(0, i))) << i;
  }
  EXPECT_TRUE(refused(whole + "x"));
  EXPECT_FALSE(refused(whole));
  // Damage is not taken for a filter of RedisBloom.
  std::string flipped = whole;
  flipped[16 + 16] ^= 1;
  write_text(path, flipped);
  expect_error(ErrorCode::corrupt, {"the dump is damaged"}, [&] { (void)AnyFilter::open(path); });
  for (const std::size_t size :
       {whole.size() / 2, whole.size() - 1}) {  // in a chunk, and in the sum at the end
    write_text(path, whole.substr(0, size));
    expect_error(ErrorCode::corrupt, {"the dump is cut off"}, [&] { (void)AnyFilter::open(path); });
  }
  std::string newer = whole;
  newer[8] = 2;
  write_text(path, newer);
  expect_error(ErrorCode::corrupt, {path, "of a newer version"},
               [&] { (void)AnyFilter::verify(path); });
}

// Who can write the sum can claim 128 GiB: nothing is allocated for them, in memory or in a file.
TEST(Dump, OfFewBytesIsNoVastFilter) {
  const Scratch scratch;
  const std::string path = scratch / "dump", out = scratch / "out.bloom";
  detail::DumpWriter writer(path, path);
  const Plan vast{Layout::blocked, kMaxBits, 6, kMaxBits / 10, 0.01};
  writer.put({1, module_header(vast, Hasher(), 0)});
  writer.put({101, std::string(100, '\0')});
  writer.finish(false);
  ASSERT_TRUE(AnyFilter::verify(path).ok());
  for (const auto& call : {std::function<void()>([&] { (void)AnyFilter::open(path); }),
                           std::function<void()>([&] { AnyFilter::convert(path, out); })}) {
    const std::string text = error_of(call, ErrorCode::corrupt);
    EXPECT_EQ(text, path + ": it ends before its bits do; take the dump again");
  }
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace bloomery::test
