// Any bytes as a compressed input, and any lines as the source of keys: the text does not depend on the
// pieces in which the bytes come, except for how much of a damaged block is returned; and a key does not
// depend on the bytes after its line.
#include "bytes.hpp"
#include "compressed/decompressor.hpp"
#include "input/block.hpp"
#include "keys/key_finder.hpp"
#include "require.hpp"

#include <bloomery/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace bloomery;
using namespace bloomery::cli;
using fuzz::require;

constexpr std::size_t kMostText = std::size_t{1} << 20;

// The first mebibyte of the text, and whether an error ended it.
std::pair<std::string, bool> read(Format format, std::string_view bytes, std::size_t piece) {
  const std::size_t size = bytes.size();
  Decompressor decompressor(format, "input");
  std::vector<char> room(piece);
  std::string text;
  std::string_view in;
  bool last = false;
  try {
    while (text.size() < kMostText) {
      if (in.empty() && decompressor.drained() && !last) {
        in = bytes.substr(0, piece);
        bytes.remove_prefix(in.size());
        last = in.empty();
      }
      const std::size_t made = decompressor.decode(in, room, last);
      require(made <= room.size() && decompressor.taken() <= size);
      text.append(room.data(), made);
      if (made == 0 && last) return {text, false};
    }
  } catch (const Error& error) {
    require(error.code() == ErrorCode::corrupt || error.code() == ErrorCode::too_large);
    return {text, true};
  }
  text.resize(kMostText);
  return {text, false};
}

void try_compressed(Format format, std::string_view bytes) {
  const auto whole = read(format, bytes, kMostText), pieces = read(format, bytes, 1000);
  require(whole.second == pieces.second);
  require(whole.first == pieces.first || (whole.second && (whole.first.starts_with(pieces.first) ||
                                                           pieces.first.starts_with(whole.first))));
}

void try_keys(const KeyRule& rule, std::string text) {
  text += '\n';
  std::vector<std::size_t> ends;
  find_ends(text, '\n', ends);
  KeyFinder finder(rule);
  const Hasher hasher;
  Keys keys, alone;
  finder.find(text, ends, {hasher, true}, keys);
  require(keys.hashes.size() == keys.views.size());
  require(keys.problem.empty() == (keys.views.size() == ends.size()));
  for (std::size_t i = 0, begin = 0; i < keys.views.size(); begin = ends[i++]) {
    require(hasher(keys.views[i]) == keys.hashes[i]);
    // On the heap, so that a read past the line's end is seen.
    const std::string line = text.substr(begin, ends[i] - begin);
    const std::size_t end = line.size();
    finder.find(line, {&end, 1}, {hasher, false}, alone);
    require(alone.hashes.size() == 1 && alone.hashes[0] == keys.hashes[i]);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes choices(data, size);
  const std::uint8_t choice = choices.byte() % 8;
  if (size < 3) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 3, size - 3);
  const std::size_t one = 1 + choices.byte() % 20, other = one + 1 + choices.byte() % 20;
  static constexpr std::array kFormats = {Format::gzip, Format::zstd, Format::xz, Format::bzip2};
  KeyRule rule;
  rule.ignore_case = one % 2 == 0;
  switch (choice) {
    case 0:
    case 1:
    case 2:
    case 3:
      try_compressed(kFormats[choice], rest);
      break;
    case 4:
      rule.fields = {one};
      rule.whitespace = other % 2 == 0;
      try_keys(rule, std::string(rest));
      break;
    case 5:
      rule.fields = {other, one};
      rule.whitespace = other % 2 == 0;
      try_keys(rule, std::string(rest));
      break;
    case 6:
      rule.json_field = "a";
      try_keys(rule, std::string(rest));
      break;
    default:
      rule.json_field = "/a/0/b";
      try_keys(rule, std::string(rest));
      break;
  }
  return 0;
}
