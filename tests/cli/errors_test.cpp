// Every bad input at the command line is one line on stderr, code 2, and nothing printed.
#include "tool.hpp"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "support/effort.hpp"

namespace bloomery::test {
namespace {

class Errors : public ToolTest {};

TEST_F(Errors, AMissingInput) {
  EXPECT_TRUE(
      is_error(run({"dedup", path("none")}), {path("none"), "No such file", "check the path"}));
  // Also behind good ones, before anything is printed.
  EXPECT_TRUE(is_error(run({"dedup", file("good", "a\n"), path("none")}), {path("none")}));
}

TEST_F(Errors, AMissingDirectoryIsNamed) {
  const std::string lines = file("lines", "a\n"), good = path("good");
  ASSERT_EQ(run({"create", good, "-n", "1", "-p", "1%"}).code, 0);
  for (const auto& words :
       std::vector<Arguments>{{"create", path("no/such/f"), "-n", "1", "-p", "1%"},
                              {"dedup", path("no/such/l")},
                              {"add", path("no/such/f"), lines},
                              {"check", path("no/such/f"), lines},
                              {"dedup", "--filter", path("no/such/f"), "-n", "1", lines},
                              {"rebuild", path("no/such/f"), lines},
                              {"info", path("no/such/f")},
                              {"verify", path("no/such/f")},
                              {"salvage", path("no/such/f"), path("f")},
                              {"merge", path("f"), path("no/such/f"), path("no/such/g")},
                              {"merge", path("no/such/f"), good, good},
                              {"convert", path("no/such/f"), path("f")},
                              {"convert", good, path("no/such/f")},
                              {"info", "--scheme", "php-hashes=BKDR", path("no/such/f")},
                              {"create", "--scheme", "php-hashes=BKDR", path("no/such/f")},
                              {"dedup", "-o", path("no/such/out"), lines}})
    EXPECT_TRUE(is_error(run(words), {"the directory " + path("no/such") + " does not exist"}));
  EXPECT_TRUE(is_error(run({"dedup", path("no")}), {"check the path"}));
}

TEST_F(Errors, OfOneFilterDoesNotKeepInfoFromTheOthers) {
  for (const char* name : {"one", "two"})
    ASSERT_EQ(run({"create", path(name), "-n", "10", "-p", "1%"}).code, 0);
  const auto ran = run({"info", path("none"), path("one"), path("none"), path("two")});
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(ran.out.starts_with("filter")) << ran.out;
  EXPECT_FALSE(says(ran.out, "\n\n\n"));
  EXPECT_TRUE(says(ran.out, path("one")));
  EXPECT_TRUE(says(ran.out, path("two")));
  EXPECT_TRUE(says(ran.err, path("none")));
}

TEST_F(Errors, ADirectory) {
  EXPECT_TRUE(is_error(run({"dedup", path("")}), {"is a directory", path("")}));
  EXPECT_TRUE(is_error(run({"dedup"}, {}, {.in = path("")}),
                       {"standard input is a directory; name files"}));
  EXPECT_FALSE(says(run({"dedup"}, {}, {.in = path("")}).err, "-/*"));
}

TEST_F(Errors, AnUnreadableInput) {
  // Root reads everything, so then the tool runs as nobody, if nobody may run it.
  const Redirect reader{.nobody = ::geteuid() == 0};
  if (run({"--version"}, {}, reader).code != 0) GTEST_SKIP() << "nobody may not run the tool";
  std::filesystem::permissions(path(""), std::filesystem::perms{0755});
  const std::string open = file("open", "a\n"), locked = file("locked", "a\n");
  ASSERT_EQ(::chmod(locked.c_str(), 0), 0);
  EXPECT_EQ(run({"dedup", "-q", open}, {}, reader).out, "a\n");
  EXPECT_TRUE(is_error(run({"dedup", locked}, {}, reader),
                       {locked, "Permission denied", "check the permissions"}));
  EXPECT_TRUE(is_error(run({"info", locked}, {}, reader), {locked, "Permission denied"}));
  // Another file could take its place, because anybody may write into the directory.
  std::filesystem::permissions(path(""), std::filesystem::perms{0777});
  ASSERT_EQ(::chmod(locked.c_str(), 0444), 0);
  EXPECT_TRUE(is_error(run({"dedup", "-o", locked, open}, {}, reader),
                       {"cannot write", locked, "Permission denied"}));
  EXPECT_EQ(text_of(locked), "a\n");

  std::filesystem::permissions(path(""), std::filesystem::perms{0555});
  EXPECT_TRUE(is_error(run({"create", path("f"), "-n", "1", "-p", "1%"}, {}, reader),
                       {path(".f.new"), "Permission denied", "permissions of its directory"}));
  std::filesystem::permissions(path(""), std::filesystem::perms{0755});
}

TEST_F(Errors, AFilterThatIsNoFile) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& other : {pipe, path("")})
    for (const auto& words : std::vector<Arguments>{
             {"info", other}, {"verify", other}, {"convert", other, path("out")}})
      EXPECT_TRUE(is_error(run(words), {"is not a regular file"})) << words.front() << other;
}

