// The man page, in the man macros that every roff knows.
#include "flags/help.hpp"

#include <fmt/format.h>
#include <bloomery/version.hpp>

namespace bloomery::cli {

namespace {

// Text as roff prints it: no request at the start of a line, hyphens that can be copied.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && out.empty()) {
      out += fmt::format("\\&{}", c);
    } else {
      out += c;
    }
  }
  return out;
}

std::string flag_line(const Flag& flag) {
  std::string text;
  if (flag.short_name != 0) text = fmt::format("\\fB\\-{}\\fR", flag.short_name);
  if (!flag.long_name.empty())
    text += fmt::format("{}\\fB\\-\\-{}\\fR", text.empty() ? "" : ", ", roff(flag.long_name));
  if (!flag.value.empty()) text += fmt::format(" \\fI{}\\fR", roff(flag.value));
  return text;
}

std::string in_capitals(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

}  // namespace

std::string man_page() {
  std::string out = fmt::format(
      ".TH BLOOMERY 1 \"\" \"bloomery {}\" \"User Commands\"\n"
      ".nh\n.ad l\n"  // commands can be copied: no hyphens at the ends of lines, and no wide gaps
      ".SH NAME\nbloomery \\- {}\n.SH SYNOPSIS\n",
      BLOOMERY_VERSION, roff(kTagline));
  for (const VerbInfo& verb : all_verbs())
    out +=
        fmt::format(".B bloomery {}\n[\\fIFLAGS\\fR] {}\n.br\n", verb.name, roff(verb.arguments));
  out += ".SH VERBS\n";
  for (const VerbInfo& verb : all_verbs()) {
    out += fmt::format(".TP\n.B {}\n{}.\n{}\n", verb.name, roff(verb.summary), roff(verb.detail));
  }
  out += ".SH FLAGS\n";
  for (const Flag& flag : all_flags()) {
    out += fmt::format(".TP\n{}\n{}.\n", flag_line(flag), roff(flag.help));
    if (!flag.detail.empty()) out += roff(flag.detail) + "\n";
    if (flag.id != FlagId::help_short && flag.id != FlagId::help_long)
      out += fmt::format("(\\fI{}\\fR)\n", verbs_of(flag));
  }
  for (const Topic& topic : all_topics())
    out += fmt::format(".SH {}\n{}\n", in_capitals(topic.title), roff(topic.text));
  out += ".SH EXAMPLES\n";
  for (const VerbInfo& verb : all_verbs())
    for (const Example& example : verb.examples)
      out += fmt::format(".TP\n.B {}\n{}.\n", roff(example.command), roff(example.meaning));
  return out +
         ".SH SEE ALSO\n.BR sort (1),\n.BR uniq (1),\n.BR comm (1),\n.BR redis\\-server (1)\n";
}

}  // namespace bloomery::cli
