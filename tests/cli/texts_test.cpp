// Help, man page and completions name every flag; every example that is shown anywhere parses.
#include "flags/flags.hpp"
#include "flags/help.hpp"
#include "flags/parse.hpp"
#include "tool.hpp"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace bloomery::cli {
namespace {

using test::run;

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

bool takes(const VerbInfo& verb, const Flag& flag) {
  return (flag.verbs & verb_bit(verb.verb)) != 0;
}

TEST(Texts, TheTableIsInOrderAndWithoutRepeats) {
  for (const VerbInfo& verb : all_verbs()) {
    EXPECT_EQ(&info_of(verb.verb), &verb) << verb.name;
    std::set<std::string> names;
    for (const Flag& flag : all_flags()) {
      if (!takes(verb, flag)) continue;
      if (flag.short_name != 0) {
        EXPECT_NE(std::isalnum(static_cast<unsigned char>(flag.short_name)), 0) << flag.long_name;
        EXPECT_TRUE(names.insert(std::string(1, flag.short_name)).second);
      }
      if (!flag.long_name.empty()) {
        EXPECT_TRUE(names.insert(std::string(flag.long_name)).second);
      }
    }
  }
}

TEST(Texts, HelpNamesEveryFlagAndExample) {
  for (const VerbInfo& verb : all_verbs()) {
    EXPECT_TRUE(has(short_help(), std::string(verb.summary)));
    const std::string brief = short_help(verb), whole = long_help(verb);
    for (const Flag& flag : all_flags()) {
      EXPECT_EQ(has(brief, flag_usage(flag) + " "), takes(verb, flag)) << flag_usage(flag);
      EXPECT_EQ(has(whole, flag_usage(flag) + "\n"), takes(verb, flag)) << flag_usage(flag);
    }
    for (const Example& example : verb.examples) {
      EXPECT_TRUE(has(whole, std::string(example.command)));
      EXPECT_TRUE(has(long_help(), std::string(example.command)));
    }
  }
}

// As one line, without the breaks and indents of a page.
std::string words_of(const std::string& page) {
  std::istringstream in(page);
  std::string out;
  for (std::string word; in >> word;) out += (out.empty() ? "" : " ") + word;
  return out;
}

TEST(Texts, LongHelpHasEveryWordAndFitsATerminal) {
  int full = 0;  // lines
  for (const VerbInfo& verb : all_verbs()) {
    const std::string page = long_help(verb), whole = words_of(page);
    EXPECT_TRUE(has(whole, std::string(verb.detail))) << verb.name;
    for (const Topic& topic : all_topics()) EXPECT_TRUE(has(whole, std::string(topic.text)));
    for (const Example& example : verb.examples)
      EXPECT_TRUE(has(whole, std::string(example.meaning)));
    for (const Flag& flag : all_flags()) {
      if (!takes(verb, flag)) continue;
      EXPECT_TRUE(has(whole, std::string(flag.help))) << flag_usage(flag);
      EXPECT_TRUE(has(whole, std::string(flag.detail))) << flag_usage(flag);
    }
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(line.size() <= 80 || has(line, "  bloomery ") || has(line, " | ")) << line;
      full += line.size() == 80 ? 1 : 0;
    }
  }
  EXPECT_GT(full, 0);
}

std::string in_roff(std::string_view name) {
  std::string text;
  for (const char c : name) text += c == '-' ? std::string("\\-") : std::string(1, c);
  return text;
}

TEST(Texts, ManPageAndCompletionsNameEveryFlag) {
  const std::string man = generate("man"), bash = generate("complete-bash"),
                    zsh = generate("complete-zsh"), fish = generate("complete-fish");
  for (const Flag& flag : all_flags()) {
    if (!flag.long_name.empty()) {
      const std::string name = "--" + std::string(flag.long_name);
      EXPECT_TRUE(has(man, "\\fB\\-\\-" + in_roff(flag.long_name) + "\\fR")) << name;
      EXPECT_TRUE(has(bash, " " + name)) << name;
      EXPECT_TRUE(has(zsh, "'" + name + "[") || has(zsh, "'" + name + "=[")) << name;
      EXPECT_TRUE(has(fish, " -l " + std::string(flag.long_name) + " ")) << name;
    }
    if (flag.short_name != 0) {
      const std::string name = std::string("-") + flag.short_name;
      EXPECT_TRUE(has(man, "\\fB\\" + name + "\\fR")) << name;
      EXPECT_TRUE(has(bash, name + " ")) << name;
      EXPECT_TRUE(has(zsh, "'" + name + "[")) << name;
      EXPECT_TRUE(has(fish, std::string(" -s ") + flag.short_name + " ")) << name;
    }
  }
  for (const VerbInfo& verb : all_verbs())
    for (const std::string& text : {man, bash, zsh, fish})
      EXPECT_TRUE(has(text, std::string(verb.name)));
  EXPECT_THROW((void)generate("complete-dash"), Error);
}