TEST_F(Errors, AClosedInput) {
  EXPECT_TRUE(is_error(run({"dedup"}, {}, {.close_in = true}), {"standard input"}));
}

TEST_F(Errors, AClosedOutput) {
  EXPECT_TRUE(is_error(run({"dedup"}, "a\n", {.close_out = true}), {"standard output is closed"}));
  EXPECT_TRUE(is_error(run({"plan", "-n", "1M", "-p", "1%"}, {}, {.close_out = true}),
                       {"standard output is closed"}));
  const std::string out = path("out");
  EXPECT_EQ(run({"dedup", "-q", "-o", out}, "a\na\n", {.close_out = true}).code, 0);
  EXPECT_EQ(run({"dedup", "-q", out}).out, "a\n");
  EXPECT_TRUE(is_error(run({"dedup", "-q", "-o", "/dev/stdout"}, "a\n", {.close_out = true}),
                       {"cannot write to standard output"}));
}

TEST_F(Errors, AFullDevice) {
  EXPECT_TRUE(is_error(run({"dedup", "-q"}, "a\n", {.out = "/dev/full"}),
                       {"standard output", "No space left"}));
  EXPECT_TRUE(is_error(run({"plan", "-n", "1M", "-p", "1%"}, {}, {.out = "/dev/full"}),
                       {"standard output", "No space left"}));
}

TEST_F(Errors, AFullDeviceEndsARunOverSeveralFilters) {
  const std::string one = path("one"), two = path("two");
  for (const std::string& filter : {one, two})
    ASSERT_EQ(run({"create", filter, "-n", "10", "-p", "1%"}).code, 0);
  for (const auto& words : std::vector<Arguments>{
           {"info", one, two}, {"info", "--json", one, two}, {"verify", one, two}})
    EXPECT_TRUE(
        is_error(run(words, {}, {.out = "/dev/full"}), {"standard output", "No space left"}))
        << words.front();
}

TEST_F(Errors, AFullStderrChangesNoResult) {
  const Redirect full{.err = "/dev/full"};
  EXPECT_EQ(run({"dedup"}, "a\na\n", full).out, "a\n");
  EXPECT_EQ(run({"dedup", "--json"}, "a\n", full).code, 0);
  EXPECT_EQ(run({"dedup", path("none")}, {}, full).code, 2);
  EXPECT_EQ(run({"create", path("f"), "-n", "1K", "-p", "1%"}, {}, full).code, 0);
  EXPECT_EQ(run({"info", path("f")}).code, 0);
}

TEST_F(Errors, AnUnreadStderrChangesNoResult) {
  const Redirect gone{.close_err_reader = true};
  EXPECT_EQ(run({"dedup"}, "a\na\n", gone).out, "a\n");
  EXPECT_EQ(run({"dedup", path("none")}, {}, gone).code, 2);
  EXPECT_EQ(run({"create", path("f"), "-n", "1K", "-p", "1%"}, {}, gone).code, 0);
}

