// Completions for bash, zsh and fish.
#include "flags/help.hpp"

#include <fmt/format.h>
#include <bloomery/error.hpp>

namespace bloomery::cli {

namespace {

bool takes_file(const Flag& flag) noexcept {
  return flag.id == FlagId::filter || flag.id == FlagId::out;
}

// Text inside single quotes of a shell.
std::string single_quoted(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out;
}

// Inside [...] of a zsh specification.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return single_quoted(out);
}

std::string spaced(std::string_view choices) {
  std::string out(choices);
  for (char& c : out)
    if (c == '|') c = ' ';
  return out;
}

std::string verb_names() {
  std::string out;
  for (const VerbInfo& verb : all_verbs())
    out += fmt::format("{}{}", out.empty() ? "" : " ", verb.name);
  return out;
}

template <class Visit>
void for_flags_of(const VerbInfo& verb, Visit visit) {
  for (const Flag& flag : all_flags())
    if (has(verb, flag)) visit(flag);
}

// The pattern that a case statement compares the previous word with.
std::string names_for_bash(const Flag& flag) {
  return flag.short_name == 0 ? fmt::format("--{}", flag.long_name)
                              : fmt::format("-{}|--{}", flag.short_name, flag.long_name);
}

std::string zsh_flag(const Flag& flag) {
  const std::string text = fmt::format("[{}]", zsh_text(flag.help));
  std::string value;
  if (!flag.choices.empty())
    value = fmt::format(":{}:({})", flag.value, spaced(flag.choices));
  else if (!flag.value.empty())
    value = fmt::format(":{}:{}", flag.value, takes_file(flag) ? "_files" : "");
  std::string out;
  if (flag.short_name != 0) out += fmt::format(" '-{}{}{}'", flag.short_name, text, value);
  if (!flag.long_name.empty())
    out += fmt::format(" '--{}{}{}{}'", flag.long_name, value.empty() ? "" : "=", text, value);
  return out;
}

std::string bash_completion() {
  // Readline completes file names (-o default), since only readline can quote them; compopt turns
  // that off where no file fits. A --flag=value arrives as three words.
  std::string out =
      "# bash completion for bloomery\n"
      "_bloomery() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
      "  if [ \"$cur\" = = ]; then\n"
      "    cur=\n"
      "  elif [ \"$prev\" = = ]; then\n"
      "    prev=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  fi\n"
      "  COMPREPLY=()\n";
  out += fmt::format(
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{} -h --help --version' -- \"$cur\"))\n    return\n  fi\n"
      "  case $prev in\n",
      verb_names());
  std::string no_files;
  for (const Flag& flag : all_flags()) {
    if (flag.value.empty()) continue;
    if (!flag.choices.empty())
      out += fmt::format("    --{}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n",
                         flag.long_name, spaced(flag.choices));
    else if (takes_file(flag))
      out += fmt::format("    --{}) return ;;\n", flag.long_name);
    else
      no_files += fmt::format("{}{}", no_files.empty() ? "" : "|", names_for_bash(flag));
  }
  out += fmt::format("    {}) compopt +o default; return ;;\n", no_files);
  out += "  esac\n  case ${COMP_WORDS[1]} in\n";
  for (const VerbInfo& verb : all_verbs()) {
    std::string flags;
    for_flags_of(verb, [&](const Flag& flag) {
      if (flag.short_name != 0) flags += fmt::format(" -{}", flag.short_name);
      if (!flag.long_name.empty()) flags += fmt::format(" --{}", flag.long_name);
    });
    out += fmt::format("    {}) words='{}' ;;\n", verb.name, flags.substr(1));
  }
  out +=
      "  esac\n"
      "  case $cur in\n"
      "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
      "  esac\n"
      "}\n"
      "complete -o default -F _bloomery bloomery\n";
  return out;
}

std::string zsh_completion() {
  std::string out =
      "#compdef bloomery\n"
      "_bloomery() {\n"
      "  local -a verbs\n"
      "  verbs=(\n";
  for (const VerbInfo& verb : all_verbs())
    out += fmt::format("    '{}:{}'\n", verb.name, zsh_text(verb.summary));
  out +=
      "  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe verb verbs\n"
      "    _arguments '-h[short help]' '--help[long help]' '--version[the version]'\n"
      "    return\n"
      "  fi\n"
      "  local verb=$words[2]\n"
      "  (( CURRENT-- ))\n"
      "  shift words\n"
      "  case $verb in\n";
  for (const VerbInfo& verb : all_verbs()) {
    out += fmt::format("    {}) _arguments -s", verb.name);
    for_flags_of(verb, [&](const Flag& flag) { out += zsh_flag(flag); });
    out += " '*:file:_files' ;;\n";
  }
  return out + "  esac\n}\n_bloomery \"$@\"\n";
}

std::string fish_completion() {
  std::string out = "# fish completion for bloomery\n";
  const std::string none = "complete -c bloomery -n __fish_use_subcommand";
  for (const VerbInfo& verb : all_verbs())
    out += fmt::format("{} -f -a {} -d '{}'\n", none, verb.name, single_quoted(verb.summary));
  out += none + " -s h -d 'short help'\n" + none + " -l help -d 'long help'\n" + none +
         " -l version -d 'the version'\n";
  for (const VerbInfo& verb : all_verbs()) {
    const std::string seen =
        fmt::format("complete -c bloomery -n '__fish_seen_subcommand_from {}'", verb.name);
    for_flags_of(verb, [&](const Flag& flag) {
      out += seen;
      if (flag.short_name != 0) out += fmt::format(" -s {}", flag.short_name);
      if (!flag.long_name.empty()) out += fmt::format(" -l {}", flag.long_name);
      if (!flag.choices.empty())
        out += fmt::format(" -x -a '{}'", spaced(flag.choices));
      else if (!flag.value.empty())
        out += takes_file(flag) ? " -r" : " -x";
      out += fmt::format(" -d '{}'\n", single_quoted(flag.help));
    });
  }
  return out;
}

}  // namespace

std::string generate(std::string_view kind) {
  if (kind == "man") return man_page();
  if (kind == "complete-bash") return bash_completion();
  if (kind == "complete-zsh") return zsh_completion();
  if (kind == "complete-fish") return fish_completion();
  throw Error(ErrorCode::invalid_argument,
              fmt::format("--generate '{}' is not one of man, complete-bash, complete-zsh, "
                          "complete-fish",
                          kind));
}

}  // namespace bloomery::cli
