// Writing results and remarks.
#include "output/output.hpp"

#include "output/message.hpp"
#include "output/system.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace bloomery::cli {

namespace {
std::string name_of_output = "standard output";  // changed before any thread is there
}  // namespace

void name_output(std::string name) { name_of_output = std::move(name); }
const std::string& output_name() noexcept { return name_of_output; }

void print_result(std::string_view text) {
  try {
    write_all(STDOUT_FILENO, {text.data(), text.size()}, "cannot write to " + output_name());
  } catch (const Error& error) {
    throw OutputError(error.code(), error.what());
  }
}

bool output_is_a_file() noexcept {
  struct stat status {};
  return ::fstat(STDOUT_FILENO, &status) == 0 && S_ISREG(status.st_mode);
}

void print_json(const nlohmann::ordered_json& json) {
  // Bytes that are no UTF-8 can only come from file names: they are shown as U+FFFD.
  print_result(
      printable_json(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
      "\n");
}

void say(std::string_view text) noexcept {
  try {
    write_all(STDERR_FILENO, {text.data(), text.size()}, {});
  } catch (...) {
    // There is no place left to report it.
  }
}

void remark(std::string_view text) { say(message_line(text)); }

}  // namespace bloomery::cli