TEST_F(Errors, AFileSizeLimit) {
  // 16 KiB, in the units of 512 bytes that a shell counts.
  const std::string limited = path("limited");
  const Redirect small{.file_blocks = 32};
  EXPECT_TRUE(is_error(run({"create", limited, "-n", "1M", "-p", "1%"}, {}, small),
                       {limited, "File too large", "ulimit -f"}));
  EXPECT_FALSE(std::filesystem::exists(limited));
  const std::string out = path("out");
  const auto ran =
      run({"dedup", "-q"}, std::string(100'000, 'x') + "\n", {.out = out, .file_blocks = 32});
  EXPECT_TRUE(is_error(ran, {"standard output", "File too large"}));
}

TEST_F(Errors, ALimitOfOpenFiles) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer opens pipes to see whether memory is there";
  const Redirect few{.open_files = 5};
  const std::string lines = file("lines", "a\n");
  for (const auto& words :
       std::vector<Arguments>{{"dedup", lines}, {"create", path("f"), "-n", "1K", "-p", "1%"}})
    EXPECT_TRUE(is_error(run(words, {}, few), {"Too many open files", "ulimit -n"}));
}

TEST_F(Errors, ANameThatLeavesNoRoomForThatOfTheNewFile) {
  const std::string longest = path(std::string(255, 'n'));
  EXPECT_TRUE(is_error(run({"create", longest, "-n", "1K", "-p", "1%"}),
                       {"File name too long", "give a shorter name"}));
}

TEST_F(Errors, TheOutputIsTheInput) {
  const std::string both = file("both", "a\na\n");
  EXPECT_TRUE(is_error(run({"dedup", both}, {}, {.out = both}), {both, "output as well"}));
  EXPECT_EQ(text_of(both), "a\na\n");
  EXPECT_TRUE(is_error(run({"dedup"}, {}, {.in = both, .out = both}), {"output as well"}));
  // A count does not grow with what is read.
  EXPECT_EQ(run({"dedup", "-c", both}, {}, {.out = both}).code, 0);
}

TEST_F(Errors, NumbersOutOfRange) {
  EXPECT_TRUE(is_error(run({"dedup", "-n", "0"}, "a\n"), {}));
  EXPECT_TRUE(is_error(run({"dedup", "-n", "100T"}, "a\n"), {}));
  EXPECT_TRUE(is_error(run({"dedup", "-n", "many"}, "a\n"), {"'many' is not a count"}));
  EXPECT_TRUE(is_error(run({"dedup", "-p", "0.9"}, "a\n"), {}));
  EXPECT_TRUE(is_error(run({"dedup", "-p", "0"}, "a\n"),
                       {"'0' is not a false-positive rate", "1e-15 to 0.5"}));
}

TEST_F(Errors, UnknownNames) {
  EXPECT_TRUE(is_error(run({}), {"no verb"}));
  EXPECT_TRUE(is_error(run({"dedpu"}), {"did you mean dedup?"}));
  EXPECT_TRUE(is_error(run({"dedup", "--conut"}), {"did you mean --count?"}));
  EXPECT_TRUE(is_error(run({"--generate", "poem"}), {"poem"}));
}

TEST_F(Errors, ANameWithALineEndStaysOneLine) {
  EXPECT_TRUE(is_error(run({"dedup", path("two\nlines")}), {"two\\nlines"}));
}

// An address of a scheme that is none of ours is taken for a file, or for what it cannot be.
TEST_F(Errors, NoMessageRepeatsAPassword) {
  const std::string filter = path("f");
  EXPECT_EQ(run({"create", "-q", filter, "-n", "1K", "-p", "1%"}).code, 0);
  for (const std::string& address : std::vector<std::string>{
           "redsi://me:secret@h?key=k", "https://me:secret@h/x", "valkey://me:secret@",
           "valkeys://me:secret@h?key=k", "rediss://me:secret@h?key=k",
           "redis+tcp://me:secret@h?key=k", "me:secret@h/x", "redsi://me:two secret words@h",
           "redsi://:" + std::string(70, 'x') + "secret@h", "redsi://me:secret@two@h",
           "\033[31m://me:secret@h"})
    for (const Arguments& words :
         std::initializer_list<Arguments>{{"info", address},
                                          {"check", address},
                                          {"add", address},
                                          {"check", filter, address},
                                          {"create", address, "-n", "1K", "-p", "1%"},
                                          {"rotate", address},
                                          {"rotate", filter, address},
                                          {"verify", address, address},
                                          {"merge", address, filter, filter},
                                          {"merge", path("out"), filter, address},
                                          {"convert", address, path("out")},
                                          {"convert", filter, address, filter},
                                          {"salvage", address, path("out")},
                                          {"rebuild", address, filter},
                                          {"dedup", address},
                                          {"dedup", "--filter", address},
                                          {"dedup", "--filter=" + address, "-n", address},
                                          {"dedup", "-n" + address},
                                          {"dedup", "--seed", address},
                                          {"dedup", "--layout", address},
                                          {"dedup", "--window=" + address},
                                          {"dedup", "-k1", "-d", address},
                                          {"dedup", "--scheme", address, "--filter", "x"},
                                          {"dedup", "--" + address},
                                          {"plan", address},
                                          {"plan", "--web", "--force", address},
                                          {address},
                                          {"--generate", address}}) {
      const Ran ran = run(words);
      EXPECT_EQ(ran.code, 2) << words.front() << " " << address;
      EXPECT_FALSE(says(ran.out + ran.err, "secret")) << words.front();
    }
}

TEST_F(Errors, AHostAndAPortAreNoFile) {
  const std::string address = "localhost:6379";
  for (const Arguments& words :
       std::initializer_list<Arguments>{{"info", address},
                                        {"create", address, "-n", "1K", "-p", "1%"},
                                        {"rebuild", address},
                                        {"salvage", address, path("out")},
                                        {"salvage", path("f.bloom"), address}}) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 2) << words.front();
    EXPECT_TRUE(
        ran.err.ends_with("write redis://localhost:6379?key=NAME; if it is a path, write "
                          "./localhost:6379, or the whole path\n"))
        << ran.err;
  }
}