TEST(Texts, ManPageHasTheSectionsThatPeopleLookFor) {
  const std::string man = generate("man");
  std::size_t at = 0;
  for (const char* section : {"NAME", "SYNOPSIS", "VERBS", "FLAGS", "EXIT STATUS", "ENVIRONMENT",
                              "EXAMPLES", "SEE ALSO"}) {
    at = man.find(std::string("\n.SH ") + section + "\n", at);
    ASSERT_NE(at, std::string::npos) << section << " is missing, or not in its place";
  }
  for (const char* variable :
       {"BLOOMERY_REDIS_PASSWORD", "BLOOMERY_REDIS_PASSWORD_FILE", "BLOOMERY_KERNEL"})
    EXPECT_TRUE(has(man.substr(man.find("\n.SH ENVIRONMENT")), variable));
}

TEST(Texts, CommandsCanBeCopiedFromTheManPage) {
  const std::string man = generate("man");
  EXPECT_TRUE(has(man.substr(0, man.find(".SH")), "\n.nh\n.ad l\n"));
}

// The words of a command as a shell would part them, up to a pipe or a redirection; empty
// if it is no call of the tool. Enough of a shell for what documents show.
std::vector<std::string> words_of_call(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  const auto end_word = [&] {
    if (in_word) words.push_back(word);
    word.clear();
    in_word = false;
  };
  const std::size_t call = line.find("bloomery ");
  if (call == std::string::npos) return {};
  for (std::size_t i = call; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == '|' || c == '>' || c == '<' || c == ';' || c == '#' || c == '&' || c == ')') {
      break;
    } else if (c == ' ') {
      end_word();
    } else {
      word += c;
      in_word = true;
    }
  }
  end_word();
  words.erase(words.begin());
  return words;
}

TEST(Texts, EveryExampleParses) {
  for (const VerbInfo& verb : all_verbs()) {
    EXPECT_FALSE(verb.examples.empty()) << verb.name;
    for (const Example& example : verb.examples) {
      const Options options = parse_options(words_of_call(std::string(example.command)));
      EXPECT_EQ(options.verb, verb.verb) << example.command;
    }
  }
}

// Lines of fenced code in the documents that begin with the tool's name, perhaps after a
// prompt or another command's pipe.
TEST(Texts, EveryCommandInTheDocumentsParses) {
  const std::filesystem::path root = BLOOMERY_SOURCE_DIR;
  std::vector<std::filesystem::path> documents{root / "README.md"};
  if (std::filesystem::exists(root / "docs"))
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "docs"))
      if (entry.path().extension() == ".md") documents.push_back(entry.path());
  for (const auto& document : documents) {
    std::ifstream in(document);
    bool code = false;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("```")) {
        code = !code &&
               (line == "```" || line == "```sh" || line == "```bash" || line == "```console");
        continue;
      }
      const std::string command = line.starts_with("$ ") ? line.substr(2) : line;
      const bool piped = command.find("| bloomery ") != std::string::npos;
      if (!code || (!command.starts_with("bloomery ") && !piped)) continue;
      try {
        (void)parse_options(words_of_call(command));
      } catch (const Error& error) {
        ADD_FAILURE() << document << ": '" << command << "': " << error.what();
      }
    }
  }
}

TEST(Texts, TheBinaryPrintsThem) {
  EXPECT_EQ(run({"-h"}).out, short_help());
  EXPECT_EQ(run({"--help"}).out, long_help());
  EXPECT_EQ(run({"dedup", "-h"}).out, short_help(info_of(Verb::dedup)));
  EXPECT_EQ(run({"dedup", "--help"}).out, long_help(info_of(Verb::dedup)));
  EXPECT_EQ(run({"help", "dedup"}).out, long_help(info_of(Verb::dedup)));
  EXPECT_EQ(run({"--generate", "man"}).out, man_page());
  EXPECT_TRUE(run({"--version"}).out.starts_with("bloomery "));
  for (const auto& arguments : {test::Arguments{"-h"}, {"check", "--help"}, {"--version"}})
    EXPECT_EQ(run(arguments).code, 0);
}

}  // namespace
}  // namespace bloomery::cli
