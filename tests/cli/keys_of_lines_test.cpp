// The flags that say what a key is and where the lines go, through the real binary.
#include "files.hpp"
#include "support/effort.hpp"
#include "traced.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace bloomery::test {
namespace {

class KeysOfLines : public Files {};
class OutputFiles : public Files {};

TEST_F(KeysOfLines, TheWholeLineIsPrinted) {
  EXPECT_EQ(run({"dedup", "-q", "-k", "3,1", "-d", ","}, "a,1,x\nb,2,x\na,3,x\n").out,
            "a,1,x\nb,2,x\n");
  EXPECT_EQ(run({"dedup", "-q", "-k", "2", "--whitespace"}, " a  1\nb 1 \nc\t2\n").out,
            " a  1\nc\t2\n");
  EXPECT_EQ(run({"dedup", "-q", "--ignore-case"}, "Ab\naB\nb\n").out, "Ab\nb\n");
  EXPECT_EQ(run({"dedup", "-q", "--json-key", "/u/n"},
                "{\"u\":{\"n\":1},\"t\":1}\n{\"t\":2,\"u\":{\"n\": 1 }}\n{\"u\":{\"n\":2}}\n{}\n")
                .out,
            "{\"u\":{\"n\":1},\"t\":1}\n{\"u\":{\"n\":2}}\n{}\n");
}

TEST_F(KeysOfLines, EveryVerbHasThem) {
  const std::string filter = path("f.bloom");
  ASSERT_EQ(run({"create", "-q", filter, "--kind", "counting", "-n", "1K", "-p", "1e-6"}).code, 0);
  ASSERT_EQ(run({"add", "-q", filter, "--json-key", "id"}, "{\"id\":\"A b\"}\n{\"id\":7}\n").code,
            0);
  // The key is the same bytes wherever it comes from.
  EXPECT_EQ(run({"check", "-q", "-c", filter}, "A b\n7\nb\n").out, "2\n");
  EXPECT_EQ(run({"check", "-q", "-c", filter, "-k", "2,1", "-d", " "}, "b A x\n").out, "1\n");
  ASSERT_EQ(run({"remove", "-q", filter, "-k", "2", "--whitespace"}, " x  7\n").code, 0);
  EXPECT_EQ(run({"check", "-q", "-c", filter}, "7\n").out, "0\n");
  ASSERT_EQ(run({"rebuild", "-q", filter, "--ignore-case"}, "AbC\n").code, 0);
  EXPECT_EQ(run({"check", "-q", "-c", filter}, "AbC\nabc\n").out, "1\n");
  EXPECT_EQ(run({"check", "-q", "-c", filter, "--ignore-case"}, "ABC\nabc\n").out, "2\n");
}

// A wrong number or delimiter gives all lines one key, and dedup drops all but one of them.
TEST_F(KeysOfLines, EmptyKeysAreCounted) {
  const std::string filter = made("f.bloom", "");
  const auto said = [](const Arguments& arguments, const std::string& lines, const char* what) {
    const std::string err = run(arguments, lines).err;
    return what == nullptr ? !says(err, "empty key") : says(err, what);
  };
  EXPECT_TRUE(said({"dedup", "-k", "2"}, "1 a\n2 b\n", "2 lines have an empty key"));
  EXPECT_TRUE(said({"add", filter, "-k", "2,3", "-d", ","}, "a,b\nc,,d\ne,,\n", "1 line has an"));
  EXPECT_TRUE(said({"check", filter, "--json-key", "a", "--ignore-case"}, "{}\n{\"a\":\"\"}\n",
                   "2 lines have"));
  EXPECT_TRUE(said({"dedup", "-k", "2", "--whitespace"}, "1 a\n", nullptr));
  EXPECT_TRUE(said({"dedup"}, "\n\na\n", nullptr));
  EXPECT_TRUE(said({"dedup", "-q", "-k", "2"}, "a\n", nullptr));
}

TEST_F(KeysOfLines, ALineThatIsNoJsonEndsTheRunBehindTheLinesBeforeIt) {
  const auto ran = run({"dedup", "-q", "--json-key", "a"}, "{\"a\":1}\n{\"a\":2}\nno\n{\"a\":3}\n");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "{\"a\":1}\n{\"a\":2}\n");
  EXPECT_TRUE(says(ran.err, "line 3 of standard input is not a JSON object"));
  const std::string lines = file("events.jsonl", "{}\n[]\n");
  EXPECT_TRUE(says(run({"dedup", "-q", "--json-key", "a", lines}).err,
                   "line 2 of " + lines + " is not a JSON object"));
  EXPECT_TRUE(says(run({"dedup", "-q", "--json-key", "a", file("other.jsonl", "{}\n"), lines}).err,
                   "line 3 of all 2 inputs together is not a JSON object"));
  EXPECT_TRUE(says(ran.err, "grep '^[[:space:]]*{'"));
  const std::string filter = made("f.bloom", "");
  const int count = hurried() ? 80'000 : 200'000;  // more than one block of text
  std::string text;
  for (int i = 0; i < count; ++i) text += "{\"a\":" + std::to_string(i) + "}\n";
  const auto added = run({"add", "-q", "--json-key", "a", filter}, text + "{\n");
  EXPECT_EQ(added.code, 2);
  EXPECT_TRUE(says(added.err, hurried() ? "line 80,001 " : "line 200,001 "));
  EXPECT_EQ(run({"check", "-q", "-c", filter}, numbers(0, count)).out,
            std::to_string(count) + "\n");
  // What takes all or nothing takes nothing.
  EXPECT_EQ(run({"rebuild", "-q", "--json-key", "a", filter}, "{}\nx\n").code, 2);
  EXPECT_EQ(run({"check", "-q", "-c", filter}, "7\n").out, "1\n");
}