TEST_F(Errors, NoMessageObeysTheNameOfAFile) {
  const std::string name = "a\033]0;pwned\a\x9b\xc2\x9b\r\t\xe2\x80\xae.bloom";
  const std::string shown = "a\\x1b]0;pwned\\x07\\x9b\\xc2\\x9b\\r\\t\\xe2\\x80\\xae.bloom";
  const auto quotes_it = [&](const Ran& ran) {
    // A tool that was built without the page does not come as far as to the file's name.
    if (ran.err.find("built without the page") != std::string::npos) return;
    EXPECT_TRUE(says(ran.out + ran.err, shown));
    for (const char c : ran.out + ran.err) {
      EXPECT_TRUE((c >= ' ' && c <= '~') || c == '\n') << int{c} << " in " << ran.err;
    }
  };
  for (const Arguments& words :
       std::initializer_list<Arguments>{{"info", path(name)},
                                        {"dedup", path(name)},
                                        {"create", path(name), "-n", "1K", "-p", "1%"},
                                        {"create", path(name), "-n", "1K", "-p", "1%"},
                                        {"info", path(name)},
                                        {"verify", path(name)},
                                        {"verify", path(name), path(name)},
                                        {"rotate", path(name)},
                                        {"remove", path(name)},
                                        {"merge", "--force", path(name), path(name), path(name)},
                                        {"salvage", path(name), path(name + "2")},
                                        {"plan", "--web", path(name)},
                                        {"plan", "-n", name},
                                        {"dedup", "--layout", name},
                                        {"dedup", "-k1", "-d", name},
                                        {"dedup", "--" + name},
                                        {name}})
    quotes_it(run(words));
  const Ran json = run({"info", "--json", path(name)});
  EXPECT_TRUE(says(json.out, "a\\u001b]0;pwned\\u0007\xef\xbf\xbd\\u009b\\r\\t\\u202e.bloom"));
  // A label escapes each backslash.
  const Ran metrics = run({"info", "--format", "prometheus", path(name)});
  EXPECT_TRUE(says(metrics.out, "a\\\\x1b]0;pwned\\\\x07\\\\x9b\\\\xc2\\\\x9b"));
}

