// Any command line with a password in it, and any text of a server or a file: the tool's message about them
// is one line that a terminal may show, without the password.
#include "flags/parse.hpp"
#include "output/message.hpp"
#include "require.hpp"
#include "shown.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace bloomery;
using namespace bloomery::cli;
using fuzz::kSecret;
using fuzz::require;

bool has_secret(std::string_view text) { return text.find(kSecret) != std::string_view::npos; }

void check_line(std::string_view line) {
  require(line.starts_with("bloomery: ") && line.ends_with('\n'));
  line.remove_suffix(1);
  require(fuzz::is_shown(line));
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (;;) {
    const std::size_t end = text.find('\0');
    words.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

// The message of the tool for a command line: why it is refused, or that a named file or server does not exist.
void check_command(const std::vector<std::string>& arguments, bool secret) {
  hide_secrets_of(arguments);
  const auto check_message = [&](std::string_view text) {
    const std::string line = message_line(text);
    check_line(line);
    require(!secret || !has_secret(line));
  };
  try {
    const Options options = parse_options(arguments);
    for (const std::string& file : options.files) check_message(file + ": No such file");
    if (options.filter) check_message(*options.filter + " exists");
    if (options.has_verb) (void)options.place();
  } catch (const PlanError& error) {
    check_message(error.message(flag_of));
  } catch (const std::exception& error) {
    check_message(error.what());
  }
}

// A password in an argument, with hostile bytes on both sides of it, and the rest of the arguments. Parsing
// them takes a thousand times as long as printing a message, so it is done for one choice in eight.
void try_secret(std::uint8_t choice, const std::vector<std::string>& words) {
  static constexpr std::array<std::string_view, 8> kBefore = {
      "redis://", "redsi://",      "valkeys://", "https://",
      "",         "--filter=x://", "-nx://",     "--seed=x://"};
  static constexpr std::array<std::string_view, 4> kVerbs = {"rotate", "dedup", "create", "merge"};
  if (std::ranges::any_of(words, has_secret)) return;
  const auto word = [&](std::size_t i) { return i < words.size() ? words[i] : std::string(); };
  std::vector<std::string> arguments = {std::string(kVerbs[choice / 8 % 4])};
  std::string argument(kBefore[choice % 8]);
  argument.append("me:").append(word(0)).append(kSecret).append(word(1)).append("@").append(
      word(2));
  arguments.push_back(argument);
  for (std::size_t i = 3; i < words.size(); ++i) arguments.push_back(words[i]);
  if (choice < 32) return check_command(arguments, true);
  hide_secrets_of(arguments);
  const std::string line = message_line(word(3) + argument + word(4) + argument);
  check_line(line);
  require(!has_secret(line));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  hide_secrets_of({});
  check_line(message_line(text));
  const std::vector<std::string> words = words_of(text);
  if (data[0] < 32) check_command(words, false);
  try_secret(data[0], words);
  return 0;
}