TEST_F(KeysOfLines, ALineThatIsNoJsonSaysWhetherTheLinesBeforeItAreDone) {
  const std::string filter = made("f.bloom", ""), out = path("out");
  const auto tail = [](const Arguments& arguments) {
    const std::string err = run(arguments, "{}\nx\n").err;
    return err.substr(std::min(err.size(), err.rfind("; ")));
  };
  for (Arguments arguments : {Arguments{"rebuild", "-q", filter},
                              {"dedup", "-q", "-o", out},
                              {"dedup", "-c"},
                              {"check", "-o", out, filter},
                              {"check", "-c", filter}}) {
    arguments.insert(arguments.end(), {"--json-key", "a"});
    EXPECT_EQ(tail(arguments), "; the lines before it are not done either\n") << arguments[0];
  }
  EXPECT_FALSE(std::filesystem::exists(out));
  // What the filter remembers is in the output.
  for (Arguments arguments : {Arguments{"add", "-q", filter},
                              {"check", filter},
                              {"dedup", "-q"},
                              {"dedup", "-c", "--filter", filter},
                              {"dedup", "-q", "--filter", path("new.bloom"), "-n9", "-o", out}}) {
    arguments.insert(arguments.end(), {"--json-key", "a"});
    EXPECT_EQ(tail(arguments), "; the lines before it are done\n") << arguments[0];
  }
  EXPECT_EQ(text_of(out), "{}\n");
}

TEST_F(OutputFiles, MayBeTheInput) {
  const std::string lines = file("lines", "a\nb\na\n");
  std::filesystem::permissions(lines, std::filesystem::perms(0640));
  std::filesystem::create_symlink("lines", path("link"));
  ASSERT_EQ(run({"dedup", "-q", "-o", path("link"), lines}).code, 0);
  EXPECT_EQ(text_of(lines), "a\nb\n");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(std::filesystem::status(lines).permissions(), std::filesystem::perms(0640));
  EXPECT_EQ(names(), (std::vector<std::string>{"lines", "link"}));
  const std::string filter = made("f.bloom", "b\n");
  ASSERT_EQ(run({"check", "-q", "-v", "--output=" + lines, filter, lines}).code, 2)
      << "-q prints none";
  ASSERT_EQ(run({"check", "-v", "-o", lines, filter, lines}).code, 0);
  EXPECT_EQ(text_of(lines), "a\n");
  ASSERT_EQ(run({"dedup", "-Z", "gzip", "-o", path("new.gz"), lines}).code, 0);
  EXPECT_EQ(run({"dedup", "-q", path("new.gz")}).out, "a\n");
}

