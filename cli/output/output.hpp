// Results to the standard output, whole or as an error; remarks to stderr.
#pragma once

#include <bloomery/error.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace bloomery::cli {

// The standard output does not take results: nothing that would be printed later can succeed.
class OutputError : public Error {
 public:
  using Error::Error;
};

// A closed, full or broken standard output is an OutputError here, never a silent success.
void print_result(std::string_view text);
void print_json(const nlohmann::ordered_json& json);

// The name of the output in errors, once it is a file of -o.
void name_output(std::string name);
[[nodiscard]] const std::string& output_name() noexcept;

// Whether it is a regular file, which can be synced.
[[nodiscard]] bool output_is_a_file() noexcept;

// Writes to stderr, without a buffer. A failed write is not an error: there is no place left to
// report it, and the exit code tells the rest.
void say(std::string_view text) noexcept;

// One line on stderr that starts with the tool's name, as errors do; it has neither foreign control bytes
// nor passwords (message.hpp).
void remark(std::string_view text);

}  // namespace bloomery::cli
