// Every format: what is encoded comes back, and what is cut or changed is told, wherever it is.
#include "compressed/decompressor.hpp"

#include <gtest/gtest.h>

#include <bloomery/error.hpp>

#include <array>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/hex.hpp"

namespace bloomery::cli {
namespace {

using test::from_hex;

constexpr Format kFormats[] = {Format::gzip, Format::zstd, Format::xz, Format::bzip2};

std::string encoded(Format format, std::string_view text) {
  std::string out;
  const auto encoder = make_encoder(format);
  encoder->add(text, out);
  encoder->end(out);
  return out;
}

// Words that compress to about a third.
std::string words(std::size_t bytes) {
  std::mt19937_64 random(3);
  std::string text;
  while (text.size() < bytes) text += "line " + std::to_string(random() % 1'000'000) + "\n";
  text.resize(bytes);
  return text;
}

struct Read {
  std::string text;
  std::optional<ErrorCode> error;
  std::string message;
  std::uint64_t taken = 0;
};

// Gives at most `piece` bytes at a time, and room for as many.
Read read(Format format, std::string_view bytes, std::size_t piece = std::size_t{64} << 10) {
  Decompressor decompressor(format, "NAME");
  Read read;
  std::vector<char> room(piece);
  std::string_view in;
  bool last = false;
  try {
    for (;;) {
      if (in.empty() && decompressor.drained() && !last) {
        in = bytes.substr(0, piece);
        bytes.remove_prefix(in.size());
        last = in.empty();
      }
      const std::size_t made = decompressor.decode(in, room, last);
      read.text.append(room.data(), made);
      if (made == 0 && last) break;
    }
  } catch (const Error& error) {
    read.error = error.code();
    read.message = error.what();
  }
  read.taken = decompressor.taken();
  return read;
}

TEST(Compressed, ComesBackInPiecesOfAnySize) {
  const std::string text =
      words(700'000);  // several blocks of every format but gzip, which has none
  for (const Format format : kFormats) {
    SCOPED_TRACE(to_string(format));
    const std::string bytes = encoded(format, text);
    EXPECT_LT(bytes.size(), text.size() / 2);
    for (const std::size_t piece : {std::size_t{10}, std::size_t{4096}, std::size_t{1} << 20}) {
      const Read all = read(format, bytes, piece);
      EXPECT_FALSE(all.error) << all.message;
      EXPECT_TRUE(all.text == text) << piece;
      EXPECT_EQ(all.taken, bytes.size());
    }
  }
}

TEST(Compressed, SmallTextsAndNone) {
  for (const Format format : kFormats) {
    SCOPED_TRACE(to_string(format));
    for (const std::string& text : {std::string(), std::string("\n"), std::string(3, '\0')}) {
      const Read all = read(format, encoded(format, text), 1);
      EXPECT_FALSE(all.error) << all.message;
      EXPECT_EQ(all.text, text);
    }
    EXPECT_FALSE(read(format, "").error);
  }
}

TEST(Compressed, PartsFollowEachOtherAndZerosThemAll) {
  for (const Format format : kFormats) {
    SCOPED_TRACE(to_string(format));
    std::string bytes;
    const auto encoder = make_encoder(format);
    for (const std::string_view text : {"one\n", "", "two\n"}) {
      encoder->add(text, bytes);
      encoder->end(bytes);
    }
    for (const std::size_t zeros :
         {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{700}}) {
      const std::string padding(zeros, '\0');
      for (const std::size_t piece : {std::size_t{10}, std::size_t{512}}) {
        const Read all = read(format, bytes + padding + bytes, piece);
        const Read end = read(format, bytes + padding, piece);
        EXPECT_EQ(end.text, "one\ntwo\n");
        if (format == Format::xz && zeros % 4 != 0) {
          for (const Read& each : {all, end}) {
            EXPECT_EQ(each.error, ErrorCode::corrupt);
            EXPECT_EQ(each.text, "one\ntwo\n");
            EXPECT_NE(each.message.find("NAME: damaged xz data at byte " +
                                        std::to_string(bytes.size() + zeros)),
                      std::string::npos)
                << each.message;
          }
        } else {
          EXPECT_FALSE(all.error) << all.message;
          EXPECT_FALSE(end.error) << end.message;
          EXPECT_EQ(all.text, "one\ntwo\none\ntwo\n");
        }
      }
    }
    EXPECT_FALSE(read(format, bytes + std::string(10'000, '\0'), 512).error);
    const Read more = read(format, bytes + "more");
    EXPECT_EQ(more.error, ErrorCode::corrupt);
    EXPECT_EQ(more.text, "one\ntwo\n");
  }
}

TEST(Compressed, CutAnywhereIsAnErrorThatSaysWhere) {
  const std::string text = words(600);
  for (const Format format : kFormats) {
    const std::string bytes = encoded(format, text);
    for (std::size_t size = 1; size < bytes.size(); ++size) {
      SCOPED_TRACE(std::string(to_string(format)) + " " + std::to_string(size));
      const Read part = read(format, std::string_view(bytes).substr(0, size), 7);
      ASSERT_EQ(part.error, ErrorCode::corrupt);
      ASSERT_NE(part.message.find("NAME: the " + std::string(to_string(format)) +
                                  " data ends too early, at byte " + std::to_string(size)),
                std::string::npos)
          << part.message;
      ASSERT_TRUE(text.starts_with(part.text));
    }
  }
}

TEST(Compressed, AChangedBitNeverChangesTheText) {
  const std::string text = words(600);
  for (const Format format : kFormats) {
    const std::string bytes = encoded(format, text);
    std::size_t found = 0;
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      SCOPED_TRACE(std::string(to_string(format)) + " " + std::to_string(bit));
      std::string changed = bytes;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
      const Read all = read(format, changed, 100);
      ASSERT_LE(all.taken, bytes.size());
      if (all.error) {
        ++found;
        ASSERT_TRUE(all.error == ErrorCode::corrupt || all.error == ErrorCode::too_large);
        ASSERT_NE(all.message.find("NAME: "), std::string::npos);
        ASSERT_NE(all.message.find(" byte "), std::string::npos);
      } else {
        // A bit that says nothing of the text, such as the time in gzip's header.
        ASSERT_EQ(all.text, text);
      }
    }
    EXPECT_GT(found, 7 * bytes.size()) << to_string(format);  // of 8
  }
}

TEST(Compressed, TextBeforeTheDamageIsGiven) {
  const std::string text = words(3'000'000);
  for (const Format format : kFormats) {
    const std::string whole = encoded(format, text);
    for (const std::size_t eighths : {5, 6, 7}) {
      SCOPED_TRACE(std::string(to_string(format)) + " " + std::to_string(eighths));
      std::string bytes = whole;
      const std::size_t at = bytes.size() / 8 * eighths;
      for (std::size_t i = 0; i < 64; ++i) bytes[at + i] = static_cast<char>(~bytes[at + i]);
      const Read all = read(format, bytes, std::size_t{1} << 20);
      EXPECT_EQ(all.error, ErrorCode::corrupt) << all.message;
      // The largest block that is checked before its text is given is bzip2's: 900,000 bytes of text. The
      // others give what the damaged bytes say, until these make no sense.
      const std::size_t right = text.size() / 8 * eighths - 1'000'000;
      EXPECT_GT(all.text.size(), right);
      EXPECT_EQ(all.text.compare(0, right, text, 0, right), 0);
      // Text before the damage, and the byte that the message names, do not depend on how the bytes come.
      const Read again = read(format, bytes, 4096);
      EXPECT_TRUE(again.text == all.text) << again.text.size() << " and " << all.text.size();
      EXPECT_EQ(again.message, all.message);
      EXPECT_GT(all.taken, at / 2);
      EXPECT_LE(all.taken, bytes.size());
    }
  }
}

TEST(Compressed, WindowsHaveALimit) {
  // A frame of zstd whose window is 2^27 bytes, with an empty block; and one of 2^28.
  EXPECT_FALSE(read(Format::zstd, from_hex("28b52ffd0088010000")).error);
  const Read zstd = read(Format::zstd, from_hex("28b52ffd0090010000"));
  EXPECT_EQ(zstd.error, ErrorCode::too_large);
  EXPECT_NE(zstd.message.find("window of more than 128 MiB"), std::string::npos);
  // printf 'a\n' | xz --lzma2=dict=128MiB, and 256MiB
  const Read xz = read(
      Format::xz, from_hex("fd377a585a000004e6d6b446020021011e0000009b075166010001610a0000001347"
                           "3fb8939d45d400011a02dc2ea57e1fb6f37d010000000004595a"));
  EXPECT_EQ(xz.text, "a\n");
  EXPECT_FALSE(xz.error) << xz.message;
  EXPECT_EQ(
      read(Format::xz, from_hex("fd377a585a000004e6d6b44602002101200000000988a576010001610a0000"
                                "0013473fb8939d45d400011a02dc2ea57e1fb6f37d010000000004595a"))
          .error,
      ErrorCode::too_large);
}

TEST(Compressed, XzOfALaterVersionIsToldFromDamage) {
  // A bit of the stream's flags that has no meaning yet, with its checksum; and another checksum.
  const Read later = read(Format::xz, from_hex("fd377a585a008000b48a5a7a"));
  EXPECT_EQ(later.error, ErrorCode::corrupt);
  EXPECT_NE(later.message.find("options that this version of liblzma does not know"),
            std::string::npos)
      << later.message;
}

// Debian's libzstd would read them, with any window, and give a text that depends on the pieces.
TEST(Compressed, FormatsBeforeTheStandardAreRefused) {
  const std::string frame = encoded(Format::zstd, "a\n");
  for (const std::string_view magic : {"22", "23", "24", "25", "26", "27"}) {
    const std::string old = from_hex(std::string(magic) + "b52ffd04ffffffff");
    for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}}) {
      const Read alone = read(Format::zstd, old, piece),
                 behind = read(Format::zstd, frame + old, piece);
      EXPECT_EQ(alone.error, ErrorCode::corrupt) << magic;
      EXPECT_EQ(behind.error, ErrorCode::corrupt) << magic;
      EXPECT_EQ(behind.text, "a\n");
      for (const Read* result : {&alone, &behind})
        EXPECT_NE(result->message.find("older than zstd 0.8"), std::string::npos)
            << result->message;
    }
  }
}

TEST(Compressed, WhatIsNoFrameOfZstdIsDamagedFromItsBeginning) {
  const std::string frame = encoded(Format::zstd, "a\n");
  // Text, and the magics of bzip2, xz and zstd 0.7.
  for (const std::string_view other :
       {"67617262616765", "425a683931415926", "fd377a585a00", "27b52ffd"}) {
    const Read behind = read(Format::zstd, frame + from_hex(other));
    EXPECT_EQ(behind.text, "a\n");
    EXPECT_NE(behind.message.find("at byte " + std::to_string(frame.size()) + ":"),
              std::string::npos)
        << behind.message;
  }
}

// The library looks for their magic wherever the bytes that it is given have a part of a header.
TEST(Compressed, FormatsBeforeTheStandardAreRefusedBehindEveryPartOfAHeader) {
  const std::string frame = encoded(Format::zstd, "a\n");
  const std::string old =
      from_hex("27b52ffd00004000024f0ac00000");  // zstd 0.7: "O\n", as it is, and the end
  // Parts of magics, of a frame whose reserved bit is set, and of one that takes a dictionary.
  for (const std::string_view part :
       {"28", "28b5", "28b52f", "28b52ffd", "28b52ffd08", "28b52ffd00", "28b52ffd0158",
        "28b52ffd03", "28b52ffd23", "28b52ffdc3", "50", "502a4d", "502a4d18"}) {
    const std::string before = frame + from_hex(part), all = before + old;
    Decompressor decompressor(Format::zstd, "NAME");
    std::string text;
    const auto take_all = [&](std::string_view in, bool last) {
      std::array<char, 100> room;
      while (const std::size_t made = decompressor.decode(in, room, last))
        text.append(room.data(), made);
    };
    EXPECT_THROW(
        {
          take_all(before, false);
          take_all(old, false);
          take_all({}, true);
        },
        Error)
        << part;
    EXPECT_EQ(text, "a\n") << part;
  }
}

TEST(Compressed, FirstBytesTellAFilter) {
  for (const std::string start : {"\x89"
                                  "BLM\r\n\x1a\n",
                                  "\x89"
                                  "BLD\r\n\x1a\n"}) {
    for (std::size_t size = 0; size < start.size(); ++size) {
      EXPECT_FALSE(sniff(start.substr(0, size)).decided) << size;
      std::string other = start.substr(0, size + 1);
      other[size] = static_cast<char>(other[size] ^ 0x80);
      EXPECT_TRUE(sniff(other).decided && !sniff(other).filter) << size;
    }
    for (const std::string& whole : {start, start + "more"}) {
      EXPECT_TRUE(sniff(whole).decided && sniff(whole).filter);
      EXPECT_FALSE(sniff(whole).format);
    }
  }
}

TEST(Compressed, FirstBytesTellTheFormat) {
  for (const Format format : kFormats) {
    const std::string bytes = encoded(format, "x\n");
    const std::string empty = encoded(format, "");
    for (const std::string& start : {bytes, empty}) {
      EXPECT_EQ(sniff(start).format, format);
      std::size_t needed = 0;
      while (!sniff(std::string_view(start).substr(0, needed)).format) {
        EXPECT_FALSE(sniff(std::string_view(start).substr(0, needed)).decided);
        ++needed;
      }
      EXPECT_LE(needed, kMostMagic);
      // One byte that is another is text, at once.
      for (std::size_t i = 0; i < needed; ++i) {
        std::string other = start.substr(0, i + 1);
        other[i] = static_cast<char>(other[i] ^ 0x80);
        EXPECT_TRUE(sniff(other).decided) << i;
        EXPECT_FALSE(sniff(other).format) << i;
      }
    }
  }
  EXPECT_EQ(sniff(from_hex("502a4d1800000000")).format, Format::zstd);  // a frame to skip
  EXPECT_EQ(sniff(from_hex("5f2a4d1800000000")).format, Format::zstd);
  EXPECT_FALSE(sniff(from_hex("4f2a4d1800000000")).format);
  EXPECT_FALSE(sniff(from_hex("1f8b0820")).format);  // a flag that gzip does not have
  for (const std::string_view text : {"BZh", "BZh0", "BZh9 is not it", "\xFF", "(", "\n", "P*M"})
    EXPECT_FALSE(sniff(text).format) << text;
}

}  // namespace
}  // namespace bloomery::cli
