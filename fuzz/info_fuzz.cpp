// Any bytes as a filter's file, under any name: what info and verify print to both outputs is text that a terminal may
// show, messages have no passwords, and JSON is well-formed.
#include "bytes.hpp"
#include "flags/parse.hpp"
#include "forged.hpp"
#include "output/message.hpp"
#include "require.hpp"
#include "shown.hpp"
#include "verbs/verbs.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace bloomery;
using namespace bloomery::cli;
using fuzz::kSecret;
using fuzz::require;

// Takes what is written to a descriptor, until the end of the scope.
class Captured {
 public:
  explicit Captured(int fd)
      : fd_(fd), before_(::dup(fd)), taken_(::memfd_create("taken", MFD_CLOEXEC)) {
    require(before_ >= 0 && taken_ >= 0 && ::dup2(taken_, fd_) == fd_);
  }
  ~Captured() {
    ::dup2(before_, fd_);
    ::close(before_);
    ::close(taken_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  [[nodiscard]] std::string text() const {
    std::string text(static_cast<std::size_t>(::lseek(taken_, 0, SEEK_END)), '\0');
    require(::pread(taken_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    return text;
  }

 private:
  int fd_, before_, taken_;
};

struct Printed {
  std::string out, err;
};

Printed run(const std::vector<std::string>& arguments) {
  hide_secrets_of(arguments);
  const Captured out(STDOUT_FILENO), err(STDERR_FILENO);
  try {
    const Options options = parse_options(arguments);
    (void)(options.verb == Verb::info ? run_info(options) : run_verify(options));
  } catch (const std::exception& error) {
    remark(error.what());
  }
  return {out.text(), err.text()};
}

void check_lines(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    require(end != std::string_view::npos && fuzz::is_shown(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
}

// A name with a password in it: a path may look like an address.
std::string name_of(fuzz::Bytes& bytes) {
  std::string name = std::string("a:").append(kSecret).append("@");
  for (std::size_t left = bytes.byte() % 32; left > 0; --left) {
    const char c = static_cast<char>(bytes.byte());
    name += c == '/' || c == '\0' ? '_' : c;
  }
  return name;
}

const std::filesystem::path& folder() {
  static const std::filesystem::path made = [] {
    std::string name = (std::filesystem::temp_directory_path() / "info_fuzz.XXXXXX").string();
    require(::mkdtemp(name.data()) != nullptr);
    std::atexit([] { std::filesystem::remove_all(folder()); });
    return std::filesystem::path(name);
  }();
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kChoices = 40;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (size <= kChoices || input.find(kSecret) != std::string_view::npos) return 0;
  fuzz::Bytes bytes(data, kChoices);
  const std::uint8_t choice = bytes.byte();
  const std::filesystem::path path = folder() / name_of(bytes);
  const auto content = fuzz::forged({data + kChoices, size - kChoices});
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(content.data()),
             static_cast<std::streamsize>(content.size()));

  const bool json = choice % 4 == 1;
  std::vector<std::string> arguments = {choice % 8 == 7 ? "verify" : "info", path.string()};
  if (json) arguments.emplace_back("--json");
  if (choice % 4 == 2) arguments.emplace_back("--format=prometheus");
  if (choice % 8 == 3) arguments.emplace_back("--plot");
  if (choice % 4 != 3 && choice >= 128) arguments.emplace_back("--exact");
  const Printed printed = run(arguments);
  check_lines(printed.out);
  check_lines(printed.err);
  // Results have the file's name as it is, which scripts look for; messages cannot tell it from an address.
  require(printed.err.find(kSecret) == std::string::npos);
  require(!json || printed.out.empty() || nlohmann::json::accept(printed.out));
  std::filesystem::remove(path);
  return 0;
}