TEST_F(Errors, NoMemory) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer itself takes the address space";
  // 256 MiB of address space: not for a filter of 1 billion, nor for a line of 400 MB.
  constexpr std::size_t kLimit = std::size_t{256} << 20;
  EXPECT_TRUE(is_error(run({"dedup", "-n", "1G"}, "a\n", {.memory = kLimit}), {"memory"}));
  // Nor for the 300 MB of a filter in a file, and no part of it stays.
  for (const Arguments& verb : std::initializer_list<Arguments>{
           {"create", path("f"), "-n", "250M", "-p", "1%"},
           {"dedup", "--filter", path("f"), "-n", "250M", "-p", "1%"}}) {
    EXPECT_TRUE(is_error(run(verb, "a\n", {.memory = kLimit}), {path("f"), "memory"}));
    EXPECT_FALSE(std::filesystem::exists(path("f"))) << verb.front();
  }
  const std::string zeros = path("zeros");
  file("zeros", "");
  std::filesystem::resize_file(zeros, 400'000'000);
  EXPECT_TRUE(is_error(run({"dedup", zeros}, {}, {.memory = kLimit}), {zeros, "memory", "line"}));
}

// Whatever there is no memory for, a thread or the blocks of text that it waits for.
TEST_F(Errors, TooLittleMemoryToBegin) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer itself takes the address space";
  const std::string line = std::string(99'999, 'x') + "\n";
  std::string text;  // more than all blocks together
  for (int i = 0; i < 110; ++i) text += line;
  const std::string lines = file("lines", text);
  int failed = 0;
  for (std::size_t mebibytes = 12; mebibytes < 100; mebibytes += 2) {
    SCOPED_TRACE(mebibytes);
    const auto ran = run({"dedup", "-q", "-j", "1", lines}, {}, {.memory = mebibytes << 20});
    if (ran.code == 127) continue;  // not even for the program and its libraries
    if (ran.code == 0) {
      EXPECT_TRUE(ran.out == line);
    } else {
      EXPECT_TRUE(is_error(ran, {"memory"})) << ran.err;
      ++failed;
    }
  }
  EXPECT_GT(failed, 0);
}

// As in a container whose filter of system calls is older than its C library.
TEST_F(Errors, AThreadThatTheSystemForbids) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer itself starts a thread";
  const std::string said = path("said");
  const pid_t child = ::fork();
  if (child == 0) {
    sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 1, 0),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog filter{std::size(code), code};
    ::dup2(::open(said.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0)
      ::execl(BLOOMERY_TOOL_FILE, "bloomery", "dedup", "/dev/null", nullptr);
    ::_exit(99);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 99) GTEST_SKIP() << "no filters of system calls here";
  EXPECT_EQ(status, 2 << 8);
  EXPECT_TRUE(text_of(said).starts_with("bloomery: cannot start a thread: Operation not permitted"))
      << text_of(said);
  EXPECT_FALSE(says(text_of(said), "memory"));
}

TEST_F(Errors, ALineOfAGigabyteIsALine) {
  if (kSanitized) GTEST_SKIP() << "slow under a sanitizer";
  const std::string zeros = path("zeros");
  file("zeros", "");
  std::filesystem::resize_file(zeros, 1'000'000'000);
  // Twice: the second is a repeat of the first, whose end is the file's.
  const auto ran = run({"dedup", "-c", zeros, zeros});
  EXPECT_EQ(ran.out, "1\n") << ran.err;
  EXPECT_EQ(ran.code, 0);
}

}  // namespace
}  // namespace bloomery::test