TEST_F(OutputFiles, AreMadeWhereALinkLeads) {
  std::filesystem::create_directory(path("d"));
  std::filesystem::create_symlink("d/second", path("first"));
  std::filesystem::create_symlink("new", path("d/second"));
  ASSERT_EQ(run({"dedup", "-q", "-o", path("first")}, "a\na\n").code, 0);
  EXPECT_EQ(text_of(path("d/new")), "a\n");
  EXPECT_TRUE(std::filesystem::is_symlink(path("first")));
  EXPECT_TRUE(std::filesystem::is_symlink(path("d/second")));
  std::filesystem::create_symlink("circle", path("circle"));
  EXPECT_TRUE(is_error(run({"dedup", "-q", "-o", path("circle")}, "a\n"), {"circle"}));
}

TEST_F(OutputFiles, MayBeTheStandardOutput) {
  for (const char* const name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
    EXPECT_EQ(run({"dedup", "-q", "-o", name}, "a\na\n").out, "a\n") << name;
  // What is there already stays, as it does behind >>.
  const std::string out = file("out", "old\n");
  const std::string command =
      "printf 'a\\na\\n' | '" BLOOMERY_TOOL_FILE "' dedup -q -o /dev/stdout >>'" + out + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(text_of(out), "old\na\n");
  // Another descriptor, as of >(...), is a pipe without a path.
  const std::string piped = "{ printf 'a\\na\\n' | '" BLOOMERY_TOOL_FILE
                            "' dedup -q -o /dev/fd/3; } 3>&1 | cat >'" +
                            out + "'";
  ASSERT_EQ(std::system(piped.c_str()), 0);
  EXPECT_EQ(text_of(out), "a\n");
}

TEST_F(OutputFiles, AdmitNobodyWhomAnInputKeepsOut) {
  using std::filesystem::perms;
  const auto rights = [](const std::string& name) {
    return std::filesystem::status(name).permissions();
  };
  const std::string secret = file("secret", "a\n"), open = file("open", "b\n");
  std::filesystem::permissions(secret, perms(0600));
  std::filesystem::permissions(open, perms(0644));
  const std::string there = file("there", "");
  std::filesystem::permissions(there, perms(0666));
  for (const std::string& out : {path("fresh"), there}) {
    ASSERT_EQ(run({"dedup", "-q", "-o", out, open, secret}).code, 0);
    EXPECT_EQ(rights(out), perms(0600)) << out;
  }
  ASSERT_EQ(run({"dedup", "-q", "-o", path("fresh2"), open}).code, 0);
  EXPECT_EQ(rights(path("fresh2")) & perms(0077), rights(open) & perms(0077));
  ASSERT_EQ(run({"dedup", "-q", "--filter", path("f"), "-n", "1K", "-p", "1%", "-o", path("fresh3"),
                 secret})
                .code,
            0);
  EXPECT_EQ(rights(path("fresh3")), perms(0600));
}

TEST_F(OutputFiles, AreAsTheyWereAfterAnErrorOrASignal) {
  const std::string out = file("out", "old\n");
  const auto failed = run({"dedup", "-q", "--json-key", "a", "-o", out}, "{\"a\":1}\nx\n");
  EXPECT_EQ(failed.code, 2);
  EXPECT_EQ(text_of(out), "old\n");
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    Running tool({"dedup", "-o", out});
    tool.write("a\n");
    tool.wait_until_read();
    tool.signal(number);
    const auto ran = tool.finish(false);
    EXPECT_EQ(ran.code, 128 + number);
    EXPECT_TRUE(says(ran.err, out + " is unchanged"));
  }
  EXPECT_EQ(text_of(out), "old\n");
  EXPECT_EQ(names(), std::vector<std::string>{"out"});
  EXPECT_TRUE(is_error(run({"dedup", "-o", path("no/where")}, "a\n"), {"no/where"}));
  EXPECT_TRUE(is_error(run({"dedup", "-o", path("")}, "a\n"), {"directory"}));
  EXPECT_TRUE(is_error(run({"dedup", "-o", ""}, "a\n"), {"-o"}));
  EXPECT_TRUE(is_error(run({"dedup", "-c", "-o", out}, "a\n"), {"-o", "-c"}));
  // A limit of 512 bytes for files.
  const auto full = run({"dedup", "-q", "-o", out}, numbers(0, 10'000), {.file_blocks = 1});
  EXPECT_TRUE(is_error(full, {"cannot write to " + out}));
  EXPECT_EQ(names(), std::vector<std::string>{"out"});
}

// After a power loss the name has the old lines or all of the new ones.
TEST_F(OutputFiles, AreOnTheDiskBeforeTheyTakeTheirPlace) {
  if (kSanitized) GTEST_SKIP() << "no ptrace";
  const std::string out = file("out", "old\n");
  file("lines", "a\n");
  const int status = run_to_sync_of_output({"dedup", "-q", "-o", "out", "lines"}, path(""));
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(text_of(out), "old\n");
}

TEST_F(OutputFiles, ThatCannotTakeTheirPlaceAreAnErrorAndLeaveNothing) {
  const std::string out = path("out");
  Running tool({"dedup", "-q", "-o", out});
  tool.write("a\n");
  tool.wait_until_read();
  std::filesystem::create_directory(out);
  EXPECT_TRUE(is_error(tool.finish(), {"cannot write " + out, "Is a directory"}));
  EXPECT_EQ(names(), std::vector<std::string>{"out"});
}

TEST_F(OutputFiles, OfAFilterThatRemembersAreWrittenAsLinesCome) {
  const std::string filter = path("f.bloom"), out = file("out", "old\n");
  Running tool({"dedup", "-q", "--filter", filter, "-n", "1K", "-p", "1e-6", "-o", out});
  tool.write("a\nb\n");
  while (run({"check", "-q", "-c", filter}, "a\nb\n").out != "2\n") {
  }
  tool.signal(SIGKILL);
  tool.finish();
  EXPECT_EQ(text_of(out), "a\nb\n");
  EXPECT_TRUE(
      is_error(run({"dedup", "-q", "--filter", filter, "-o", out, out}), {out, "output as well"}));
  EXPECT_TRUE(is_error(run({"dedup", "-q", "--filter", filter, "-o", filter}, "c\n"),
                       {filter, "output as well"}));
  EXPECT_EQ(text_of(out), "a\nb\n") << "what is refused is not emptied";
  EXPECT_TRUE(is_error(run({"dedup", "--filter", out, "-o", path("new")}, "c\n"), {out}));
  EXPECT_FALSE(std::filesystem::exists(path("new")));
}

TEST_F(OutputFiles, AreNeverTheFilterAndMayBeADevice) {
  const std::string filter = made("f.bloom", "a\n");
  EXPECT_TRUE(is_error(run({"check", "-o", filter, filter}, "a\n"), {filter, "output as well"}));
  EXPECT_EQ(run({"check", "-q", "-c", filter}, "a\n").out, "1\n");
  const std::string fresh = path("fresh");
  EXPECT_TRUE(is_error(run({"dedup", "-q", "--filter", fresh, "-n", "1K", "-o", fresh}, "a\n"),
                       {fresh, "output as well"}));
  EXPECT_FALSE(std::filesystem::exists(fresh));
  // Nor any other filter: who names it takes -o for --filter.
  EXPECT_TRUE(is_error(run({"dedup", "-o", filter}, "b\n"), {filter, "is a filter"}));
  EXPECT_TRUE(is_error(run({"check", "-o", filter, made("g.bloom", "b\n")}, "b\n"),
                       {filter, "is a filter"}));
  EXPECT_TRUE(is_error(run({"dedup", "--filter", fresh, "-n", "1K", "-o", filter}, "b\n"),
                       {filter, "is a filter"}));
  EXPECT_EQ(run({"check", "-q", "-c", filter}, "a\n").out, "1\n");
  EXPECT_EQ(run({"dedup", "-q", "-o", "/dev/null"}, "a\n").code, 0);
  EXPECT_EQ(run({"dedup", "-q", "-o", "/dev/stdout"}, "a\n").out, "a\n");
}

}  // namespace
}  // namespace bloomery::test
