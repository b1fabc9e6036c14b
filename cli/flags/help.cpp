// Help texts from the table, wrapped for a terminal of 80 columns.
#include "flags/help.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bloomery::cli {

namespace {

constexpr std::size_t kColumns = 80;

// The words of a text, each line indented.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out, line;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!line.empty() && indent + line.size() + 1 + word.size() > kColumns) {
      out += fmt::format("{:{}}{}\n", "", indent, line);
      line.clear();
    }
    line += fmt::format("{}{}", line.empty() ? "" : " ", word);
  }
  return out + fmt::format("{:{}}{}\n", "", indent, line);
}

std::string usage(const VerbInfo& verb) {
  return fmt::format("bloomery {} [FLAGS] {}", verb.name, verb.arguments);
}

std::string verb_list() {
  std::string out = "Verbs:\n";
  for (const VerbInfo& verb : all_verbs())
    out += fmt::format("  {:<8} {:<19}  {}\n", verb.name, verb.arguments, verb.summary);
  return out;
}

std::string examples(const VerbInfo& verb) {
  std::string out;
  for (const Example& example : verb.examples)
    out += fmt::format("  {}\n{}", example.command, wrapped(example.meaning, 6));
  return out;
}

std::string topics() {
  std::string out;
  for (const Topic& topic : all_topics())
    out += fmt::format("\n{}:\n{}", topic.title, wrapped(topic.text, 2));
  return out;
}

}  // namespace

std::string flag_usage(const Flag& flag) {
  std::string text = flag.short_name != 0 ? fmt::format("-{}", flag.short_name) : "   ";
  if (!flag.long_name.empty())
    text += fmt::format("{} --{}", flag.short_name != 0 ? "," : "", flag.long_name);
  if (!flag.value.empty()) text += fmt::format(" {}", flag.value);
  return text;
}

std::string short_help() {
  return fmt::format(
      "{}\n\nUsage: bloomery VERB [FLAGS] [FILES]\n\n{}\n"
      "bloomery VERB -h lists a verb's flags; --help is the long form; --version the version.\n",
      kTagline, verb_list());
}

std::string long_help() {
  std::string out = short_help() + topics() + "\nExamples:\n";
  for (const VerbInfo& verb : all_verbs()) out += examples(verb);
  return out;
}

std::string short_help(const VerbInfo& verb) {
  std::string out = fmt::format("{}\n\nUsage: {}\n\nFlags:\n", verb.summary, usage(verb));
  for (const Flag& flag : all_flags()) {
    if (!has(verb, flag)) continue;
    out += fmt::format("  {:<22}  {}\n", flag_usage(flag), flag.help);
  }
  return out;
}

std::string long_help(const VerbInfo& verb) {
  std::string out = fmt::format("{}\n\nUsage: {}\n", verb.summary, usage(verb));
  out += fmt::format("\n{}\nFlags:\n", wrapped(verb.detail, 0));
  for (const Flag& flag : all_flags()) {
    if (!has(verb, flag)) continue;
    out += fmt::format("  {}\n{}", flag_usage(flag), wrapped(flag.help, 8));
    if (!flag.detail.empty()) out += wrapped(flag.detail, 8);
  }
  return out + topics() + "\nExamples:\n" + examples(verb);
}

}  // namespace bloomery::cli
