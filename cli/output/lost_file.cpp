// The handler of SIGBUS. It calls only what POSIX allows in a handler, has its buffers outside of the stack,
// and never returns to the access that failed.
#include "output/system.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bloomery::cli {

namespace {

constexpr std::string_view kWasCut =
    ": was truncated or overwritten in place while it was in use. Put a filter into the place of "
    "another with mv, never with cp or >; check this one with 'bloomery verify', and build it "
    "again if it is damaged\n";
constexpr std::string_view kFailed =
    ": its disk failed or is full, or it was overwritten in place while it was in use. Look at the "
    "log of the system and at 'df', and check the file with 'bloomery verify'\n";

// The fields of a line of /proc/self/maps that are used here.
struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  std::uint64_t offset = 0, inode = 0;
  std::string_view path;  // with "\012" for a line end, as the kernel writes it
};

// Takes a number from the front of the text, and the character after it.
std::uint64_t take_number(std::string_view& text, unsigned base) noexcept {
  std::uint64_t number = 0;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    const unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a') + 10
                                                  : base;
    if (digit >= base) break;
    number = number * base + digit;
  }
  return number;
}

// begin-end rwxp offset major:minor inode      path
Mapping mapping_of(std::string_view line) noexcept {
  Mapping mapping;
  mapping.begin = take_number(line, 16);
  mapping.end = take_number(line, 16);
  line.remove_prefix(std::min<std::size_t>(line.size(), 5));
  mapping.offset = take_number(line, 16);
  take_number(line, 16);
  take_number(line, 16);
  mapping.inode = take_number(line, 10);
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
  mapping.path = line;
  return mapping;
}

// Collects what is written, escaped where a terminal would obey it, and then writes it at once.
class Line {
 public:
  void add(std::string_view text) noexcept {
    for (const char c : text) put(c);
  }
  void add_quoted(std::string_view text) noexcept {
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x20 && byte < 0x7F) {
        put(c);
      } else {
        add("\\x");
        put(kDigits[byte >> 4U]);
        put(kDigits[byte & 15U]);
      }
    }
  }
  void write() const noexcept {
    for (std::size_t done = 0; done < size_;) {
      const ssize_t written = ::write(STDERR_FILENO, bytes_.data() + done, size_ - done);
      if (written < 0 && errno != EINTR) return;
      if (written > 0) done += static_cast<std::size_t>(written);
    }
  }

 private:
  void put(char c) noexcept {
    if (size_ < bytes_.size()) bytes_[size_++] = c;
  }
  std::size_t size_ = 0;
  std::array<char, 4 * PATH_MAX + 1024> bytes_{};
};

// Used by the handler alone, which one thread enters.
std::array<char, PATH_MAX + 256> text_of_line;
std::array<char, PATH_MAX> path_to_ask;
Line line_to_print;

// The mapping of a file that contains the address; without a path: there is none.
Mapping mapping_at(std::uintptr_t address) noexcept {
  const int fd = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::size_t size = 0;
  for (;;) {
    char c = 0;
    const ssize_t got = ::read(fd, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    if (c != '\n') {
      if (size < text_of_line.size()) text_of_line[size++] = c;
      continue;
    }
    const Mapping mapping = mapping_of({text_of_line.data(), size});
    if (address >= mapping.begin && address < mapping.end) {
      ::close(fd);
      return mapping.path.starts_with('/') ? mapping : Mapping{};
    }
    size = 0;
  }
  ::close(fd);
  return {};
}

// Whether the file, if its name still exists, has the byte at the address.
bool reaches(const Mapping& mapping, std::uintptr_t address) noexcept {
  if (mapping.path.size() >= path_to_ask.size()) return false;
  *std::copy(mapping.path.begin(), mapping.path.end(), path_to_ask.begin()) = '\0';
  struct stat file {};
  return ::stat(path_to_ask.data(), &file) == 0 && file.st_ino == mapping.inode &&
         static_cast<std::uint64_t>(file.st_size) > mapping.offset + (address - mapping.begin);
}

int code_of_exit = 0;
std::atomic_flag entered;

extern "C" void on_bus_error(int number, siginfo_t* info, void*) {
  // The other threads wait for the first one, which ends the process.
  while (entered.test_and_set()) ::pause();
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const Mapping mapping = info->si_code == BUS_ADRERR ? mapping_at(address) : Mapping{};
  if (mapping.path.empty()) {
    // It takes effect when this handler returns.
    std::signal(number, SIG_DFL);
    std::raise(number);
    return;
  }
  line_to_print.add("bloomery: ");
  line_to_print.add_quoted(mapping.path);
  line_to_print.add(reaches(mapping, address) ? kFailed : kWasCut);
  line_to_print.write();
  ::_exit(code_of_exit);
}

}  // namespace

void explain_lost_files(int exit_code) {
  code_of_exit = exit_code;
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace bloomery::cli
