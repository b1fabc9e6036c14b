// How many lines the inputs are taken to have before they are read.
#include "input/inputs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "compressed/codec.hpp"
#include "store/scratch.hpp"

namespace bloomery::cli {
namespace {

class EstimatedLines : public testing::Test {
 protected:
  std::string file(const std::string& text) const {
    const std::string path = scratch_ / std::to_string(++files_);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string compressed(Format format, const std::string& text) const {
    std::string out;
    const auto encoder = make_encoder(format);
    encoder->add(text, out);
    encoder->end(out);
    return file(out);
  }
  static std::optional<std::uint64_t> estimate(const std::vector<std::string>& paths,
                                               const ReadRule& rule = {}) {
    return estimate_lines(find_inputs(paths, rule.raw), rule);
  }
  static std::string lines(std::size_t count, std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) (text += std::string(bytes - 1, 'x')) += '\n';
    return text;
  }
  test::Scratch scratch_;

 private:
  mutable int files_ = 0;
};

TEST_F(EstimatedLines, OfFilesAreTheirsAndAThousandMore) {
  EXPECT_EQ(estimate({file(lines(10, 5))}), 1'010U);
  EXPECT_EQ(estimate({file(lines(10, 5)), file(lines(20, 7))}), 2'030U);
  EXPECT_EQ(estimate({file(std::string("a\nb\0c\0", 6))}, {.end = '\0'}), 1'002U);
  EXPECT_EQ(estimate({file(lines(10, 5)), "/dev/null"}), std::nullopt);
}

TEST_F(EstimatedLines, AreOfInputsWhoseBytesAreTheirSum) {
  EXPECT_EQ(total_bytes(find_inputs({file("abc"), file("defgh")}, false)), 8U);
  EXPECT_EQ(total_bytes(find_inputs({file("abc"), "/dev/null"}, false)), std::nullopt);
}

TEST_F(EstimatedLines, OfALargeFileAreThoseOfItsPlaces) {
  // Four times what the places see: a twentieth more.
  EXPECT_EQ(estimate({file(lines(std::size_t{1} << 18, 64))}), 275'252U + 1'000);
  // The second half has lines of another length, and 32 of the 64 places.
  EXPECT_EQ(estimate({file(lines(std::size_t{1} << 17, 64) + lines(std::size_t{1} << 13, 1'024))}),
            146'228U + 1'000);
}

// A file may be shorter by now than it was when the run began.
TEST_F(EstimatedLines, OfFilesThatWereCutAreWhatIsLeft) {
  const auto of = [](const std::string& path, std::uint64_t bytes) {
    return estimate_lines({{path, bytes}}, {});
  };
  EXPECT_EQ(of(file("a\nb\n"), 0), 1U);
  EXPECT_EQ(of(file(""), 100), std::nullopt);
  // Two lines in the first of four bytes: as if the others were like it, and a twentieth more.
  EXPECT_EQ(of(file("a\nb\n"), std::uint64_t{1} << 20), 550'503U + 1'000);
}

constexpr Format kCompressed[] = {Format::gzip, Format::zstd, Format::xz, Format::bzip2};

// Letters that do not compress to much less.
std::string random_line(std::mt19937_64& random, std::size_t bytes) {
  std::string line;
  while (line.size() + 1 < bytes) line += static_cast<char>('a' + random() % 16);
  return line + '\n';
}

TEST_F(EstimatedLines, OfCompressedTextAreItsOwn) {
  std::mt19937_64 random(1);
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += random_line(random, 9);
  for (const Format format : kCompressed) {
    const std::string path = compressed(format, text);
    EXPECT_EQ(estimate({path}), 21'000U);
    std::ifstream in(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    EXPECT_EQ(estimate({path}, {.raw = true}),
              static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n')) + 1'000);
  }
}

// Its first 4 MiB and at most 64 KiB more are read before the run, and not all of it.
TEST_F(EstimatedLines, OfLargeCompressedTextAreThoseOfItsBeginning) {
  std::mt19937_64 random(2);
  std::string text;
  for (int i = 0; i < 4'096; ++i) text += random_line(random, 1'024);
  const auto all = estimate({compressed(Format::gzip, text + std::string(500'000, '\n'))});
  ASSERT_TRUE(all);
  EXPECT_GE(*all, 5'096U);
  EXPECT_LT(*all, 100'000U);
}

TEST_F(EstimatedLines, OfCompressedTextAreNoMoreThanItsBytes) {
  for (const Format format : kCompressed) {
    const std::string path = compressed(format, std::string(1 << 20, '\n'));
    const auto all = estimate({path});
    ASSERT_TRUE(all);
    EXPECT_LE(*all, std::filesystem::file_size(path) + 1'000);
  }
}

}  // namespace
}  // namespace bloomery::cli
